"""The double hinge of costs that differ by row: each row has the tangents at its own two thresholds (GRKC08)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.costs.row_costs import RowCosts
from abstain.losses.loss_table import LossTable

__all__ = ["row_losses"]

# Beyond these log-odds a slope is outside the normal range of float64.
_LARGEST_LOG_ODDS = 700.0
# All rows of a table have the same number of knots. A row that is never rejected has one tangent: if others have two,
# this share of its slope becomes a second bend. It is below the share that certificates count as rounding (1e-12).
_SLIVER = 2.0**-41

Vector = NDArray[np.float64]


def row_losses(costs: RowCosts, sign: NDArray[np.int8]) -> LossTable:
    """Return the loss of each row; rows with equal thresholds share one.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      as in `double_hinge`, with p_low and p_high of the row

    +1 is the positive class of the costs. How large they are does not matter here: that is in the weights of the rows.
    """
    thresholds = costs.score_thresholds()
    positive = sign > 0  # exchanging the classes negates and swaps the log-odds
    low, high = np.where(positive, (thresholds.lower, thresholds.upper), (-thresholds.upper, -thresholds.lower))
    beyond = np.maximum(np.abs(low), np.abs(high)) > _LARGEST_LOG_ODDS
    if beyond.any():
        row = int(np.argmax(beyond))
        raise ValueError(
            f"row_costs has costs too far apart at row {row}, {costs.table()[row].tolist()}: the log of their ratios "
            "must lie within +-700; state the costs in one currency."
        )
    pairs, kind = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    low, high = pairs.T
    slopes = np.column_stack([-expit(-low), -expit(-high)])
    single = (slopes[:, 0] >= slopes[:, 1]) | (expit(low) >= expit(high))
    knots = np.column_stack([_crossings(low, np.where(single, low + 1.0, high)), _last_knots(high)])
    if single.all():
        knots, slopes = knots[:, 1:], slopes[:, :1]
    else:
        knots[single, 0] = knots[single, 1] * 0.5
        slopes[single, 1] = slopes[single, 0] * (1.0 - _SLIVER)
    return LossTable(np.ascontiguousarray(knots), np.ascontiguousarray(slopes), kind.ravel().astype(np.intp))


def _last_knots(t: Vector) -> Vector:
    """Compute tau = H(p) / (1 - p) = exp(t) log(1 + exp(-t)) + log(1 + exp(t)), without cancellation."""
    return np.asarray(np.exp(t) * np.logaddexp(0.0, -t) + np.logaddexp(0.0, t))


def _crossings(a: Vector, b: Vector) -> Vector:
    """Compute rho, where the tangents at log-odds a < b cross; `tangent_hinge` has the formulas and their reasons."""
    h = b - a
    p_a, q_a, p_b, q_b = expit(a), expit(-a), expit(b), expit(-b)
    with np.errstate(all="ignore"):  # each formula is used where it is accurate only
        wide = (_entropy(a) - _entropy(b)) / np.where(a > 0, q_a - q_b, p_b - p_a)
        u, v = np.expm1(np.minimum(h, 2.0)), -np.expm1(-h)
        right = a + (np.log1p(q_b * u) - q_b * h) / (p_a * q_b * u)
        left = a + (p_b * h + np.log1p(-p_b * v)) / (p_b * q_a * v)
    return np.where(h > 1.0, wide, np.where(a > 0, right, left))


def _entropy(t: Vector) -> Vector:
    return np.asarray(expit(t) * np.logaddexp(0.0, -t) + expit(-t) * np.logaddexp(0.0, t))
