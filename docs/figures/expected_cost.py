"""The expected costs of the three decisions against the probability (after A14, figure 1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from abstain import Costs
from abstain.plot.palette import BAND, LINE, NEGATIVE, POSITIVE, quiet

SHOWN = {"equal error costs": Costs(1, 1, 0.2), "a miss costs 5 false alarms": Costs(1, 5, 0.3)}


def main(output: Path) -> None:
    """Draw both panels."""
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    for ax, (title, costs) in zip(figure.subplots(1, 2), SHOWN.items(), strict=True):
        panel(ax, costs)
        ax.set_title(f"{title}: reject costs {costs.reject:g}", fontsize="medium")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    figure.savefig(output)


def panel(ax: Axes, costs: Costs) -> None:
    """Draw the three lines, with the minimum thick and the reject band shaded."""
    p, low, high = np.linspace(0, 1, 1001), *(getattr(costs.thresholds(), end) for end in ("lower", "upper"))
    cost = costs.expected(p)
    ax.axvspan(low, high, color=BAND, alpha=0.6, linewidth=0)
    for k, (name, colour, dash) in enumerate((
        ("decide −1", NEGATIVE, (0, (6, 2))), ("reject", LINE, "-"), ("decide +1", POSITIVE, (0, (2.5, 1.5))),
    )):
        ax.plot(p, cost[:, k], color=colour, linestyle=dash, linewidth=1.4, label=name)
    ax.plot(p, cost.min(axis=1), color=LINE, linewidth=3.2, alpha=0.35, label="cheapest")
    ax.set(xlim=(0, 1), ylim=(0, 1.05), xlabel="probability P of the positive class", ylabel="expected cost")
    ax.set_xticks([0, low, high, 1], ["0", f"{low:.2g}", f"{high:.2g}", "1"])
    quiet(ax)
