"""What the tables of counts share: the rates of rejects, and of errors among the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.rules.action_rule import ActionDecisions

__all__ = ["AnswerCounts", "Counts", "quotients", "refuse_action_decisions"]


def refuse_action_decisions(y_pred: Any) -> None:
    """Raise an error for decisions between actions, which are not right or wrong."""
    if isinstance(y_pred, ActionDecisions):
        raise ValueError(  # noqa: TRY004 (as for every bad argument)
            "y_pred has decisions between actions, and an action is not an answer that is right or wrong; use "
            "mean_cost with costs=decisions.actions, or action_confusion_matrix."
        )



class Counts(ABC):
    """Counts of rows by true class and choice."""

    counts: NDArray[Any]

    @property
    @abstractmethod
    def rejected(self) -> float:
        """Number of rows that were rejected."""

    @property
    @abstractmethod
    def accepted(self) -> float:
        """Number of rows that were not rejected."""

    @property
    def total(self) -> float:
        """N, the number of rows or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def reject_rate(self) -> float:
        """R = rejected / N."""
        return self.rejected / self.total

    @property
    def coverage(self) -> float:
        """Accepted / N."""
        return self.accepted / self.total


class AnswerCounts(Counts):
    """Counts whose choices are the classes, in the order of the rows, and one reject in the column `reject_column`."""

    @property
    @abstractmethod
    def reject_column(self) -> int:
        """The column of the reject."""

    @property
    def answers(self) -> NDArray[Any]:
        """The counts without the rejects, (n_classes, n_classes): correct answers on the diagonal."""
        return np.delete(self.counts, self.reject_column, axis=1)

    @property
    def rejected(self) -> float:
        """Number of rows that were rejected."""
        return float(self.counts[:, self.reject_column].sum())

    @property
    def accepted(self) -> float:
        """Number of rows that were not rejected."""
        return float(self.answers.sum())

    @property
    def errors(self) -> float:
        """Rows that were answered wrongly; a reject is not an error."""
        return float(self.answers[~np.eye(len(self.counts), dtype=bool)].sum())

    @property
    def error_rate(self) -> float:
        """E = errors / N."""
        return self.errors / self.total

    @property
    def selective_error(self) -> float:
        """Errors / accepted."""
        return float(quotients(self.errors, self.accepted))

    @property
    def selective_accuracy(self) -> float:
        """Correct answers / accepted."""
        return float(quotients(np.diag(self.answers).sum(), self.accepted))


def quotients(parts: Any, wholes: Any) -> NDArray[np.float64]:
    """Give parts / wholes, nan where the whole is 0."""
    parts, wholes = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)
