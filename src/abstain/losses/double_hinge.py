"""The double hinge: tangents of the logistic loss at the two thresholds that the costs ask for (GRKC08)."""

from __future__ import annotations

from abstain.costs import Costs
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge

__all__ = ["double_hinge"]


def double_hinge(costs: Costs) -> MarginLoss:
    """Give the loss whose minimiser is right about P(y = +1 | x) where the decision turns: at p_low and p_high.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      d = p_high - p_low      rho = (H(p_low) - H(p_high)) / d
            y = +1:  b = 1 - p_high,  tau = H(p_high) / (1 - p_high)
            y = -1:  b = p_low,       tau = H(p_low) / p_low

    Where rejecting never pays the two thresholds meet, and one tangent is left: the cost-sensitive hinge.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.losses.double_hinge import double_hinge
    >>> double_hinge(Costs(reject=0.2)).positive.slopes
    (-0.8, -0.2)
    """
    thresholds = costs.score_thresholds()
    # Tangents at logits, not at probabilities: (p_low, p_high) near 0 or 1 would lose the digits that matter.
    log_odds = (thresholds.lower, thresholds.upper) if thresholds.rejects else (costs.cut,)
    return tangent_hinge(log_odds, cut=costs.cut)
