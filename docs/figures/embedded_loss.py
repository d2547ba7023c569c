"""The losses h, h' and h'' of the embedded reject option, as in FR02's figures 1 and 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from abstain.losses.step_loss import StepLoss

W_R, W_C, EPS = 0.5, 0.1, 0.5


def main(output: Path) -> None:
    """Draw both panels."""
    loss = StepLoss(W_R, W_C)
    xi = np.linspace(-0.5, 2.0, 5001)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    without_margin = loss.steps(xi, EPS) - W_C * ((xi > 0) & (xi <= 1 - EPS))
    left.plot(xi, without_margin, color="C0", linewidth=2.5, label="h: the empirical risk")
    left.plot(xi, loss.steps(xi, EPS), color="C1", linestyle="--", linewidth=2, label=r"h$'$: $w_C$ inside the margin")
    left.set_title("steps")
    right.plot(xi, loss.value(xi, EPS), color="C2", linewidth=2.5, label=r"h$''$: smoothed, $+\,a\,\xi^2$")
    right.plot(xi, loss.steps(xi, EPS), color="C1", linestyle="--", linewidth=1, alpha=0.7, label=r"h$'$")
    near = np.linspace(-0.2, 0.0, 20_001)
    least = near[np.argmin(loss.value(near, EPS))]
    right.plot(least, loss.value(least, EPS), "o", color="C2", label=rf"minimum at $\xi_0={least:.3f}$")
    right.set_title(r"smooth: $s=100$, $a=0.05$")
    for axes in (left, right):
        for at, name in ((0.0, "margin"), (1 - EPS, "reject"), (1 + EPS, "error")):
            axes.axvline(at, color="0.8", linewidth=1, zorder=0)
            axes.text(at + 0.02, 1.24, name, color="0.4", fontsize=9, va="top")
        axes.set_xlabel(r"slack $\xi = 1 - y f(x)$")
        axes.set_xlim(-0.5, 2.0)
        axes.set_ylim(-0.05, 1.25)
        axes.legend(loc="center left", bbox_to_anchor=(0.0, 0.62), frameon=False, fontsize=9)
    left.set_ylabel(rf"loss, $w_R={W_R}$, $w_C={W_C}$, $\epsilon={EPS}$")
    figure.savefig(output)
