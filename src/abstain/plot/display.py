"""What every display has: the axes that it draws on, those passed in or new ones, and their figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from matplotlib.lines import Line2D
else:
    Axes = FigureBase = Line2D = Any  # matplotlib is imported only to draw

__all__ = ["Axes", "Display", "Line2D", "axes_or_new"]


@dataclass(eq=False)
class Display:
    """A picture; its `plot` sets the axes `ax_` and the figure `figure_`."""

    ax_: Axes = field(init=False, repr=False)
    figure_: FigureBase = field(init=False, repr=False)

    def _on(self, ax: Axes | None) -> Axes:
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        return self.ax_


def axes_or_new(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure; matplotlib is imported only here."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib; install it with: pip install 'abstain[plot]'") from error
    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
