"""Cuts that minimise the empirical cost (docs/theory.md): on the confidence of answers, or two from the ROC hull.

A row is rejected if its confidence is at most the cut of its answer, so -inf rejects nothing and inf everything::

    cost(cut) = sum of reject costs over confidence <= cut + sum of error costs over the errors beyond it

Of two classes the confidence is the distance from the classifier's own cut (FR02's external threshold, GRKC08's naive).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.rules.tuning.scored_rows import AnsweredRows, Line, ScoredRows

# Costs that differ by less than this share of their terms count as equal: at a reject cost of 1/k one error costs
# exactly k rejects, and rounding must not break the tie. Ties go to fewer rejects.
TIE = 1e-12
OVERFLOW = np.errstate(over="ignore", invalid="ignore")  # `ties` refuses sums that are not finite


def cheapest_cut(rows: AnsweredRows, costs: CostTable) -> NDArray[np.float64]:
    """The one cut for all answers at which the rows cost least; ties go to fewer rejects."""
    return np.full(rows.n_classes, _cheapest(rows, costs))


def cheapest_cuts(rows: AnsweredRows, costs: CostTable) -> NDArray[np.float64]:
    """The cut for each class answered at which the rows cost least; ties go to fewer rejects."""
    return np.array([_cheapest(rows.answered(k), costs) for k in range(rows.n_classes)])


def symmetric_thresholds(rows: ScoredRows, costs: CostTable) -> Thresholds:
    """The distance D from the cut of two classes for which rejecting ``|f - cut| <= D`` costs least."""
    return rows.symmetric_band(_cheapest(rows.answered(), costs))


@OVERFLOW
def _cheapest(rows: AnsweredRows, costs: CostTable) -> float:
    line = Line.of(rows.confidence)
    total = np.zeros(len(line.values) + 1)
    rejected, accepted = costs.reject_costs[rows.truth], costs.errors[rows.truth, rows.answer]
    # weights first: sums of a cost that is not a binary fraction would round
    for cost in np.unique(rejected):
        total += cost * line.sums(np.where(rejected == cost, rows.weight, 0.0))
    for cost in np.unique(accepted):
        errors = line.sums(np.where(accepted == cost, rows.weight, 0.0))
        total += cost * (errors[-1] - errors)
    return line.cut_after(int(ties(total, total)[0]))


def roc_thresholds(rows: ScoredRows, costs: CostTable) -> Thresholds:
    """T04's two thresholds: the points where lines of two slopes touch the convex hull of the ROC curve.

    With P_i and N_i the weights of the two classes among the i smallest scores: deciding -1 for these, +1 for all but
    the j smallest, and rejecting in between costs ``A(i) + B(j)`` plus a constant::

        A(i) = (c_fn - r_pos) P_i - r_neg N_i          B(j) = r_pos P_j - (c_fp - r_neg) N_j

    A touches the hull with T04's slope m1 = (N/P) r_neg / (c_fn - r_pos), B with m2 = (N/P) (c_fp - r_neg) / r_pos.
    If rejecting pays, m1 < m2, so i <= j, and the two can be minimised separately.
    """
    if not costs.can_hand_on:
        cut = forced_cut(rows, costs)
        return Thresholds(cut, cut)
    (_, c_fp), (c_fn, _) = costs.errors.tolist()
    r_neg, r_pos = costs.reject_costs.tolist()
    line = Line.of(rows.score)
    i, j = _tangent(line, rows, c_fn - r_pos, r_neg), _tangent(line, rows, r_pos, c_fp - r_neg)
    # ties go to fewer rejects: the last i, and the first j not before it
    last = int(i[i <= j[-1]][-1])
    return line.band(last, int(j[j >= last][0]))


def forced_cut(rows: ScoredRows, costs: CostTable) -> float:
    """The single threshold of least cost without rejects; ties go to the one closest to the classifier's own."""
    line = Line.of(rows.score)
    tied = _tangent(line, rows, float(costs.errors[1, 0]), float(costs.errors[0, 1]))
    cuts = np.array([line.cut_after(int(i)) for i in tied])
    return float(cuts[np.argmin(np.abs(cuts - rows.cut))])


@OVERFLOW
def _tangent(line: Line, rows: ScoredRows, per_positive: float, per_negative: float) -> NDArray[np.intp]:
    """All i that minimise ``per_positive P_i - per_negative N_i``, increasing."""
    negative, positive = line.by_class(rows.code, rows.weight)
    loss, gain = per_positive * positive, per_negative * negative
    return ties(loss - gain, loss + gain)


def ties(cost: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where `cost`, a sum of terms of total size `size`, is minimal up to rounding."""
    if not np.isfinite(size).all():
        raise ValueError("the sum of the costs of these rows exceeds float64; divide all costs by the largest.")
    best = int(np.argmin(cost))
    return np.flatnonzero(cost - cost[best] <= TIE * (size + size[best]))
