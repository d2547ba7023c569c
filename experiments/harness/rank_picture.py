"""The picture of mean ranks with their critical difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EPS = 1e-9


def groups(mean: list[float], critical: float) -> list[tuple[int, int]]:
    """Largest runs of sorted mean ranks that differ by less than the critical difference: first and last position."""
    found: list[tuple[int, int]] = []
    for first in range(len(mean)):
        last = max(k for k in range(first, len(mean)) if mean[k] - mean[first] < critical - EPS or k == first)
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return found


def rank_picture(ranks: dict[str, Any], styles: Mapping[str, tuple[str, str]]) -> Any:
    """Mean ranks from best to worst; bars join methods that cannot be distinguished. Styles: colour and marker."""
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    mean, critical = ranks["mean"], ranks["critical_difference"]
    order = sorted(mean, key=mean.__getitem__)
    values = [mean[name] for name in order]
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.34 * len(order)), layout="constrained")
    beside = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
    for k, name in enumerate(order):
        colour, marker = styles[name]
        ax.plot([1, values[k]], [k, k], color="#dddddd", linewidth=1, zorder=1)
        ax.scatter([values[k]], [k], color=colour, marker=marker, s=44, zorder=3)
        ax.annotate(f"{values[k]:.2f}", (values[k], k), fontsize="small", **beside)
    right = len(order) + 0.5
    for at, (first, last) in enumerate(groups(values, critical)):
        ax.plot([right + 0.3 * at] * 2, [first - 0.2, last + 0.2], color="#333333", linewidth=3, solid_capstyle="butt")
    ax.plot([1, 1 + critical], [-1, -1], color="#333333", linewidth=1.5, marker="|", markersize=7)
    ax.annotate(f"critical difference {critical:.2f}", (1 + critical, -1), **beside)
    ax.set_yticks(range(len(order)), order)
    ax.set_ylim(len(order) - 0.5, -1.6)
    ax.set_xlim(0.9, right + 0.3 * len(order) / 2)
    ax.set_xticks(range(1, len(order) + 1))
    ax.set_xlabel("mean rank (1: least cost); bars join methods that cannot be distinguished")
    quiet(ax)
    return figure
