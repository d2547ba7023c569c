"""Where the loss of each task touches the logistic loss: the log-odds at which the cheapest action can change.

Two classes are one task, on the log-odds of the last class: all cuts of the lower envelope. Rows with costs of their
own for named actions have more, spread evenly between the first and the last of their cuts: where few actions are
ever the cheapest the cuts are few and far apart, and what lies between them is not learnt.

More classes are one task each, k against the rest, and where the cheapest action changes depends on which others are
likely. Along the ray from a mixture Q of the other classes to class k the costs are lines, as for two classes::

    c_a(p) = (1 - p) sum_j Q_j values[j, a] + p values[k, a]

Q is each other class alone, and all of them evenly. The tangents of k are spread evenly, in log-odds, from the least
cut of these rays to the largest. Several of them, because one task does not decide alone: a machine with many rows
takes one value between each two tangents, and says no more of P_k than between which two it lies. On
Gaussians with known probabilities, five draws of 1,000 rows, kernel machines cost this much more than Bayes' rule::

                                        tangents at two ends    spread
    three classes, named actions              3 to 10 %        1 to 2 %
    three classes, costs per row              6 to 29 %        3 to 4 %
    two classes, actions with costs per row       6 %             3 %

Where a wrong answer k costs e_k whatever is true, and rejecting less than half of it, k needs one tangent only: it is
answered if P_k > 1 - reject / e_k, and at most one class can be (`own_cuts`). No theorem covers the spread tangents of
other costs, of named actions and of costs per row.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.arguments import real_number
from abstain.costs.cuts import Thresholds, envelope
from abstain.costs.table import CostTable
from abstain.losses.margin_loss import LossTable, MarginLoss, PiecewiseLinear

LARGEST_LOG_ODDS = 700.0  # beyond, a slope is outside the normal range of float64
# All rows of a table have the same number of knots. A row that is never rejected has one tangent: if others have two,
# this share of its slope becomes a second bend. It is below the share that certificates count as rounding (1e-12).
_SLIVER = 2.0**-41
COUNT = 6  # of each class of several; from five to eight the costs were the same


def task_tangents(costs: Any) -> Any:
    """Return the log-odds of a table's tasks.

    Two classes: a tuple, strictly increasing; of rows an array (n, L) in any order, with infinity where it has fewer.
    More classes: an array of shape (n_classes, COUNT), not decreasing; of rows (n, n_classes, COUNT).
    """
    if costs.n_classes == 2:
        cuts = costs.levels().cuts
        if costs.per_row:
            return cuts if costs.answering else np.concatenate([cuts, _evenly(cuts)[:, 1:-1]], axis=1)
        return tuple(np.unique(cuts).tolist())
    cuts = own_cuts(costs)
    return spread(costs) if cuts is None else np.repeat(cuts[:, np.newaxis], COUNT, axis=1)


def own_cuts(costs: Any) -> NDArray[np.float64] | None:
    """Return Bayes' cuts on the log-odds of each class, where at most one class can pass its own; else None.

    ::

        answer k  if  P_k > 1 - reject / e_k,     e_k the cost of the wrong answer k,  reject < e_k / 2
    """
    if costs.flat is None:
        return None
    wrong, reject = costs.flat
    return np.asarray(np.log((wrong - reject) / reject))


def ends_of_reject(costs: Any) -> NDArray[np.float64]:
    """Return the tangents that machines of several classes had in version 0.2, for their files: two for each class.

    ::

        P_k reject_k = (1 - P_k) (errors[j, k] - reject_j)      the least and the largest over j; 0 if there is none
    """
    table = costs.unitless
    reject, found = table[:, -1], []
    for k in range(costs.n_classes):
        more = np.delete(table[:, k] - reject, k)
        at = np.log(more[more > 0]) - np.log(reject[k])
        found.append((at.min(), at.max()) if len(at) else (0.0, 0.0))
    return np.array(found)


def spread(costs: Any) -> NDArray[np.float64]:
    """Return the tangents of several classes, spread over the cuts of all rays."""
    return np.stack([_of_class(costs, k) for k in range(costs.n_classes)], axis=-2)


def _of_class(costs: Any, k: int) -> NDArray[np.float64]:
    table, n = costs.unitless, costs.n_classes
    alone = np.delete(np.eye(n), k, axis=0)
    start = np.vstack([alone, alone.mean(axis=0)]) @ table  # (..., mixtures, actions)
    rays = np.stack([start, np.broadcast_to(table[..., k, np.newaxis, :], start.shape)], axis=-2)
    cuts = envelope(rays.reshape(-1, 2, costs.n_actions), costs.rejecting, range(costs.n_actions)).cuts
    return _evenly(cuts.reshape(*start.shape[:-2], -1))


def _evenly(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return COUNT log-odds from the least to the largest finite cut, on the last axis; 0 if there is none."""
    low, high = cuts.min(axis=-1, initial=np.inf), np.where(np.isinf(cuts), -np.inf, cuts).max(axis=-1, initial=-np.inf)
    none = low > high  # the same action is always the cheapest
    low, high = np.where(none, 0.0, low)[..., np.newaxis], np.where(none, 0.0, high)[..., np.newaxis]
    return np.asarray(np.minimum(low + (high - low) * np.linspace(0.0, 1.0, COUNT), high))


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
    if not len(t) or (np.diff(t) <= 0).any() or np.abs(t).max() > LARGEST_LOG_ODDS:
        raise ValueError(
            f"log_odds={list(log_odds)} must be strictly increasing, at least one, and within +-700. Log-odds of costs "
            "are logarithms of their quotients: if they come from costs, state costs whose quotients are below 1e300."
        )
    thresholds = Thresholds(t[0], t[-1])
    # Tangents whose slopes are equal in floating point, in either class, count as one.
    t = t[new_slopes(t)]
    each = np.stack([-t[::-1], t])  # swapping the classes negates the log-odds
    knots = np.concatenate([crossings(each[:, :-1], each[:, 1:]), last_knots(each[:, -1:])], axis=1)
    negative, positive = map(PiecewiseLinear, knots.tolist(), (-expit(-each)).tolist())
    cut = min(max(0.0, thresholds.lower), thresholds.upper) if cut is None else cut
    return MarginLoss(negative, positive, thresholds, cut, unit=1.0)


