"""The tangent hinge: the logistic loss replaced by 0 and its tangents at chosen log-odds (docs/theory.md; GRKC08)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.arguments import real_number
from abstain.costs.thresholds import Thresholds
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.piecewise import PiecewiseLinear

__all__ = ["tangent_hinge", "tangent_hinge_at"]

# Beyond these log-odds a slope is outside the normal range of float64.
_LARGEST_LOG_ODDS = 700.0


def tangent_hinge(log_odds: Sequence[float], cut: float | None = None) -> MarginLoss:
    """Return the maximum of 0 and the tangents of the logistic loss at the given log-odds.

    With p = 1 / (1 + exp(-t)) and the entropy H(p), the tangent at f = t is ::

        positive class:  H(p) - (1 - p) f          negative class:  H(p) + p f

    One value gives the (cost-sensitive) hinge, two the double hinge, more give several levels of confidence.

    Parameters
    ----------
    log_odds : sequence of float
        Strictly increasing, at least one, each between -700 and 700. The first and the last are the
        thresholds on the score.
    cut : float, default=None
        The threshold of the forced choice; by default 0 (the more likely class), clipped to the thresholds.

    Examples
    --------
    >>> from abstain.losses.tangent_hinge import tangent_hinge
    >>> tangent_hinge([-1.0, 1.0]).thresholds
    Thresholds(lower=-1.0, upper=1.0)
    """
    t = np.array([real_number("log_odds", value) for value in log_odds])
    if not len(t) or (np.diff(t) <= 0).any() or np.abs(t).max() > _LARGEST_LOG_ODDS:
        raise ValueError(f"log_odds={list(log_odds)} must be strictly increasing, at least one, and within +-700.")
    thresholds = Thresholds(t[0], t[-1])
    # Tangents whose slopes are equal in floating point, in either class, count as one.
    t = t[np.concatenate([[True], (np.diff(expit(t)) > 0) & (np.diff(expit(-t)) < 0)])]
    return MarginLoss(
        negative=_positive_loss(-t[::-1]),  # swapping the classes negates the log-odds
        positive=_positive_loss(t),
        thresholds=thresholds,
        cut=min(max(0.0, thresholds.lower), thresholds.upper) if cut is None else cut,
        unit=1.0,
    )


def tangent_hinge_at(probabilities: Sequence[float], cut: float | None = None) -> MarginLoss:
    """Return the tangent hinge at probabilities of the positive class, strictly between 0 and 1 and increasing."""
    p = [real_number("probabilities", value) for value in probabilities]
    if not all(0.0 < value < 1.0 for value in p):
        raise ValueError(f"probabilities={p} must lie strictly between 0 and 1.")
    return tangent_hinge([math.log(value) - math.log1p(-value) for value in p], cut)


def _positive_loss(t: NDArray[np.float64]) -> PiecewiseLinear:
    crossings = [_crossing(a, b) for a, b in pairwise(t.tolist())]
    # tau = H(p) / (1 - p) at the last tangent = exp(t) log(1 + exp(-t)) + log(1 + exp(t)), without cancellation.
    tau = math.exp(t[-1]) * _softplus(-t[-1]) + _softplus(t[-1])
    return PiecewiseLinear(knots=(*crossings, tau), slopes=tuple(-expit(-t)))


def _crossing(a: float, b: float) -> float:
    """Return the score where the tangents at log-odds a < b cross: rho = (H(p_a) - H(p_b)) / (p_b - p_a).

    The quotient loses its digits as b approaches a. With h = b - a ::

        rho - a = (log(1 + q_b u) - q_b h) / (p_a q_b u)     u = exp(h) - 1       q = 1 - p
                = (p_b h + log(1 - p_b v)) / (p_b q_a v)     v = 1 - exp(-h)

    The first is exact to rounding if p_a is not small, the second if q_a is not small.
    """
    h = b - a
    p_a, q_a, p_b, q_b = (float(expit(s)) for s in (a, -a, b, -b))
    if h > 1.0:
        # 1 - p keeps the digits if p is near 1.
        return (_entropy(a) - _entropy(b)) / (q_a - q_b if a > 0 else p_b - p_a)
    if a > 0:
        u = math.expm1(h)
        return a + (math.log1p(q_b * u) - q_b * h) / (p_a * q_b * u)
    v = -math.expm1(-h)
    return a + (p_b * h + math.log1p(-p_b * v)) / (p_b * q_a * v)


def _entropy(t: float) -> float:
    """Compute H(p) at the log-odds t: -log p and -log(1 - p) are softplus(-t) and softplus(t)."""
    return float(expit(t)) * _softplus(-t) + float(expit(-t)) * _softplus(t)


def _softplus(t: float) -> float:
    return float(np.logaddexp(0.0, t))
