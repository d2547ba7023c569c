"""Results of the curve functions: read-only arrays, and evaluation between their points."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.frames import DataFrame, ReadOnly, arrays_of, frame_of
from abstain.html import html_table, percent
from abstain.rules.tuning.scored_rows import cut_after

# Shares of the rows at which a notebook shows a curve.
_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class CurveKind:
    """What a curve shows.

    Attributes
    ----------
    title : str
    y, x : str
        The names of the arrays of the values and of the shares of the rows.
    ratio : str
        What is undefined if nothing is accepted; empty if the values are not ratios to the accepted rows.
    """

    title: str
    y: str
    x: str = "reject_rate"
    ratio: str = ""

    @property
    def nothing(self) -> float:
        """The share at which nothing is accepted."""
        return 0.0 if self.x == "coverage" else 1.0

    def defined(self, share: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether the curve has a value at each share."""
        return np.asarray((share >= 0) & (share <= 1) & ((share != self.nothing) | (not self.ratio)))


KINDS = {
    "accuracy_reject": CurveKind("Accuracy among accepted rows", "accuracy", ratio="accuracy"),
    "cost": CurveKind("Mean cost", "mean_cost"),
    "error_reject": CurveKind("Error rate", "error_rate"),
    "risk_coverage": CurveKind("Error among accepted rows", "risk", x="coverage", ratio="selective error"),
}


