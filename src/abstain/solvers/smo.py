"""Sequential minimal optimisation in the native core, polished to the exact optimum where the problem is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.dual.parts import Parts
from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution, PartSolutions
from abstain.solvers.boundary import Progress, native_solve, native_solve_many, native_solve_parts

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
        Megabytes for rows of the kernel matrix, used if computing a row takes longer than reading it from the cache.
    max_iter : int
        Pair steps after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    n_jobs : int or None
        Threads; None is one. The solution is bit for bit the same for any number of threads.
    polish : bool
        Solve small problems exactly, by the linear system on their active set.
    progress : callable or None
        Called with ``(iterations, violation)`` about every 20 ms; True stops it, with status ``iteration_limit``.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    polish: bool = True
    progress: Progress | None = None

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        return native_solve("auto" if self.polish else "smo", self, problem, start)

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
        return native_solve_many("auto" if self.polish else "smo", self, problems, scales, starts)

    def solve_parts(self, parts: Parts) -> PartSolutions:
        """Solve problems over parts of the same dense rows, several at a time with several threads."""
        return native_solve_parts("auto" if self.polish else "smo", self, parts)
