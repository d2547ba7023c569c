"""What was decided on labelled rows: the true class and the action taken for each, and what each action costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import mean_price
from abstain.costs.table import CostTable

__all__ = ["Outcomes", "has_costs"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Decisions on labelled rows.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The place of the true class in `classes`.
    taken : ndarray of shape (n,)
        The place of the action among those of `choices`.
    classes : tuple
        The negative and the positive class where two are answered or rejected; otherwise all, sorted. None for one that
        is not known.
    choices : CostTable
        The actions and their costs, rows in the order of `classes`; the costs are nan if none are stated.
    weight : ndarray of shape (n,) or None
        A weight of k is the same as the row given k times.
    """

    truth: NDArray[np.intp]
    taken: NDArray[np.intp]
    classes: tuple[Any, ...]
    choices: CostTable
    weight: NDArray[np.float64] | None = None

    @property
    def counts(self) -> NDArray[Any]:
        """Rows by true class and action: integers, or sums of weights."""
        shape = self.choices.n_classes, self.choices.n_actions
        cell = shape[1] * self.truth + self.taken
        return np.bincount(cell, weights=self.weight, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def cost(self) -> NDArray[np.float64]:
        """The cost of each row."""
        return self.choices.of(self.truth, self.taken)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a row."""
        return mean_price(self.cost, self.weight)


def has_costs(table: CostTable) -> bool:
    """Return whether costs are stated, and not only actions."""
    return not np.isnan(table.values[..., 0, 0]).any()
