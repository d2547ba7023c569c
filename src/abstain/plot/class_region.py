"""The regions of several classes in the plane, each with the rows of the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.plot.palette import BAND, CLASSES, LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_classes"]


def draw_classes(
    ax: Axes,
    grid: tuple[NDArray[np.float64], ...],
    X: NDArray[np.float64],
    *,
    truth: NDArray[Any],
    choice: NDArray[Any],
    names: tuple[str, ...],
) -> None:
    """Fill the region of each choice of ``grid = (x, y, choice)`` and draw the rows: 1 to n is a class, 0 a reject."""
    x, y, region = grid
    for code in range(len(names) + 1):
        inside = (region == code).astype(np.float64)
        if not inside.any():
            continue
        colour, alpha = (BAND, 1.0) if code == 0 else (CLASSES[(code - 1) % len(CLASSES)][0], 0.15)
        ax.contourf(x, y, inside, levels=[0.5, 1.5], colors=[colour], alpha=alpha)
        if not inside.all():
            ax.contour(x, y, inside, levels=[0.5], colors=LINE, linewidths=1.0)
    for code, name in enumerate(names, start=1):
        colour, marker = CLASSES[(code - 1) % len(CLASSES)]
        rows = truth == code
        right, rejected = np.sum(choice[rows] == code), np.sum(choice[rows] == 0)
        words = f"{name}: {right} correct, {rows.sum() - right - rejected} wrong, {rejected} rejected"
        style: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5, "s": 30}
        if code % 2:
            style = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.1, "s": 26}
        ax.scatter(*X[rows].T, marker=marker, label=words, zorder=3, **style)
    if (region == 0).any() or (choice == 0).any():
        ax.fill(np.nan, np.nan, facecolor=BAND, edgecolor=LINE, linewidth=1.2, label="reject")
