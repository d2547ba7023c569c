"""What was decided on labelled rows: the true class and the action taken for each, and what each action costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import mean_price

__all__ = ["Choices", "Outcomes"]


@dataclass(frozen=True, eq=False)
class Choices:
    """The actions that can be taken, and their costs for each true class.

    Attributes
    ----------
    classes : tuple
        The true classes: the negative and the positive one of two, or all, sorted. None for one that is not known.
    actions : tuple
        The names of the actions.
    answers : ndarray of shape (n_actions,)
        The place of the class that each action answers; -1 for none.
    hands_on : ndarray of bool, shape (n_actions,)
        Whether the action hands the case on; a reject is one of these.
    values : ndarray of shape (n_classes, n_actions) or (n, n_classes, n_actions), or None
        The costs, of all rows or of each.
    costs : object or None
        The costs as they were stated.
    own_names : bool
        Whether predictions have the names of `actions`; otherwise classes and a reject label.
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    answers: NDArray[np.intp]
    hands_on: NDArray[np.bool_]
    values: NDArray[np.float64] | None = None
    costs: Any = None
    own_names: bool = False

    @classmethod
    def of_pair(cls, classes: tuple[Any, Any] = (None, None), **costs: Any) -> Self:
        """Answer one of two classes, or reject; in the layout of ``Costs.table()``."""
        return cls(classes, ("negative", "reject", "positive"), np.array([0, -1, 1]), np.arange(3) == 1, **costs)

    @classmethod
    def of_classes(cls, classes: tuple[Any, ...], **costs: Any) -> Self:
        """Answer one of the classes, or reject, which is the last column."""
        n, names = len(classes), tuple(str(label) for label in classes)
        return cls(classes, (*names, "reject"), np.append(np.arange(n), -1), np.arange(n + 1) == n, **costs)

    @property
    def pair(self) -> bool:
        """Whether two classes are answered or rejected, with the reject in the middle."""
        return not self.own_names and self.answers.tolist() == [0, -1, 1]

    @property
    def by_row(self) -> bool:
        """Whether each row has its own costs."""
        return self.values is not None and self.values.ndim == 3

    @property
    def stated(self) -> Any:
        """The costs as they were stated; this table if it has costs of rows that no other value can hold."""
        return self if self.by_row and not self.pair else self.costs

    def table(self) -> Any:
        """Return all costs."""
        return self.values

    def prices(self, truth: Any, action: Any) -> NDArray[np.float64]:
        """Return the cost of each row's action, given its true class."""
        if self.values is None:
            raise ValueError("these choices have no costs; state costs or row_costs.")
        found = self.values[np.arange(len(truth)), truth, action] if self.by_row else self.values[truth, action]
        return np.asarray(found, dtype=np.float64)

    def answering(self) -> tuple[NDArray[np.intp], int]:
        """Return the action that answers each class, and the one reject; an error if that is not what they are."""
        handed = np.flatnonzero(self.hands_on)
        answers = [np.flatnonzero((self.answers == k) & ~self.hands_on) for k in range(len(self.classes))]
        if len(handed) != 1 or any(len(found) != 1 for found in answers) or len(self.actions) != len(answers) + 1:
            raise ValueError(
                f"costs has the actions {[*self.actions]}, and a curve needs one answer for each class and one reject, "
                "whose rate it varies; state such costs, or use mean_cost."
            )
        return np.concatenate(answers), int(handed[0])


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Decisions on labelled rows.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The place of the true class in ``choices.classes``.
    taken : ndarray of shape (n,)
        The place of the action in ``choices.actions``.
    choices : Choices
    weight : ndarray of shape (n,) or None
        A weight of k is the same as the row given k times.
    """

    truth: NDArray[np.intp]
    taken: NDArray[np.intp]
    choices: Choices
    weight: NDArray[np.float64] | None = None

    @property
    def counts(self) -> NDArray[Any]:
        """Rows by true class and action: integers, or sums of weights."""
        shape = len(self.choices.classes), len(self.choices.actions)
        cell = shape[1] * self.truth + self.taken
        return np.bincount(cell, weights=self.weight, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def prices(self) -> NDArray[np.float64]:
        """The cost of each row."""
        return self.choices.prices(self.truth, self.taken)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a row."""
        return mean_price(self.prices, self.weight)
