"""Results of the curve functions: read-only arrays, and evaluation between their points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.html import html_table, percent
from abstain.metrics.frames import frame_of

# Shares of the rows at which a notebook shows a curve.
_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)

__all__ = ["AccuracyRejectCurve", "CostCurve", "ErrorRejectCurve", "OperatingPoint", "RiskCoverageCurve"]


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve:
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

    def at(self, coverage: ArrayLike) -> NDArray[np.float64]:
        """Risk at any coverage in (0, 1]; tied rows are accepted in part, averaged over their orders."""
        share = _checked_shares("coverage", coverage)
        if not (share > 0).all():
            raise ValueError("coverage must be above 0: the selective error is undefined if nothing is accepted.")
        wrong = np.interp(share, np.append(0.0, self.coverage), np.append(0.0, self.coverage * self.risk))
        return np.asarray(wrong / share)

    def _repr_html_(self) -> str:
        """Return the curve at a few points as a table, for notebooks."""
        note = f"Area under the curve (AURC): {self.aurc:.4g}."
        return _shown("Error among accepted rows", ("coverage", "risk"), self, np.subtract(1.0, _SHOWN), note)

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame."""
        return frame_of({"coverage": self.coverage, "risk": self.risk, "confidence": self.confidence})


@dataclass(frozen=True, eq=False)
class AccuracyRejectCurve:
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

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Accuracy at any reject rate in [0, 1); tied rows are rejected in part, averaged over their orders."""
        share = _checked_shares("reject_rate", reject_rate)
        if not (share < 1).all():
            raise ValueError("reject_rate must be below 1: the accuracy is undefined if nothing is accepted.")
        right = (1.0 - self.reject_rate) * self.accuracy
        accepted_right = np.interp(share, np.append(self.reject_rate, 1.0), np.append(right, 0.0))
        return np.asarray(accepted_right / (1.0 - share))

    def _repr_html_(self) -> str:
        """Return the curve at a few points as a table, for notebooks."""
        return _shown("Accuracy among accepted rows", ("rejected", "accuracy"), self, _SHOWN)

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame."""
        return frame_of({"reject_rate": self.reject_rate, "accuracy": self.accuracy, "confidence": self.confidence})


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve:
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

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Error rate at any reject rate in [0, 1], linear between the points."""
        return np.asarray(np.interp(_checked_shares("reject_rate", reject_rate), self.reject_rate, self.error_rate))

    def _repr_html_(self) -> str:
        """Return the curve at a few points as a table, for notebooks."""
        return _shown("Error rate", ("rejected", "error rate"), self, (*_SHOWN, 1.0))

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame, with the slope to the next point; nan at the last."""
        columns = {"reject_rate": self.reject_rate, "error_rate": self.error_rate}
        return frame_of({**columns, "slope": np.append(self.slope, np.nan), "confidence": self.confidence})


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
class CostCurve:
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

    @property
    def operating_point(self) -> OperatingPoint:
        """The point of least cost."""
        half_width = self._half_width(self.chosen)
        return OperatingPoint(
            reject_rate=float(self.reject_rate[self.chosen]),
            mean_cost=float(self.mean_cost[self.chosen]),
            thresholds=Thresholds(self.cut - half_width, self.cut + half_width),
        )

    def at(self, reject_rate: ArrayLike) -> NDArray[np.float64]:
        """Mean cost at any reject rate in [0, 1]; tied rows are rejected in part, averaged over their orders."""
        return np.asarray(np.interp(_checked_shares("reject_rate", reject_rate), self.reject_rate, self.mean_cost))

    def _repr_html_(self) -> str:
        """Return the curve at a few points as a table, for notebooks."""
        best = self.operating_point
        note = f"Least: {best.mean_cost:.4g}, if {percent(best.reject_rate)} % are rejected; chosen on these rows."
        return _shown("Mean cost", ("rejected", "mean cost"), self, (*_SHOWN, 1.0), note)

    def to_frame(self) -> Any:
        """The points as a pandas DataFrame, with the point of least cost marked."""
        columns = {"reject_rate": self.reject_rate, "mean_cost": self.mean_cost, "confidence": self.confidence}
        return frame_of({**columns, "chosen": np.arange(len(self.mean_cost)) == self.chosen})

    def _half_width(self, at: int) -> float:
        """D of the rule "reject where |score - cut| <= D"; 0 if nothing is rejected."""
        if at == 0:
            return 0.0
        if at == len(self.confidence) - 1:
            return math.inf
        # halfway, and strictly below the accepted one even if the two are adjacent floats
        rejected, accepted = float(self.confidence[at - 1]), float(self.confidence[at])
        return min(rejected / 2 + accepted / 2, math.nextafter(accepted, 0.0))


def _checked_shares(name: str, value: ArrayLike) -> NDArray[np.float64]:
    share = np.asarray(value, dtype=np.float64)
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"{name} must be in [0, 1]; got {share.min():g} to {share.max():g}.")
    return share


def _shown(title: str, columns: tuple[str, str], curve: Any, shares: ArrayLike, note: str = "") -> str:
    at = np.asarray(shares, dtype=np.float64)
    points = [(f"{100 * share:.0f} %", value) for share, value in zip(at.tolist(), curve.at(at).tolist(), strict=True)]
    return html_table(f"{title}, of {curve.total_weight:,.7g} rows", columns, points, note)
