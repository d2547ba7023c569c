"""A convex piecewise-linear loss of the margin, its dual, and the loss of a two-class machine: one for each class."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.cuts import Thresholds


@dataclass(frozen=True)
class PiecewiseLinear:
    """A convex loss of the margin z that decreases to 0 at its last knot.

    ::

        loss(z) = sum_k (slopes[k+1] - slopes[k]) |knots[k] - z|_+        slopes[K] = 0

    Its dual is the concave ``phi(g) = min_z loss(z) + g z`` on ``0 <= g <= |slopes[0]|``. The slopes of the loss
    are the breakpoints of phi, and the knots of the loss are the slopes of phi.

    Parameters
    ----------
    knots : tuple of float
        Where the loss bends, strictly increasing, at least one.
    slopes : tuple of float
        Of the same length, negative and strictly increasing: ``slopes[0]`` holds left of ``knots[0]``, ``slopes[k]``
        between ``knots[k-1]`` and ``knots[k]``; right of the last knot the loss is 0.

    Examples
    --------
    >>> from abstain.losses.margin_loss import PiecewiseLinear
    >>> PiecewiseLinear(knots=(0.0, 1.0), slopes=(-3.0, -1.0)).value([-1.0, 0.5, 2.0])
    array([4. , 0.5, 0. ])
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", tuple(map(float, self.knots)))
        object.__setattr__(self, "slopes", tuple(map(float, self.slopes)))
        if not self.knots or len(self.knots) != len(self.slopes):
            raise ValueError(f"knots and slopes must have equal length >= 1; got {self.knots} and {self.slopes}.")
        if not (all(map(math.isfinite, self.knots)) and all(a < b for a, b in pairwise(self.knots))):
            raise ValueError(f"knots={self.knots} must be finite and strictly increasing.")
        if not (math.isfinite(self.slopes[0]) and all(a < b for a, b in pairwise((*self.slopes, 0.0)))):
            raise ValueError(f"slopes={self.slopes} must be finite, negative and strictly increasing.")

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where phi bends, ascending and without 0: the absolute slopes in reverse order."""
        return tuple(-slope for slope in reversed(self.slopes))

    def value(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return the loss at each margin z."""
        return value_of(self.knots, self.slopes, np.asarray(z, dtype=np.float64))

    def dual_value(self, g: ArrayLike, weight: ArrayLike = 1.0) -> NDArray[np.float64]:
        """Return phi(g) for `weight` times the loss: g is clipped to [0, ``weight |slopes[0]|``]."""
        g, weight = np.asarray(g, dtype=np.float64), np.asarray(weight, dtype=np.float64)
        return dual_value_of(self.knots, self.slopes, g, weight)


