"""The decisions of a classifier with two features in the plane: the classes or actions, and where it rejects."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from abstain.estimators.unwrap import FittedClassifier
from abstain.labels import NO_CLASS
from abstain.plot.palette import CLASSES, LINE, Axes, Display, Zone, legend_below, zones_of

Floats = NDArray[np.float64]
_INSIDE = (0.4, 0.45)  # shares of width and height, from the middle; a label closer to the frame would be cut off


@dataclass(eq=False)
class RejectRegionDisplay(Display):
    """The actions of a classifier on a grid, and the rows.

    Parameters
    ----------
    xx0, xx1, score : ndarray of shape (rows, columns)
        Coordinates of the grid, and at each point the score f of two classes; of more, the position in `zones`.
    zones : tuple of Zone
        The actions; of two classes by increasing score, each with the range of f for which it is chosen.
    X : ndarray of shape (n, 2)
        The rows.
    truth, choice : ndarray of shape (n,)
        Positions in `classes` and in `zones`; a choice of -1 is a reject that no zone has.
    classes, feature_names : tuple of str
        Names in the legend and on the axes.
    forced_cuts : tuple of float, default=()
        The cuts of two classes when forced to decide that are not also cuts between zones.

    Examples
    --------
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.plot import RejectRegionDisplay
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["no", "yes", "no", "yes"]
    >>> clf = RejectSVC(Costs(reject=0.2), C=10, kernel="linear").fit(X, y)
    >>> display = RejectRegionDisplay.from_estimator(clf, X, y)
    """

    xx0: Floats
    xx1: Floats
    score: Floats
    zones: tuple[Zone, ...]
    X: Floats
    truth: NDArray[np.intp]
    choice: NDArray[np.intp]
    classes: tuple[str, ...]
    feature_names: tuple[str, str] = ("feature 0", "feature 1")
    forced_cuts: tuple[float, ...] = ()

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
        names, fitted = getattr(X, "columns", ("feature 0", "feature 1")), FittedClassifier.of(estimator)
        rule = fitted.rule_for(len(points))
        truth = _places(y, fitted.classes)
        if (truth < 0).any():
            odd = np.asarray(y)[truth < 0].tolist()[0]
            raise ValueError(f"y has the label {odd!r}, which is not one of the classes {fitted.classes}.")
        xx0, xx1 = _plane(points, grid_resolution, margin)
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        grid = type(X)(grid, columns=names) if hasattr(X, "iloc") else grid
        zones = zones_of(rule)
        labels: list[Any] = [zone.label for zone in zones]
        forced: tuple[float, ...] = ()
        if len(fitted.classes) == 2:
            score, forced = fitted.score(grid), rule.decider.forced.cuts
        else:
            score = _places(estimator.predict(grid), labels).astype(np.float64)
        return cls(
            *(xx0, xx1, score.reshape(xx0.shape), zones, points, truth, _places(estimator.predict(X), labels)),
            classes=tuple(map(str, fitted.classes)),
            feature_names=(str(names[0]), str(names[1])),
            forced_cuts=tuple(cut for cut in forced if cut not in {zone.start for zone in zones}),
        ).plot(ax, annotate=annotate)

    def plot(self, ax: Axes | None = None, *, annotate: bool = False) -> Self:
        """Draw into ``ax``, or a new figure; ``annotate`` labels each line, including f = 0 (A14, figures 4, 5)."""
        ax = self._on(ax)
        if len(self.classes) > 2:
            self._draw_choices(ax)
        else:
            self._draw_scores(ax, annotate=annotate)
        for at, name in enumerate(self.classes):
            self._scatter(ax, at, name)
        seen = len(self.classes) == 2 or np.isin(np.arange(len(self.zones)), [*self.score.flat, *self.choice])
        for zone, found in zip(self.zones, np.broadcast_to(seen, len(self.zones)), strict=True):
            if zone.answers == NO_CLASS and found:
                ax.fill(np.nan, np.nan, facecolor=zone.colour, alpha=zone.alpha, edgecolor=LINE, label=zone.name)
        if self.forced_cuts:
            ax.plot([], [], color=LINE, linestyle="--", linewidth=1.2, label="cut when forced to decide")
        legend_below(ax)
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        return self

    def _draw_scores(self, ax: Axes, *, annotate: bool) -> None:
        """Fill the zones of one score, and draw the lines between them."""
        grid = (self.xx0, self.xx1, self.score)
        for zone in self.zones:
            ends = np.clip([zone.start, zone.end], self.score.min() - 1, self.score.max() + 1)
            if ends[0] < ends[1]:
                ax.contourf(*grid, levels=ends, colors=[zone.colour], alpha=zone.alpha)
        styles = {**({0.0: ":"} if annotate else {}), **{zone.end: "-" for zone in self.zones[:-1]}}
        styles |= dict.fromkeys(self.forced_cuts, "--")
        levels = [level for level in sorted(styles) if self.score.min() < level < self.score.max()]
        if levels:  # matplotlib warns about levels outside the range
            dashes = [styles[level] for level in levels]
            lines = ax.contour(*grid, levels=levels, colors=LINE, linestyles=dashes, linewidths=1.2)
            if annotate:
                _number(ax, lines, self.X)

    def _draw_choices(self, ax: Axes) -> None:
        """Fill the region of each action."""
        for at, zone in enumerate(self.zones):
            inside = (self.score == at).astype(np.float64)
            if inside.any():
                ax.contourf(self.xx0, self.xx1, inside, levels=[0.5, 1.5], colors=[zone.colour], alpha=zone.alpha)
                if not inside.all():
                    ax.contour(self.xx0, self.xx1, inside, levels=[0.5], colors=LINE, linewidths=1.0)

    def _scatter(self, ax: Axes, at: int, name: str) -> None:
        """Draw the rows of a class, open or filled in turn."""
        rows, (colour, marker) = self.truth == at, CLASSES[at % len(CLASSES)]
        choice, hands_on = self.choice[rows], [zone.hands_on for zone in self.zones]
        if sum(hands_on) < 2 and all(zone.hands_on or zone.answers != NO_CLASS for zone in self.zones):
            right = int(np.isin(choice, [k for k, zone in enumerate(self.zones) if zone.answers == at]).sum())
            rejected = int(np.isin(choice, [NO_CLASS, *np.flatnonzero(hands_on)]).sum())
            counts = f"{right} correct, {len(choice) - right - rejected} wrong, {rejected} rejected"
        else:
            counts = ", ".join(f"{np.sum(choice == k)} {zone.taken}" for k, zone in enumerate(self.zones))
        style: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5, "s": 34}
        if at % 2 == 0:
            style = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.1, "s": 26}
        ax.scatter(*self.X[rows].T, marker=marker, label=f"{name}: {counts}", zorder=3, **style)


def _places(labels: Any, known: list[Any]) -> NDArray[np.intp]:
    """Return the position of each label among those that are known; -1 for any other."""
    values = np.asarray(labels)
    found = np.full(values.shape, -1, dtype=np.intp)
    for at, label in enumerate(known):
        found[np.asarray(values == label)] = at
    return found


def _plane(points: Floats, resolution: int, margin: float) -> tuple[Floats, ...]:
    """Coordinates of a grid over the range of the points, extended by the share `margin` on each side."""
    low, high = points.min(axis=0), points.max(axis=0)
    pad = margin * np.where(high > low, high - low, 1.0)
    return tuple(np.meshgrid(*np.linspace(low - pad, high + pad, resolution).T))


def _number(ax: Axes, lines: Any, points: Floats) -> None:
    """Write the level of each line on it, far from the points and from the levels written before."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
    taken = (points - low) / (high - low)  # in shares of the axes, so that distances match what is seen
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        places = (path.vertices - low) / (high - low)
        places = places[(np.abs(places - 0.5) < _INSIDE).all(axis=1)]
        if len(places):
            best = places[np.argmax(KDTree(taken).query(places)[0])]
            taken = np.vstack([taken, best])
            text = f"{level:+.4g}".replace("-", "−") if level else "0"
            x, y = low + best * (high - low)
            ax.text(x, y, text, ha="center", va="center", fontsize="small", bbox=white, zorder=4)
