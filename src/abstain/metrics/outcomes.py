"""What was decided on labelled rows: the true class and the action taken for each, and what each action costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import mean_price
from abstain.costs.table import CostTable
from abstain.labels import NO_CLASS, Labels

__all__ = ["Choices", "Outcomes"]

PAIR = ("negative", "reject", "positive")


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
    costs : CostTable or None
        The costs as they were stated.
    own_names : bool
        Whether predictions have the names of `actions`; otherwise classes and a reject label.
    rows : tuple of int
        The code of each of `classes`.
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    answers: NDArray[np.intp]
    hands_on: NDArray[np.bool_]
    values: NDArray[np.float64] | None = None
    costs: CostTable | None = None
    own_names: bool = False
    rows: tuple[int, ...] = (0, 1)

    @classmethod
    def of_pair(cls) -> Self:
        """Answer one of two classes that are not known, or reject; in the layout of ``Costs.table()``."""
        return cls((None, None), PAIR, np.array([0, NO_CLASS, 1]), np.arange(3) == 1)

    @classmethod
    def of(
        cls, labels: Labels, table: CostTable | None, answers: tuple[int, ...] | None = None, *, missing: Any = None
    ) -> Self:
        """Return the choices between classes, or between the actions of a table for these classes.

        Two classes are the negative and the positive one, with the reject in the middle; with `answers`, which says
        what each action answers, they are sorted. A class called `missing` has no name.
        """
        known = tuple(labels.classes.tolist())
        if table is not None and table.names is not None:
            answered, every = np.array(table.answers), tuple(range(len(known)))
            return cls(known, table.names, answered, table.rejecting, table.values, table, own_names=True, rows=every)
        pair = labels.n_classes == 2 and answers in (None, (0, NO_CLASS, 1))
        rows = (labels.answers[0], labels.answers[-1]) if pair else tuple(range(len(known)))
        order = labels.answers if answers is None or pair else answers
        classes = tuple(None if missing is not None and known[k] == missing else known[k] for k in rows)
        names = PAIR if pair else tuple("reject" if k == NO_CLASS else str(known[k]) for k in order)
        answered = np.array([0, NO_CLASS, 1] if pair else order)
        values = None
        if table is not None:
            columns = [table.answers.index(k) for k in order]
            values = table.values[..., list(rows), :][..., columns]
        costs = None if table is None else table.plain()
        return cls(classes, names, answered, answered == NO_CLASS, values, costs, rows=rows)

    @property
    def pair(self) -> bool:
        """Whether two classes are answered or rejected, with the reject in the middle."""
        return not self.own_names and self.answers.tolist() == [0, NO_CLASS, 1]

    @property
    def by_row(self) -> bool:
        """Whether each row has its own costs."""
        return self.values is not None and self.values.ndim == 3

    def row_of(self, code: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places of classes, given their codes."""
        return np.asarray(np.argsort(self.rows)[code], dtype=np.intp)

    def of_each(self, truth: Any, action: Any) -> NDArray[np.float64]:
        """Return the cost of each row's action, given the place of its true class."""
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
    def cost(self) -> NDArray[np.float64]:
        """The cost of each row."""
        return self.choices.of_each(self.truth, self.taken)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a row."""
        return mean_price(self.cost, self.weight)
