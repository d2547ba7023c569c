"""The solver of FR02: pair steps on the dual of its training problem, in the native core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from abstain import _native
from abstain.solvers.embedded.problem import EmbeddedProblem, EmbeddedSolution

__all__ = ["EmbeddedDual"]


@dataclass(frozen=True)
class EmbeddedDual:
    """Pair steps with golden section on the concave dual W; see ``native/core/embedded/dual.hpp``.

    The weights follow from the multipliers; bias and eps minimise F for these weights. Because F is not convex, W stays
    below it, and the resulting machine is not a minimum of F.

    Parameters
    ----------
    max_iter : int
        Pair steps after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    progress : callable or None
        Called with ``(iterations, slope of the steepest pair)`` about every 20 ms; True stops the solver.
    """

    max_iter: int = 1_000_000
    time_limit: float | None = None
    progress: Callable[[int, float], bool | None] | None = None

    def solve(self, problem: EmbeddedProblem) -> EmbeddedSolution:
        """Maximise the dual and recover a machine."""
        point, value, status, iterations, bound, multipliers, trace = _native.embedded_dual(
            **problem.native,
            max_iter=int(self.max_iter),
            seconds=np.inf if self.time_limit is None else float(self.time_limit),
            report=self.progress,
        )
        C = problem.C
        return EmbeddedSolution(point, C * value, status, iterations, C * bound, C * multipliers, C * trace)
