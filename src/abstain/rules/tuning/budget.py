"""Thresholds for a reject budget: at most a share of the rows, or of each class; tied rows are rejected together.

The budget is for new rows. Let a new row be exchangeable with n rows, and let the cut lie below the k-th smallest of
their confidences. Then the new row is rejected only if it is among the k smallest of all n + 1, which has a probability
of at most k / (n + 1), with ties too. So with k = floor(share (n + 1)) at most k - 1 of the n rows are rejected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.costs.thresholds import Thresholds
from abstain.rules.tuning.empirical_cost import TIE, symmetric_after
from abstain.rules.tuning.scored_rows import Prefixes, ScoredRows

Shares = float | tuple[float, float]  # of all rows, or of the classes (negative, positive)


def symmetric_within(rows: ScoredRows, shares: Shares, *, for_new: bool = True) -> Thresholds:
    """Reject the rows closest to the cut, as many as the budget allows; rows of equal confidence are kept together.

    `for_new=False` keeps the budget on these rows instead of on new ones, as versions up to 0.2 did.
    """
    sides = Prefixes.of(rows.confidence, rows.code, rows.weight)
    affordable = np.ones(len(sides.values) + 1, dtype=bool)
    for spent, budget in _accounts(rows, sides, shares, for_new=for_new):
        affordable &= spent <= budget
    affordable[0] = True
    return symmetric_after(rows, sides, int(np.flatnonzero(affordable)[-1]))


def roc_within(rows: ScoredRows, shares: Shares, *, for_new: bool = True) -> Thresholds:
    """The two thresholds that leave the fewest errors among all bands within the budget; then the fewest rejects.

    Deciding -1 for the i smallest scores and +1 for all but the j smallest leaves ``P_i + N - N_j`` errors, which do
    not increase with j, so for each i the best j is the last one that the budget allows.
    """
    sides = Prefixes.of(rows.score, rows.code, rows.weight)
    m = len(sides.values)
    last = np.full(m + 1, m)
    for spent, budget in _accounts(rows, sides, shares, for_new=for_new):
        last = np.minimum(last, np.searchsorted(spent, spent + budget, side="right") - 1)
    last = np.maximum(last, np.arange(m + 1))
    errors = sides.positive + sides.negative[-1] - sides.negative[last]
    # as few rejects as possible for the same errors: the first j with the same weight of negatives below it
    first = np.maximum(np.searchsorted(sides.negative, sides.negative[last]), np.arange(m + 1))
    total = sides.negative + sides.positive
    tied = np.flatnonzero(errors - errors.min() <= TIE * errors)
    i = tied[np.argmin(total[first[tied]] - total[tied])]
    return sides.band(int(i), int(first[i]))


def allowance(share: float, total: float, new: float) -> float:
    """Return the weight that may be rejected of a total, so that the share holds with a new row of weight `new` too.

    It is negative if nothing may be rejected.
    """
    # 0.1 of 30 rows is 3 rows, but 0.1 * 30 may round below 3
    return share * (total + new) * (1 + TIE) - new


def _accounts(
    rows: ScoredRows, sides: Prefixes, shares: Shares, *, for_new: bool
) -> list[tuple[NDArray[np.float64], float]]:
    """Rejected weight up to each value, with its budget: one pair, or one for each class."""
    if isinstance(shares, tuple):
        accounts = list(zip((sides.negative, sides.positive), shares, strict=True))
    else:
        accounts = [(sides.negative + sides.positive, shares)]
    new = float(rows.weight.mean()) if for_new else 0.0
    return [(spent, allowance(share, float(spent[-1]), new)) for spent, share in accounts]
