"""Cuts on the confidence of answers: one for all answers, or one for each class answered.

A row is rejected if its confidence is at most the cut of its answer, so -inf rejects nothing and inf everything. Rows
of the same answer are one line of confidences, on which every cut can be tried::

    cost(cut) = sum of reject costs over confidence <= cut + sum of error costs over the errors beyond it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.costs.thresholds import Thresholds
from abstain.rules.by_answer import ByAnswer
from abstain.rules.tuning.budget import allowance
from abstain.rules.tuning.empirical_cost import OVERFLOW, ties
from abstain.rules.tuning.scored_rows import AnsweredRows, cut_between

__all__ = ["cheapest_cut", "cheapest_cuts", "cut_within", "cuts_within", "two_sided"]

Floats = NDArray[np.float64]


def cheapest_cut(rows: AnsweredRows, costs: CostTable) -> Floats:
    """The one cut for all answers at which the rows cost least; ties go to fewer rejects."""
    return _one(rows, _cheapest(rows, costs))


def cheapest_cuts(rows: AnsweredRows, costs: CostTable) -> Floats:
    """The cut for each class answered at which the rows cost least; ties go to fewer rejects."""
    return _each(rows, _cheapest(rows, costs))


def cut_within(rows: AnsweredRows, share: float, *, for_new: bool = True) -> Floats:
    """The largest cut for all answers that rejects at most this share of new rows; `for_new` as in `budget`."""
    return _one(rows, _affordable(rows, np.full(rows.n_classes, share), for_new=for_new))


def cuts_within(rows: AnsweredRows, shares: ByAnswer, *, for_new: bool = True) -> Floats:
    """The largest cut for each class answered that rejects at most its share of new rows with this answer."""
    return _each(rows, _affordable(rows, np.array(shares.shares), for_new=for_new))


def two_sided(cuts: Floats) -> Thresholds:
    """The thresholds on the score of two classes with these cuts on the distance from 0, where a 0 means the first."""
    first, second = cuts.tolist()
    tiny = np.nextafter(0.0, 1.0)
    upper = second if second > -np.inf else 0.0
    lower = 0.0 - first if first > -np.inf else tiny if upper > 0.0 else 0.0
    if first == 0.0 and upper == 0.0:
        lower = -tiny  # two equal thresholds would accept a score of 0
    return Thresholds(lower, upper)


Place = Callable[[NDArray[Any], Callable[[Floats], Floats]], int]


def _one(rows: AnsweredRows, place: Place) -> Floats:
    return np.full(rows.n_classes, _cut(rows, np.arange(len(rows.answer)), place))


def _each(rows: AnsweredRows, place: Place) -> Floats:
    return np.array([_cut(rows, np.flatnonzero(rows.answer == k), place) for k in range(rows.n_classes)])


def _cut(rows: AnsweredRows, at: NDArray[np.intp], place: Place) -> float:
    """The cut on some of the rows; `place` gives how many distinct confidences are rejected."""
    values, group = np.unique(rows.confidence[at], return_inverse=True)

    def sums(each: Floats) -> Floats:
        """The sum over the rows up to each distinct confidence, from none of them to all."""
        return np.append(0.0, np.cumsum(np.bincount(group, each, len(values))))

    return cut_between(values, place(at, sums))


@OVERFLOW
def _cheapest(rows: AnsweredRows, costs: CostTable) -> Place:
    accepted = rows.weight * costs.errors[rows.truth, rows.answer]
    rejected = rows.weight * costs.reject_costs[rows.truth]

    @OVERFLOW
    def place(at: NDArray[np.intp], sums: Callable[[Floats], Floats]) -> int:
        errors = sums(accepted[at])
        cost = sums(rejected[at]) + (errors[-1] - errors)
        return int(ties(cost, cost)[0])

    return place


def _affordable(rows: AnsweredRows, shares: Floats, *, for_new: bool) -> Place:
    new = float(rows.weight.mean()) if for_new else 0.0

    def place(at: NDArray[np.intp], sums: Callable[[Floats], Floats]) -> int:
        share = shares[rows.answer[at[0]]] if len(at) else np.nan
        if np.isnan(share):
            return 0
        spent = sums(rows.weight[at])
        return int(np.flatnonzero(np.append(True, spent[1:] <= allowance(share, float(spent[-1]), new)))[-1])

    return place
