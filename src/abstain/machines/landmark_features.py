"""Features of low rank: kernel values with a few landmarks, mixed so that their inner products approximate the kernel.

::

    K = k(landmarks, landmarks) = V diag(e) V'        A = V diag(e^(-1/2)), tiny and negative e left out
    features A' k(landmarks, x)                       f(x) = w . features + b = sum_j c_j k(landmark_j, x) + b,  c = A w

So a linear machine on the features is a kernel machine on the landmarks, with |w|^2 = c' K c.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from abstain.arguments import one_blas_thread, threads
from abstain.kernels import Kernel, Matrix
from abstain.machines.kernel_machine import KernelMachine, kernel_values

TINY = 1e-10  # eigenvalues below this share of the largest are left out: their features would be rounding errors
PIECE = 1024  # rows that a thread works on at a time; the bits depend on it, not on the number of threads


@dataclass(frozen=True, eq=False)
class LandmarkFeatures:
    """A kernel, its landmarks, and the matrix that mixes their kernel values.

    Attributes
    ----------
    kernel : Kernel
    landmarks : ndarray or CSR of float64, shape (m, n_features)
    mix : ndarray of shape (m, r)
        A; r is at most m.
    """

    kernel: Kernel
    landmarks: Matrix
    mix: NDArray[np.float64]

    @classmethod
    def of(cls, kernel: Kernel, landmarks: Matrix) -> Self:
        """Compute the mixing matrix; an error if no eigenvalue of the landmarks' kernel values is positive."""
        gram = _finite(kernel(landmarks), kernel.name, "landmarks")
        with one_blas_thread():
            e, V = eigh(gram)
        kept = e > TINY * np.abs(e).max(initial=0.0)
        if not kept.any():
            raise ValueError(
                f"the {kernel.name} kernel has no positive eigenvalue on the landmarks, so there are no features; "
                'change gamma and coef0, or use kernel="rbf".'
            )
        return cls(kernel, landmarks, np.ascontiguousarray((V[:, kept] / np.sqrt(e[kept]))[:, ::-1]))

    def values(self, X: Matrix, out: NDArray[Any] | None = None, n_jobs: int | None = None) -> NDArray[Any]:
        """Return k(x, landmark) for all rows and landmarks, in float64 unless `out` has another type."""
        return self._by_pieces(self._values, X, np.empty((X.shape[0], len(self.mix))) if out is None else out, n_jobs)

    def features(self, X: Matrix, out: NDArray[Any] | None = None, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the features of all rows, computed in float64; in float64 unless `out` has another type."""
        out = np.empty((X.shape[0], self.mix.shape[1])) if out is None else out
        return self._by_pieces(lambda rows: self._values(rows) @ self.mix, X, out, n_jobs)

    def machine(self, w: NDArray[np.float64], bias: float, *, several: bool = False) -> KernelMachine:
        """Return the linear machine on the features as a kernel machine on the landmarks, or as a list of one."""
        m, coef = len(self.mix), self.mix @ w
        values: Any = (coef[np.newaxis], np.array([bias])) if several else (coef, bias)
        return KernelMachine(self.kernel, self.landmarks, values[0], values[1], np.arange(m), m)

    def _values(self, X: Matrix) -> NDArray[np.float64]:
        values = kernel_values(self.kernel, X.astype(np.float64, copy=False), self.landmarks)
        return _finite(values, self.kernel.name, "rows")

    def _by_pieces(
        self, of: Callable[[Matrix], NDArray[np.float64]], X: Matrix, out: NDArray[Any], n_jobs: int | None
    ) -> NDArray[Any]:
        pieces = [slice(first, first + PIECE) for first in range(0, X.shape[0], PIECE)]
        workers = min(threads(n_jobs), len(pieces))

        def one(rows: slice) -> None:
            out[rows] = of(X[rows])

        with one_blas_thread():
            if workers <= 1:
                for piece in pieces:
                    one(piece)
                return out
            pool = ThreadPoolExecutor(workers)
            try:
                for done in [pool.submit(one, piece) for piece in pieces]:
                    done.result()
            finally:  # an interrupt waits for the pieces that have begun, not for the others
                pool.shutdown(cancel_futures=True)
        return out


def _finite(values: NDArray[np.float64], name: str, of: str) -> NDArray[np.float64]:
    """Return kernel values if they are finite; otherwise raise an error with advice."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # cheaper than checking each
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError(
            f"the {name} kernel overflows on the {of}; scale the features, for example with StandardScaler, or lower "
            "gamma or degree."
        )
    return values
