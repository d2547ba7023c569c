"""The double hinge: tangents of the logistic loss at the thresholds that follow from the costs (GRKC08)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge

__all__ = ["class_losses", "double_hinge", "task_losses"]


def double_hinge(costs: CostTable) -> MarginLoss:
    """Return the loss of two classes whose minimiser gives P(last class | x) where the cheapest action changes.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      d = p_high - p_low      rho = (H(p_low) - H(p_high)) / d
            y = +1:  b = 1 - p_high,  tau = H(p_high) / (1 - p_high)
            y = -1:  b = p_low,       tau = H(p_low) / p_low

    If rejecting never pays, the two thresholds coincide and one tangent remains: the cost-sensitive hinge. Several
    actions have a tangent at each probability where the cheapest changes (docs/theory.md).

    Examples
    --------
    >>> from abstain import Actions, Costs
    >>> from abstain.losses.double_hinge import double_hinge
    >>> double_hinge(Costs(reject=0.2)).positive.slopes
    (-0.8, -0.2)
    >>> double_hinge(Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3, "test": {0: 0.2, 1: 0.5}})).n_knots
    3
    """
    # Tangents at log-odds, not at probabilities: p_low and p_high near 0 or 1 would lose significant digits.
    forced = costs.levels(forced=True).cuts
    return tangent_hinge(costs.tangents, cut=forced[0] if forced else None)


def task_losses(costs: CostTable) -> tuple[MarginLoss, ...]:
    """Return the loss of each task: one for two classes, one per class, k against the rest, for more."""
    if costs.n_classes == 2:
        return (double_hinge(costs),)
    return class_losses(costs.tangents)


def class_losses(tangents: NDArray[np.float64]) -> tuple[MarginLoss, ...]:
    """Return the losses with these tangents, a row for each class."""
    return tuple(tangent_hinge(sorted({*row})) for row in tangents.tolist())
