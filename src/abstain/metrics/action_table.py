"""ActionTable: the weighted counts of true classes and actions, from which the metrics of actions are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.costs.actions import Actions
from abstain.metrics.counts import Counts
from abstain.metrics.frames import frame_of, frozen

__all__ = ["ActionTable", "action_confusion_matrix"]


@dataclass(frozen=True, eq=False)
class ActionTable(Counts):
    """Number of rows by true class and action taken.

    Attributes
    ----------
    counts : ndarray of shape (2, n_actions)
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

    counts: NDArray[Any]
    actions: Actions

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: Any, actions: Actions, *, sample_weight: ArrayLike | None = None) -> Self:
        """Count the actions taken by true class; the arguments are those of `action_confusion_matrix`."""
        if not isinstance(actions, Actions):
            raise ValueError(  # noqa: TRY004 (as for every bad argument)
                f"actions={actions!r} must be an Actions, not a {type(actions).__name__}; for Costs use "
                "reject_confusion_matrix."
            )
        sign, choice = actions.encode(y_true, y_pred)
        width = len(actions.names)
        cell = width * (sign > 0).astype(np.intp) + choice
        counts = np.bincount(cell, weights=row_weights(sample_weight, len(sign)), minlength=2 * width)
        return cls(frozen(counts.reshape(2, width)), actions)

    @property
    def rejected(self) -> float:
        """Number of rows with an action that hands the case on."""
        return float(self.counts[:, self.actions.rejecting].sum())

    @property
    def accepted(self) -> float:
        """Number of rows with one of the other actions."""
        return float(self.counts[:, ~self.actions.rejecting].sum())

    @property
    def mean_cost(self) -> float:
        """The mean cost of the actions taken."""
        return float(np.sum(self.counts / self.total * self.actions.table()))

    def to_frame(self) -> Any:
        """The counts as a pandas DataFrame: rows true class, columns action."""
        columns = dict(zip(self.actions.names, self.counts.T, strict=True))
        return frame_of(columns, index=self.actions.labels)


def action_confusion_matrix(
    y_true: ArrayLike, y_pred: Any, actions: Actions, *, sample_weight: ArrayLike | None = None
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
    ndarray of shape (2, n_actions)
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
