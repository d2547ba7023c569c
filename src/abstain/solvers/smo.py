"""Sequential minimal optimisation in the native core, polished to the exact optimum where the problem is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.dual.certificate import best_bias
from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution, Status

__all__ = ["SMO", "threads"]


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
        Told ``(iterations, violation)`` every 20 ms or so; answers True to stop, with status ``iteration_limit``.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    polish: bool = True
    progress: Callable[[int, float], bool | None] | None = None

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, from ``start`` (coefficients beta) where it is given."""
        beta, expansion, status, iterations, _ = _native.solve(
            **native_problem(problem),
            start=None if start is None else np.require(start, np.float64, ["C", "A"]),
            method="auto" if self.polish else "smo",
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            seconds=np.inf if self.time_limit is None else float(self.time_limit),
            cache_size=float(self.cache_size),
            threads=threads(self.n_jobs),
            report=self.progress,
        )
        return DualSolution(beta, best_bias(problem, expansion), expansion, Status(status), iterations)


def native_problem(problem: DualProblem) -> dict[str, Any]:
    """The problem as the native core reads it; what conversion is needed happens here."""
    kernel, X = problem.kernel, problem.X
    data: dict[str, Any] = {"gram" if kernel.name == "precomputed" else "X": X}
    if issparse(X):
        columns, starts = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)
        data = {"values": X.data, "columns": columns, "starts": starts, "features": X.shape[1]}
    knots, slopes = problem.loss.tables()
    return {
        "data": {name: np.require(value, requirements=["C", "A"]) if np.ndim(value) else value for name, value in data.items()},
        "kernel": kernel.name,
        "gamma": kernel.gamma,
        "coef0": kernel.coef0,
        "degree": kernel.degree,
        "sign": problem.sign,
        "weight": problem.weight,
        "knots": knots,
        "slopes": slopes,
    }


def threads(n_jobs: int | None) -> int:
    """Number of threads: None is one, -1 all the processors, -2 all but one, as joblib counts."""
    if n_jobs is None:
        return 1
    return max(1, n_jobs if n_jobs > 0 else cpu_count() + 1 + n_jobs)
