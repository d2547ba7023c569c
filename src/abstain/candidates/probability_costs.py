"""What decisions by probabilities cost: Bayes' rule for any table of costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from abstain.arguments import checked_costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.labels import Labels

__all__ = ["ProbabilityCosts"]


@dataclass(frozen=True, eq=False)
class ProbabilityCosts:
    """True classes and the costs by which decisions on them are made and judged.

    Attributes
    ----------
    truth : ndarray of intp
        Codes of the classes.
    costs : CostTable
        For these classes, perhaps of each row.
    """

    truth: NDArray[np.intp]
    costs: CostTable

    @classmethod
    def of(cls, costs: Any, y: NDArray[Any], pos_label: Any, reject_label: Any, row_costs: Any = None) -> Self:
        """Check the costs and the labels of the rows."""
        stated = None if costs is None and row_costs is not None else checked_costs(costs)
        named = stated is not None and stated.names is not None
        labels = Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=not named)
        table = None if stated is None else stated.named(labels)
        truth = labels.encode(y)
        if row_costs is not None or table is None:
            table = row_table(row_costs, labels, table, len(truth))
        return cls(truth, table)

    @property
    def codes(self) -> list[int]:
        """The classes, as `truth` has them."""
        return list(range(self.costs.n_classes))

    def paid(self, probability: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the cost of each decision on some rows, given the probabilities of all classes, (n, n_classes)."""
        costs = self.costs.take(rows)
        if costs.n_classes > 2:
            return costs.of(self.truth[rows], costs.cheapest(probability))
        with np.errstate(divide="ignore"):
            return costs.of(self.truth[rows], costs.levels().decide(logit(probability[:, 1])))
