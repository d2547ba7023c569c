"""What decisions cost on labelled rows: for two classes, also with costs per row, for several classes, and for actions.

A judge has the true labels of all rows, and gives for any of them the costs of predictions, their counts, and the
costs of treating all rows alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.class_labels import ClassLabels, has_several_classes, read_classes
from abstain.comparison.verdict import REJECTING, blind_prices, deciding, taking
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import assigned_costs, checked_costs, costs_for_classes
from abstain.costs.row_costs import RowCosts
from abstain.labels import Labels, encode_pair
from abstain.metrics.action_table import ActionTable
from abstain.metrics.class_table import ClassTable
from abstain.metrics.table import RejectTable

__all__ = ["ActionJudge", "ClassJudge", "Judge", "PairJudge", "judge_of"]

Table = RejectTable | ClassTable | ActionTable


@dataclass(frozen=True, eq=False)
class Judge(ABC):
    """The true labels of rows, and the costs of decisions on them.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The true labels.
    costs : Costs, RowCosts, ClassCosts or Actions
    classes : tuple
        The classes: of two, the negative and the positive one; sorted otherwise.
    """

    truth: NDArray[Any]
    costs: Any
    classes: tuple[Any, ...]

    @abstractmethod
    def prices(self, rows: Any, predicted: Any, reject_label: Any) -> NDArray[np.float64]:
        """Give the cost of the prediction for each of these rows."""

    @abstractmethod
    def table(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> Table:
        """Count the predictions for these rows by true class."""

    @abstractmethod
    def blind(self, rows: Any) -> dict[str, NDArray[np.float64]]:
        """Give the costs of these rows if all are treated alike, by the name of the treatment."""


class PairJudge(Judge):
    """Two classes, with one set of costs or with costs per row."""

    def prices(self, rows: Any, predicted: Any, reject_label: Any) -> NDArray[np.float64]:
        """Give the cost of the prediction for each of these rows."""
        sign, choice = encode_pair(self.truth[rows], predicted, self.classes[1], reject_label)
        return np.asarray(self._costs(rows).prices(sign, choice))

    def table(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> RejectTable:
        """Count the predictions for these rows by true class."""
        options = {"pos_label": self.classes[1], "reject_label": reject_label}
        return RejectTable.of(self.truth[rows], predicted, sample_weight=weight, **options)

    def blind(self, rows: Any) -> dict[str, NDArray[np.float64]]:
        """Give the costs of rejecting every row, and of deciding one class for every row."""
        sign = np.where(self.truth[rows] == self.classes[1], 1, -1).astype(np.int8)
        names = REJECTING, *(deciding(label) for label in self.classes)
        return dict(zip(names, blind_prices(self._costs(rows), sign).T, strict=True))

    def _costs(self, rows: Any) -> Any:
        return self.costs.take(rows) if isinstance(self.costs, RowCosts) else self.costs


class ClassJudge(Judge):
    """Any number of classes, with a cost for each answer."""

    def prices(self, rows: Any, predicted: Any, reject_label: Any) -> NDArray[np.float64]:
        """Give the cost of the prediction for each of these rows."""
        truth, choice, _ = read_classes(self.truth[rows], predicted, reject_label, self.classes)
        return np.asarray(self.costs.prices(truth, choice))

    def table(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> ClassTable:
        """Count the predictions for these rows by true class."""
        options = {"reject_label": reject_label, "classes": self.classes}
        return ClassTable.of(self.truth[rows], predicted, sample_weight=weight, **options)

    def blind(self, rows: Any) -> dict[str, NDArray[np.float64]]:
        """Give the costs of rejecting every row, and of deciding one class for every row."""
        truth = ClassLabels.named(self.classes, rejects=False).encode(self.truth[rows])
        names = REJECTING, *(deciding(label) for label in self.classes)
        return {name: self.costs.prices(truth, choice) for choice, name in enumerate(names)}


class ActionJudge(Judge):
    """Actions, each with a cost per class."""

    def prices(self, rows: Any, predicted: Any, reject_label: Any) -> NDArray[np.float64]:
        """Give the cost of the action for each of these rows."""
        del reject_label  # actions have names of their own
        return np.asarray(self.costs.prices(*self.costs.encode(self.truth[rows], predicted)))

    def table(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> ActionTable:
        """Count the actions for these rows by true class."""
        del reject_label
        return ActionTable.of(self.truth[rows], predicted, self.costs, sample_weight=weight)

    def blind(self, rows: Any) -> dict[str, NDArray[np.float64]]:
        """Give the costs of taking one action for every row."""
        sign = np.where(self.truth[rows] == self.costs.labels[1], 1, -1)
        return {taking(name): self.costs.prices(sign, at) for at, name in enumerate(self.costs.names)}


def judge_of(
    y: ArrayLike, costs: Any, row_costs: Any = None, pos_label: Any = None, *, classes: ArrayLike | None = None
) -> Judge:
    """Check labels and costs, and give the judge for them; of several classes, `classes`, or those of y."""
    truth = np.asarray(y)
    if isinstance(costs, Actions):
        if row_costs is not None:
            raise ValueError("row_costs replaces Costs, but costs has Actions; leave one of the two out.")
        labels = Labels.of(y if classes is None else classes, pos_label=pos_label, rejects=False)
        costs.check_classes(labels.classes.tolist())
        return ActionJudge(truth, costs, tuple(labels.classes.tolist()))
    known = y if classes is None else classes
    if isinstance(costs, ClassCosts) or has_several_classes(known):
        if row_costs is not None:
            raise ValueError("row_costs is for two classes, and y or the costs have more; leave it out.")
        if pos_label is not None:
            raise ValueError(f"pos_label={pos_label!r} is for two classes; leave it out, and name all in the costs.")
        labels_of = ClassLabels.of(y, rejects=False) if classes is None else ClassLabels.named(classes, rejects=False)
        labels_of.encode(y)
        stated = costs if isinstance(costs, ClassCosts) else checked_costs(costs)
        return ClassJudge(truth, costs_for_classes(stated, labels_of.classes), tuple(labels_of.classes.tolist()))
    if row_costs is None:
        checked_costs(costs)
    labels = Labels.of(known, pos_label=pos_label, rejects=False)
    pair = labels.negative, labels.positive
    if row_costs is None:
        return PairJudge(truth, assigned_costs(costs, labels.classes, pos_label)[0], pair)
    own = RowCosts.of(row_costs, len(truth))
    own.warn_if_assumed(labels.classes, pos_label)
    return PairJudge(truth, own, pair)
