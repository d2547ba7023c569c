"""The pictures of decision-quality."""

from __future__ import annotations

from typing import Any

from harness.rank_picture import rank_picture as drawn

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


def rank_picture(results: dict[str, Any]) -> Any:
    """Mean ranks of all methods."""
    return drawn(results["ranks"], STYLES)
