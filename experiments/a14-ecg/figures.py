"""The figures of A14 figures 9 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
from page import PAPER_PREDICTIVITY, PAPER_REJECT, PAPER_SENSITIVITY_BEST, SPLITS, Results

from abstain.plot.palette import quiet

STROKES = {
    "beat": ("#0072B2", "-", "o"),
    "record": ("#D55E00", (0, (6, 2)), "s"),
    "pair-beat": ("#009E73", (0, (2.5, 1.5)), "^"),
}


def _panel(ax: Any, results: Results, key: str, factor: float = 100.0) -> None:
    for name, (colour, line, marker) in STROKES.items():
        if name not in results["splits"] or (name == "pair-beat" and "beat" in results["splits"]):
            continue  # a --fast run has only the pair
        found = results["splits"][name]
        mean, se = (factor * np.array(found[key][what]) for what in ("mean", "se"))
        R = 100 * np.array(found["reject"]["mean"])[-len(mean) :]
        ax.plot(
            R,
            mean,
            color=colour,
            linestyle=line,
            marker=marker,
            markersize=4,
            linewidth=1.6,
            label=f"split {SPLITS[name]}",
        )
        ax.fill_between(R, *_band(key, mean, se), color=colour, alpha=0.13, linewidth=0)
    ax.set_xscale("symlog", linthresh=0.05, linscale=0.3)
    ax.set(xlim=(0, 100), xlabel="reject rate (% of the beats)")
    ax.set_xticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    quiet(ax)


def _band(key: str, mean: Any, se: Any) -> tuple[Any, Any]:
    """One standard error on either side, of the logarithm if the axis is logarithmic."""
    if key in ("error", "cost"):
        share = np.divide(se, mean, out=np.zeros_like(mean), where=mean > 0)  # a mean of 0 has an empty band
        return mean * np.exp(-share), mean * np.exp(share)
    return mean - se, np.minimum(mean + se, 0.0 if key == "slope" else 100.0)


def tradeoff(results: Results) -> Any:
    """Figure 9: error, and its slope, against the reject rate."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    _panel(axes[0], results, "error")
    _panel(axes[1], results, "slope", 1.0)
    axes[0].set(ylabel="error rate (% of the beats)", yscale="log")
    axes[1].set(ylabel="error-reject ratio ΔE/ΔR", ylim=(-1.0, 0.1))
    axes[0].legend(framealpha=0.85, edgecolor="none", fontsize="small", handlelength=3.2)
    return figure


def cost(results: Results) -> Any:
    """Figure 10: cost, sensitivity and positive predictivity against the reject rate."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11.4, 3.9), layout="constrained")
    _panel(axes[0], results, "cost", 1000.0)
    _panel(axes[1], results, "sensitivity")
    _panel(axes[2], results, "predictivity")
    axes[0].set(ylabel="cost (23), thousandths per beat", yscale="log")
    axes[1].set(ylabel="sensitivity (% of accepted V)")
    axes[2].set(ylabel="positive predictivity (%)")
    for ax, paper in ((axes[1], PAPER_SENSITIVITY_BEST), (axes[2], PAPER_PREDICTIVITY)):
        ax.plot([100 * PAPER_REJECT], [100 * paper], "D", color="#000000", markersize=6, label="paper", zorder=5)
    axes[1].legend(framealpha=0.85, edgecolor="none", fontsize="small", handlelength=3.2, loc="lower left")
    return figure


FIGURES = {"tradeoff.png": tradeoff, "cost.png": cost}
