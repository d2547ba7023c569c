"""The ordinary hinge loss of scikit-learn's ``SVC``, without a reject cost, and that of ``OneClassSVM``."""

from __future__ import annotations

from abstain.costs.thresholds import Thresholds
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.piecewise import PiecewiseLinear

__all__ = ["hinge", "origin_hinge"]


def hinge() -> MarginLoss:
    """Return ``|1 - z|_+`` for both classes; it rejects nothing and cuts the score at 0."""
    loss = PiecewiseLinear(knots=(1.0,), slopes=(-1.0,))
    return MarginLoss(negative=loss, positive=loss, thresholds=Thresholds(0.0, 0.0), cut=0.0)


def origin_hinge() -> MarginLoss:
    """Return ``|-z|_+`` for both classes: the hinge of a margin of 0, as the machine of one class has it."""
    loss = PiecewiseLinear(knots=(0.0,), slopes=(-1.0,))
    return MarginLoss(negative=loss, positive=loss, thresholds=Thresholds(0.0, 0.0), cut=0.0)
