"""The decisions counted by true class and choice, whatever the choices are: classes and a reject, or actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.metrics.outcomes import Outcomes
from abstain.report.text import unique_names

__all__ = ["ClassNumbers", "choice_names"]


def choice_names(costs: CostTable, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the columns of the table: the actions, or the classes and a reject."""
    if costs.names is not None:
        return unique_names(costs.names)
    names = unique_names(classes)
    return tuple("reject" if at < 0 else names[at] for at in costs.answers)


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
        costs, table, paid = outcomes.choices, outcomes.counts, outcomes.cost
        hands_on = costs.rejecting
        right = _right(costs)
        kinds = np.where(hands_on, "reject", np.where(right, "right", "wrong"))
        prices = np.full(table.shape, np.nan) if costs.per_row else costs.values
        found = []
        for at, name in enumerate(unique_names(outcomes.classes)):
            counts, own = table[at], paid[outcomes.truth == at]
            decided, correct = counts[~hands_on].sum(), counts[right[at]].sum()
            found.append(
                cls(
                    name=name,
                    rows=int(counts.sum()),
                    counts=tuple(counts.astype(int).tolist()),
                    kinds=tuple(kinds[at].tolist()),
                    prices=tuple(prices[at].tolist()),
                    coverage=_share(decided, counts.sum()),
                    selective_error=_share(decided - correct, decided),
                    predictivity=_share(correct, table[:, right[at]].sum()),
                    mean_cost=_share(own.sum(), len(own)),
                )
            )
        return tuple(found)


def _right(costs: CostTable) -> NDArray[np.bool_]:
    """Whether each choice is the correct answer; of actions, the cheapest on average that does not hand on."""
    if costs.names is None:
        return np.asarray(np.array(costs.answers) == np.arange(costs.n_classes)[:, np.newaxis])
    mean = costs.values.mean(axis=0) if costs.per_row else costs.values
    paid = np.where(costs.rejecting, np.inf, mean)
    return np.asarray((paid == paid.min(axis=1, keepdims=True)) & ~costs.rejecting)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
