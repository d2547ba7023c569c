"""Chow's rule for several classes: the action of least expected cost under the classifier's probabilities.

::

    argmin over answers k and reject of  sum_j P_j cost[j, action]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abstain.class_labels import ClassLabels
from abstain.costs.class_costs import ClassCosts
from abstain.rules.class_rule import with_second
from abstain.rules.lead_rule import WrappedRule

__all__ = ["ProbabilityRule"]


@dataclass(frozen=True, eq=False)
class ProbabilityRule(WrappedRule):
    """Turns log-probabilities into decisions.

    Attributes
    ----------
    labels : ClassLabels
    costs : ClassCosts

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.costs.class_costs import ClassCosts
    >>> from abstain.class_labels import ClassLabels
    >>> from abstain.rules.probability_rule import ProbabilityRule
    >>> rule = ProbabilityRule(ClassLabels.of([1, 2, 3], rejects=True), ClassCosts.even((1, 2, 3), 1.0, 0.3))
    >>> rule.predict(np.log([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1]]))
    array([ 1, -1])
    """

    labels: ClassLabels
    costs: ClassCosts
    is_log_probability: bool = True
    costs_decide: ClassVar[bool] = True

    @property
    def thresholds(self) -> Any:
        """They do not exist: decisions are by expected cost."""
        raise AttributeError("decisions are by expected cost here, not by a cut for each class; see decide().")

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for a class and 0 for a reject; ties go to the answers, as the reject comes last."""
        return self.costs.cheapest(self.probabilities(score))

    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the cheapest class, never a reject."""
        return self.costs.cheapest(self.probabilities(score), forced=True)

    def included(self, score: NDArray[np.float64], include: float | None) -> NDArray[np.bool_]:
        """Give the classes that are not ruled out: missing them would cost at least as much as rejecting."""
        if include is not None:
            return self._likely(score, include)
        ruled = self.costs.reject_costs / np.max(self.costs.errors, axis=1)
        named = self._named(score) | (self.probabilities(score) >= ruled)
        return with_second(named, self.choose(score) == 0, self.expected_cost(score)[:, :-1])
