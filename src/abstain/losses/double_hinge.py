"""The double hinge: tangents of the logistic loss at the two thresholds that follow from the costs (GRKC08)."""

from __future__ import annotations

from abstain.costs.costs import Costs
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge

__all__ = ["double_hinge"]


def double_hinge(costs: Costs) -> MarginLoss:
    """Return the loss whose minimiser gives P(y = +1 | x) where the decision changes: at p_low and p_high.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      d = p_high - p_low      rho = (H(p_low) - H(p_high)) / d
            y = +1:  b = 1 - p_high,  tau = H(p_high) / (1 - p_high)
            y = -1:  b = p_low,       tau = H(p_low) / p_low

    If rejecting never pays, the two thresholds coincide and one tangent remains: the cost-sensitive hinge.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.losses.double_hinge import double_hinge
    >>> double_hinge(Costs(reject=0.2)).positive.slopes
    (-0.8, -0.2)
    """
    thresholds = costs.score_thresholds()
    # Tangents at log-odds, not at probabilities: p_low and p_high near 0 or 1 would lose significant digits.
    log_odds = (thresholds.lower, thresholds.upper) if thresholds.rejects else (costs.cut,)
    return tangent_hinge(log_odds, cut=costs.cut)
