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
    """Finitely many changes of the active set, each exact; see ``native/core/active_set.hpp``.

    A few pair steps find sets that are nearly right, unless ``start`` has them already: another C's answer scaled to
    this one, other costs' answer, or SMO's.

    Parameters
    ----------
    tol : float
        Violation of the optimality conditions up to which the answer is called optimal; it ends far below.
    cache_size : float
        Megabytes for the kernel matrix, which is held whole where it fits.
    max_iter : int
        Pair steps and changes after which it stops all the same, with status ``iteration_limit``.
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
        """Solve the dual problem, from ``start`` (coefficients beta) where it is given."""
        return native_solve("active-set", self, problem, start)

    def solve_many(
        self,
        problems: Sequence[DualProblem],
        scales: NDArray[np.float64] | None = None,
        starts: Sequence[NDArray[np.float64] | None] | None = None,
    ) -> list[list[DualSolution]]:
        """Solve problems over the same rows and kernel, which is computed once, at their weights times each scale.

        ``scales`` ascend (None: 1 alone); ``progress`` is called with the number of fits done and nan.
        """
        return native_solve_many("active-set", self, problems, scales, starts)
