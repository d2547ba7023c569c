"""The decisions counted by true class and choice, whatever the choices are: classes and a reject, or actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.outcomes import Choices, Outcomes
from abstain.report.text import unique_names

__all__ = ["ClassNumbers", "choice_names"]


def choice_names(choices: Choices) -> tuple[str, ...]:
    """Return the columns of the table: the actions, or the classes and a reject."""
    if choices.own_names:
        return unique_names(choices.actions)
    names = unique_names(choices.classes)
    return tuple("reject" if at < 0 else names[at] for at in choices.answers.tolist())


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
        choices, table, paid = outcomes.choices, outcomes.counts, outcomes.cost
        right = _right(choices)
        kinds = np.where(choices.hands_on, "reject", np.where(right, "right", "wrong"))
        prices = np.full(table.shape, np.nan) if choices.by_row else choices.values
        found = []
        for at, name in enumerate(unique_names(choices.classes)):
            counts, own = table[at], paid[outcomes.truth == at]
            decided, correct = counts[~choices.hands_on].sum(), counts[right[at]].sum()
            found.append(
                cls(
                    name=name,
                    rows=int(counts.sum()),
                    counts=tuple(counts.astype(int).tolist()),
                    kinds=tuple(kinds[at].tolist()),
                    prices=tuple(prices[at].tolist()),  # type: ignore[index]
                    coverage=_share(decided, counts.sum()),
                    selective_error=_share(decided - correct, decided),
                    predictivity=_share(correct, table[:, right[at]].sum()),
                    mean_cost=_share(own.sum(), len(own)),
                )
            )
        return tuple(found)


def _right(choices: Choices) -> NDArray[np.bool_]:
    """Whether each choice is the correct answer; of actions, the cheapest on average that does not hand on."""
    if not choices.own_names:
        return choices.answers == np.arange(len(choices.classes))[:, np.newaxis]
    values: Any = choices.values
    mean = values.mean(axis=0) if choices.by_row else values
    costs = np.where(choices.hands_on, np.inf, mean)
    return np.asarray((costs == costs.min(axis=1, keepdims=True)) & ~choices.hands_on)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
