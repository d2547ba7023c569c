"""Machines (kernel expansions, or one weight per feature) as fields and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from abstain.estimators.linear.low_rank_fit import check_low_rank
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import FINITE, Fields, Layout, fitting, layout, one_of, whole
from abstain.files.format.values import to_json
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

MACHINE = "machine."  # before the names of its arrays
# s rows with d features; m machines, one per class or pair; k numbers in a sparse matrix
DENSE = layout(vectors="f8 s d")
SPARSE = layout(vectors_data="f8 k", vectors_indices="i4|i8 k", vectors_indptr="i4|i8 s+1")
EXPANSION = layout(support="i8 s", coef="f8 s")
LANDMARKS = layout(coef="f8 m s", biases="f8 m")
LINEAR = layout(weights="f8 d", centre="f8 d")
CLASSES = layout(weights="f8 m d", centre="f8 d", biases="f8 m")
SPARSE_KINDS = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
STORAGE = one_of(("dense", *SPARSE_KINDS))


def machine_parts(machine: Any) -> Parts:
    """Return the fields and arrays of a machine; a callable kernel is an error."""
    if isinstance(machine, LinearMachine):
        arrays = {name: getattr(machine, name) for name in LINEAR}
        several = machine.weights.ndim > 1
        return ({}, arrays | {"biases": machine.bias}) if several else ({"bias": machine.bias}, arrays)
    kernel, storage, vectors = expansion_parts(machine)
    state = {"kernel": kernel, "bias": machine.bias, "n_rows": machine.n_rows, "vectors": storage}
    return state, {"support": machine.support.astype("<i8"), "coef": machine.coef, **vectors}


def machine_from(fields: Fields, arrays: Arrays, n_features: int, machines: int = 1) -> Any:
    """Make a machine from fields and arrays, checking each of them and that they agree."""
    letters = {"d": n_features, "m": machines}
    if machines > 1:
        fields.end()
        fitting(arrays, CLASSES, "machine", letters)
        return LinearMachine(*(arrays[name] for name in CLASSES))
    bias = fields.take("bias", FINITE)
    if "kernel" not in fields:
        fields.end()
        fitting(arrays, LINEAR, "machine", letters)
        return LinearMachine(arrays["weights"], arrays["centre"], bias)
    n_rows = fields.take("n_rows", whole(1))
    kernel, vectors = expansion_from(fields, arrays, EXPANSION, letters | {"n": n_rows})
    support = arrays["support"].astype(np.intp, copy=False)
    if (np.diff(support) <= 0).any() or (len(support) and not (support[0] >= 0 and support[-1] < n_rows)):
        raise ModelFileError("the indices of its support vectors are not increasing indices of training rows.")
    return KernelMachine(kernel, vectors, arrays["coef"], bias, support, n_rows)


def landmark_parts(estimator: Any, machine: Any) -> Parts:
    """Return the fields and arrays of a machine on landmarks; an error if it contradicts the parameters."""
    refuse(not check_low_rank(estimator), "its machine has landmarks, but its estimator is linear.")
    if not 0 < len(machine.support) <= estimator.n_components:
        raise ModelFileError(f"its machine has {len(machine.support)} landmarks, not 1 to {estimator.n_components}.")
    check_kernel(estimator, machine, estimator.gamma)
    kernel, storage, vectors = expansion_parts(machine)
    several = {"coef": np.atleast_2d(machine.coef), "biases": np.atleast_1d(machine.bias)}
    return {"kernel": kernel, "vectors": storage}, vectors | several


def landmark_from(fields: Fields, arrays: Arrays, n_features: int, machines: int) -> KernelMachine:
    """Make the machine of these fields and arrays; `landmark_parts` compares them with the parameters."""
    kernel, vectors = expansion_from(fields, arrays, LANDMARKS, {"d": n_features, "m": machines, "n": 0})
    coef, biases, support = arrays["coef"], arrays["biases"], np.arange(vectors.shape[0])
    given = (coef, biases) if machines > 1 else (coef[0], float(biases[0]))
    return KernelMachine(kernel, vectors, *given, support, len(support))


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
    refuse(not same, "the kernel, gamma, coef0 or degree of its machine differs from its parameters.")


def expansion_parts(machine: Any) -> tuple[list[Any], str, Arrays]:
    """Return the kernel, how the rows are stored, and their arrays; none for a precomputed kernel."""
    kernel, vectors = machine.kernel, machine.vectors
    if not isinstance(kernel, Kernel):
        to_json("kernel", kernel)
        raise TypeError  # never reached: to_json raises for a callable
    given = [kernel.name, kernel.gamma, kernel.coef0, kernel.degree]
    if sparse.issparse(vectors):
        return given, type(vectors).__name__, csr_arrays(vectors, "vectors")
    return given, "dense", {} if machine.is_precomputed else {"vectors": vectors}


def expansion_from(fields: Fields, arrays: Arrays, others: Layout, letters: Mapping[str, int]) -> tuple[Kernel, Any]:
    """Return the kernel and the rows; `others` are the other arrays, and the letter n the number of training rows."""
    given, storage = fields.take("kernel", list), fields.take("vectors", STORAGE)
    fields.end()
    if [type(value) for value in given] != [str, float, float, int]:
        raise ModelFileError("its kernel is not given by a name and three numbers.")
    name, gamma, coef0, degree = given
    refuse(degree >= 2**31, f"the degree of its kernel, {degree}, is larger than a C int.")
    kernel, dense = Kernel(name, gamma=gamma, coef0=coef0, degree=degree), storage == "dense"
    precomputed = name == "precomputed"
    rows = SPARSE if not dense else {} if precomputed else DENSE
    numbers = fitting(arrays, others | rows, "machine", letters)
    refuse(precomputed and letters["n"] != letters["d"], "its Gram matrix does not have one column per training row.")
    if precomputed or dense:
        return kernel, np.empty((0, 0)) if precomputed else arrays["vectors"]
    return kernel, csr_from(arrays, "vectors", (numbers["s"], numbers["d"]), SPARSE_KINDS[storage])


def csr_arrays(matrix: Any, name: str) -> Arrays:
    """Return the arrays of a sparse matrix."""
    return {f"{name}_data": matrix.data, f"{name}_indices": matrix.indices, f"{name}_indptr": matrix.indptr}


def csr_from(arrays: Arrays, name: str, shape: tuple[int, int], kind: Any = sparse.csr_array) -> Any:
    """Make a sparse matrix whose indices are safe to follow."""
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    rising = len(indptr) == shape[0] + 1 and indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    refuse(not rising or indptr.dtype != indices.dtype, f"its sparse {name} have row pointers that do not match.")
    if len(data) and not (indices.min() >= 0 and indices.max() < shape[1]):
        raise ModelFileError(f"its sparse {name} have a column outside the matrix.")
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    refuse(not matrix.has_canonical_format, f"its sparse {name} have unsorted or repeated columns.")
    return matrix
