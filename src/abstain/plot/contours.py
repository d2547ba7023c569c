"""Contours of the score in the plane, with labels placed where they cover the fewest rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.plot.palette import LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EDGE = (0.1, 0.05)  # shares of width and height; a label closer to the frame would be cut off


def plane(points: NDArray[np.float64], resolution: int, margin: float) -> tuple[NDArray[np.float64], ...]:
    """Coordinates of a grid over the range of the points, extended by the share `margin` on each side."""
    low, high = points.min(axis=0), points.max(axis=0)
    pad = margin * np.where(high > low, high - low, 1.0)
    return tuple(np.meshgrid(*np.linspace(low - pad, high + pad, resolution).T))


def draw_levels(
    ax: Axes, grid: tuple[NDArray[np.float64], ...], styles: dict[float, str], samples: NDArray[np.float64] | None
) -> None:
    """Draw the contour of ``grid = (x, y, score)`` at each level in its line style, labelled if samples are given."""
    taken: list[NDArray[np.float64]] = []
    for level, style in styles.items():
        if not grid[-1].min() < level < grid[-1].max():
            continue  # matplotlib warns about levels outside the range
        line: dict[str, Any] = {"colors": LINE, "linestyles": style, "linewidths": 1.2}
        contour = ax.contour(*grid, levels=[level], **line)
        if samples is not None:
            _number(ax, f"{level:+.4g}".replace("-", "−") if level else "0", _vertices(contour), samples, taken)


def _number(
    ax: Axes, text: str, line: NDArray[np.float64], samples: NDArray[np.float64], taken: list[NDArray[np.float64]]
) -> None:
    """Write a label on the line, far from the samples and from the places `taken`, and add its place to them."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    place = (line - low) / (high - low)  # in shares of the axes, so that distances match what is seen
    inside = (np.abs(place - 0.5) < 0.5 - np.array(_EDGE)).all(axis=1)
    if not inside.any():
        return
    line, place = line[inside], place[inside]
    # two labels need more room than a label and a marker
    others = _distance(place, np.array(taken).reshape(-1, 2)) / 3.0
    best = int(np.argmax(np.minimum(_distance(place, (samples - low) / (high - low)), others)))
    taken.append(place[best])
    white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
    x, y = line[best]
    ax.text(x, y, text, ha="center", va="center", fontsize="small", bbox=white, zorder=4)


def _vertices(contour: Any) -> NDArray[np.float64]:
    return np.concatenate([path.vertices for path in contour.get_paths()])


def _distance(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance from each point to the nearest of the others; inf without others."""
    apart = np.linalg.norm(points[:, None, :] - others[None, :, :], axis=2)
    return np.asarray(apart.min(axis=1, initial=np.inf))
