"""The plot of the cost curve: mean cost against the reject rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from abstain.comparison.text import stated_costs
from abstain.metrics.curve_results import CostCurve
from abstain.metrics.curves import cost_curve
from abstain.plot.curve import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    x: ClassVar[str] = "reject_rate"
    y: ClassVar[str] = "mean_cost"
    x_label: ClassVar[str] = "reject rate (share of all rows)"
    y_label: ClassVar[str] = "mean cost per row"
    reading: ClassVar[str] = "{:.3g} per row"

    def _y_label(self) -> str:
        return f"{self.y_label}\n({stated_costs(self.curve.costs)})"

    def _references(self, ax: Axes) -> None:
        forced = float(self.curve.mean_cost[0])
        self._reference(ax, [0.0, 1.0], [forced, forced], f"nothing rejected: {forced:.3g} per row", "--")
