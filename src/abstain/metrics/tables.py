"""The public tables of counts: one table, `Counts`, with its columns in the order of each kind of costs."""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.actions import Actions
from abstain.frames import frozen
from abstain.labels import NO_CLASS
from abstain.metrics.outcomes import Counts, Outcomes, read

OF_ANSWERS = ("error_rate", "selective_error")
OF_POSITIVE = ("sensitivity", "positive_predictivity")


class RejectTable(Counts):
    r"""Number of rows by true class and choice; all metrics of predictions are ratios of its entries.

    ::

        class \ choice    negative    reject      positive
        negative          TN          Rej_neg     FP
        positive          FN          Rej_pos     TP

    The layout is that of ``Costs.table()``. A ratio with an empty denominator is nan here, without a warning; the
    functions of `abstain.metrics` return the same numbers and warn.

    Attributes
    ----------
    counts : ndarray of shape (2, 3)
        The entries, read-only: integers, or floats with sample weights.
    classes : (label, label) or None
        The negative and the positive class; None if they are not known. Costs by class name need them.

    Examples
    --------
    >>> from abstain.metrics import RejectTable
    >>> table = RejectTable.of(["a", "a", "b", "b"], ["a", "reject", "b", "a"])
    >>> table.counts
    array([[1, 1, 0],
           [1, 0, 1]])
    >>> table.coverage, table.error_rate
    (0.75, 0.25)
    """

    @classmethod
    def of(
        cls, y_true: Any, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
    ) -> Self:
        """Count predictions by true class; the arguments are those of every metric of predictions."""
        found = read(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
        if len(found.classes) > 2:
            raise ValueError(f"y_true has {len(found.classes)} classes, {[*found.classes]}; this table is of two.")
        return cls._of(found)

    sides = "negative", "positive"  # the names of the rows, whatever the classes are

    @property
    def rates(self) -> dict[str, float]:
        """The rates of rejects, of errors, and of the positive class."""
        return super().rates | {name: getattr(self, name) for name in (*OF_ANSWERS, *OF_POSITIVE)}


class ClassTable(Counts):
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

    @classmethod
    def of(
        cls, y_true: Any, y_pred: Any, *, reject_label: Any = "auto", sample_weight: Any = None, classes: Any = None
    ) -> Self:
        """Count predictions by true class.

        The classes are those given, or of the decisions, or of `y_true` (and of `y_pred`, if `reject_label` is given).
        """
        options = {"reject_label": reject_label, "sample_weight": sample_weight, "classes": classes}
        found = cls._of(read(y_true, y_pred, **options))
        known = found.classes or ()
        if len(known) != 2:
            return found
        order = [0, 2, 1] if known[0] < known[1] else [2, 0, 1]
        choices = found.choices.with_values(found.choices.values[..., order], (0, 1, NO_CLASS))
        return cls(frozen(found.counts[np.argsort(known)][:, order]), tuple(sorted(known)), choices)

    @property
    def rates(self) -> dict[str, float]:
        """The rates of rejects, of errors, and of the worst class."""
        known = [error for error in self.class_selective_error.tolist() if math.isfinite(error)]
        found = super().rates | {name: getattr(self, name) for name in OF_ANSWERS}
        return found | {"worst_class_error": max(known, default=math.nan)}


class ActionTable(Counts):
    """Number of rows by true class and action taken.

    Attributes
    ----------
    counts : ndarray of shape (n_classes, n_actions)
        Read-only: integers, or floats with sample weights. Rows have the order of ``actions.labels``, columns that of
        ``actions.names``: the layout of ``actions.table()``.
    actions : Actions
        The actions.

    Examples
    --------
    >>> from abstain import Actions
    >>> from abstain.metrics import ActionTable
    >>> actions = Actions({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": 0.3})
    >>> table = ActionTable.of(["no", "no", "yes", "yes"], ["no", "ask", "yes", "no"], actions)
    >>> table.counts
    array([[1, 0, 1],
           [1, 1, 0]])
    >>> table.reject_rate, table.mean_cost
    (0.25, 1.325)
    """

    kind = "actions"

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: Any, actions: Any, *, sample_weight: Any = None) -> Self:
        """Count the actions taken by true class; the arguments are those of `action_confusion_matrix`."""
        if not isinstance(actions, Actions):
            raise ValueError(f"actions={actions!r} must be an Actions; for Costs use reject_confusion_matrix.")  # noqa: TRY004
        return cls._of(read(y_true, y_pred, actions, sample_weight=sample_weight))

    @property
    def actions(self) -> Any:
        """The actions."""
        return self.choices

    @property
    def sides(self) -> tuple[Any, ...]:
        """The classes."""
        return self.classes or ()

    @property
    def rates(self) -> dict[str, float]:
        """The rate of rejects, and the share of each action; actions are neither right nor wrong."""
        shares = (self.counts.sum(axis=0) / self.total).tolist()
        return super().rates | {f"share_{name}": share for name, share in zip(self.names, shares, strict=True)}

    @property
    def mean_cost(self) -> float:  # type: ignore[override]
        """The mean cost of the actions taken."""
        return self._mean(self.choices.values)


def counted(outcomes: Outcomes) -> Counts:
    """Count outcomes in the table of their kind."""
    of_answers = RejectTable if len(outcomes.classes) == 2 else ClassTable
    return (of_answers if outcomes.choices.answering else ActionTable)._of(outcomes)  # noqa: SLF001 (its own)


def action_confusion_matrix(
    y_true: ArrayLike, y_pred: Any, actions: Any, *, sample_weight: ArrayLike | None = None
) -> NDArray[Any]:
    """Count the actions taken: rows true class, columns action.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,), or the result of `decide`
        The actions taken, by name.
    actions : Actions
        The actions; rows have the order of ``actions.labels``, columns that of ``actions.names``.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of k is the same as repeating the row k times.

    Returns
    -------
    ndarray of shape (n_classes, n_actions)
        Integers, or floats if `sample_weight` is given; the layout of ``actions.table()``.

    Examples
    --------
    >>> from abstain import Actions
    >>> from abstain.metrics import action_confusion_matrix
    >>> actions = Actions({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": 0.3})
    >>> action_confusion_matrix(["no", "yes"], ["ask", "yes"], actions)
    array([[0, 0, 1],
           [0, 1, 0]])
    """
    return ActionTable.of(y_true, y_pred, actions, sample_weight=sample_weight).counts.copy()
