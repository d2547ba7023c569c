"""The rows in the order of review, and what it costs to hand on any number of them.

The order is that of `Decisions.queue`; the rows that the machine answers follow by `Decisions.saving`. If people review
the first k rows and the machine answers the others ::

    cost(k) = ( sum of handed_i over the first k rows  +  sum of answered_i over the others ) / n

Up to the number of rejected rows these are the decisions of ``Decisions.within(k)``.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.verdict import Judge
from abstain.labels import NO_CLASS
from abstain.metrics.outcomes import quotients
from abstain.metrics.ranking import running
from abstain.report.text import amount, share
from abstain.rules.decisions import Decisions

_PLACES = 200  # of the slider, on each side of the machine's own number of rejects


@dataclass(frozen=True, eq=False)
class Review:
    """What it costs to have people review the first rows of the queue.

    Attributes
    ----------
    order : ndarray of shape (m,)
        The positions of the rows: the rejected ones and, if the expected costs are known, all others.
    rejected : int
        How many of them the machine rejects.
    reviewed : ndarray of shape (k,)
        Numbers of reviewed rows, from 0; the number of rejected ones is among them.
    cost : ndarray of shape (k,)
        The mean cost of all rows, for each number.
    error : ndarray of shape (k,)
        The share of wrong answers among the rows that the machine answers; nan of actions that are not right or wrong.
    saving : ndarray of shape (k,)
        What the last reviewed row was expected to save; nan of none and of novel ones.
    answer : ndarray of shape (m,)
        The class that the machine answers each row of `order` if it must, or -1.
    """

    order: NDArray[np.intp]
    rejected: int
    reviewed: NDArray[np.intp]
    cost: NDArray[np.float64]
    error: NDArray[np.float64]
    saving: NDArray[np.float64]
    answer: NDArray[np.intp]

    @classmethod
    def of(cls, found: Decisions, judge: Judge, reject_label: Any) -> Self | None:
        """Cost every number of reviewed rows; None if all actions hand on or none does, or no order is known."""
        hands_on, saving, queue = np.array(found.labels.hands_on), found.saving, found.queue
        novel = np.zeros(len(found), dtype=bool) if found.novel is None else found.novel
        if hands_on.all() or not hands_on.any() or np.isnan(saving[~novel]).any():
            return None
        others = np.flatnonzero(~found.rejected)
        order = np.concatenate([queue, others[np.argsort(-saving[others], kind="stable")]])
        cheapest = np.where(hands_on, np.nan_to_num(found.expected_cost, nan=0.0), np.inf).argmin(axis=1)
        handed = np.where(found.rejected, found.label, found.labels.actions[cheapest])
        handing, answering = (judge.outcomes(one[order], reject_label, order) for one in (handed, found.forced))
        answer = np.array(answering.choices.answers)[answering.taken]
        wrong = np.where(answer == NO_CLASS, np.nan, answer != answering.truth)
        n, k = len(order), len(queue)
        steps = [np.linspace(*ends, _PLACES + 1).round() for ends in ((0, k), (k, n))]
        reviewed = np.unique(np.concatenate(steps)).astype(np.intp)
        spent, left, errors = running(handing.cost), running(answering.cost), running(wrong)
        cost = (spent + left[-1] - left) / n
        last = np.append(np.nan, saving[order])
        error = quotients(errors[-1] - errors, n - np.arange(n + 1))
        return cls(order, k, reviewed, cost[reviewed], error[reviewed], last[reviewed], answer)

    def words(self, most: int | None = None) -> dict[str, list[str]]:
        """The numbers as the page shows them, up to `most` reviewed rows."""
        kept = self.reviewed <= (len(self.order) if most is None else most)
        reviewed = self.reviewed[kept].tolist()
        return {
            "reviewed": [f"{one:,}" for one in reviewed],
            "share": [share(one / len(self.order)) for one in reviewed],
            "over": [f"{max(self.rejected - one, 0):,}" for one in reviewed],
            "cost": [amount(one) for one in self.cost[kept].tolist()],
            "error": [share(one) for one in self.error[kept].tolist()],
            "saving": [amount(one) for one in self.saving[kept].tolist()],
            "lead": [amount(-one) for one in self.saving[kept].tolist()],
        }

    def ranked(self, n_classes: int) -> NDArray[np.float64]:
        """Scores by which the rows are rejected in this order: of two classes one, else one for each class."""
        confidence = np.arange(1.0, len(self.order) + 1.0)
        if n_classes == 2:
            found = np.empty(len(self.order))
            found[self.order] = np.where(self.answer == 1, confidence, -confidence)
            return found
        scores = np.zeros((len(self.order), n_classes))
        scores[self.order, self.answer] = confidence
        return scores