def tangent_hinge_at(probabilities: Sequence[float], cut: float | None = None) -> MarginLoss:
    """Return the tangent hinge at probabilities of the positive class, strictly between 0 and 1 and increasing."""
    p = [real_number("probabilities", value) for value in probabilities]
    if not all(0.0 < value < 1.0 for value in p):
        raise ValueError(f"probabilities={p} must lie strictly between 0 and 1.")
    return tangent_hinge([math.log(value) - math.log1p(-value) for value in p], cut)


def new_slopes(t: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the slope of each tangent differs from that of the one before, in either class; the first does."""
    first = np.ones((*t.shape[:-1], 1), dtype=bool)
    return np.concatenate([first, (np.diff(expit(t)) > 0) & (np.diff(expit(-t)) < 0)], axis=-1)


def crossings(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores where the tangents at log-odds a < b cross: rho = (H(p_a) - H(p_b)) / (p_b - p_a).

    The quotient loses its digits as b approaches a. With h = b - a ::

        rho - a = (log(1 + q_b u) - q_b h) / (p_a q_b u)     u = exp(h) - 1       q = 1 - p
                = (p_b h + log(1 - p_b v)) / (p_b q_a v)     v = 1 - exp(-h)

    The first is exact to rounding if p_a is not small, the second if q_a is not small.
    """
    h = b - a
    p_a, q_a, p_b, q_b = expit(a), expit(-a), expit(b), expit(-b)
    with np.errstate(all="ignore"):  # each formula is used where it is accurate only
        # 1 - p keeps the digits if p is near 1
        wide = (_entropy(a) - _entropy(b)) / np.where(a > 0, q_a - q_b, p_b - p_a)
        u, v = np.expm1(np.minimum(h, 2.0)), -np.expm1(-h)
        right = a + (np.log1p(q_b * u) - q_b * h) / (p_a * q_b * u)
        left = a + (p_b * h + np.log1p(-p_b * v)) / (p_b * q_a * v)
    return np.where(h > 1.0, wide, np.where(a > 0, right, left))


def _entropy(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute H(p) at the log-odds t: -log p and -log(1 - p) are log(1 + exp(-t)) and log(1 + exp(t))."""
    return np.asarray(expit(t) * np.logaddexp(0.0, -t) + expit(-t) * np.logaddexp(0.0, t))


def last_knots(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute tau = H(p) / (1 - p) = exp(t) log(1 + exp(-t)) + log(1 + exp(t)), without cancellation."""
    return np.asarray(np.exp(t) * np.logaddexp(0.0, -t) + np.logaddexp(0.0, t))


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
    >>> from abstain.losses.tangent_hinge import double_hinge
    >>> double_hinge(Costs(reject=0.2)).positive.slopes
    (-0.8, -0.2)
    >>> double_hinge(Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3, "test": {0: 0.2, 1: 0.5}})).n_knots
    3
    """
    # Tangents at log-odds, not at probabilities: p_low and p_high near 0 or 1 would lose significant digits.
    forced = costs.levels(forced=True).cuts
    return tangent_hinge(task_tangents(costs), cut=forced[0] if forced else None)


def task_losses(costs: CostTable) -> tuple[MarginLoss, ...]:
    """Return the loss of each task: one for two classes, one per class, k against the rest, for more."""
    if costs.n_classes == 2:
        return (double_hinge(costs),)
    return class_losses(task_tangents(costs))


def class_losses(tangents: NDArray[np.float64]) -> tuple[MarginLoss, ...]:
    """Return the losses with these tangents, a row for each class."""
    each = [tuple(sorted({*row})) for row in tangents.tolist()]
    made = {row: tangent_hinge(row) for row in {*each}}  # most classes have the same
    return tuple(made[row] for row in each)


def row_losses(tangents: NDArray[np.float64], sign: NDArray[np.int8]) -> LossTable:
    """Return the loss of each row; rows with equal tangents share one.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      as in `double_hinge`, with p_low and p_high of the row

    How large the costs are does not matter here: that is in the weights of the rows.

    Parameters
    ----------
    tangents : ndarray of shape (n, L)
        The log-odds of the class with sign +1 at each row's tangents, in any order; infinity where it has fewer.
    sign : ndarray of int8, shape (n,)
    """
    at = np.where(np.isinf(tangents), np.nan, tangents)
    at = np.sort(np.where(sign[:, np.newaxis] > 0, at, -at), axis=1)  # exchanging the classes negates the log-odds
    beyond = np.nanmax(np.abs(at), axis=1) > LARGEST_LOG_ODDS
    if beyond.any():
        raise ValueError(
            f"row_costs has costs too far apart at row {int(np.argmax(beyond))}: the log of their ratios must lie "
            "within +-700; state the costs in one currency."
        )
    lines, kind = np.unique(np.where(np.isfinite(at) & new_slopes(at), at, np.inf), axis=0, return_inverse=True)
    lines = np.sort(lines, axis=1)
    count = np.isfinite(lines).sum(axis=1)
    most, rows = int(count.max()), np.arange(len(lines))
    lines = lines[:, :most]
    slopes, knots = -expit(-lines), np.empty(lines.shape)
    knots[:, -1] = last_knots(lines[rows, count - 1])
    for j in range(most - 1):
        real = j + 1 < count
        knots[real, j] = crossings(lines[real, j], lines[real, j + 1])
        # halfway between the bend before and the last knot
        spare = ~real
        before = knots[spare, j - 1] if j else 0.0
        knots[spare, j] = knots[spare, -1] - (knots[spare, -1] - before) * 0.5
        slopes[spare, j + 1] = slopes[spare, j] * (1.0 - _SLIVER)
    return LossTable(np.ascontiguousarray(knots), np.ascontiguousarray(slopes), kind.ravel().astype(np.intp))


@cache
def hinge(knot: float = 1.0) -> MarginLoss:
    """Return ``|1 - z|_+`` for both classes, or ``|knot - z|_+``; it rejects nothing and cuts the score at 0.

    The machine of one class has the knot 0.
    """
    loss = PiecewiseLinear(knots=(knot,), slopes=(-1.0,))
    return MarginLoss(negative=loss, positive=loss, thresholds=Thresholds(0.0, 0.0), cut=0.0)
