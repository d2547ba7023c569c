"""What all displays share: their axes, colours and line styles that work without colour, and the zones of scores."""

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.costs.answers import AnswerTable
from abstain.labels import NO_CLASS
from abstain.rules.deciders import Cuts
from abstain.rules.rule import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from matplotlib.lines import Line2D
else:
    Axes = FigureBase = Line2D = Any  # matplotlib is imported only to draw

__all__ = ["Axes", "Line2D"]  # besides the names that are defined here

# Blue and vermilion can be distinguished with any colour vision (Okabe & Ito); filled and open markers, a grey band and
# line styles carry the same information without colour.
NEGATIVE, POSITIVE, BAND, LINE, FAINT = "#0072B2", "#D55E00", "#DADADA", "#333333", "#8C8C8C"

_COLOURS = (NEGATIVE, POSITIVE, "#009E73", "#CC79A7")
# Colours and markers of several classes, in order; then from the start. Open and filled markers alternate.
CLASSES = tuple(zip((*_COLOURS, "#E69F00", "#56B4E9", "#7A6A00"), "o^sDvPX", strict=True))
# Colours, styles and markers of the curves on one axes, in order; then from the start.
_DASHES: tuple[Any, ...] = ((6, 2), (6, 2, 1.5, 2), (2.5, 1.5), (6, 2, 1.5, 2, 1.5, 2), (1.2, 1.2))
_STYLES = ("-", *((0, dashes) for dashes in _DASHES))
STROKES: Any = tuple(zip((*_COLOURS, "#000000", "#E69F00"), _STYLES, "os^DvP", strict=True))
_DECIDED = (NEGATIVE, "#56B4E9", "#E69F00", POSITIVE)  # on one score, from the first class to the last
_GREYS = (BAND, "#BEBEBE", "#A0A0A0")  # of rejects, from the first to the last; then from the start
_NARROW, _CHARACTER = 4.0, 0.07  # inches
# Identify artists when another curve is drawn into the same axes.
CURVE, REFERENCE, CHOSEN, DECIDED = "abstain-curve", "abstain-reference", "abstain-chosen", "abstain-decided"


@dataclass(eq=False)
class Display:
    """A picture; its `plot` sets the axes `ax_` and the figure `figure_`."""

    ax_: Axes = field(init=False, repr=False)
    figure_: FigureBase = field(init=False, repr=False)

    def _on(self, ax: Axes | None) -> Axes:
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


def new_axes(rows: int = 1) -> Any:
    """Return the axes of a new figure, one, or two above each other; matplotlib is imported only here."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib; install it with: pip install 'abstain[plot]'") from error
    size, shape = ((6.4, 4.8), None) if rows == 1 else ((6.4, 6.0), (3, 2))
    return plt.subplots(rows, figsize=size, height_ratios=shape, layout="constrained")[1]


def curves_on(ax: Axes) -> int:
    """Number of our curves on these axes."""
    return sum(line.get_gid() == CURVE for line in ax.lines)


def quiet(ax: Axes) -> None:
    """Remove the box and add a faint grid in the background."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#E6E6E6", linewidth=0.7)
    ax.set_axisbelow(True)


def mark(colour: str, marker: str, gid: str) -> dict[str, Any]:
    """The style of a marker: filled for the point of least cost, open for the classifier's own thresholds."""
    fill = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.8}
    if gid == DECIDED:
        fill = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.6}
    return {"linestyle": "", "marker": marker, "markersize": 8, "zorder": 5, "gid": gid, **fill}


