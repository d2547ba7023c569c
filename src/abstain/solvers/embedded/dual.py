"""The solver of FR02: pair steps on the dual of its training problem, in the native core."""

from __future__ import annotations

from dataclasses import dataclass

from abstain import _native
from abstain.solvers.embedded.problem import EmbeddedLimits, EmbeddedProblem, EmbeddedSolution


@dataclass(frozen=True)
class EmbeddedDual(EmbeddedLimits):
    """Pair steps with golden section on the concave dual W; see ``native/core/embedded/dual.hpp``.

    The weights follow from the multipliers; bias and eps minimise F for these weights. Because F is not convex, W stays
    below it, and the resulting machine is not a minimum of F. Its steps are pair steps, and `progress` gets the slope
    of the steepest pair.
    """

    def solve(self, problem: EmbeddedProblem) -> EmbeddedSolution:
        """Maximise the dual and recover a machine."""
        given = problem.native | self.native
        point, value, status, iterations, bound, multipliers, trace = _native.embedded_dual(**given)
        C = problem.C
        return EmbeddedSolution(point, C * value, status, iterations, C * bound, C * multipliers, C * trace)
