"""The plot of the accuracy-reject curve (FR02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from abstain.metrics.curve_results import AccuracyRejectCurve
from abstain.metrics.curves import accuracy_reject_curve
from abstain.plot.curve import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    x: ClassVar[str] = "reject_rate"
    y: ClassVar[str] = "accuracy"
    x_label: ClassVar[str] = "reject rate (share of all rows)"
    y_label: ClassVar[str] = "accuracy (share of accepted rows)"
    reading: ClassVar[str] = "{:.1%} of the rest correct"
    of_accepted: ClassVar[bool] = True

    def _references(self, ax: Axes) -> None:
        accuracy = float(self.curve.accuracy[0])
        rejected = np.linspace(0.0, 1.0 - accuracy, 50) if accuracy > 0 else np.zeros(1)
        best = np.append(accuracy / (1.0 - rejected) if accuracy > 0 else 0.0, 1.0)
        self._reference(ax, np.append(rejected, 1.0), best, "errors rejected first")
        self._reference(ax, [0.0, 1.0], [accuracy, accuracy], "rejected at random", "--")
