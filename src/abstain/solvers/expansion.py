"""Scores of new rows: f(x) = sum_s coef_s k(x, s), the bias left to the caller."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.kernels import Kernel, Matrix
from abstain.solvers.boundary import threads

__all__ = ["expand"]

_BLOCK = 4_000_000  # kernel values held at a time


def expand(
    kernel: Kernel,
    X: Matrix,
    support_vectors: Matrix,
    coef: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Sum the kernel expansion at each row of X, in float64, without ever holding the whole kernel block."""
    coef = np.require(coef, np.float64, ["C", "A"])
    if coef.size == 0:
        return np.zeros(X.shape[0])
    if not issparse(X) and not issparse(support_vectors):
        return _native.expand(
            np.require(X, np.float64, ["C", "A"]), np.require(support_vectors, np.float64, ["C", "A"]), coef,
            kernel.name, kernel.gamma, kernel.coef0, kernel.degree, threads(n_jobs),
        )  # fmt: skip
    step = max(1, _BLOCK // coef.size)
    out = np.empty(X.shape[0])
    for first in range(0, X.shape[0], step):
        out[first : first + step] = kernel(X[first : first + step], support_vectors) @ coef
    return out
