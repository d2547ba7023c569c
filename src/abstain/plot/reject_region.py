"""The decisions of a classifier with two features in the plane: the classes or actions, and where it rejects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.unwrap import FittedClassifier
from abstain.plot.axes import axes_or_new
from abstain.plot.contours import draw_levels, plane
from abstain.plot.palette import BAND, CLASSES, LINE, NEGATIVE, POSITIVE, legend_below
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
        truth, choice = _codes(fitted, y), _codes(fitted, predicted)
        if not truth.all():
            odd = np.asarray(y)[truth == 0].tolist()[0]
            raise ValueError(f"y has the label {odd!r}, which is not one of the classes {fitted.classes}.")
        texts = tuple(map(str, fitted.classes))
        display = cls(xx0, xx1, xx0, (np.nan, np.nan), np.nan, points, truth, choice, texts, columns)
        if len(fitted.classes) > 2:
            display.score = _codes(fitted, estimator.predict(grid)).reshape(xx0.shape).astype(np.float64)
            return display.plot(ax, annotate=annotate)
        display.score = fitted.score(grid).reshape(xx0.shape)
        display.thresholds, display.cut = (fitted.thresholds.lower, fitted.thresholds.upper), fitted.cut
        if isinstance(rule := fitted.rule, ActionRule):
            display.zones = zones_of(rule.costs, rule.thresholds)
            display.forced_cuts = tuple(cut for cut in rule.forced_thresholds.cuts if cut not in rule.thresholds.cuts)
            named = [rule.costs.names[at] for at in rule.thresholds.choices]
            display.choice = np.array([named.index(name) for name in predicted.tolist()], dtype=np.int8)
        return display.plot(ax, annotate=annotate)

    def plot(self, ax: Axes | None = None, *, annotate: bool = False) -> Self:
        """Draw into ``ax``, or a new figure; ``annotate`` labels each line, including f = 0 (A14, figures 4, 5)."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_, several = ax.figure, len(self.classes) > 2
        (self._draw_choices if several else self._draw_scores)(ax, annotate=annotate)
        for at, name in enumerate(self.classes):
            self._scatter(ax, at, name, at + 1 if several else 2 * at - 1)
        for zone in self.zones:
            ax.fill(np.nan, np.nan, facecolor=zone.colour, alpha=zone.alpha, edgecolor=LINE, label=zone.name)
        lower, upper = self.thresholds
        if (self.score == 0).any() or (self.choice == 0).any() if several else lower < upper and not self.zones:
            ax.fill(np.nan, np.nan, facecolor=BAND, edgecolor=LINE, linewidth=1.2, label="reject")
        if not several and (self.forced_cuts or not self.zones):
            ax.plot([], [], color=LINE, linestyle="--", linewidth=1.2, label="cut when forced to decide")
        legend_below(ax)
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        return self

    def _draw_scores(self, ax: Axes, *, annotate: bool) -> None:
        """Fill the zones of one score, and draw the lines between them."""
        (lower, upper), grid = self.thresholds, (self.xx0, self.xx1, self.score)
        regions = [(-np.inf, lower, NEGATIVE, 0.12), (lower, upper, BAND, 1.0), (upper, np.inf, POSITIVE, 0.12)]
        if self.zones:
            regions = [(zone.start, zone.end, zone.colour, zone.alpha) for zone in self.zones]
        for start, end, colour, alpha in regions:
            levels = np.clip([start, end], self.score.min() - 1, self.score.max() + 1)
            if levels[0] < levels[1]:
                ax.contourf(*grid, levels=levels, colors=[colour], alpha=alpha)
        styles = {**({0.0: ":"} if annotate else {}), **{end: "-" for _, end, *_ in regions[:-1]}}
        styles |= dict.fromkeys(self.forced_cuts if self.zones else (self.cut,), "--")
        draw_levels(ax, grid, styles, self.X if annotate else None)

    def _draw_choices(self, ax: Axes, *, annotate: bool) -> None:  # noqa: ARG002 (there are no lines of one score)
        """Fill the region of each choice: 1 to n is a class, 0 a reject."""
        for code in range(len(self.classes) + 1):
            inside = (self.score == code).astype(np.float64)
            if inside.any():
                colour, alpha = (BAND, 1.0) if code == 0 else (CLASSES[(code - 1) % len(CLASSES)][0], 0.15)
                ax.contourf(self.xx0, self.xx1, inside, levels=[0.5, 1.5], colors=[colour], alpha=alpha)
                if not inside.all():
                    ax.contour(self.xx0, self.xx1, inside, levels=[0.5], colors=LINE, linewidths=1.0)

    def _scatter(self, ax: Axes, at: int, name: str, code: int) -> None:
        """Draw the rows of a class, which has this code in `truth` and `choice`, open or filled in turn."""
        rows, (colour, marker) = self.truth == code, CLASSES[at % len(CLASSES)]
        choice = self.choice[rows]
        if self.zones:
            of = np.bincount(choice, minlength=len(self.zones))
            counts = ", ".join(f"{count} {zone.name}" for count, zone in zip(of, self.zones, strict=True))
        else:
            right, rejected = np.sum(choice == code), np.sum(choice == 0)
            counts = f"{right} correct, {len(choice) - right - rejected} wrong, {rejected} rejected"
        style: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5, "s": 34}
        if at % 2 == 0:
            style = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.1, "s": 26}
        ax.scatter(*self.X[rows].T, marker=marker, label=f"{name}: {counts}", zorder=3, **style)


def _codes(fitted: FittedClassifier, labels: Any) -> NDArray[np.int64]:
    """Return -1 and +1 for two classes, 1 to n for more, and 0 for any other label."""
    codes = range(1, len(fitted.classes) + 1) if len(fitted.classes) > 2 else (-1, 1)
    values = np.asarray(labels)
    found = np.zeros(values.shape, dtype=np.int64)
    for code, label in zip(codes, fitted.classes, strict=True):
        found[np.asarray(values == label)] = code
    return found
