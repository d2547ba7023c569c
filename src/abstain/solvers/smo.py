"""Sequential minimal optimisation in the native core, polished to the exact optimum where the problem is small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution
from abstain.solvers.boundary import Progress, native_solve

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
        Told ``(iterations, violation)`` every 20 ms or so; answers True to stop, with status ``iteration_limit``.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    polish: bool = True
    progress: Progress | None = None

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, from ``start`` (coefficients beta) where it is given."""
        return native_solve("auto" if self.polish else "smo", self, problem, start)
