"""Colours and strokes of all pictures: told apart by every kind of colour vision, and in print without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and vermilion stay apart for every kind of colour vision (Okabe & Ito); filled and open markers, a grey band and
# line styles say the same where there is no colour at all.
NEGATIVE, POSITIVE, BAND, LINE, FAINT = "#0072B2", "#D55E00", "#DADADA", "#333333", "#8C8C8C"

# One stroke per curve on an axes, first to last; then from the start.
_STROKES: tuple[tuple[str, Any, str], ...] = (
    ("#0072B2", "-", "o"),
    ("#D55E00", (0, (6, 2)), "s"),
    ("#009E73", (0, (6, 2, 1.5, 2)), "^"),
    ("#CC79A7", (0, (2.5, 1.5)), "D"),
    ("#000000", (0, (6, 2, 1.5, 2, 1.5, 2)), "v"),
    ("#E69F00", (0, (1.2, 1.2)), "P"),
)
# How artists are known again when the next curve is drawn into the same axes.
CURVE, REFERENCE, CHOSEN, DECIDED = "abstain-curve", "abstain-reference", "abstain-chosen", "abstain-decided"


def next_stroke(ax: Axes) -> tuple[str, Any, str]:
    """Colour, line style and marker for one more curve on these axes."""
    return _STROKES[curves_on(ax) % len(_STROKES)]


def curves_on(ax: Axes) -> int:
    """How many of our curves these axes show."""
    return sum(line.get_gid() == CURVE for line in ax.lines)


def quiet(ax: Axes) -> None:
    """Nothing but the data and two axes: no box, a faint grid behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#E6E6E6", linewidth=0.7)
    ax.set_axisbelow(True)


def mark(colour: str, marker: str, gid: str) -> dict[str, Any]:
    """How a point is marked: filled where the costs choose it, open where the classifier's own thresholds lead."""
    fill = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.8}
    if gid == DECIDED:
        fill = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.6}
    return {"linestyle": "", "marker": marker, "markersize": 8, "zorder": 5, "gid": gid, **fill}


def legend_inside(ax: Axes) -> None:
    """Say what is what where the curves leave most room; inside, so that no layout cuts it off.

    One curve is told with its points; of several each has one line, and the two kinds of points one for all.
    """
    from matplotlib.lines import Line2D

    handles = ax.get_legend_handles_labels()[0]
    if curves_on(ax) > 1:
        kinds = {CHOSEN: "least cost on the curve", DECIDED: "its own thresholds"}
        there = {handle.get_gid() for handle in handles}
        handles = [handle for handle in handles if handle.get_gid() not in kinds]
        shown = [Line2D([], [], label=kinds[gid], **mark(LINE, "o", gid)) for gid in kinds if gid in there]
        handles = [*handles, *shown]
    ax.legend(handles=handles, framealpha=0.85, edgecolor="none", fontsize="small", handlelength=3.2)
