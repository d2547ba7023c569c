"""The pictures of the experiment with several classes."""

from __future__ import annotations

from typing import Any

STYLES = {
    "RejectSVCCV, tuned": ("#0072B2", "o"),
    "RejectSVCCV, Bayes": ("#56B4E9", "D"),
    "SVC + lead": ("#D55E00", "s"),
    "SVC + Platt": ("#E69F00", "^"),
    "SVC + temperature": ("#E69F00", "v"),
    "forest + Chow": ("#009E73", "P"),
    "boosting + Chow": ("#CC79A7", "X"),
    "conformal sets": ("#666666", "x"),
}


def cost_picture(results: dict[str, Any]) -> Any:
    """For each set, the mean cost in units of the reject price against the price."""
    prices = [f"{r:g}" for r in results["protocol"]["prices"]]

    def levels(name: str, method: str) -> list[float]:
        here = {block["costs"]: block for block in results["blocks"] if block["data"] == name}
        return [here[price]["methods"][method]["cost"]["mean"] / float(price) for price in prices]

    return _panels(results, prices, levels, "reject price", "mean cost / reject price")


def budget_picture(results: dict[str, Any]) -> Any:
    """For each set, the share of errors among accepted rows against the share of rejects."""
    ticks = [f"{100 * budget:g}" for budget in results["budgets"]["shares"]]

    def levels(name: str, method: str) -> list[float]:
        return [100 * item["mean"] for item in results["budgets"][name][method]["error"]]

    return _panels(results, ticks, levels, "rejected, %", "errors among accepted, %")


def _panels(results: dict[str, Any], ticks: list[str], levels: Any, below: str, left: str) -> Any:
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    sets = results["sets"]
    figure, axes = plt.subplots(
        1, len(sets), figsize=(1.2 + 2.3 * len(sets), 3.6), layout="constrained", squeeze=False
    )
    for ax, item in zip(axes[0], sets, strict=True):
        for method in reversed(results["methods"]):
            colour, marker = STYLES[method]
            own = method.startswith("RejectSVCCV")
            look = {"linewidth": 1.8 if own else 1.0, "markersize": 5, "zorder": 3 if own else 2}
            ax.plot(range(len(ticks)), levels(item["data"], method), color=colour, marker=marker, label=method, **look)
        ax.set_xticks(range(len(ticks)), ticks)
        ax.set_ylim(bottom=0)
        ax.set_title(item["title"], fontsize="medium")
        quiet(ax)
    axes[0][0].set_ylabel(left)
    axes[0][len(sets) // 2].set_xlabel(below)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure


FIGURES = {"cost.png": cost_picture, "budgets.png": budget_picture}
