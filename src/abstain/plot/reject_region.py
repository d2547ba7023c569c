"""The decisions of a classifier with two features in the plane: the classes or actions, and where it rejects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.class_labels import ClassLabels
from abstain.estimators.unwrap import FittedClassifier
from abstain.plot.axes import axes_or_new
from abstain.plot.class_region import draw_classes
from abstain.plot.contours import draw_levels, plane
from abstain.plot.palette import BAND, LINE, NEGATIVE, POSITIVE, legend_below
from abstain.plot.zones import Zone, zones_of
from abstain.rules.action_rule import ActionRule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase


@dataclass(eq=False)
class RejectRegionDisplay:
    """Scores f on a grid, the thresholds, and the rows.

    Parameters
    ----------
    xx0, xx1, score : ndarray of shape (rows, columns)
        Coordinates of the grid, and f at each point.
    thresholds : pair of float
        Reject where ``thresholds[0] <= f <= thresholds[1]``; equal thresholds reject nothing.
    cut : float
        The threshold of the forced choice: ``classes[1]`` is cheaper above it.
    X : ndarray of shape (n, 2)
        The rows.
    truth, choice : ndarray of shape (n,)
        -1 for ``classes[0]``, +1 for ``classes[1]``; a choice of 0 is a reject.
    classes, feature_names : tuple of str
        Names in the legend and on the axes.
    zones : tuple of Zone, default=()
        For `Actions`, one zone of scores for each action that is ever chosen, by increasing score; `choice` is then a
        position in it, and `thresholds` are the outermost cuts.
    forced_cuts : tuple of float, default=()
        For `Actions`, the cuts of the forced choice that are not also cuts between zones, in place of `cut`.

    With more than two classes, `score` has the choice at each point of the grid, and `truth` and `choice` those of the
    rows: 1 to n for a class, 0 for a reject. `thresholds` and `cut` are then nan.

    Examples
    --------
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.plot import RejectRegionDisplay
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["no", "yes", "no", "yes"]
    >>> clf = RejectSVC(Costs(reject=0.2), C=10, kernel="linear").fit(X, y)
    >>> display = RejectRegionDisplay.from_estimator(clf, X, y)
    """

    xx0: NDArray[np.float64]
    xx1: NDArray[np.float64]
    score: NDArray[np.float64]
    thresholds: tuple[float, float]
    cut: float
    X: NDArray[np.float64]
    truth: NDArray[np.integer[Any]]
    choice: NDArray[np.integer[Any]]
    classes: tuple[str, ...]
    feature_names: tuple[str, str] = ("feature 0", "feature 1")
    zones: tuple[Zone, ...] = ()
    forced_cuts: tuple[float, ...] = ()
    ax_: Axes = field(init=False, repr=False)
    figure_: FigureBase = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        grid_resolution: int = 200,
        margin: float = 0.06,
        annotate: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the decisions of a fitted RejectSVC, or a Pipeline that ends in one, around the rows (X, y).

        ``grid_resolution`` points along each axis cover the range of X, extended by the share ``margin`` on each side.
        """
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X must have two features to be drawn in the plane; its shape is {points.shape}.")
        names, fitted = getattr(X, "columns", ("feature 0", "feature 1")), FittedClassifier.of_any(estimator)
        columns = (str(names[0]), str(names[1]))
        predicted = np.asarray(estimator.predict(X))
        xx0, xx1 = plane(points, grid_resolution, margin)
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        grid = type(X)(grid, columns=names) if hasattr(X, "iloc") else grid
        if len(fitted.classes) > 2:
            labels = ClassLabels.named(fitted.classes, reject_label=fitted.reject_label, rejects=True)
            region, *rows = (labels.codes(values) for values in (estimator.predict(grid), y, predicted))
            plane_of = region.reshape(xx0.shape).astype(np.float64)
            texts = tuple(map(str, fitted.classes))
            display = cls(xx0, xx1, plane_of, (np.nan, np.nan), np.nan, points, rows[0], rows[1], texts, columns)
            return display.plot(ax, annotate=annotate)
        negative, positive = fitted.classes
        score = fitted.score(grid).reshape(xx0.shape)
        thresholds = (fitted.thresholds.lower, fitted.thresholds.upper)
        truth = np.where(np.asarray(y) == positive, 1, -1).astype(np.int8)
        choice = (predicted == positive).astype(np.int8) - (predicted == negative).astype(np.int8)
        zones: tuple[Zone, ...] = ()
        forced: tuple[float, ...] = ()
        if isinstance(rule := fitted.rule, ActionRule):
            zones = zones_of(rule.costs, rule.thresholds)
            forced = tuple(cut for cut in rule.forced_thresholds.cuts if cut not in rule.thresholds.cuts)
            named = [rule.costs.names[at] for at in rule.thresholds.choices]
            choice = np.array([named.index(name) for name in predicted.tolist()], dtype=np.int8)
        classes = (str(negative), str(positive))
        display = cls(xx0, xx1, score, thresholds, fitted.cut, points, truth, choice, classes, columns, zones, forced)
        return display.plot(ax, annotate=annotate)

    def plot(self, ax: Axes | None = None, *, annotate: bool = False) -> Self:
        """Draw into ``ax``, or a new figure; ``annotate`` labels each line, including f = 0 (A14, figures 4, 5)."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_, (lower, upper) = ax.figure, self.thresholds
        if len(self.classes) > 2:
            rows: dict[str, Any] = {"truth": self.truth, "choice": self.choice, "names": self.classes}
            draw_classes(ax, (self.xx0, self.xx1, self.score), self.X, **rows)
            return self._finish(ax)
        least, most = self.score.min(), self.score.max()
        regions = [(-np.inf, lower, NEGATIVE, 0.12), (lower, upper, BAND, 1.0), (upper, np.inf, POSITIVE, 0.12)]
        if self.zones:
            regions = [(zone.start, zone.end, zone.colour, zone.alpha) for zone in self.zones]
        for start, end, colour, alpha in regions:
            levels = np.clip([start, end], least - 1, most + 1)
            if levels[0] < levels[1]:
                ax.contourf(self.xx0, self.xx1, self.score, levels=levels, colors=[colour], alpha=alpha)
        styles = {**({0.0: ":"} if annotate else {}), **{end: "-" for _, end, *_ in regions[:-1]}}
        forced = self.forced_cuts if self.zones else (self.cut,)
        styles |= dict.fromkeys(forced, "--")
        draw_levels(ax, (self.xx0, self.xx1, self.score), styles, self.X if annotate else None)
        self._scatter(ax, -1, marker="o", facecolor="none", edgecolor=NEGATIVE, linewidth=1.1, s=26)
        self._scatter(ax, 1, marker="^", facecolor=POSITIVE, edgecolor="white", linewidth=0.5, s=34)
        for zone in self.zones:
            ax.fill(np.nan, np.nan, facecolor=zone.colour, alpha=zone.alpha, edgecolor=LINE, label=zone.name)
        if lower < upper and not self.zones:
            ax.fill(np.nan, np.nan, facecolor=BAND, edgecolor=LINE, linewidth=1.2, label="reject")
        if forced:
            ax.plot([], [], color=LINE, linestyle="--", linewidth=1.2, label="cut when forced to decide")
        return self._finish(ax)

    def _finish(self, ax: Axes) -> Self:
        legend_below(ax)
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        return self

    def _scatter(self, ax: Axes, sign: int, **marker: Any) -> None:
        rows = self.truth == sign
        choice = sign * self.choice[rows]
        if self.zones:
            of = np.bincount(self.choice[rows], minlength=len(self.zones))
            counts = ", ".join(f"{count} {zone.name}" for count, zone in zip(of, self.zones, strict=True))
        else:
            counts = f"{np.sum(choice > 0)} correct, {np.sum(choice < 0)} wrong, {np.sum(choice == 0)} rejected"
        ax.scatter(*self.X[rows].T, label=f"{self.classes[sign > 0]}: {counts}", zorder=3, **marker)