class Curve(ReadOnly):
    """A value by share of the rows; the base class of the four curves."""

    kind: ClassVar[CurveKind]
    total_weight: float

    def _at(self, given: ArrayLike) -> NDArray[np.float64]:
        """Return the values at any shares: what is accepted is linear between two points, which averages ties."""
        share, (x, nothing) = np.asarray(given, dtype=np.float64), (self.kind.x, self.kind.nothing)
        if not ((share >= 0) & (share <= 1)).all():
            raise ValueError(f"{x} must be in [0, 1]; got {share.min():g} to {share.max():g}.")
        if not self.kind.defined(share).all():
            bound = "below 1" if nothing else "above 0"
            raise ValueError(f"{x} must be {bound}: the {self.kind.ratio} is undefined if nothing is accepted.")
        points, values = getattr(self, x), getattr(self, self.kind.y)
        if not self.kind.ratio:
            return np.asarray(np.interp(share, points, values))
        points, sums = np.append(points, nothing), np.append(np.abs(points - nothing) * values, 0.0)
        order = np.argsort(points)
        return np.asarray(np.interp(share, points[order], sums[order]) / np.abs(share - nothing))

    def _repr_html_(self) -> str:
        """Return the curve at a few points as a table, for notebooks."""
        at = np.array(_SHOWN if self.kind.ratio else (*_SHOWN, 1.0))
        at, x = (at, "rejected") if self.kind.nothing else (1.0 - at, "coverage")
        points = [(f"{100 * x:.0f} %", y) for x, y in zip(at.tolist(), self._at(at).tolist(), strict=True)]
        caption = f"{self.kind.title}, of {self.total_weight:,.7g} rows"
        return html_table(caption, (x, self.kind.y.replace("_", " ")), points, self._note())

    def _note(self) -> str:
        return ""

    def to_frame(self) -> DataFrame:
        """The points as a pandas DataFrame; what belongs to the segments between them stands at their start."""
        parts, n = arrays_of(self), len(getattr(self, self.kind.x))
        return frame_of({name: np.append(part, [np.nan] * (n - len(part))) for name, part in parts.items()})


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve(Curve):
    """Error among accepted rows against coverage; see `risk_coverage_curve`.

    Attributes
    ----------
    coverage : ndarray of shape (m,)
        Share of rows accepted, increasing to 1.
    risk : ndarray of shape (m,)
        Error among the accepted rows.
    confidence : ndarray of shape (m,)
        The smallest ``|score - cut|`` accepted, decreasing.
    total_weight : float
        N: the number of rows, or the sum of their weights.
    aurc : float
        The area, as defined by `abstain.metrics.aurc`.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    confidence: NDArray[np.float64]
    total_weight: float
    aurc: float

    kind = KINDS["risk_coverage"]

    def at(self, coverage: ArrayLike) -> NDArray[np.float64]:
        """Risk at any coverage in (0, 1]; tied rows are accepted in part, averaged over their orders."""
        return self._at(coverage)

    def _note(self) -> str:
        return f"Area under the curve (AURC): {self.aurc:.4g}."


@dataclass(frozen=True, eq=False)
class AccuracyRejectCurve(Curve):
    """Accuracy among accepted rows against the reject rate; see `accuracy_reject_curve`.

    Attributes
    ----------
    reject_rate : ndarray of shape (m,)
        Share of rows rejected, increasing from 0; excludes 1, where the accuracy is undefined.
    accuracy : ndarray of shape (m,)
        Accuracy among the accepted rows.
    confidence : ndarray of shape (m,)
        The smallest ``|score - cut|`` accepted, increasing.
    total_weight : float
        N: the number of rows, or the sum of their weights.
    """

    reject_rate: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    confidence: NDArray[np.float64]
    total_weight: float

    kind = KINDS["accuracy_reject"]

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Accuracy at any reject rate in [0, 1); tied rows are rejected in part, averaged over their orders."""
        return self._at(reject_rate)


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve(Curve):
    """Error rate against the reject rate; see `error_reject_curve`.

    Attributes
    ----------
    reject_rate : ndarray of shape (m + 1,)
        Share of the rows rejected, increasing from 0 to 1.
    error_rate : ndarray of shape (m + 1,)
        Errors accepted as a share of all rows, decreasing to 0.
    slope : ndarray of shape (m,)
        The error-reject ratio dE/dR from each point to the next, in [-1, 0].
    confidence : ndarray of shape (m + 1,)
        The smallest ``|score - cut|`` accepted, increasing; inf if nothing is accepted.
    total_weight : float
        N: the number of rows, or the sum of their weights.
    """

    reject_rate: NDArray[np.float64]
    error_rate: NDArray[np.float64]
    slope: NDArray[np.float64]
    confidence: NDArray[np.float64]
    total_weight: float

    kind = KINDS["error_reject"]

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Error rate at any reject rate in [0, 1], linear between the points."""
        return self._at(reject_rate)


@dataclass(frozen=True)
class OperatingPoint:
    """One point of a cost curve, with the thresholds on the score that give it.

    Attributes
    ----------
    reject_rate, mean_cost : float
        Coordinates of the point.
    thresholds : Thresholds
        Symmetric about the cut, halfway between the confidences of the last accepted and the first rejected row.
    """

    reject_rate: float
    mean_cost: float
    thresholds: Thresholds


@dataclass(frozen=True, eq=False)
class CostCurve(Curve):
    """Mean cost against the reject rate; see `cost_curve`.

    Attributes
    ----------
    reject_rate : ndarray of shape (m + 1,)
        Share of the rows rejected, increasing from 0 to 1.
    mean_cost : ndarray of shape (m + 1,)
        Mean cost of all decisions, rejects included.
    confidence : ndarray of shape (m + 1,)
        The smallest ``|score - cut|`` accepted, increasing; inf if nothing is accepted.
    total_weight : float
        N: the number of rows, or the sum of their weights.
    costs : Costs or Actions
        The costs.
    cut : float
        The threshold of the forced choice.
    chosen : int
        Index of the point of least cost; ties go to the fewest rejects.
    """

    reject_rate: NDArray[np.float64]
    mean_cost: NDArray[np.float64]
    confidence: NDArray[np.float64]
    total_weight: float
    costs: CostTable
    cut: float
    chosen: int

    kind = KINDS["cost"]

    @property
    def operating_point(self) -> OperatingPoint:
        """The point of least cost."""
        at, half_width = self.chosen, max(cut_after(self.confidence[:-1], self.chosen), 0.0)
        thresholds = Thresholds(self.cut - half_width, self.cut + half_width)
        return OperatingPoint(float(self.reject_rate[at]), float(self.mean_cost[at]), thresholds)

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Mean cost at any reject rate in [0, 1]; tied rows are rejected in part, averaged over their orders."""
        return self._at(reject_rate)

    def _note(self) -> str:
        best = self.operating_point
        return f"Least: {best.mean_cost:.4g}, if {percent(best.reject_rate)} % are rejected; chosen on these rows."

    def to_frame(self) -> DataFrame:
        """The points as a pandas DataFrame, with the point of least cost marked."""
        return super().to_frame().assign(chosen=np.arange(len(self.mean_cost)) == self.chosen)
