"""The result of a solver, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

__all__ = ["DualSolution", "PartSolutions", "Status"]


class Status(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"  # the violation is below the tolerance
    INACCURATE = "inaccurate"  # no further progress in floating point before the tolerance was reached
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Coefficients and bias of ``f(x) = sum_i beta_i k(x_i, x) + bias``, as returned by a solver.

    Attributes
    ----------
    beta : float64 array of shape (n,)
        Signed: y_i beta_i >= 0.
    bias : float
    expansion : float64 array of shape (n,)
        sum_j beta_j k(x_i, x_j) at the training rows, as computed by the solver; without bias.
    status : Status
    iterations : int
    """

    beta: NDArray[np.float64]
    bias: float
    expansion: NDArray[np.float64]
    status: Status
    iterations: int


@dataclass(frozen=True, eq=False)
class PartSolutions:
    """Solutions of problems over parts of the same rows, one after another.

    Attributes
    ----------
    beta : float64 array
        The coefficients of the rows of all parts.
    status : list of Status
        How the solver ended, for each part.
    iterations : int64 array
        For each part.
    """

    beta: NDArray[np.float64]
    status: list[Status]
    iterations: NDArray[np.int64]
