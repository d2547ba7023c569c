"""The four curve displays: accuracy-reject (FR02), error-reject (Chow70, A14), risk-coverage, and cost."""

import numpy as np

from abstain.plot.curve import CurveDisplay
from abstain.plot.palette import Axes


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

    kind = "accuracy_reject"
    y_label = "accuracy (share of accepted rows)"
    reading = "{:.1%} of the rest correct"

    def _references(self, ax: Axes) -> None:
        accuracy = float(self.curve.accuracy[0])
        rejected = np.linspace(0.0, 1.0 - accuracy, 50) if accuracy > 0 else np.zeros(1)
        best = np.append(accuracy / (1.0 - rejected) if accuracy > 0 else 0.0, 1.0)
        self._reference(ax, np.append(rejected, 1.0), best, "errors rejected first")
        self._reference(ax, [0.0, 1.0], [accuracy, accuracy], "rejected at random", "--")


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

    kind = "error_reject"
    y_label = "error rate (share of all rows)"
    reading = "{:.1%} of all rows wrong"

    def _references(self, ax: Axes) -> None:
        error = float(self.curve.error_rate[0])
        self._reference(ax, [0.0, error, 1.0], [error, 0.0, 0.0], "errors rejected first: slope −1")
        slope = f"{0.0 - error:.2g}".replace("-", "−")
        self._reference(ax, [0.0, 1.0], [error, 0.0], f"rejected at random: slope {slope}", "--")


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

    kind = "risk_coverage"
    y_label = "error (share of accepted rows)"
    reading = "{:.1%} of the rest wrong"

    def _label(self) -> str:
        return super()._label().removesuffix(")") + f", AURC {self.curve.aurc:.3g})"

    def _references(self, ax: Axes) -> None:
        error = float(self.curve.risk[-1])
        coverage = np.append(0.0, np.linspace(max(1.0 - error, 1e-9), 1.0, 50))
        best = np.append(error == 1.0, (coverage[1:] - (1.0 - error)) / coverage[1:])
        self._reference(ax, coverage, np.maximum(best, 0.0), "errors accepted last")
        self._reference(ax, [0.0, 1.0], [error, error], "accepted at random", "--")


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

    kind = "cost"
    y_label = "mean cost per row"
    reading = "{:.3g} per row"

    def _references(self, ax: Axes) -> None:
        forced = float(self.curve.mean_cost[0])
        self._reference(ax, [0.0, 1.0], [forced, forced], f"nothing rejected: {forced:.3g} per row", "--")
