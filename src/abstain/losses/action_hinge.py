"""The loss for several actions: tangents of the logistic loss at all cuts of the actions."""

from __future__ import annotations

import numpy as np

from abstain.costs.actions import Actions
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge

__all__ = ["action_hinge"]


def action_hinge(actions: Actions) -> MarginLoss:
    """Return the loss whose minimiser gives P(``labels[1]`` | x) at each probability where the cheapest action changes.

    Its `cut` is the first at which the forced choice changes, if it changes at all.

    Examples
    --------
    >>> from abstain import Actions
    >>> from abstain.losses.action_hinge import action_hinge
    >>> action_hinge(Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3, "test": {0: 0.2, 1: 0.5}})).n_knots
    3
    """
    forced = actions.levels(forced=True).cuts
    cuts = np.unique(actions.levels().cuts)  # two that differ only by less than rounding are one
    return tangent_hinge(cuts.tolist(), cut=forced[0] if forced else None)
