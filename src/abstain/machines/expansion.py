"""Kernel expansions at new rows: sum_j coef_j k(x_j, x), in float64, a block of kernel values at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain import _native
from abstain.arguments import threads
from abstain.kernels import Kernel, Matrix

__all__ = ["expand", "expand_parts"]

_BLOCK = 4_000_000  # entries in memory at a time: 32 MB


def expand(
    kernel: Kernel, X: Matrix, vectors: Matrix, coef: NDArray[np.float64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Sum the expansion at each row of X.

    Dense vectors are expanded by the native core, and sparse rows are made dense for them block by block, so that
    sparse and dense X give the same scores; rows in float32 are made float64 in the same way. Sparse vectors, and
    kernels that the core does not have, use `Kernel`.
    """
    coef = np.require(coef, np.float64, ["C", "A"])
    out = np.zeros(X.shape[0])
    if coef.size == 0:
        return out
    native = kernel.formula.native and not issparse(vectors)
    if native and not issparse(X) and X.dtype == np.float64:
        return _expand_dense(kernel, X, vectors, coef, n_jobs)
    step = max(1, _BLOCK // max(coef.size, X.shape[1] if native else 1))
    for first in range(0, X.shape[0], step):
        rows = X[first : first + step]
        if native:
            rows = rows.toarray() if issparse(rows) else rows
            out[first : first + step] = _expand_dense(kernel, rows, vectors, coef, n_jobs)
            continue
        if issparse(rows) is not issparse(vectors):
            rows = csr_array(rows) if issparse(vectors) else rows.toarray()
        out[first : first + step] = kernel(rows, vectors) @ coef
    return out


def _expand_dense(
    kernel: Kernel, X: Matrix, vectors: Matrix, coef: NDArray[np.float64], n_jobs: int | None
) -> NDArray[np.float64]:
    rows, vectors = (np.require(one, np.float64, ["C", "A"]) for one in (X, vectors))
    return _native.expand(
        rows, vectors, coef, kernel.name, kernel.gamma, kernel.coef0, kernel.degree, threads(n_jobs)
    )  # fmt: skip


def expand_parts(
    kernel: Kernel,
    X: NDArray[np.float64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    *,
    coef: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Sum, for each part of the rows, the expansion with the part's coefficients at the part's rows.

    Part p has the rows of X with the indices ``rows[starts[p]:starts[p + 1]]``, and the coefficients at these places.
    X must be dense, and the kernel one that the native core has.
    """
    X, coef = (np.require(one, np.float64, ["C", "A"]) for one in (X, coef))
    return _native.expand_parts(
        X, rows, starts, coef, kernel.name, kernel.gamma, kernel.coef0, kernel.degree, threads(n_jobs)
    )
