"""The methods to place two thresholds on scores, by name. To add one, add a file in this folder and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.rules.tuning.budget import roc_within, symmetric_within
from abstain.rules.tuning.empirical_cost import (
    cheapest_cut,
    cheapest_cuts,
    forced_cut,
    roc_thresholds,
    symmetric_thresholds,
)
from abstain.rules.tuning.scored_rows import AnsweredRows, ScoredRows

__all__ = ["AUTO", "METHODS", "Method", "automatic"]


@dataclass(frozen=True)
class Method:
    """How thresholds are placed for each request; in costs and scores, ``classes[1]`` is the positive class.

    Attributes
    ----------
    for_costs : callable or None
        ``for_costs(rows, costs)`` gives the thresholds of least cost. None means Bayes' thresholds on the log-odds,
        which need no rows.
    for_budget : callable
        ``for_budget(rows, shares, for_new=True)`` gives thresholds that reject at most these shares of new rows.
    forced_cut : callable or None
        ``forced_cut(rows, costs)`` gives the cut of the forced choice; None means the classifier's own cut.
    needs_probabilities : bool
        Whether the score must be the log-odds of a probability.
    looks_at_labels : bool
        Whether the sequence of thresholds depends on the labels, so that no error can be certified.
    for_answers : callable or None
        ``for_answers(rows, costs)`` gives the cuts of least cost on the confidence, by the class answered, for more
        than two classes. None means that there are none: either `for_costs` is None too, or the method is for two.
    """

    for_costs: Callable[[ScoredRows, CostTable], Thresholds] | None
    for_budget: Callable[..., Thresholds]
    forced_cut: Callable[[ScoredRows, CostTable], float] | None = None
    needs_probabilities: bool = False
    looks_at_labels: bool = False
    for_answers: Callable[[AnsweredRows, CostTable], NDArray[np.float64]] | None = None


METHODS = {
    "symmetric": Method(symmetric_thresholds, symmetric_within, for_answers=cheapest_cut),
    "roc": Method(roc_thresholds, roc_within, forced_cut, looks_at_labels=True, for_answers=cheapest_cuts),
    "chow": Method(None, symmetric_within, needs_probabilities=True),
}

AUTO = "auto"


def automatic(costs: CostTable | None, *, by_row: bool = False) -> str:
    """Return the method of "auto": "roc" if the costs differ by class, otherwise "symmetric".

    With unequal costs one symmetric threshold is in the wrong place. Tuned cuts need no good probabilities; Chow's rule
    does, and costs several times as much around classifiers whose probabilities are rough, such as forests and naive
    Bayes. It is "chow" where thresholds for all rows do not exist: for `Actions`, and for costs per row. Without costs
    one threshold needs fewer rows, and only one can be certified.
    """
    if by_row or (costs is not None and costs.names is not None):
        return "chow"
    return "symmetric" if costs is None or costs.symmetric else "roc"
