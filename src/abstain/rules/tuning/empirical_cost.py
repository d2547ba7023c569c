"""Thresholds that minimise the empirical cost (docs/theory.md): one distance from the cut, or two from the ROC hull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.costs.thresholds import Thresholds
from abstain.rules.tuning.scored_rows import Prefixes, ScoredRows

# Costs that differ by less than this share of their terms count as equal: at a reject cost of 1/k one error costs
# exactly k rejects, and rounding must not break the tie. Ties go to fewer rejects.
TIE = 1e-12
OVERFLOW = np.errstate(over="ignore", invalid="ignore")  # `ties` refuses sums that are not finite


@OVERFLOW
def symmetric_thresholds(rows: ScoredRows, costs: CostTable) -> Thresholds:
    """The distance D for which rejecting ``|f - cut| <= D`` costs least (FR02's external threshold, GRKC08's naive).

    ::

        cost(D) = sum of reject costs over confidence <= D + sum of error costs over the errors beyond it
    """
    sides = Prefixes.of(rows.confidence, rows.code, rows.weight)
    wrong = Prefixes.of(rows.confidence, rows.code, np.where(rows.wrong, rows.weight, 0.0))
    (_, c_fp), (c_fn, _) = costs.errors.tolist()
    r_neg, r_pos = costs.reject_costs.tolist()
    rejects = r_neg * sides.negative + r_pos * sides.positive
    errors = c_fp * (wrong.negative[-1] - wrong.negative)
    errors += c_fn * (wrong.positive[-1] - wrong.positive)
    return symmetric_after(rows, sides, int(ties(rejects + errors, rejects + errors)[0]))


def roc_thresholds(rows: ScoredRows, costs: CostTable) -> Thresholds:
    """T04's two thresholds: the points where lines of two slopes touch the convex hull of the ROC curve.

    With P_i and N_i the weights of the two classes among the i smallest scores: deciding -1 for these, +1 for all but
    the j smallest, and rejecting in between costs ``A(i) + B(j)`` plus a constant::

        A(i) = (c_fn - r_pos) P_i - r_neg N_i          B(j) = r_pos P_j - (c_fp - r_neg) N_j

    A touches the hull with T04's slope m1 = (N/P) r_neg / (c_fn - r_pos), B with m2 = (N/P) (c_fp - r_neg) / r_pos.
    If rejecting pays, m1 < m2, so i <= j, and the two can be minimised separately.
    """
    sides = Prefixes.of(rows.score, rows.code, rows.weight)
    if not costs.can_hand_on:
        cut = forced_cut(rows, costs)
        return Thresholds(cut, cut)
    (_, c_fp), (c_fn, _) = costs.errors.tolist()
    r_neg, r_pos = costs.reject_costs.tolist()
    i, j = _tangent(sides, c_fn - r_pos, r_neg), _tangent(sides, r_pos, c_fp - r_neg)
    # ties go to fewer rejects: the last i, and the first j not before it
    last = int(i[i <= j[-1]][-1])
    return sides.band(last, int(j[j >= last][0]))


def forced_cut(rows: ScoredRows, costs: CostTable) -> float:
    """The single threshold of least cost without rejects; ties go to the one closest to the classifier's own."""
    sides = Prefixes.of(rows.score, rows.code, rows.weight)
    tied = _tangent(sides, float(costs.errors[1, 0]), float(costs.errors[0, 1]))
    cuts = np.array([sides.cut_after(int(i)) for i in tied])
    return float(cuts[np.argmin(np.abs(cuts - rows.cut))])


def symmetric_after(rows: ScoredRows, sides: Prefixes, rejected: int) -> Thresholds:
    """Thresholds that reject the rows with the `rejected` smallest distinct confidences."""
    if rejected == 0:
        return Thresholds(rows.cut, rows.cut)
    return rows.symmetric_band(float(sides.values[rejected - 1]), sides.cut_after(rejected))


@OVERFLOW
def _tangent(sides: Prefixes, per_positive: float, per_negative: float) -> NDArray[np.intp]:
    """All i that minimise ``per_positive P_i - per_negative N_i``, increasing."""
    loss, gain = per_positive * sides.positive, per_negative * sides.negative
    return ties(loss - gain, loss + gain)


def ties(cost: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where `cost`, a sum of terms of total size `size`, is minimal up to rounding."""
    if not np.isfinite(size).all():
        raise ValueError("the sum of the costs of these rows exceeds float64; divide all costs by the largest.")
    best = int(np.argmin(cost))
    return np.flatnonzero(cost - cost[best] <= TIE * (size + size[best]))
