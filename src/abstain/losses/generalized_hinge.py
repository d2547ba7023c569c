"""Bartlett & Wegkamp's generalized hinge (BW08), in its own units, and their rule."""

import math
from dataclasses import dataclass, replace

from abstain.arguments import positive_number
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.losses.margin_loss import MarginLoss, PiecewiseLinear
from abstain.losses.tangent_hinge import hinge


def generalized_hinge(r: float, delta: float = 0.5) -> MarginLoss:
    """Return psi_r for both classes, with the thresholds -delta and +delta on the score.

    ::

        psi_r(z) = max(0, 1 - z, 1 - z (1 - r) / r)          0 < r <= 1/2,  r <= delta <= 1 - r

    At r = 1/2 it is the hinge: nothing is rejected and the threshold is 0.

    Parameters
    ----------
    r : float
        The cost of rejecting, where both errors cost 1.
    delta : float, default=0.5
        BW08 show that any value in [r, 1 - r] keeps the rule's guarantee, and recommend 1/2.
    """
    r, delta = positive_number("r", r), positive_number("delta", delta)
    if r > 0.5:
        raise ValueError(f"r={r:g} can never pay: it must not exceed 1/2, half the cost of an error.")
    if not r <= delta <= 1.0 - r:
        raise ValueError(f"delta={delta:g} must lie in [r, 1 - r] = [{r:g}, {1.0 - r:g}]; 0.5 always does.")
    unit = -math.log(r) - (1.0 - r) / r * math.log1p(-r)  # H(r) / r, from psi_r's units to the tangent hinge's
    if r == 0.5:
        return replace(hinge(), unit=unit)
    loss = PiecewiseLinear(knots=(0.0, 1.0), slopes=(-(1.0 - r) / r, -1.0))
    return MarginLoss(negative=loss, positive=loss, thresholds=Thresholds(-delta, delta), cut=0.0, unit=unit)


@dataclass(frozen=True)
class BartlettWegkamp:
    """Bartlett & Wegkamp's rule: decide where ``|f| > delta``, f trained with the generalized hinge.

    It is the double hinge's machine in other units with a different threshold, for equal error costs only.

    Parameters
    ----------
    delta : float, default=0.5
        The threshold on the score, in [r, 1 - r] where r is the reject cost divided by the error cost.

    Examples
    --------
    >>> from abstain import BartlettWegkamp, Costs
    >>> BartlettWegkamp(0.4).loss(Costs(reject=0.3)).thresholds
    Thresholds(lower=-0.4, upper=0.4)
    """

    delta: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", positive_number("delta", self.delta))
        if self.delta >= 1.0:
            raise ValueError(f"delta={self.delta:g} must be below 1; Bartlett & Wegkamp recommend 0.5.")

    def loss(self, costs: Costs) -> MarginLoss:
        """Return the generalized hinge for these costs, which must be symmetric."""
        if not costs.symmetric:
            raise ValueError(
                f"rule={self} needs symmetric costs, equal for both errors and equal for both rejects; got {costs}. "
                'Use rule="chow" for these.'
            )
        r = float(costs.unitless[0, 1]) if costs.rejects else 0.5
        return generalized_hinge(r, self.delta)
