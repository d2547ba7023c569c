"""Code shared by the curve displays: a line, its band, its markers, and several models on the same axes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from abstain.costs.table import CostTable
from abstain.estimators.unwrap import FittedClassifier, decide
from abstain.metrics import curves
from abstain.metrics.bands import CurveBand, bootstrap_band
from abstain.metrics.curve_results import KINDS
from abstain.metrics.outcomes import Outcomes, read
from abstain.metrics.tables import counted
from abstain.plot import palette
from abstain.plot.palette import Axes, Display, Line2D

Point = tuple[float, float]
_SHARES = {"reject_rate": "reject rate (share of all rows)", "coverage": "coverage (share of all rows accepted)"}
# What each curve shows, in a table of counts.
_RATES = {"accuracy_reject": "selective_accuracy", "error_reject": "error_rate", "risk_coverage": "selective_error"}


@dataclass(eq=False)
class CurveDisplay(Display):
    """A curve with its markers; the base class of the curve displays.

    Parameters
    ----------
    curve : object
        The result of the curve's function in `abstain.metrics`.
    name : str, default=None
        Name of the model in the legend.
    band : CurveBand, default=None
        From `abstain.metrics.bootstrap_band`.
    chosen : (float, float), default=None
        The point of least cost on the curve; chosen using the labels, so optimistic.
    decided : (float, float), default=None
        The point given by the classifier's own thresholds. It is off the curve if they are not symmetric about the cut.

    Attributes
    ----------
    line_, band_, marks_ : Line2D, FillBetweenPolyCollection or None, list of Line2D
        The artists drawn by `plot`.
    ax_, figure_ : Axes, Figure
        The axes and figure they are on.
    """

    curve: Any
    name: str | None = None
    band: CurveBand | None = None
    chosen: Point | None = None
    decided: Point | None = None
    line_: Line2D = field(init=False, repr=False)
    band_: Any = field(init=False, repr=False)
    marks_: list[Line2D] = field(init=False, repr=False)

    # set by each subclass: the name of its function in `abstain.metrics` and of its kind, and texts
    kind: ClassVar[str]
    y_label: ClassVar[str]
    reading: ClassVar[str]

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        costs: CostTable | None = None,
        *,
        cut: float = 0.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        row_costs: Any = None,
        name: str | None = None,
        band: float | None = None,
        n_resamples: int = 1000,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of scores.

        Parameters
        ----------
        y_true, score, cut, pos_label, sample_weight
            As for the curve's function in `abstain.metrics`.
        costs : Costs or Actions, default=None
            Costs, whose cheapest point on the curve is marked; required for a cost curve, or `row_costs`.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `cost_curve`.
        name : str, default=None
            Name of the model in the legend.
        band : float, default=None
            Level of a bootstrap band around the curve, such as 0.95; None for no band.
        n_resamples : int, default=1000
            Number of resamples for the band.
        ax : matplotlib Axes, default=None
            Where to draw; pass the axes of another display to draw both models in one plot. None makes a new figure.
        """
        given, prices = {"cut": cut, "pos_label": pos_label, "sample_weight": sample_weight}, (costs, row_costs)
        return cls._of(y_true, score, prices, name, (band, n_resamples), **given).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        costs: CostTable | None = None,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        row_costs: Any = None,
        name: str | None = None,
        band: float | None = None,
        n_resamples: int = 1000,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of a fitted classifier, or of a Pipeline or a search that ends in one.

        The score is its decision function, or its probability if it has none, with the threshold of its forced choice.
        If no costs are given, its own are used. If it rejects, its own decisions are marked too. Rows with costs of
        their own are rejected by the distance of their score from their own cut. `Actions` have curves if they are an
        answer for each class and one reject.

        Parameters
        ----------
        estimator : classifier
            Fitted. With more than two classes, rows are rejected by the lead of the highest score over the second.
        X, y : array-like
            Rows, preferably held-out, and their labels.
        costs, sample_weight, name, band, n_resamples, ax
            As in `from_predictions`; the default name is the class of the classifier.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `RejectSVC.predict`.
        pos_label : label, default=None
            The positive class; by default the classifier's own, or ``classes_[1]``.
        """
        fitted = FittedClassifier.of(estimator, pos_label)
        own, score, by_row, cut = fitted.costs, fitted.score(X), row_costs is not None, 0.0
        rule: Any = fitted.rule_for(len(np.asarray(y)), row_costs) if by_row or fitted.rule is not None else None
        used = rule.costs if by_row else own if costs is None else costs
        given: dict[str, Any] = {"sample_weight": sample_weight, "classes": tuple(fitted.classes)}
        given["pos_label"] = fitted.positive
        if len(fitted.classes) > 2:
            score = fitted.class_scores(score, rule)
        else:
            distance, own_cut = (score - rule.cut, 0.0) if by_row else (score, fitted.cut)
            score, cut = fitted.towards_positive(distance, own_cut)
        display = cls._of(y, score, (used, None), name or fitted.name, (band, n_resamples), cut=cut, **given)
        if fitted.rejects:
            if costs not in (None, own):
                rule.labels.refuse_actions(
                    "costs must be left out: the estimator chooses between actions, which only its own costs name; use "
                    "from_predictions with its decision_function for others."
                )
            predicted = decide(estimator, X, rule.costs).label if by_row else estimator.predict(X)
            outcomes = read(y, np.asarray(predicted), used, reject_label=fitted.reject_label, **given)
            display.decided = cls._decided(outcomes)
        return display.plot(ax)

    @classmethod
    def _of(cls, y: Any, score: Any, costs: Any, name: str | None, band: tuple[Any, int], **given: Any) -> Self:
        """Compute the curve, its band and the point of least cost, at `costs` and `row_costs`."""
        prices = {"costs": costs[0], "row_costs": costs[1]}
        own = given | (prices if cls.kind == "cost" else {})
        curve, (level, count) = getattr(curves, f"{cls.kind}_curve")(y, score, **own), band
        settings = {"level": level, "n_resamples": count}
        display = cls(curve, name, None if level is None else bootstrap_band(cls.kind, y, score, **settings, **own))
        if costs != (None, None):
            rejected = curves.cost_curve(y, score, **prices, **given).operating_point.reject_rate
            x = rejected if curve.kind.nothing else 1.0 - rejected
            display.chosen = (x, float(curve.at(x))) if curve.kind.defined(np.asarray(x)) else None
        return display

    @classmethod
    def _decided(cls, outcomes: Outcomes) -> Point | None:
        """The point of these decisions; None if nothing is accepted and the curve is undefined there."""
        table = counted(outcomes)
        y = outcomes.mean_cost if cls.kind == "cost" else getattr(table, _RATES[cls.kind])
        return (getattr(table, KINDS[cls.kind].x), y) if np.isfinite(y) else None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, next to any curves there, or into a new figure."""
        ax = self._on(ax)
        before = palette.curves_on(ax)
        colour, style, marker = palette.STROKES[before % len(palette.STROKES)]
        shown = {"color": colour, "linestyle": style, "label": self._label(), "gid": palette.CURVE}
        own = getattr(self.curve, self.curve.kind.x)
        x = np.union1d(own, np.linspace(own[0], own[-1], 201))  # between its points the curve is not always straight
        self.line_ = ax.plot(x, self.curve.at(x), linewidth=1.8, **shown)[0]
        ends = None if self.band is None else (self.band.grid, self.band.lower, self.band.upper)
        self.band_ = None if ends is None else ax.fill_between(*ends, color=colour, alpha=0.16, linewidth=0)
        marks = (palette.CHOSEN, self.chosen), (palette.DECIDED, self.decided)
        self.marks_ = [self._mark(ax, gid, at, palette.mark(colour, marker, gid)) for gid, at in marks if at]
        if before == 0:
            self._axes(ax)
            self._references(ax)
        else:  # the reference lines apply only to a single curve
            for line in [line for line in ax.lines if line.get_gid() == palette.REFERENCE]:
                line.remove()
        palette.legend_inside(ax)
        return self

    def _mark(self, ax: Axes, gid: str, at: Point, style: dict[str, Any]) -> Line2D:
        what = "least on the curve, in hindsight" if gid == palette.CHOSEN else "its own thresholds"
        rejected = at[0] if self.curve.kind.nothing else 1.0 - at[0]
        words = f"{what}: {self._count(rejected)} rejected, {self.reading.format(at[1])}"
        return ax.plot([at[0]], [at[1]], label=words, **style)[0]

    def _label(self) -> str:
        band = "" if self.band is None else f", {100 * self.band.level:.3g}% band"
        return f"{self.name or 'model'} ({self._count(1.0)}{band})"

    def _count(self, share: float) -> str:
        """A share of the rows as a number of rows, or as a weight if the total weight is not an integer."""
        total = float(self.curve.total_weight)
        return f"{share * total:,.0f} rows" if total.is_integer() else f"weight {share * total:,.4g}"

    def _axes(self, ax: Axes) -> None:
        from matplotlib.ticker import PercentFormatter

        palette.quiet(ax)
        ax.set(xlabel=_SHARES[self.curve.kind.x], ylabel=self.y_label, xlim=(-0.01, 1.01))
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        if self.kind == "cost":
            ax.set_ylabel(f"{self.y_label}\n({self.curve.costs.in_words()})")
        else:
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        level = np.asarray(self.line_.get_ydata(), dtype=np.float64)
        if np.ptp(level) == 0:  # a flat line alone gives the axis no scale
            ax.update_datalim([(0.0, level[0] + (0.05 if level[0] < 0.5 else -0.05))])
            ax.autoscale_view()

    def _references(self, ax: Axes) -> None:
        """Reference lines for a single curve."""

    def _reference(self, ax: Axes, x: ArrayLike, y: ArrayLike, label: str, style: str = ":") -> None:
        ax.plot(x, y, color=palette.FAINT, linestyle=style, linewidth=1.2, zorder=1, label=label, gid=palette.REFERENCE)
