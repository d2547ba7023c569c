"""The four curve displays: accuracy-reject (FR02), error-reject (Chow70, A14), risk-coverage, and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from abstain.comparison.text import stated_costs
from abstain.metrics.curve_results import AccuracyRejectCurve, CostCurve, ErrorRejectCurve, RiskCoverageCurve
from abstain.metrics.curves import accuracy_reject_curve, cost_curve, error_reject_curve, risk_coverage_curve
from abstain.plot.curve import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AccuracyRejectDisplay", "CostCurveDisplay", "ErrorRejectDisplay", "RiskCoverageDisplay"]


@dataclass(eq=False)
class AccuracyRejectDisplay(CurveDisplay):
    """Accuracy among accepted rows against the reject rate.

    A single curve is drawn with two reference lines: rejecting at random, and rejecting errors first.

    Parameters
    ----------
    curve : AccuracyRejectCurve
        From `abstain.metrics.accuracy_reject_curve`.
    name, band, chosen, decided
        As in every curve display; `from_predictions` and `from_estimator` set them.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.plot import AccuracyRejectDisplay
    >>> y, score = [0, 1, 1, 0, 1], [-3.0, -2.0, 1.0, -1.0, 4.0]
    >>> display = AccuracyRejectDisplay.from_predictions(y, score, Costs(reject=0.2), name="svm")
    """

    curve: AccuracyRejectCurve

    kind: ClassVar[str] = "accuracy_reject"
    measure = staticmethod(accuracy_reject_curve)
    y: ClassVar[str] = "accuracy"
    y_label: ClassVar[str] = "accuracy (share of accepted rows)"
    reading: ClassVar[str] = "{:.1%} of the rest correct"
    of_accepted: ClassVar[bool] = True

    def _references(self, ax: Axes) -> None:
        accuracy = float(self.curve.accuracy[0])
        rejected = np.linspace(0.0, 1.0 - accuracy, 50) if accuracy > 0 else np.zeros(1)
        best = np.append(accuracy / (1.0 - rejected) if accuracy > 0 else 0.0, 1.0)
        self._reference(ax, np.append(rejected, 1.0), best, "errors rejected first")
        self._reference(ax, [0.0, 1.0], [accuracy, accuracy], "rejected at random", "--")


@dataclass(eq=False)
class ErrorRejectDisplay(CurveDisplay):
    """Error rate against the reject rate; a reject does not count as an error.

    The slope of the curve is minus the share of newly rejected rows that would have been wrong. A single curve is drawn
    with two reference lines: rejecting at random, and rejecting only errors, with slope -1.

    Parameters
    ----------
    curve : ErrorRejectCurve
        From `abstain.metrics.error_reject_curve`.
    name, band, chosen, decided
        As in every curve display; `from_predictions` and `from_estimator` set them.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.plot import ErrorRejectDisplay
    >>> y, score = [0, 1, 1, 0, 1], [-3.0, -2.0, 1.0, -1.0, 4.0]
    >>> display = ErrorRejectDisplay.from_predictions(y, score, Costs(reject=0.2), name="svm")
    """

    curve: ErrorRejectCurve

    kind: ClassVar[str] = "error_reject"
    measure = staticmethod(error_reject_curve)
    y: ClassVar[str] = "error_rate"
    y_label: ClassVar[str] = "error rate (share of all rows)"
    reading: ClassVar[str] = "{:.1%} of all rows wrong"

    def _references(self, ax: Axes) -> None:
        error = float(self.curve.error_rate[0])
        self._reference(ax, [0.0, error, 1.0], [error, 0.0, 0.0], "errors rejected first: slope −1")
        slope = f"{0.0 - error:.2g}".replace("-", "−")
        self._reference(ax, [0.0, 1.0], [error, 0.0], f"rejected at random: slope {slope}", "--")


@dataclass(eq=False)
class RiskCoverageDisplay(CurveDisplay):
    """Error among accepted rows against coverage, with the area under it, AURC, in the legend.

    A single curve is drawn with two reference lines: accepting at random, and accepting errors last.

    Parameters
    ----------
    curve : RiskCoverageCurve
        From `abstain.metrics.risk_coverage_curve`.
    name, band, chosen, decided
        As in every curve display; `from_predictions` and `from_estimator` set them.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.plot import RiskCoverageDisplay
    >>> y, score = [0, 1, 1, 0, 1], [-3.0, -2.0, 1.0, -1.0, 4.0]
    >>> display = RiskCoverageDisplay.from_predictions(y, score, Costs(reject=0.2), name="svm")
    """

    curve: RiskCoverageCurve

    kind: ClassVar[str] = "risk_coverage"
    measure = staticmethod(risk_coverage_curve)
    x: ClassVar[str] = "coverage"
    y: ClassVar[str] = "risk"
    x_label: ClassVar[str] = "coverage (share of all rows accepted)"
    y_label: ClassVar[str] = "error (share of accepted rows)"
    reading: ClassVar[str] = "{:.1%} of the rest wrong"
    of_accepted: ClassVar[bool] = True

    def _label(self) -> str:
        return super()._label().removesuffix(")") + f", AURC {self.curve.aurc:.3g})"

    def _references(self, ax: Axes) -> None:
        error = float(self.curve.risk[-1])
        coverage = np.append(0.0, np.linspace(max(1.0 - error, 1e-9), 1.0, 50))
        best = np.append(error == 1.0, (coverage[1:] - (1.0 - error)) / coverage[1:])
        self._reference(ax, coverage, np.maximum(best, 0.0), "errors accepted last")
        self._reference(ax, [0.0, 1.0], [error, error], "accepted at random", "--")


@dataclass(eq=False)
class CostCurveDisplay(CurveDisplay):
    """Mean cost of all decisions, rejects included, against the reject rate.

    It starts at the forced choice and ends where everything is rejected. A single curve is drawn with a line at the
    cost of the forced choice, which shows what rejecting saves.

    Parameters
    ----------
    curve : CostCurve
        From `abstain.metrics.cost_curve`.
    name, band, chosen, decided
        As in every curve display; `from_predictions` and `from_estimator` set them.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.plot import CostCurveDisplay
    >>> y, score = [0, 1, 1, 0, 1], [-3.0, -2.0, 1.0, -1.0, 4.0]
    >>> display = CostCurveDisplay.from_predictions(y, score, Costs(reject=0.2), name="svm")
    """

    curve: CostCurve

    kind: ClassVar[str] = "cost"
    measure = staticmethod(cost_curve)
    y: ClassVar[str] = "mean_cost"
    y_label: ClassVar[str] = "mean cost per row"
    reading: ClassVar[str] = "{:.3g} per row"

    def _y_label(self) -> str:
        return f"{self.y_label}\n({stated_costs(self.curve.costs)})"

    def _references(self, ax: Axes) -> None:
        forced = float(self.curve.mean_cost[0])
        self._reference(ax, [0.0, 1.0], [forced, forced], f"nothing rejected: {forced:.3g} per row", "--")
