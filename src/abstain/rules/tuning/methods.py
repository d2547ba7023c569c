"""The methods to place cuts on scores, by name. To add one, write its functions and an entry here.

A row is rejected if its confidence is at most the cut of its answer, so -inf rejects nothing and inf everything. Of two
classes the confidence is the distance from the classifier's own cut (FR02's external threshold, GRKC08's naive). Cuts
by costs minimise the empirical cost (docs/theory.md)::

    cost(cut) = sum of reject costs over confidence <= cut + sum of error costs over the errors beyond it

Cuts by a budget reject at most a share of the rows, or of each class; tied rows are rejected together. The budget is
for new rows. Let a new row be exchangeable with n rows, and let the cut lie below the k-th smallest of their
confidences. Then the new row is rejected only if it is among the k smallest of all n + 1, which has a probability of at
most k / (n + 1), with ties too. So with k = floor(share (n + 1)) at most k - 1 of the n rows are rejected.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.rules.tuning.scored_rows import AnsweredRows, ByAnswer, Line, ScoredRows

Floats = NDArray[np.float64]
Shares = float | tuple[float, float]  # of all rows, or of each of two classes, in their order
# Costs that differ by less than this share of their terms count as equal: at a reject cost of 1/k one error costs
# exactly k rejects, and rounding must not break the tie. Ties go to fewer rejects.
TIE = 1e-12
OVERFLOW = np.errstate(over="ignore", invalid="ignore")  # `ties` refuses sums that are not finite


def cheapest_cut(rows: AnsweredRows, costs: CostTable) -> Floats:
    """The one cut for all answers at which the rows cost least; ties go to fewer rejects."""
    return np.full(rows.n_classes, _cheapest(rows, costs))


def cheapest_cuts(rows: AnsweredRows, costs: CostTable) -> Floats:
    """The cut for each class answered at which the rows cost least; ties go to fewer rejects."""
    return np.array([_cheapest(rows.answered(k), costs) for k in range(rows.n_classes)])


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


def cuts_within(rows: AnsweredRows, shares: Shares | ByAnswer, *, for_new: bool = True) -> Floats:
    """The largest cuts within the budget: one for all answers, or, with shares by answer, one for each class answered.

    `for_new=False` keeps the budget on these rows instead of on new ones, as versions up to 0.2 did.
    """
    new = float(rows.weight.mean()) if for_new else 0.0
    if not isinstance(shares, ByAnswer):
        return np.full(rows.n_classes, _affordable(rows, shares, new))
    named = enumerate(shares.shares)
    return np.array([-np.inf if np.isnan(one) else _affordable(rows.answered(k), one, new) for k, one in named])


def _affordable(rows: AnsweredRows, shares: Shares, new: float) -> float:
    line = Line.of(rows.confidence)
    affordable = np.ones(len(line.values) + 1, dtype=bool)
    for spent, budget in _accounts(line, rows.truth, rows.weight, shares, new):
        affordable &= spent <= budget
    affordable[0] = True
    return line.cut_after(int(np.flatnonzero(affordable)[-1]))


def _accounts(
    line: Line, code: NDArray[np.intp], weight: Floats, shares: Shares, new: float
) -> list[tuple[Floats, float]]:
    """Rejected weight up to each value, with the weight that may be rejected: one pair, or one for each class.

    The share must hold with a new row of weight `new` too. Nothing may be rejected if the budget is negative.
    """
    sums = line.by_class(code, weight) if isinstance(shares, tuple) else (line.sums(weight),)
    # 0.1 of 30 rows is 3 rows, but 0.1 * 30 may round below 3
    each = zip(sums, np.atleast_1d(shares).tolist(), strict=True)
    return [(spent, share * (float(spent[-1]) + new) * (1 + TIE) - new) for spent, share in each]


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


def roc_within(rows: ScoredRows, shares: Shares, *, for_new: bool = True) -> Thresholds:
    """The two thresholds that leave the fewest errors among all bands within the budget; then the fewest rejects.

    Deciding -1 for the i smallest scores and +1 for all but the j smallest leaves ``P_i + N - N_j`` errors, which do
    not increase with j, so for each i the best j is the last one that the budget allows.
    """
    line, new = Line.of(rows.score), float(rows.weight.mean()) if for_new else 0.0
    negative, positive = line.by_class(rows.code, rows.weight)
    every = np.arange(len(negative))
    last = np.full(len(every), every[-1])
    for spent, budget in _accounts(line, rows.code, rows.weight, shares, new):
        last = np.minimum(last, np.searchsorted(spent, spent + budget, side="right") - 1)
    last = np.maximum(last, every)
    errors = positive + negative[-1] - negative[last]
    # as few rejects as possible for the same errors: the first j with the same weight of negatives below it
    first = np.maximum(np.searchsorted(negative, negative[last]), every)
    total = negative + positive
    tied = np.flatnonzero(errors - errors.min() <= TIE * errors)
    i = tied[np.argmin(total[first[tied]] - total[tied])]
    return line.band(int(i), int(first[i]))


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


def ties(cost: Floats, size: Floats) -> NDArray[np.intp]:
    """Where `cost`, a sum of terms of total size `size`, is minimal up to rounding."""
    if not np.isfinite(size).all():
        raise ValueError("the sum of the costs of these rows exceeds float64; divide all costs by the largest.")
    best = int(np.argmin(cost))
    return np.flatnonzero(cost - cost[best] <= TIE * (size + size[best]))


@dataclass(frozen=True)
class Method:
    """How cuts are placed; in costs and scores, ``classes[1]`` is the positive class.

    Attributes
    ----------
    for_answers : callable or None
        ``for_answers(rows, costs)`` gives the cuts of least cost on the confidence, by the class answered. None means
        that there are none: either `for_costs` is None too, and the least expected cost decides (Bayes' rule, which
        needs no rows), or the method is for two classes.
    for_costs, for_budget : callable or None
        Of two classes, ``for_costs(rows, costs)`` gives two thresholds on the score of least cost, and
        ``for_budget(rows, shares, for_new=True)`` two that reject at most these shares of new rows. They depend on the
        labels, so that no error can be certified. None means thresholds at the same distance from the classifier's cut.
    forced_cut : callable or None
        ``forced_cut(rows, costs)`` gives the cut of the forced choice; None means the classifier's own cut.
    needs_probabilities : bool
        Whether the score must be the log-odds of a probability.
    """

    for_answers: Callable[[AnsweredRows, CostTable], Floats] | None = None
    for_costs: Callable[[ScoredRows, CostTable], Thresholds] | None = None
    for_budget: Callable[..., Thresholds] | None = None
    forced_cut: Callable[[ScoredRows, CostTable], float] | None = None
    needs_probabilities: bool = False

    @property
    def is_bayes(self) -> bool:
        """Whether costs decide by the least expected cost, and nothing is placed."""
        return self.for_answers is None and self.for_costs is None


METHODS = {
    "symmetric": Method(cheapest_cut),
    "roc": Method(cheapest_cuts, roc_thresholds, roc_within, forced_cut),
    "chow": Method(needs_probabilities=True),
}

AUTO = "auto"


def automatic(costs: CostTable | None, *, by_row: bool = False) -> str:
    """Return the method of "auto": "roc" if the costs differ by class, otherwise "symmetric".

    With unequal costs one symmetric threshold is in the wrong place. Tuned cuts need no good probabilities; Chow's rule
    does, and costs several times as much around classifiers whose probabilities are rough, such as forests and naive
    Bayes. It is "chow" where thresholds for all rows do not exist: for `Actions`, and for costs per row. Without costs
    one threshold needs fewer rows, and only one can be certified.
    """
    if costs is None:
        return "chow" if by_row else "symmetric"
    return "chow" if by_row or not costs.answering else "symmetric" if costs.symmetric else "roc"
