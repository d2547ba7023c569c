"""What decisions by probabilities cost: Bayes' rule of two classes, of several, or of actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from abstain.class_labels import ClassLabels, has_several_classes
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs, checked_costs, costs_for_classes, costs_of_classes
from abstain.labels import Labels
from abstain.rules.action_rule import ActionRule
from abstain.rules.rule import oriented_costs

__all__ = ["ProbabilityCosts"]


@dataclass(frozen=True, eq=False)
class ProbabilityCosts:
    """True classes and the costs by which decisions on them are made and judged.

    Attributes
    ----------
    truth : ndarray of int
        -1 and +1, which is the class that sorts last; or 1, ..., n for n > 2 classes.
    costs : Costs, ClassCosts or Actions
        Of two classes, with the one that sorts last as the positive one.
    """

    truth: NDArray[Any]
    costs: Costs | ClassCosts | Actions

    @classmethod
    def of(cls, costs: Any, y: NDArray[Any], pos_label: Any, reject_label: Any) -> Self:
        """Check the costs and the labels of the rows."""
        if isinstance(costs, Actions):
            return cls(ActionRule.of(costs, y, pos_label, reject_label).labels.encode(y), costs)
        if isinstance(costs, ClassCosts) or has_several_classes(y):
            classes = ClassLabels.of(y, reject_label=reject_label, rejects=True)
            stated = costs if isinstance(costs, ClassCosts) else checked_costs(costs)
            return cls(classes.encode(y), costs_for_classes(stated, classes.classes))
        labels = Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=True)
        named, _ = costs_of_classes(checked_costs(costs), labels.classes, pos_label)
        return cls(labels.encode(y), oriented_costs(named, labels))

    @property
    def codes(self) -> list[int]:
        """The classes, as `truth` has them."""
        return [int(code) for code in np.unique(self.truth)]

    def prices(self, probability: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
        """The cost of each decision on some rows, given the probabilities of all classes, shape (n, n_classes)."""
        truth, costs = self.truth[rows], self.costs
        if isinstance(costs, ClassCosts):
            return costs.prices(truth, costs.cheapest(probability))
        last = probability[:, 1]
        if isinstance(costs, Actions):
            with np.errstate(divide="ignore"):
                return costs.prices(truth, costs.levels().decide(logit(last)))
        return costs.prices(truth, costs.thresholds().decide(last))
