"""The figure of A14 figure 8."""

from __future__ import annotations

from typing import Any

import numpy as np
from page import RULES, SETS, Results, ends

from abstain.plot.palette import quiet


def picture(results: Results) -> Any:
    """Error against reject rate, a panel for each set."""
    import matplotlib.pyplot as plt

    names = [name for name in SETS if name in results["sets"]]
    size = (9.0, 3.7 * ((len(names) + 1) // 2))
    figure, axes = plt.subplots((len(names) + 1) // 2, 2, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    for ax, name in zip(axes.flat, names, strict=False):
        for rule, stroke in RULES.items():
            _curve(ax, results["sets"][name]["curves"][rule], stroke, ends(results))
        if name == "synthetic":
            bayes = results["bayes"]
            ax.plot(
                100 * np.array(bayes["reject"]),
                100 * np.array(bayes["error"]),
                ":",
                color="#8C8C8C",
                linewidth=2.2,
                label="Bayes' rule",
            )
        ax.set_title(SETS[name], fontsize="medium")
        ax.set(xlabel="reject rate (% of test rows)", ylabel="error rate (% of test rows)")
        ax.set_ylim(bottom=0)
        ax.set_xlim(left=0)
        quiet(ax)
    axes[0, 0].legend(framealpha=0.85, edgecolor="none", fontsize="small", handlelength=3.2)
    return figure


def _curve(ax: Any, curve: dict[str, list[float]], stroke: tuple[Any, ...], ends: tuple[int, int]) -> None:
    label, colour, line, marker = stroke
    R, E, se = (100 * np.array(curve[key]) for key in ("reject", "error", "error_se"))
    ax.plot(
        R,
        E,
        color=colour,
        linestyle=line,
        linewidth=1.6,
        marker=marker,
        markersize=4,
        markerfacecolor="white",
        label=label,
    )
    ax.plot(R[list(ends)], E[list(ends)], color=colour, linewidth=0.8, marker=marker, markersize=7)
    ax.fill_between(R, E - 2 * se, E + 2 * se, color=colour, alpha=0.12, linewidth=0)


FIGURES = {"tradeoff.png": picture}
