"""Features whose inner products are kernel values: a pivoted Cholesky factor of the Gram matrix.

::

    K ~ L L',  L = K[:, P] L_P^-T      f(x) = sum_p c_p k(x_p, x) with c = L_P^-T w  is  L w on the training rows

The pivots P are rows, so a machine in L is an expansion on these rows only. The factor is exact if the rank of K does
not exceed the number of pivots allowed; otherwise it is a Nystroem approximation with greedily chosen landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from abstain.kernels import Kernel

EXACT = 1e-12  # K counts as factored once the rest of the diagonal is this small relative to its largest entry
INDEFINITE = 1e-8  # how far below 0 rounding may push the rest of the diagonal


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """A factor of a Gram matrix, and its pivot rows.

    Attributes
    ----------
    features : ndarray of shape (n, r)
        L, one row of features per training row.
    pivots : ndarray of intp, shape (r,)
        P, the rows whose kernel values span the features.
    rest : float
        Largest diagonal entry of K - L L', relative to the largest of K: 0 up to rounding if L is exact.
    definite : bool
        False if the diagonal of the rest went below 0: the kernel is not positive semidefinite on these rows.
    """

    features: NDArray[np.float64]
    pivots: NDArray[np.intp]
    rest: float
    definite: bool

    def coefficients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients c of the pivots with L w = K[:, P] c."""
        if not len(self.pivots):  # SciPy before 1.14 refuses empty matrices
            return np.zeros(0)
        return np.asarray(solve_triangular(self.features[self.pivots], w, lower=True, trans="T"))


def kernel_features(
    column: Callable[[int], NDArray[np.float64]], diagonal: NDArray[np.float64], max_rank: int
) -> KernelFeatures:
    """Factor a Gram matrix with at most `max_rank` pivots, from its diagonal and a function for its columns.

    Parameters
    ----------
    column : callable
        ``column(i)`` is K[:, i].
    diagonal : ndarray of shape (n,)
        The diagonal of K.
    max_rank : int
        Maximum number of features.
    """
    n = len(diagonal)
    rest, scale = diagonal.copy(), float(np.abs(diagonal).max(initial=0.0))
    L = np.zeros((n, min(n, max_rank)), order="F")
    pivots: list[int] = []
    for k in range(L.shape[1]):
        p = int(np.argmax(rest))  # ties go to the first
        if not rest[p] > EXACT * scale:
            break
        root = np.sqrt(rest[p])
        L[:, k] = (column(p) - L[:, :k] @ L[p, :k]) / root
        L[pivots, k] = 0.0  # exactly
        L[p, k] = root
        rest -= L[:, k] ** 2
        rest[p] = 0.0
        pivots.append(p)
    r = len(pivots)
    definite = bool(rest.min(initial=0.0) >= -INDEFINITE * scale and diagonal.min(initial=0.0) >= 0.0)
    left = float(max(rest.max(initial=0.0), 0.0) / scale) if scale > 0.0 else 0.0
    return KernelFeatures(np.ascontiguousarray(L[:, :r]), np.array(pivots, dtype=np.intp), left, definite)


def column_of(kernel: Kernel, X: Any) -> Callable[[int], NDArray[np.float64]]:
    """Columns of a kernel's Gram matrix on the rows X, each computed on demand."""
    return lambda i: kernel(X, X[i : i + 1])[:, 0]
