"""The interface of a solver: settings as fields, and one method."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution

__all__ = ["Solver"]


class Solver(Protocol):
    """A dataclass of settings that solves a `DualProblem`.

    It takes no probabilities, labels or estimators. It never warns and never raises for lack of convergence: the
    solution's `status` says how it ended, and `abstain.dual.certificate` proves how good it is.
    """

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve `problem`, starting from the feasible coefficients `start` if given (0 otherwise)."""
        ...