def value_of(knots: Sequence[Any], slopes: Sequence[Any], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the loss at each margin z, given its knots and slopes, each a number or one for each margin."""
    total = np.zeros_like(z)
    for knot, slope, following in zip(knots, slopes, (*slopes[1:], 0.0), strict=True):
        total += (following - slope) * np.maximum(knot - z, 0.0)
    return total


def dual_value_of(
    knots: Sequence[Any], slopes: Sequence[Any], g: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return phi(g) for `weight` times the loss with these knots and slopes."""
    total: Any = 0.0
    start: Any = 0.0
    for knot, slope in zip(reversed(knots), reversed(slopes), strict=True):
        total = total + knot * np.minimum(np.maximum(g - weight * start, 0.0), weight * (-slope - start))
        start = -slope
    return np.asarray(total)


class Losses(ABC):
    """The losses of rows: a table of distinct ones, and the line of each row."""

    @abstractmethod
    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and the slopes of the distinct losses as arrays, a line for each loss."""

    @abstractmethod
    def kinds(self, sign: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return each row's line in the tables."""

    @property
    def n_knots(self) -> int:
        """K, the number of knots of every loss."""
        return int(self.tables()[0].shape[1])

    @property
    def steepest(self) -> float:
        """The largest absolute slope."""
        return float(-self.tables()[1].min())

    @cached_property
    def columns(self) -> tuple[list[Any], list[Any]]:
        """The columns of the tables; a number where all losses have the same."""
        knots, slopes = ([float(c[0]) if (c == c[0]).all() else c for c in table.T] for table in self.tables())
        return knots, slopes

    def value(self, sign: NDArray[np.int8], z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each row's loss at its margin z."""
        return value_of(*self._of_rows(sign), z)

    def dual_value(
        self, sign: NDArray[np.int8], g: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return phi(g) of `weight` times each row's loss: g is clipped to its range."""
        return dual_value_of(*self._of_rows(sign), g, weight)

    def _of_rows(self, sign: NDArray[np.int8]) -> tuple[list[Any], list[Any]]:
        """Return the knots and the slopes of the rows, a number or an array for each knot."""
        knots, slopes = self.columns
        if all(isinstance(column, float) for column in (*knots, *slopes)):
            return knots, slopes
        kind = self.kinds(sign)
        knots, slopes = ([c if isinstance(c, float) else c[kind] for c in columns] for columns in self.columns)
        return knots, slopes


@dataclass(frozen=True)
class MarginLoss(Losses):
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

    def turned(self) -> "MarginLoss":
        """Return the loss of the negated score: the two classes exchanged."""
        thresholds = Thresholds(0.0 - self.thresholds.upper, 0.0 - self.thresholds.lower)
        return MarginLoss(self.positive, self.negative, thresholds, 0.0 - self.cut, self.unit)

    def of(self, sign: int) -> PiecewiseLinear:
        """Return the loss of the class with this sign."""
        return self.positive if sign > 0 else self.negative

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and the slopes as arrays (2, K); row 0 is the negative class."""
        return self._tables

    @cached_property
    def _tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        both = (self.negative, self.positive)
        return np.array([loss.knots for loss in both]), np.array([loss.slopes for loss in both])

    def kinds(self, sign: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return each row's line in the tables."""
        return (sign > 0).astype(np.intp)

    def take(self, rows: Any) -> "MarginLoss":  # noqa: ARG002 (the same for all rows)
        """Return the loss of these rows, which depends on their class only."""
        return self


@dataclass(frozen=True, eq=False)
class LossTable(Losses):
    """The training losses of n rows, each a convex, piecewise-linear function of its margin.

    Attributes
    ----------
    knots, slopes : float64 arrays of shape (L, K)
        The distinct losses, as in `PiecewiseLinear`.
    kind : intp array of shape (n,)
        The line with each row's loss.
    """

    knots: NDArray[np.float64]
    slopes: NDArray[np.float64]
    kind: NDArray[np.intp]

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and the slopes of the distinct losses."""
        return self.knots, self.slopes

    def kinds(self, sign: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return each row's line; `sign` is part of it already."""
        if sign.shape != self.kind.shape:
            raise ValueError(f"the table has losses for {len(self.kind)} rows, not for {len(sign)}.")
        return self.kind

    def take(self, rows: Any) -> "LossTable":
        """Return the losses of these rows."""
        return replace(self, kind=self.kind[rows])


def in_sequence(
    losses: "Sequence[MarginLoss | LossTable]", signs: Sequence[NDArray[np.int8]]
) -> "MarginLoss | LossTable":
    """Return the losses of several sets of rows, one after another; all with as many knots."""
    if isinstance(losses[0], MarginLoss) and all(loss is losses[0] for loss in losses):
        return losses[0]
    tables = [loss.tables() for loss in losses]
    before = np.cumsum([0, *(len(knots) for knots, _ in tables)])
    kinds = [start + loss.kinds(sign) for start, loss, sign in zip(before, losses, signs, strict=False)]
    knots, slopes = (np.concatenate(each) for each in zip(*tables, strict=True))
    return LossTable(knots, slopes, np.concatenate(kinds))
