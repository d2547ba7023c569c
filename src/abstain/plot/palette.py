"""Colours and line styles of all plots, distinguishable with any colour vision and in black and white."""

from __future__ import annotations

import textwrap
from typing import Any

from abstain.plot.display import Axes

# Blue and vermilion can be distinguished with any colour vision (Okabe & Ito); filled and open markers, a grey band and
# line styles carry the same information without colour.
NEGATIVE, POSITIVE, BAND, LINE, FAINT = "#0072B2", "#D55E00", "#DADADA", "#333333", "#8C8C8C"

# Colours and markers of several classes, in order; then from the start. Open and filled markers alternate.
CLASSES: tuple[tuple[str, str], ...] = (
    ("#0072B2", "o"),
    ("#D55E00", "^"),
    ("#009E73", "s"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
    ("#7A6A00", "X"),
)

# Styles of the curves on one axes, in order; then from the start.
_STROKES: tuple[tuple[str, Any, str], ...] = (
    ("#0072B2", "-", "o"),
    ("#D55E00", (0, (6, 2)), "s"),
    ("#009E73", (0, (6, 2, 1.5, 2)), "^"),
    ("#CC79A7", (0, (2.5, 1.5)), "D"),
    ("#000000", (0, (6, 2, 1.5, 2, 1.5, 2)), "v"),
    ("#E69F00", (0, (1.2, 1.2)), "P"),
)
_NARROW, _CHARACTER = 4.0, 0.07  # inches
# Identify artists when another curve is drawn into the same axes.
CURVE, REFERENCE, CHOSEN, DECIDED = "abstain-curve", "abstain-reference", "abstain-chosen", "abstain-decided"


def next_stroke(ax: Axes) -> tuple[str, Any, str]:
    """Colour, line style and marker for one more curve on these axes."""
    return _STROKES[curves_on(ax) % len(_STROKES)]


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
    from matplotlib.lines import Line2D

    handles = ax.get_legend_handles_labels()[0]
    if curves_on(ax) > 1:
        kinds = {CHOSEN: "least cost on the curve, in hindsight", DECIDED: "its own thresholds"}
        there = {handle.get_gid() for handle in handles}
        handles = [handle for handle in handles if handle.get_gid() not in kinds]
        shown = [Line2D([], [], label=kinds[gid], **mark(LINE, "o", gid)) for gid in kinds if gid in there]
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
