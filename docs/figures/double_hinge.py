"""The double hinge for symmetric and asymmetric costs, with the likelihood whose tangents form it."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from abstain import Costs
from abstain.plot import LossDisplay

SHOWN = {"equal error costs, reject costs 0.2": Costs(1, 1, 0.2), "a miss costs 5, reject costs 0.3": Costs(1, 5, 0.3)}


def main(output: Path) -> None:
    """Draw both panels."""
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    for ax, (title, costs) in zip(figure.subplots(1, 2), SHOWN.items(), strict=True):
        LossDisplay.from_costs(costs, ax=ax)
        ax.set_title(title, fontsize="medium")
    figure.savefig(output)
