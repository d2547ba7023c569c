"""Machines (kernel expansions, or one weight per feature) as fields and arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, Spec, fitting
from abstain.files.format.values import to_json
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

# s rows with d features; k numbers in a sparse matrix
FLOAT, INDEX = ("<f8",), ("<i4", "<i8")
DENSE: dict[str, Spec] = {"vectors": (FLOAT, ("s", "d"))}
SPARSE: dict[str, Spec] = {
    "vectors_data": (FLOAT, ("k",)),
    "vectors_indices": (INDEX, ("k",)),
    "vectors_indptr": (INDEX, ("s + 1",)),
}
EXPANSION: dict[str, Spec] = {"support": (("<i8",), ("s",)), "coef": (FLOAT, ("s",))}
LINEAR: dict[str, Spec] = {"weights": (FLOAT, ("d",)), "centre": (FLOAT, ("d",))}
SPARSE_KINDS = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


def machine_parts(machine: KernelMachine | LinearMachine) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a machine; a callable kernel is an error."""
    if isinstance(machine, LinearMachine):
        return {"bias": machine.bias}, {"weights": machine.weights, "centre": machine.centre}
    kernel = machine.kernel
    if not isinstance(kernel, Kernel):
        to_json("kernel", kernel)
        raise TypeError  # never reached: to_json raises for a callable
    storage, vectors = vector_parts(machine)
    state = {
        "kernel": [kernel.name, kernel.gamma, kernel.coef0, kernel.degree],
        "bias": machine.bias,
        "n_rows": machine.n_rows,
        "vectors": storage,
    }
    return state, {"support": machine.support.astype("<i8"), "coef": machine.coef, **vectors}


def machine_from(given: Any, arrays: Arrays, n_features: int) -> KernelMachine | LinearMachine:
    """Make a machine from fields and arrays, checking each of them and that they agree."""
    fields = Fields(given, "machine")
    bias = fields.number("bias")
    if "kernel" not in fields:
        fields.end()
        fitting(arrays, LINEAR, "machine", {"d": n_features})
        return LinearMachine(arrays["weights"], arrays["centre"], bias)
    kernel, n_rows = kernel_from(fields), fields.whole("n_rows", least=1)
    storage = fields.one_of("vectors", ("dense", *SPARSE_KINDS))
    fields.end()
    precomputed = kernel.name == "precomputed"
    specs = SPARSE if storage != "dense" else {} if precomputed else DENSE
    numbers = fitting(arrays, EXPANSION | specs, "machine", {"d": n_features})
    support = arrays["support"].astype(np.intp, copy=False)
    if (np.diff(support) <= 0).any() or (len(support) and not (support[0] >= 0 and support[-1] < n_rows)):
        raise ModelFileError("the indices of its support vectors are not increasing indices of training rows.")
    if precomputed and n_rows != n_features:
        raise ModelFileError("its Gram matrix does not have one column per training row.")
    vectors = np.empty((0, 0)) if precomputed else vectors_from(arrays, storage, numbers)
    return KernelMachine(kernel, vectors, arrays["coef"], bias, support, n_rows)


def check_kernel(parameters: Any, machine: Any, gamma: Any) -> None:
    """Compare the machine's kernel with the one that the parameters and `gamma` name; "scale" may be any number."""
    if isinstance(machine, LinearMachine):
        same = parameters.kernel == "linear"
    else:
        kernel, gamma = machine.kernel, 1.0 / machine.n_features if gamma == "auto" else gamma
        named = Kernel(parameters.kernel, coef0=float(parameters.coef0), degree=int(parameters.degree))
        if named.formula.takes_gamma and isinstance(kernel, Kernel):
            named = replace(named, gamma=kernel.gamma if gamma == "scale" else float(gamma))
        same = named == kernel
    if not same:
        raise ModelFileError("the kernel, gamma, coef0 or degree of its machine differs from its parameters.")


def kernel_from(fields: Fields) -> Kernel:
    """The kernel of these fields."""
    given = fields.take("kernel", list)
    if [type(value) for value in given] != [str, float, float, int]:
        raise ModelFileError("its kernel is not given by a name and three numbers.")
    name, gamma, coef0, degree = given
    if degree >= 2**31:
        raise ModelFileError(f"the degree of its kernel, {degree}, is larger than a C int.")
    return Kernel(name, gamma=gamma, coef0=coef0, degree=degree)


def vector_parts(machine: Any) -> tuple[str, Arrays]:
    """How the rows are stored, and their arrays; none for a precomputed kernel."""
    vectors = machine.vectors
    if sparse.issparse(vectors):
        arrays = {"vectors_data": vectors.data, "vectors_indices": vectors.indices, "vectors_indptr": vectors.indptr}
        return type(vectors).__name__, arrays
    return "dense", {} if machine.is_precomputed else {"vectors": vectors}


def vectors_from(arrays: Arrays, storage: str, numbers: dict[str, int]) -> Any:
    """The rows; `numbers` are the values that `fitting` found for the letters."""
    if storage == "dense":
        return arrays["vectors"]
    s, d, k = numbers["s"], numbers["d"], numbers["k"]
    indices, indptr = arrays["vectors_indices"], arrays["vectors_indptr"]
    rising = len(indptr) == s + 1 and indptr[0] == 0 and indptr[-1] == k and (np.diff(indptr) >= 0).all()
    if not rising or indptr.dtype != indices.dtype:
        raise ModelFileError("its sparse support vectors have row pointers that do not match.")
    if k and not (indices.min() >= 0 and indices.max() < d):
        raise ModelFileError("its sparse support vectors have a column outside the features.")
    matrix = SPARSE_KINDS[storage]((arrays["vectors_data"], indices, indptr), shape=(s, d))
    matrix.check_format(full_check=True)
    if not matrix.has_canonical_format:
        raise ModelFileError("its sparse support vectors have unsorted or repeated columns.")
    return matrix
