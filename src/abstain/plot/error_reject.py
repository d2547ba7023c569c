"""The plot of the error-reject curve (Chow70, A14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from abstain.metrics.curve_results import ErrorRejectCurve
from abstain.metrics.curves import error_reject_curve
from abstain.plot.curve import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    x: ClassVar[str] = "reject_rate"
    y: ClassVar[str] = "error_rate"
    x_label: ClassVar[str] = "reject rate (share of all rows)"
    y_label: ClassVar[str] = "error rate (share of all rows)"
    reading: ClassVar[str] = "{:.1%} of all rows wrong"

    def _references(self, ax: Axes) -> None:
        error = float(self.curve.error_rate[0])
        self._reference(ax, [0.0, error, 1.0], [error, 0.0, 0.0], "errors rejected first: slope −1")
        self._reference(
            ax, [0.0, 1.0], [error, 0.0], f"rejected at random: slope {0.0 - error:.2g}".replace("-", "−"), "--"
        )
