"""The exact optimum by the linear system on its active set (GRKC08, algorithm 1), in the native core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution
from abstain.solvers.boundary import Progress, native_solve, native_solve_many

__all__ = ["ActiveSet"]


@dataclass(frozen=True)
class ActiveSet:
    """A finite number of exact changes of the active set; see ``native/core/active_set.hpp``.

    A few pair steps find sets that are nearly right, unless ``start`` already has them: the scaled solution at another
    C, the solution for other costs, or that of SMO.

    Parameters
    ----------
    tol : float
        Violation of the optimality conditions up to which the solution counts as optimal; the final one is far smaller.
    cache_size : float
        Megabytes for the kernel matrix, which is stored completely if it fits.
    max_iter : int
        Pair steps and changes after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    n_jobs : int or None
        Threads; None is one.
    progress : callable or None
        Called with ``(iterations, violation)`` about every 20 ms; True stops it, with status ``iteration_limit``.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    progress: Progress | None = None

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        return native_solve("active-set", self, problem, start)

    def solve_many(
        self,
        problems: Sequence[DualProblem],
        scales: NDArray[np.float64] | None = None,
        starts: Sequence[NDArray[np.float64] | None] | None = None,
    ) -> list[list[DualSolution]]:
        """Solve problems over the same rows and kernel, which is computed once, at their weights times each scale.

        ``scales`` must ascend (None means a single scale of 1); ``progress`` is called with the number of fits done and
        nan.
        """
        return native_solve_many("active-set", self, problems, scales, starts)