def legend_inside(ax: Axes) -> None:
    """Add a legend where the curves leave the most room; inside the axes, so that no layout cuts it off.

    A single curve has an entry for each of its markers; with several curves, each kind of marker has one entry.
    """
    from matplotlib.lines import Line2D as Line

    handles = ax.get_legend_handles_labels()[0]
    if curves_on(ax) > 1:
        kinds = {CHOSEN: "least cost on the curve, in hindsight", DECIDED: "its own thresholds"}
        there = {handle.get_gid() for handle in handles}
        handles = [handle for handle in handles if handle.get_gid() not in kinds]
        shown = [Line([], [], label=kinds[gid], **mark(LINE, "o", gid)) for gid in kinds if gid in there]
        handles = [*handles, *shown]
    size = "x-small" if narrow(ax) else "small"
    labels = wrapped(ax, [str(handle.get_label()) for handle in handles])
    ax.legend(handles, labels, framealpha=0.85, edgecolor="none", fontsize=size, handlelength=3.2)


def legend_below(ax: Axes) -> None:
    """Add a legend below the axes, in two columns if there is room for them."""
    handles, labels = ax.get_legend_handles_labels()
    columns = 1 if narrow(ax) else 2
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13 if columns == 2 else -0.2)}
    ax.legend(handles, wrapped(ax, labels), ncols=columns, frameon=False, fontsize="small", **place)


def narrow(ax: Axes) -> bool:
    """Whether the axes are too narrow for a legend with whole lines."""
    return bool(ax.get_window_extent().width / ax.figure.dpi < _NARROW)


def wrapped(ax: Axes, labels: list[str]) -> list[str]:
    """The labels, broken into lines where the axes are narrow."""
    if not narrow(ax):
        return labels
    characters = int(ax.get_window_extent().width / ax.figure.dpi / _CHARACTER) - 6  # the key takes their place
    return [textwrap.fill(label, max(characters, 16)) for label in labels]


@dataclass(frozen=True)
class Zone:
    """An action, how it is drawn, and the scores of two classes for which it is chosen.

    Attributes
    ----------
    name : str
    colour : str
    alpha : float
    start, end : float
        Infinite where the zone does not end; nan if several scores decide.
    answers : int
        The position of the class that it answers, or -1.
    hands_on : bool
        Whether it hands the case on.
    label : object
        What is predicted.
    """

    name: str
    colour: str
    alpha: float
    start: float = np.nan
    end: float = np.nan
    answers: int = NO_CLASS
    hands_on: bool = False
    label: Any = None

    @property
    def taken(self) -> str:
        """The action after a number of rows."""
        return self.name if self.answers == NO_CLASS else f"as {self.name}"

    @property
    def words(self) -> str:
        """The zone in words, for a legend."""
        start, end = (f"{at:.3g}".replace("-", "−") for at in (self.start, self.end))
        if np.isinf(self.start):
            return f"{self.name}: below {end}"
        return f"{self.name}: above {start}" if np.isinf(self.end) else f"{self.name}: {start} to {end}"


def zones_of(rule: Rule) -> tuple[Zone, ...]:
    """Return the actions, on one score from the lowest to the highest; those that hand the case on are grey."""
    levels = rule.decider.levels if isinstance(rule.decider, Cuts) else None
    if levels is not None:
        order, ends = list(levels.choices), (-np.inf, *levels.cuts, np.inf)
    else:
        order = [at for at in range(len(rule.answers)) if rule.labels.rejects or not rule.hands_on[at]]
        ends = (np.nan,) * (len(order) + 1)
    names = (rule.costs or AnswerTable.blank(rule.labels)).titles(rule.labels.classes.tolist())
    zones, greys, others = [], 0, rule.labels.n_classes
    for k, at in enumerate(order):
        answer, name = rule.answers[at], str(names[at])
        if rule.hands_on[at]:
            colour, alpha, greys = _GREYS[greys % len(_GREYS)], 1.0, greys + 1
        elif levels is not None:
            colour, alpha = _DECIDED[round(k / max(len(order) - 1, 1) * (len(_DECIDED) - 1))], 0.15
        else:
            colour, alpha = CLASSES[(others if answer == NO_CLASS else answer) % len(CLASSES)][0], 0.15
            others += answer == NO_CLASS
        zones.append(Zone(name, colour, alpha, ends[k], ends[k + 1], answer, bool(rule.hands_on[at]), rule.names[at]))
    return tuple(zones)
