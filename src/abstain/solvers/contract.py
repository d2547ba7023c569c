"""What a solver is: settings as fields, one method."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution

__all__ = ["Solver"]


class Solver(Protocol):
    """A dataclass of settings that solves a `DualProblem`.

    It knows nothing of probabilities, labels or estimators; it never warns, never raises for lack of convergence,
    and says truly in the solution's `status` how it ended. `abstain.dual.certificate` does the proving.
    """

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve `problem`, from the feasible coefficients `start` where given (0 otherwise)."""
        ...
