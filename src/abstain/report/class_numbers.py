"""The decisions counted by true class and choice, whatever the choices are: classes and a reject, or actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.judges import Judge, Table
from abstain.costs.actions import Actions
from abstain.costs.row_costs import RowCosts
from abstain.report.text import unique_names

__all__ = ["Choices", "ClassNumbers"]


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of the decisions on a page, in the order of the table of counts.

    Attributes
    ----------
    kind : {"classes", "actions", "rows"}
        What the costs are: of classes, of actions, or of each row of two classes.
    names : tuple of str
    labels : list
        What is predicted for each choice; None for the reject.
    hands_on : ndarray of bool
        Whether a choice is a reject.
    costs : ndarray of shape (n_classes, n_choices)
        What each costs; nan if that depends on the row.
    right : ndarray of bool, shape (n_classes, n_choices)
        The answer that is correct; of actions, the cheapest of those that do not hand the case on.
    """

    kind: str
    names: tuple[str, ...]
    labels: list[Any]
    hands_on: NDArray[np.bool_]
    costs: NDArray[np.float64]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, judge: Judge, table: Any) -> Self:
        """Read the costs of a judge; the only place where a page asks of what kind they are."""
        stated, n = judge.costs, len(judge.classes)
        if isinstance(stated, Actions):
            hands_on, costs = stated.rejecting, stated.table()
            answers = np.where(hands_on, np.inf, costs)
            right = (answers == answers.min(axis=1, keepdims=True)) & ~hands_on
            return cls("actions", unique_names(stated.names), list(stated.names), hands_on, costs, right)
        at, names, labels = table.reject_column, list(unique_names(judge.classes)), list(judge.classes)
        names.insert(at, "reject")
        labels.insert(at, None)
        by_row = isinstance(stated, RowCosts)
        costs = np.full((n, n + 1), np.nan) if by_row else stated.table()
        right = np.insert(np.eye(n, dtype=bool), at, False, axis=1)
        hands_on = np.arange(n + 1) == at
        return cls("rows" if by_row else "classes", tuple(names), labels, hands_on, costs, right)

    def rejected(self, predicted: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each prediction is a reject."""
        answers = [label for label, reject in zip(self.labels, self.hands_on, strict=True) if not reject]
        return ~np.isin(predicted, np.array([*answers, None], dtype=object)[:-1])


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
    def all_of(cls, judge: Judge, table: Table, choices: Choices, paid: NDArray[np.float64]) -> tuple[Self, ...]:
        """Count the rows of each class, given what the decision on each row costs."""
        kinds = np.where(choices.hands_on, "reject", np.where(choices.right, "right", "wrong"))
        found = []
        for at, name in enumerate(unique_names(judge.classes)):
            counts, right = table.counts[at], choices.right[at]
            decided, correct = counts[~choices.hands_on].sum(), counts[right].sum()
            own = paid[judge.truth == judge.classes[at]]
            found.append(
                cls(
                    name=name,
                    rows=int(counts.sum()),
                    counts=tuple(counts.astype(int).tolist()),
                    kinds=tuple(kinds[at].tolist()),
                    prices=tuple(choices.costs[at].tolist()),
                    coverage=_share(decided, counts.sum()),
                    selective_error=_share(decided - correct, decided),
                    predictivity=_share(correct, table.counts[:, right].sum()),
                    mean_cost=_share(own.sum(), len(own)),
                )
            )
        return tuple(found)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
