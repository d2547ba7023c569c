"""The pictures of decision-quality."""

from __future__ import annotations

from typing import Any

EPS = 1e-9
STYLES = {
    "RejectSVCCV": ("#0072B2", "o"),
    "RejectSVCCV, tuned": ("#56B4E9", "D"),
    "SVM + Chow, by cost": ("#D55E00", "s"),
    "SVM + Chow": ("#E69F00", "s"),
    "SVM + ROC": ("#E69F00", "^"),
    "SVM + symmetric": ("#E69F00", "v"),
    "logistic + Chow": ("#666666", "x"),
    "forest + Chow": ("#009E73", "P"),
    "boosting + Chow": ("#CC79A7", "X"),
}


def relative_picture(results: dict[str, Any]) -> Any:
    """For each of the costs, every method's mean cost on every set relative to the best forced machine's."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from abstain.plot.palette import quiet

    sets, methods = results["sets"], results["methods"]
    size = (10, 2.1 + 0.36 * len(sets))
    figure, axes = plt.subplots(1, len(results["costs"]), figsize=size, sharey=True, sharex=True, layout="constrained")
    for ax, (key, costs) in zip(axes, results["costs"].items(), strict=True):
        here = [block for block in results["blocks"] if block["costs"] == key]
        for at, method in enumerate(methods):
            colour, marker = STYLES[method]
            place = [k + 0.6 * ((at + 0.5) / len(methods) - 0.5) for k in range(len(here))]
            # drawn within the axes: beyond a factor of four the place says only "more" or "less"
            level = [min(max(block["methods"][method]["relative"], 0.25), 4.0) for block in here]
            own = method.startswith("RejectSVCCV")
            look = {"s": 26 if own else 18, "zorder": 3 if own else 2, "linewidths": 1.2}
            ax.scatter(level, place, color=colour, marker=marker, label=method, **look)
        ax.axvline(1, color="#333333", linewidth=1, zorder=1)
        for k in range(0, len(here), 2):
            ax.axhspan(k - 0.5, k + 0.5, color="#f4f4f4", zorder=0)
        ax.set_xscale("log")
        ax.set_xlim(0.23, 4.4)
        ax.xaxis.set_major_locator(FixedLocator([0.25, 0.5, 1, 2, 4]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        ax.set_title(f"{costs[0]:g} : {costs[1]:g} : {costs[2]:g}", fontsize="medium")
        quiet(ax)
    axes[0].set_yticks(range(len(sets)), [item["title"] for item in sets])
    axes[0].set_ylim(len(sets) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    axes[len(axes) // 2].set_xlabel("mean cost relative to the best machine that may not reject")
    return figure


def groups(mean: list[float], critical: float) -> list[tuple[int, int]]:
    """Largest runs of sorted mean ranks that differ by less than the critical difference: first and last position."""
    found: list[tuple[int, int]] = []
    for first in range(len(mean)):
        last = max(k for k in range(first, len(mean)) if mean[k] - mean[first] < critical - EPS or k == first)
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return found


def rank_picture(results: dict[str, Any]) -> Any:
    """Mean ranks from best to worst; bars join methods that cannot be distinguished."""
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    mean, critical = results["ranks"]["mean"], results["ranks"]["critical_difference"]
    order = sorted(mean, key=mean.__getitem__)
    values = [mean[name] for name in order]
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.34 * len(order)), layout="constrained")
    beside = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
    for k, name in enumerate(order):
        colour, marker = STYLES[name]
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
