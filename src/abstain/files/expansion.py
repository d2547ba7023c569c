"""What a score is expanded in, as fields and arrays, and back: the kernel, and the rows that it is evaluated with."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.schema import Fields, Spec
from abstain.files.values import to_json
from abstain.kernels import Kernel

# s rows with d features; k numbers in a sparse matrix
FLOAT, INDEX = ("<f8",), ("<i4", "<i8")
DENSE: dict[str, Spec] = {"vectors": (FLOAT, ("s", "d"))}
SPARSE: dict[str, Spec] = {
    "vectors_data": (FLOAT, ("k",)),
    "vectors_indices": (INDEX, ("k",)),
    "vectors_indptr": (INDEX, ("s + 1",)),
}
SPARSE_KINDS = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


def kernel_state(kernel: Any) -> list[Any]:
    """The kernel's name and numbers; a callable one is refused with the reason."""
    if not isinstance(kernel, Kernel):
        to_json("kernel", kernel)
    return [kernel.name, kernel.gamma, kernel.coef0, kernel.degree]


def kernel_from(fields: Fields) -> Kernel:
    """The kernel of these fields."""
    name, gamma, coef0, degree = [*fields.take("kernel", list), None, None, None, None][:4]
    if not (isinstance(name, str) and isinstance(gamma, float) and isinstance(coef0, float) and type(degree) is int):
        raise ModelFileError("its kernel is not given by a name and three numbers.")
    if degree >= 2**31:
        raise ModelFileError(f"its kernel has the degree {degree}, which is more than an int holds.")
    return Kernel(name, gamma=gamma, coef0=coef0, degree=degree)  # type: ignore[arg-type]  # Kernel checks the name


def vector_parts(kernel: Kernel, vectors: Any) -> tuple[str, Arrays]:
    """How the rows are stored, and their arrays; none for a precomputed kernel, whose rows are no points."""
    if sparse.issparse(vectors):
        arrays = {"vectors_data": vectors.data, "vectors_indices": vectors.indices, "vectors_indptr": vectors.indptr}
        return type(vectors).__name__, arrays
    return "dense", {} if kernel.name == "precomputed" else {"vectors": vectors}


def vector_specs(kernel: Kernel, storage: str) -> dict[str, Spec]:
    """The arrays that rows in this storage have."""
    if storage != "dense":
        return SPARSE
    return {} if kernel.name == "precomputed" else DENSE


def vectors_from(arrays: Arrays, kernel: Kernel, storage: str, numbers: dict[str, int]) -> Any:
    """The rows, of the numbers that `fitting` found for the letters."""
    if storage == "dense":
        return np.empty((0, 0)) if kernel.name == "precomputed" else arrays["vectors"]
    s, d, k = numbers["s"], numbers["d"], numbers["k"]
    indices, indptr = arrays["vectors_indices"], arrays["vectors_indptr"]
    if len(indptr) != s + 1 or indptr[0] != 0 or indptr[-1] != k or (np.diff(indptr) < 0).any():
        raise ModelFileError("its sparse support vectors have row pointers that do not fit.")
    if k and not (indices.min() >= 0 and indices.max() < d):
        raise ModelFileError("its sparse support vectors have a column outside the features.")
    matrix = SPARSE_KINDS[storage]((arrays["vectors_data"], indices, indptr), shape=(s, d))
    matrix.check_format(full_check=True)
    if not matrix.has_canonical_format:
        raise ModelFileError("its sparse support vectors have unsorted or repeated columns.")
    return matrix


def check_support(arrays: Arrays, s: int, n: int) -> None:
    """Refuse support vectors that are not increasing indices of n training rows."""
    support = arrays["support"]
    if (np.diff(support) <= 0).any() or (s and not (support[0] >= 0 and support[-1] < n)):
        raise ModelFileError("its support vectors are not increasing indices of training rows.")
