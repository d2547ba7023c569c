"""Thresholds for a reject budget: at most a share of the rows, or of each class; tied rows are rejected together.

The budget is for new rows. Let a new row be exchangeable with n rows, and let the cut lie below the k-th smallest of
their confidences. Then the new row is rejected only if it is among the k smallest of all n + 1, which has a probability
of at most k / (n + 1), with ties too. So with k = floor(share (n + 1)) at most k - 1 of the n rows are rejected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Thresholds
from abstain.rules.by_answer import ByAnswer
from abstain.rules.tuning.empirical_cost import TIE
from abstain.rules.tuning.scored_rows import AnsweredRows, Line, ScoredRows

Shares = float | tuple[float, float]  # of all rows, or of the classes (negative, positive)


def cut_within(rows: AnsweredRows, shares: Shares, *, for_new: bool = True) -> NDArray[np.float64]:
    """The largest cut on the confidence of all answers within the budget; rows of equal confidence are kept together.

    `for_new=False` keeps the budget on these rows instead of on new ones, as versions up to 0.2 did.
    """
    return np.full(rows.n_classes, _affordable(rows, shares, _new(rows, for_new=for_new)))


def cuts_within(rows: AnsweredRows, shares: ByAnswer, *, for_new: bool = True) -> NDArray[np.float64]:
    """The largest cut for each class answered that rejects at most its share of new rows with this answer."""
    new = _new(rows, for_new=for_new)
    named = enumerate(shares.shares)
    return np.array([-np.inf if np.isnan(one) else _affordable(rows.answered(k), one, new) for k, one in named])


def symmetric_within(rows: ScoredRows, shares: Shares, *, for_new: bool = True) -> Thresholds:
    """Reject the rows closest to the cut of two classes, as many as the budget allows."""
    return rows.symmetric_band(float(cut_within(rows.answered(), shares, for_new=for_new)[0]))


def _affordable(rows: AnsweredRows, shares: Shares, new: float) -> float:
    line = Line.of(rows.confidence)
    affordable = np.ones(len(line.values) + 1, dtype=bool)
    for spent, budget in _accounts(line, rows.truth, rows.weight, shares, new):
        affordable &= spent <= budget
    affordable[0] = True
    return line.cut_after(int(np.flatnonzero(affordable)[-1]))


def roc_within(rows: ScoredRows, shares: Shares, *, for_new: bool = True) -> Thresholds:
    """The two thresholds that leave the fewest errors among all bands within the budget; then the fewest rejects.

    Deciding -1 for the i smallest scores and +1 for all but the j smallest leaves ``P_i + N - N_j`` errors, which do
    not increase with j, so for each i the best j is the last one that the budget allows.
    """
    line = Line.of(rows.score)
    negative, positive = line.by_class(rows.code, rows.weight)
    every = np.arange(len(negative))
    last = np.full(len(every), every[-1])
    for spent, budget in _accounts(line, rows.code, rows.weight, shares, _new(rows, for_new=for_new)):
        last = np.minimum(last, np.searchsorted(spent, spent + budget, side="right") - 1)
    last = np.maximum(last, every)
    errors = positive + negative[-1] - negative[last]
    # as few rejects as possible for the same errors: the first j with the same weight of negatives below it
    first = np.maximum(np.searchsorted(negative, negative[last]), every)
    total = negative + positive
    tied = np.flatnonzero(errors - errors.min() <= TIE * errors)
    i = tied[np.argmin(total[first[tied]] - total[tied])]
    return line.band(int(i), int(first[i]))


def _new(rows: AnsweredRows | ScoredRows, *, for_new: bool) -> float:
    """Return the weight of the new row that the budget is for."""
    return float(rows.weight.mean()) if for_new else 0.0


def _accounts(
    line: Line, code: NDArray[np.intp], weight: NDArray[np.float64], shares: Shares, new: float
) -> list[tuple[NDArray[np.float64], float]]:
    """Rejected weight up to each value, with the weight that may be rejected: one pair, or one for each class.

    The share must hold with a new row of weight `new` too. Nothing may be rejected if the budget is negative.
    """
    pair = isinstance(shares, tuple)
    sums = line.by_class(code, weight) if pair else (line.sums(weight),)
    # 0.1 of 30 rows is 3 rows, but 0.1 * 30 may round below 3
    each = zip(sums, np.atleast_1d(shares).tolist(), strict=True)
    return [(spent, share * (float(spent[-1]) + new) * (1 + TIE) - new) for spent, share in each]
