"""Sequential minimal optimisation in the native core, polished to the exact optimum where the problem is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from abstain import _native
from abstain.dual.solution import DualSolution, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from abstain.dual.problem import DualProblem

__all__ = ["SMO"]


@dataclass(frozen=True)
class SMO:
    """Pair steps on blocks of the worst violators; see ``native/core/decomposition.hpp``.

    Stops when max(up) - min(down) <= ``tol``, the largest gain of any pair of coordinates per unit moved.

    Parameters
    ----------
    tol : float
        Violation of the optimality conditions at which it stops.
    cache_size : float
        Megabytes for rows of the kernel matrix, used where a row costs more to make than to keep.
    max_iter : int
        Pair steps after which it stops all the same, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    n_jobs : int or None
        Threads; None is one. The answer has the same bits for any number of them.
    polish : bool
        Bring small problems to the optimum exactly, by the linear system on their active set.
    progress : callable or None
        Told ``(iterations, violation)`` every 20 ms or so.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    polish: bool = True
    progress: Callable[[int, float], None] | None = None

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, from ``start`` (coefficients beta) where it is given."""
        from abstain.dual.certificate import best_bias

        knots, slopes = problem.loss.tables()
        about = {
            "sign": problem.sign,
            "weight": problem.weight,
            "knots": knots,
            "slopes": slopes,
            "start": None if start is None else np.require(start, np.float64, "CA"),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "seconds": np.inf if self.time_limit is None else float(self.time_limit),
            "cache_size": float(self.cache_size),
            "threads": threads(self.n_jobs),
            "polish": bool(self.polish),
            "report": self.progress,
        }
        beta, expansion, status, iterations, _ = self._native_call(problem, about)
        return DualSolution(beta, best_bias(problem, expansion), expansion, Status(status), iterations)

    @staticmethod
    def _native_call(problem: DualProblem, about: dict[str, Any]) -> tuple[Any, ...]:
        kernel, X = problem.kernel, problem.X
        if kernel.name == "precomputed":
            return _native.solve_gram(np.require(X, np.float64, "CA"), **about)
        about |= {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
        if issparse(X):
            return _native.solve_sparse(
                X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False), X.shape[1], **about
            )
        return _native.solve_dense(np.require(X, np.float64, "CA"), **about)


def threads(n_jobs: int | None) -> int:
    """Number of threads: None is one, -1 all the processors, -2 all but one, as joblib counts."""
    if n_jobs is None:
        return 1
    from joblib import cpu_count

    return max(1, n_jobs if n_jobs > 0 else cpu_count() + 1 + n_jobs)
