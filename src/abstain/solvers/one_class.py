"""The machine of one class: SMO from a start that is nearly right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution
from abstain.solvers.smo import SMO

__all__ = ["OneClassSMO"]


@dataclass(frozen=True)
class OneClassSMO(SMO):
    """`SMO` for problems with a total other than 0."""

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        return super().solve(problem, start)
