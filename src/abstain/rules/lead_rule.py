"""From the scores of any classifier of several classes to decisions: the highest score, if it is confident enough.

::

    answer k = the class of the highest score,  if confidence > cuts_k,  else reject
    confidence = highest score - second highest,  or the highest score (a log-probability)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from abstain.class_labels import ClassLabels
from abstain.costs.class_costs import ClassCosts
from abstain.rules.class_rule import ClassDecisions, _Deciding
from abstain.rules.tuning.answered_rows import Confidence, confidence_of

__all__ = ["LeadRule", "WrappedRule"]


class WrappedRule(_Deciding):
    """What the rules around another classifier share: expected costs are by its probabilities, if it has them."""

    is_log_probability: bool

    def probabilities(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the probabilities of all classes; nan if the scores are not log-probabilities."""
        return softmax(score, axis=-1) if self.is_log_probability else np.full(score.shape, np.nan)

    def expected_cost(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the expected cost of answering each class and, last, of rejecting; nan without costs."""
        return self.expected(self.probabilities(score))

    def expected(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the same from the probabilities of the classes."""
        if self.costs is None:
            return np.full((*probability.shape[:-1], self.labels.n_classes + 1), np.nan)
        return self.costs.expected(probability)

    def decide(self, score: NDArray[np.float64], probability: Any = None, index: Any = None) -> ClassDecisions:
        """Give the decisions with their expected costs, from the probabilities of the classes or the scores."""
        found = super().decide(score, index=index)
        return found if probability is None else replace(found, expected_cost=self.expected(probability))

    def cost_of(self, y: ArrayLike, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of each row's decision; without costs an error costs 1 and a reject nothing."""
        truth, choice = self.labels.encode(y), self.choose(score)
        if self.costs is not None:
            return self.costs.prices(truth, choice)
        return ((choice != truth) & (choice != 0)).astype(np.float64)

    def _likely(self, score: NDArray[np.float64], include: float) -> NDArray[np.bool_]:
        """Give the forced answer and every class that is at least so likely."""
        if not self.is_log_probability:
            raise ValueError(
                f'include={include!r} needs probabilities, which these scores are not; use method="chow", or None.'
            )
        return np.asarray(self._named(score) | (self.probabilities(score) >= include))


@dataclass(frozen=True, eq=False)
class LeadRule(WrappedRule):
    """Answers the class of the highest score, and rejects where its confidence is at most the cut of this class.

    Attributes
    ----------
    labels : ClassLabels
    cuts : ndarray of shape (n_classes,)
        On the confidence, by the class answered; -inf never rejects, inf always does.
    costs : ClassCosts or None, default=None
        The costs of the decisions; if None, an error costs 1.
    by : {"lead", "highest"}, default="lead"
        The confidence: the lead over the second highest score, or the highest score.
    is_log_probability : bool, default=False
        Whether the scores are logarithms of probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.class_labels import ClassLabels
    >>> from abstain.rules.lead_rule import LeadRule
    >>> rule = LeadRule(ClassLabels.of(["cat", "dog", "fox"], rejects=True), np.array([0.5, 0.5, 2.0]))
    >>> rule.predict(np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.8], [1.0, 1.0, 2.8]]))
    array(['cat', 'reject', 'reject'], dtype='<U6')
    """

    labels: ClassLabels
    cuts: NDArray[np.float64]
    costs: ClassCosts | None = None
    by: Confidence = "lead"
    is_log_probability: bool = False
    costs_decide: ClassVar[bool] = False

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The cuts on the confidence, by the class answered."""
        return self.cuts

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for a class and 0 for a reject."""
        answer = self.best(score)
        return np.where(confidence_of(score, self.by) > self.cuts[answer - 1], answer, 0)

    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the class of the highest score, ties to the first."""
        return np.asarray(np.argmax(score, axis=-1) + 1)

    def included(self, score: NDArray[np.float64], include: float | None) -> NDArray[np.bool_]:
        """Give the classes that are not ruled out: the answer alone for an accepted row.

        For a rejected row, every class that is behind the first by at most the cut; for the cut on the highest
        probability, the likeliest classes whose probabilities together exceed it.
        """
        if include is not None:
            return self._likely(score, include)
        cut = self.cuts[self.best(score) - 1][:, np.newaxis]
        if self.by == "lead":
            return np.asarray(self._named(score) | (score.max(axis=1, keepdims=True) - score <= cut))
        order = np.argsort(-score, axis=1, kind="stable")
        likely = np.take_along_axis(self.probabilities(score), order, axis=1)
        before = np.cumsum(likely, axis=1) - likely  # of the classes that are likelier
        named = np.empty(score.shape, dtype=bool)
        np.put_along_axis(named, order, before <= np.exp(cut), axis=1)
        accepted = self.choose(score)[:, np.newaxis] > 0  # also where the sums round the other way
        return np.where(accepted, self._named(score), named | np.isposinf(cut))
