"""Machines (kernel expansions, or one weight per feature) as fields and arrays, and back.

A `Form` is the table of what the file has of a machine; `machine_parts` and `machine_from` read it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.files.format import schema
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.values import to_json
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine, OneVsOneMachine
from abstain.machines.linear_machine import LinearMachine

MACHINE = "machine."  # before the names of its arrays
CSR = ("data", "indices", "indptr")
SPARSE_KINDS = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@dataclass(frozen=True)
class Form:
    """The fields and the arrays of a machine, both in the order of the file.

    Attributes
    ----------
    kind : type
    fields : str
    arrays : schema.Layout
        `vectors` stands for the arrays of the rows, which may be dense, sparse or, for a precomputed kernel, none.
    """

    kind: Any
    fields: str
    arrays: schema.Layout

    @property
    def table(self) -> dict[str, schema.Kind]:
        """The kinds of the fields."""
        return {name: FIELDS[name] for name in self.fields.split()}

    def specs(self, kernel: Any, storage: str) -> schema.Layout:
        """Return the arrays of a machine with this kernel and rows that are stored in this way."""
        rows = SPARSE
        if storage == "dense":
            rows = {} if kernel.name == "precomputed" else DENSE
        found: schema.Layout = {}
        for name, spec in self.arrays.items():
            found |= rows if name == "vectors" else {name: spec}
        return found


def _kernel(given: Any) -> Kernel:
    if not isinstance(given, list) or [type(value) for value in given] != [str, float, float, int]:
        raise ModelFileError("its kernel is not given by a name and three numbers.")
    name, gamma, coef0, degree = given
    refuse(degree >= 2**31, f"the degree of its kernel, {degree}, is larger than a C int.")
    return Kernel(name, gamma=gamma, coef0=coef0, degree=degree)


def _listed(kernel: Any) -> Any:
    named = isinstance(kernel, Kernel)
    return [kernel.name, kernel.gamma, kernel.coef0, kernel.degree] if named else to_json("kernel", kernel)


def _storage(vectors: Any) -> str:
    return type(vectors).__name__ if sparse.issparse(vectors) else "dense"


FIELDS = {
    "kernel": schema.Kind(lambda _: True, "a kernel", _kernel, _listed),
    "bias": schema.FINITE,
    "n_rows": schema.whole(1),
    "vectors": replace(schema.one_of(("dense", *SPARSE_KINDS)), to=_storage),
}
# s rows with d features, of n in training; m machines, one per class or pair of q classes; k and e numbers in a sparse
# matrix
DENSE = schema.layout(vectors="f8 s d")
SPARSE = schema.layout(vectors_data="f8 k", vectors_indices="i4|i8 k", vectors_indptr="i4|i8 s+1")
_SHARED = DENSE | schema.layout(support="i8 s", biases="f8 m", class_support="i8 q")
_PAIRS = schema.layout(coef_data="f8 e", coef_indices="i4|i8 e", coef_indptr="i4|i8 m+1")
LINEAR = Form(LinearMachine, "bias", schema.layout(weights="f8 d", centre="f8 d"))
LINEAR_CLASSES = Form(LinearMachine, "", schema.layout(weights="f8 m d", centre="f8 d", biases="f8 m"))
EXPANSION = Form(KernelMachine, "kernel bias n_rows vectors", schema.layout(support="i8 s", coef="f8 s") | DENSE)
LANDMARKS = Form(KernelMachine, "kernel vectors", DENSE | schema.layout(coef="f8 m s", biases="f8 m"))
CLASSES = Form(KernelMachine, "kernel n_rows vectors", _SHARED | schema.layout(coef="f8 m s", sets="i1 m n"))
PAIRS = Form(OneVsOneMachine, "kernel n_rows vectors", _SHARED | _PAIRS)


def machine_parts(form: Form, machine: Any, **more: Any) -> schema.Parts:
    """Return the fields and arrays of a machine, of which `more` are not its own; a callable kernel is an error."""
    fields, given = schema.record(machine, form.table), vars(machine) | {"biases": machine.bias} | more
    if form is PAIRS:
        given["coef"] = sparse.csr_array(machine.coef)
    for name in ("vectors", "coef"):
        if sparse.issparse(given.get(name)):
            given |= {f"{name}_{part}": getattr(given[name], part) for part in CSR}
    return fields, schema.stored(given, form.specs(given.get("kernel"), fields.get("vectors", "")))


def machine_from(form: Form, fields: schema.Fields, arrays: schema.Arrays, **letters: int) -> Any:
    """Make a machine from fields and arrays, checking each of them and that they agree."""
    found = fields.record(form.table)
    kernel, storage, n_rows = found.get("kernel"), found.get("vectors", ""), found.get("n_rows", 0)
    numbers = schema.fitting(arrays, form.specs(kernel, storage), "machine", {"n": n_rows} | letters)
    bias: Any = found.get("bias", arrays.get("biases"))
    if kernel is None:
        return LinearMachine(arrays["weights"], arrays["centre"], bias)
    precomputed = kernel.name == "precomputed"
    refuse(precomputed and n_rows != letters["d"], "its Gram matrix does not have one column per training row.")
    vectors = np.empty((0, 0)) if precomputed else arrays.get("vectors")
    if storage != "dense":
        vectors = csr_from(arrays, "vectors", (numbers["s"], numbers["d"]), SPARSE_KINDS[storage])
    if form is LANDMARKS:
        coef, bias = (arrays["coef"][0], float(bias[0])) if letters["m"] == 1 else (arrays["coef"], bias)
        return KernelMachine(kernel, vectors, coef, bias, np.arange(numbers["s"]), numbers["s"])
    given = kernel, vectors, arrays.get("coef"), bias, _support(form, arrays, n_rows), n_rows
    if form is not PAIRS:
        return KernelMachine(*given)
    coef = csr_from(arrays, "coef", (numbers["m"], numbers["s"]))
    return replace(OneVsOneMachine(*given, arrays["class_support"]), coef=coef)


def _support(form: Form, arrays: schema.Arrays, n_rows: int) -> NDArray[np.intp]:
    support: NDArray[np.intp] = arrays["support"].astype(np.intp, copy=False)
    rising, counts = form is EXPANSION, arrays.get("class_support", np.array([len(support)]))
    distinct = (np.diff(support) > 0).all() if rising else len(np.unique(support)) == len(support)
    inside = ((support >= 0) & (support < n_rows)).all()
    if not distinct or not inside or (counts < 0).any() or counts.sum() != len(support):
        order = "increasing" if rising else "different"
        raise ModelFileError(f"the indices of its support vectors are not {order} indices of training rows.")
    return support


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


def csr_from(arrays: schema.Arrays, name: str, shape: tuple[int, int], kind: Any = sparse.csr_array) -> Any:
    """Make a sparse matrix whose indices are safe to follow."""
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in CSR)
    rising = len(indptr) == shape[0] + 1 and indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    refuse(not rising or indptr.dtype != indices.dtype, f"its sparse {name} have row pointers that do not match.")
    if len(data) and not (indices.min() >= 0 and indices.max() < shape[1]):
        raise ModelFileError(f"its sparse {name} have a column outside the matrix.")
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    refuse(not matrix.has_canonical_format, f"its sparse {name} have unsorted or repeated columns.")
    return matrix
