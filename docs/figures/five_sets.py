"""The five sets: on the loss by the margin, and on the dual by the coefficient."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from abstain import Costs
from abstain.losses.margin_loss import PiecewiseLinear
from abstain.losses.tangent_hinge import double_hinge
from abstain.plot.palette import LINE, POSITIVE, quiet

NAMES = (r"$I_D$", r"$I_\rho$", r"$I_B$", r"$I_\tau$", r"$I_0$")  # by increasing margin


def main(output: Path) -> None:
    """Draw both panels for the positive class."""
    loss = double_hinge(Costs(1, 1, 0.2)).positive
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    primal, dual = figure.subplots(1, 2)
    draw_loss(primal, loss)
    draw_dual(dual, loss)
    figure.savefig(output)


def draw_loss(ax: Axes, loss: PiecewiseLinear) -> None:
    """Draw the loss against the margin; the sets are its pieces and knots."""
    (rho, tau), reach = loss.knots, 1.6
    z = np.array([rho - reach, rho, tau, tau + reach])
    ax.plot(z, loss.value(z), color=POSITIVE, linewidth=2)
    ax.plot([rho, tau], loss.value([rho, tau]), "o", color=POSITIVE)
    for name, at in zip(NAMES, (rho - 0.8, rho, (rho + tau) / 2, tau, tau + 0.8), strict=True):
        ax.annotate(name, (at, float(loss.value(at))), xytext=(5, 7), textcoords="offset points", fontsize=12)
    ax.set(xlabel="margin z = y f", ylabel="loss", xlim=(z[0], z[-1]), ylim=(-0.1, float(loss.value(z[0])) * 1.05))
    ax.set_xticks([rho, tau], [r"$\rho$", r"$\tau$"], fontsize=12)
    ax.set_title("loss, by margin", fontsize="medium")
    quiet(ax)


def draw_dual(ax: Axes, loss: PiecewiseLinear) -> None:
    """Draw the dual, where knots become slopes and slopes become breakpoints."""
    B, top = loss.breakpoints
    g = np.array([0.0, B, top])
    ax.plot(g, loss.dual_value(g), color=LINE, linewidth=2)
    ax.plot(g, loss.dual_value(g), "o", color=LINE)
    for name, at, shift in zip(
        reversed(NAMES), (0.0, B / 2, B, (B + top) / 2, top),
        ((12, 0), (10, -8), (0, 9), (0, 9), (-4, 9)), strict=True,
    ):
        ax.annotate(name, (at, float(loss.dual_value(at))), xytext=shift, textcoords="offset points", fontsize=12)
    ax.set(xlabel="coefficient g = y β", ylabel=r"$\varphi(g)$", xlim=(-0.05, top * 1.08), ylim=(-0.05, 0.62))
    ax.set_xticks([0, B, top], ["0", "B", "B + D"])
    ax.text(B / 2 + 0.06, float(loss.dual_value(B / 2)) - 0.12, r"slope $\tau$", color=POSITIVE)
    ax.text((B + top) / 2, float(loss.dual_value(top)) - 0.06, r"slope $\rho$", color=POSITIVE)
    ax.set_title("dual, by coefficient", fontsize="medium")
    quiet(ax)
