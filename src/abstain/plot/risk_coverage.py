"""The plot of the risk-coverage curve: the error among accepted rows against coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from abstain.metrics.curve_results import RiskCoverageCurve
from abstain.metrics.curves import risk_coverage_curve
from abstain.plot.curve import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
