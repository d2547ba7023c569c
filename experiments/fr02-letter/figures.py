"""The figures: curves of six pairs, counts, counts against the baseline's C, paired differences of risk."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from abstain.plot.palette import FAINT, quiet

MACHINES = {
    "primal": "embedded, primal",
    "dual": "embedded, dual",
    "external_default": "external threshold, SVMlight's C",
    "external_same": "external threshold, C = 0.1",
    "double_hinge": "double hinge",
    "double_hinge_risk": "double hinge, smaller C",
}
KINDS = ("better", "neither", "worse")
PAPER = {"better": 40, "neither": 27, "worse": 11}  # FR02, table 1 (p. 79); the text's 12 is a misprint
# Okabe and Ito's colours; markers and line styles distinguish the curves without colour
STROKES: dict[str, dict[str, Any]] = {
    "primal": {"color": "#0072B2", "linestyle": "-", "marker": "o"},
    "dual": {"color": "#56B4E9", "linestyle": (0, (6, 2)), "marker": "s"},
    "external_default": {"color": "#000000", "linestyle": (0, (1.2, 1.2)), "marker": "v"},
    "external_same": {"color": "#D55E00", "linestyle": "-", "marker": "D"},
    "double_hinge": {"color": "#009E73", "linestyle": (0, (6, 2, 1.5, 2)), "marker": "^"},
}
FILLS = {"better": "#0072B2", "neither": "#DADADA", "worse": "#D55E00"}
WORDS = {"b": "better", "n": "neither", "w": "worse"}


def accuracy_reject(results: dict[str, Any]) -> Any:
    """FR02's figure 3 for six pairs, on the test half of the first split."""
    shown = results["curves"]
    figure, axes = plt.subplots(2, 3, figsize=(10.4, 7.4), layout="constrained", squeeze=False)
    for ax, (name, machines) in zip(axes.flat, shown.items(), strict=False):
        for machine, stroke in STROKES.items():
            points = machines[machine]
            rate, accuracy = 100 * np.array(points["reject_rate"]), 100 * np.array(points["accuracy"])
            ax.plot(rate, accuracy, label=MACHINES[machine], linewidth=1.5, markersize=4, **stroke)
        quiet(ax)
        row = next(kind for kind, names in results["table"].items() if name in names.split())
        same = results["verdicts"]["primal against external_same"][name][0]
        ax.set_title(f"{name}   FR02: {row}; here, same C: {WORDS[same]}", fontsize=10)
        ax.set_xlim(-0.8, 30.8)
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("reject rate (% of all rows)")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy (% of accepted rows)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, handlelength=3.5)
    return figure


def tallies(results: dict[str, Any]) -> Any:
    """Better, neither, worse for every comparison, next to FR02's."""
    bars = [("FR02, table 1", [PAPER[kind] for kind in KINDS])]
    bars += [(_versus(key), [np.mean(tally[kind]) for kind in KINDS]) for key, tally in results["tallies"].items()]
    figure, ax = plt.subplots(figsize=(9.2, 5.2), layout="constrained")
    for place, (_, counts) in enumerate(bars):
        left = 0.0
        for kind, count in zip(KINDS, counts, strict=True):
            ax.barh(place, count, left=left, color=FILLS[kind], edgecolor="white", label=kind if not place else None)
            if count >= 2.5:
                ink = "black" if kind == "neither" else "white"
                ax.text(left + count / 2, place, f"{count:.0f}", ha="center", va="center", color=ink, fontsize=9)
            left += count
    ax.set_yticks(range(len(bars)), [name for name, _ in bars])
    ax.invert_yaxis()
    ax.axhline(0.5, color=FAINT, linewidth=0.8)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("pairs of letters (mean over the splits)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    return figure


def _versus(key: str) -> str:
    first, second = key.split(" against ")
    return f"{MACHINES[first]}\nagainst {MACHINES[second].replace('external threshold', 'threshold')}"


def baseline(results: dict[str, Any]) -> Any:
    """How many pairs FR02's machine wins, by the C of the SVM under the external threshold."""
    swept, paper = results["baseline_C"], PAPER["better"]
    figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
    for machine in ("primal", "dual"):
        for kind, filled in (("better", True), ("worse", False)):
            stroke = {**STROKES[machine], "markerfacecolor": None if filled else "white"}
            counts = [np.mean(tally[kind]) for tally in swept[machine]]
            ax.plot(swept["factors"], counts, label=f"{MACHINES[machine]}: {kind}", markersize=6, **stroke)
    ax.axhline(paper, color=FAINT, linewidth=1)
    ax.text(swept["factors"][-1], paper + 1, f"FR02: better on {paper}", ha="right", va="bottom", color=FAINT)
    quiet(ax)
    ax.set_xscale("log", base=2)
    ax.set_xticks(swept["factors"], [str(factor) for factor in swept["factors"]])
    ax.set_xlabel("C of the plain SVM, in units of SVMlight's default 1 / mean(x·x)")
    ax.set_ylabel("pairs of letters (mean over the splits)")
    ax.legend(frameon=False, fontsize="small", handlelength=3.2)
    return figure


def risk_differences(results: dict[str, Any]) -> Any:
    """Risk minus that of the external threshold at the same C, for test and training rows, with two standard errors."""
    costs = np.array(results["settings"]["reject_costs"])
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for ax, half in zip(axes, ("test", "training"), strict=True):
        for machine in ("primal", "dual", "double_hinge"):
            found = results["differences"][half][f"{machine} against external_same"]
            mean, error = 100 * np.array(found["mean"]), 200 * np.array(found["se"])
            stroke = STROKES[machine]
            ax.plot(costs, mean, label=MACHINES[machine], markersize=4, **stroke)
            ax.fill_between(costs, mean - error, mean + error, color=stroke["color"], alpha=0.15, linewidth=0)
        ax.axhline(0.0, color="#333333", linewidth=1)
        quiet(ax)
        ax.set_title(f"{half} half", fontsize=11)
        ax.set_xlabel("reject cost $w_R$ (an error costs 1)")
    axes[0].set_ylabel("risk minus that of the external threshold\nat the same C (errors per 100 rows)")
    axes[1].legend(frameon=False, fontsize="small", handlelength=3.2)
    return figure
