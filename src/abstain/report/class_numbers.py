"""The decisions counted by true class and choice, whatever the choices are: classes and a reject, or actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.metrics.counts import quotients
from abstain.metrics.outcomes import Outcomes
from abstain.report.text import unique_names


def choice_names(costs: CostTable, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the columns of the table: the actions, or the classes and a reject."""
    return unique_names(costs.titles(unique_names(classes)))


@dataclass(frozen=True)
class ClassNumbers:
    """The decisions on the rows of one true class; shares are nan where nothing can be counted.

    `counts` has an entry for each choice, and `kinds` says what it is: "right", "wrong" or "reject".
    """

    name: str
    rows: int
    counts: tuple[int, ...]
    kinds: tuple[str, ...]
    prices: tuple[float, ...]
    coverage: float
    selective_error: float
    predictivity: float
    mean_cost: float

    @classmethod
    def all_of(cls, outcomes: Outcomes) -> tuple[Self, ...]:
        """Count the rows of each class."""
        costs, counts, names = outcomes.choices, outcomes.counts, unique_names(outcomes.classes)
        right = _right(costs)
        kinds = np.where(costs.rejecting, "reject", np.where(right, "right", "wrong"))
        prices = np.full(counts.shape, np.nan) if costs.per_row else costs.values
        rows, decided = counts.sum(axis=1), counts[:, ~costs.rejecting].sum(axis=1)
        correct, answered = (counts * right).sum(axis=1), np.array([counts[:, of].sum() for of in right])
        paid = [outcomes.cost[outcomes.truth == at].sum() for at in range(len(names))]
        parts = (decided, rows), (decided - correct, decided), (correct, answered), (paid, rows)
        shares = np.column_stack([quotients(*part) for part in parts]).tolist()
        cells = (map(tuple, of.tolist()) for of in (counts, kinds, prices))
        return tuple(cls(*one, *own) for *one, own in zip(names, rows.tolist(), *cells, shares, strict=True))


def _right(costs: CostTable) -> NDArray[np.bool_]:
    """Whether each choice is the cheapest on average that does not hand on: of answers, the correct one."""
    mean = costs.values.mean(axis=0) if costs.per_row else costs.values
    paid = np.where(costs.rejecting, np.inf, mean)
    return np.asarray((paid == paid.min(axis=1, keepdims=True)) & ~costs.rejecting)
