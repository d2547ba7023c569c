"""ClassTable: the n x (n + 1) weighted counts from which the metrics of several classes are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.class_labels import ClassLabels, has_several_classes, read_classes
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs, checked_costs, costs_for_classes
from abstain.labels import known_positive
from abstain.metrics.counts import AnswerCounts, quotients, refuse_action_decisions
from abstain.metrics.frames import frame_of, frozen
from abstain.metrics.table import RejectTable

__all__ = ["ClassTable", "table_of", "takes_classes"]


@dataclass(frozen=True, eq=False)
class ClassTable(AnswerCounts):
    r"""Number of rows by true class and choice, of any number of classes.

    ::

        class \ choice    class 1, ..., class n, reject

    The layout is that of ``table()`` of the costs: classes sorted, the reject last. A ratio with an empty denominator
    is nan here, without a warning; the functions of `abstain.metrics` return the same numbers and warn.

    Attributes
    ----------
    counts : ndarray of shape (n_classes, n_classes + 1)
        The entries, read-only: integers, or floats with sample weights.
    classes : tuple
        The classes, sorted.

    Examples
    --------
    >>> from abstain.metrics import ClassTable
    >>> table = ClassTable.of(["a", "b", "c", "c"], ["a", "c", "reject", "c"])
    >>> table.counts
    array([[1, 0, 0, 0],
           [0, 0, 1, 0],
           [0, 0, 1, 1]])
    >>> table.coverage, table.class_coverage
    (0.75, array([1. , 1. , 0.5]))
    """

    counts: NDArray[Any]
    classes: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_pred: Any,
        *,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
        classes: tuple[Any, ...] | None = None,
    ) -> Self:
        """Count predictions by true class.

        The classes are those given, or of the decisions, or of `y_true` (and of `y_pred`, if `reject_label` is given).
        """
        refuse_action_decisions(y_pred)
        if known_positive(y_pred) is not None:  # decisions on two classes, priced by the costs of more
            y_pred = y_pred.label
        truth, choice, known = read_classes(y_true, y_pred, reject_label, classes)
        n, weight = len(known), row_weights(sample_weight, len(truth))
        cell = (n + 1) * (truth - 1) + np.where(choice == 0, n, choice - 1)
        counts = np.bincount(cell, weights=weight, minlength=n * (n + 1)).reshape(n, n + 1)
        return cls(frozen(counts), tuple(known.tolist()))

    @property
    def reject_column(self) -> int:
        """The column of the reject, the last one."""
        return len(self.counts)

    @property
    def class_coverage(self) -> NDArray[np.float64]:
        """Share of the rows of each true class that were not rejected, shape (n_classes,)."""
        return quotients(self.answers.sum(axis=1), self.counts.sum(axis=1))

    @property
    def class_selective_error(self) -> NDArray[np.float64]:
        """Errors as a share of the accepted rows of each true class, shape (n_classes,)."""
        accepted = self.answers.sum(axis=1)
        return quotients(accepted - np.diag(self.answers), accepted)

    @property
    def class_predictivity(self) -> NDArray[np.float64]:
        """Share of the answers of each class that are correct, shape (n_classes,)."""
        return quotients(np.diag(self.answers), self.answers.sum(axis=0))

    def place(self, label: Any) -> int:
        """Give the place of a class; any other label is an error."""
        if label not in self.classes:
            raise ValueError(
                f"pos_label={label!r} is not one of the {len(self.classes)} classes {[*self.classes]}; with more than "
                "two, pass the class that the metric is for."
            )
        return self.classes.index(label)

    def mean_cost(self, costs: Costs | ClassCosts) -> float:
        """The mean over all rows of the cost of their decision."""
        named = costs_for_classes(costs, np.array(self.classes))
        return float(np.sum(self.counts / self.total * named.table()))  # shares first: counts may overflow

    def to_frame(self) -> Any:
        """The counts as a pandas DataFrame: rows true class, columns choice."""
        names = [str(label) for label in self.classes]
        return frame_of(dict(zip([*names, "reject"], self.counts.T, strict=True)), index=names)


def table_of(
    y_true: ArrayLike,
    y_pred: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
    costs: Any = None,
) -> RejectTable | ClassTable:
    """Count predictions by true class: a `RejectTable` of two classes, a `ClassTable` of more."""
    if takes_classes(y_true, y_pred, costs):
        named = costs.labels if isinstance(costs, ClassCosts) else None
        if costs is not None and named is None:
            checked_costs(costs)
        return ClassTable.of(y_true, y_pred, reject_label=reject_label, sample_weight=sample_weight, classes=named)
    return RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)


def takes_classes(y_true: Any, y_pred: Any, costs: Any = None) -> bool:
    """Whether more than two classes are meant: by the costs, the decisions or the true labels."""
    decided = isinstance(getattr(y_pred, "labels", None), ClassLabels)
    return isinstance(costs, ClassCosts) or decided or has_several_classes(y_true)

