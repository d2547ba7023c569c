"""The loss of a two-class machine: one piecewise-linear loss per class, and the resulting thresholds on the score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.thresholds import Thresholds
from abstain.losses.piecewise import PiecewiseLinear

__all__ = ["MarginLoss"]


@dataclass(frozen=True)
class MarginLoss:
    """The training loss of a score f: ``positive(f)`` for y = +1, ``negative(-f)`` for y = -1.

    Parameters
    ----------
    negative, positive : PiecewiseLinear
        The losses of the margin z = y f, with the same number of knots.
    thresholds : Thresholds
        Thresholds on the score of a machine trained with these losses.
    cut : float
        Threshold on the score when it may not reject.
    unit : float, default=nan
        The log-odds of the positive class per unit of score; nan where the score says nothing of probabilities.
    """

    negative: PiecewiseLinear
    positive: PiecewiseLinear
    thresholds: Thresholds
    cut: float
    unit: float = math.nan

    def __post_init__(self) -> None:
        if len(self.negative.knots) != len(self.positive.knots):
            raise ValueError(
                f"the two classes must have the same number of knots; got {len(self.negative.knots)} "
                f"(negative) and {len(self.positive.knots)} (positive)."
            )

    @property
    def n_knots(self) -> int:
        """K, the number of knots of either loss."""
        return len(self.positive.knots)

    @property
    def steepest(self) -> float:
        """The largest absolute slope of either loss."""
        return max(-loss.slopes[0] for loss in (self.negative, self.positive))

    def turned(self) -> MarginLoss:
        """Return the loss of the negated score: the two classes exchanged."""
        thresholds = Thresholds(0.0 - self.thresholds.upper, 0.0 - self.thresholds.lower)
        return MarginLoss(self.positive, self.negative, thresholds, 0.0 - self.cut, self.unit)

    def of(self, sign: int) -> PiecewiseLinear:
        """Return the loss of the class with this sign."""
        return self.positive if sign > 0 else self.negative

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and the slopes as arrays (2, K); row 0 is the negative class."""
        both = (self.negative, self.positive)
        return np.array([loss.knots for loss in both]), np.array([loss.slopes for loss in both])

    def kinds(self, sign: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return each row's line in the tables."""
        return (sign > 0).astype(np.intp)

    def take(self, rows: Any) -> MarginLoss:  # noqa: ARG002 (the same for all rows)
        """Return the loss of these rows, which depends on their class only."""
        return self

    def value(self, sign: NDArray[np.int8], z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row's loss at its margin z."""
        if self.negative == self.positive:
            return self.positive.value(z)
        return _by_class(sign, lambda y, rows: self.of(y).value(z[rows]))

    def dual_value(
        self, sign: NDArray[np.int8], g: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return phi(g) of `weight` times each row's loss: g is clipped to its range."""
        if self.negative == self.positive:
            return self.positive.dual_value(g, weight)
        return _by_class(sign, lambda y, rows: self.of(y).dual_value(g[rows], weight[rows]))


def _by_class(
    sign: NDArray[np.int8], evaluate: Callable[[int, NDArray[np.intp]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    values = np.empty(len(sign))
    for y in (-1, 1):
        rows = np.flatnonzero(sign == y)
        values[rows] = evaluate(y, rows)
    return values
