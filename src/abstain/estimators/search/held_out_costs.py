"""What the decisions on training rows cost, by the rule of the machine or by the rows' own costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.row_costs import RowCosts
from abstain.rules.row_rule import rule_of_rows

__all__ = ["Pricing"]


@dataclass(frozen=True, eq=False)
class Pricing:
    """Decides training rows by their scores, and gives the cost of each decision.

    Attributes
    ----------
    rule : Rule, ActionRule or RowRule
    sign : int8 array of shape (n,)
        The classes of the training rows.
    row_costs : RowCosts or None
        Their own costs, if any; else those of the rule count, or an error costs 1.
    """

    rule: Any
    sign: NDArray[np.int8]
    row_costs: RowCosts | None = None

    @classmethod
    def of(cls, training: Any, rows: NDArray[np.intp]) -> Self:
        """Take some of the rows of a `Training`."""
        own = training.row_costs
        return cls(training.rule, training.sign[rows], None if own is None else own.take(rows))

    @property
    def known(self) -> bool:
        """Whether costs were stated."""
        return self.rule.costs is not None or self.row_costs is not None

    def rejects(self, row: Any, score: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Give where these training rows, the last axis of the scores, are rejected."""
        rule = self._rule_of(row)
        return np.asarray(rule.is_reject(rule.choose(score)))

    def paid(self, row: Any, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of the choice for these training rows."""
        rule = self._rule_of(row)
        return np.asarray(rule.prices(self.sign[row], rule.choose(score)))

    def _rule_of(self, row: Any) -> Any:
        return self.rule if self.row_costs is None else rule_of_rows(self.rule, self.row_costs.take(row))
