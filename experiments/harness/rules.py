"""Rules from the literature that act on a score (docs/theory.md), tuned on held-out scores."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from abstain import Costs, Thresholds
from abstain.rules.tuning.methods import cheapest_cut, forced_cut, roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows
from harness.search import Array, Decide, Rule, Signs


def fixed(thresholds: Thresholds) -> Rule:
    """Thresholds given by the theory; nothing is tuned."""
    return lambda _score, _sign, _costs: thresholds.decide


def symmetric(cut: float = 0.0) -> Rule:
    """Reject where the score lies within D of the machine's own cut, with the D of least cost."""

    def place(score: Array, sign: Signs, costs: Costs) -> Decide:
        rows = ScoredRows.of(score, sign > 0, cut=cut)
        return rows.band(cheapest_cut(rows.answered(), costs)).decide

    return place


def roc(score: Array, sign: Signs, costs: Costs) -> Decide:
    """T04's two thresholds from the convex hull of the ROC curve."""
    return roc_thresholds(ScoredRows.of(score, sign > 0, cut=0.0), costs).decide


def one_cut(score: Array, sign: Signs, costs: Costs) -> Decide:
    """The single threshold of least cost; nothing is rejected."""
    cut = forced_cut(ScoredRows.of(score, sign > 0, cut=0.0), costs)
    return Thresholds(cut, cut).decide


def platt(score: Array, sign: Signs, costs: Costs) -> Decide:
    """Chow's rule on Platt's sigmoid, fitted to his smoothed targets.

    ::

        min_{a, b}  - sum_i t_i log P_i + (1 - t_i) log(1 - P_i),     P = 1 / (1 + exp(-(a f + b))),
        t_i = (N+ + 1) / (N+ + 2) for the positive rows, 1 / (N- + 2) for the negative ones
    """
    a, b = sigmoid(score, sign)
    return lambda f: costs.thresholds().decide(expit(a * f + b))


def sigmoid(score: Array, sign: Signs) -> tuple[float, float]:
    """Platt's a and b by Newton's method, halving the step until the cross-entropy does not increase."""
    positive = sign > 0
    many, few = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (many + 1) / (many + 2), 1 / (few + 2))
    unit = float(np.abs(score).mean()) or 1.0
    rows = np.column_stack([score / unit, np.ones(len(score))])
    ab = np.array([0.0, np.log((many + 1) / (few + 1))])
    value = _cross_entropy(rows @ ab, target)
    for _ in range(100):
        p = expit(rows @ ab)
        step = np.linalg.lstsq((rows * (p * (1 - p))[:, np.newaxis]).T @ rows, rows.T @ (p - target), rcond=None)[0]
        size = 1.0
        while (trial := _cross_entropy(rows @ (ab - size * step), target)) > value and size > 1e-10:
            size /= 2
        if not trial < value:
            break
        done = value - trial <= 1e-12 * value
        ab, value = ab - size * step, trial
        if done:
            break
    return float(ab[0]) / unit, float(ab[1])


def _cross_entropy(f: Array, target: Array) -> float:
    return float(np.sum(np.logaddexp(0.0, f) - target * f))


def isotonic(score: Array, sign: Signs, costs: Costs) -> Decide:
    """Chow's rule on the monotone least-squares fit of the classes."""
    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(score, sign > 0)
    return lambda f: costs.thresholds().decide(model.predict(f))
