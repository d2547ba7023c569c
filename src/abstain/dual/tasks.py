"""A training as a list of binary tasks over the same rows: each has its signs, its losses, and weights of the rows.

::

    two classes             one task, classes[1] against classes[0]
    a loss for each class   one task for each class against the rest
    one loss for all        one task for each pair of classes, whose other rows have no weight
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss
from abstain.machines.class_machine import class_pairs

__all__ = ["Task", "tasks"]

Loss = MarginLoss | LossTable


@dataclass(frozen=True, eq=False)
class Task:
    """One class against another, or against all others.

    It is posed on any rows by their codes, 0 to K - 1, so that a list of tasks takes no memory for each row.

    Attributes
    ----------
    positive : int
        The class whose rows have y = +1.
    negative : int or None
        The class whose rows have y = -1; None for all others.
    loss : MarginLoss or LossTable
        One loss for each sign, or a table with a line for each row.
    stake : float64 array of shape (n,) or None
        Factors on the weights of the rows; None for 1.
    """

    positive: int
    negative: int | None
    loss: Loss
    stake: NDArray[np.float64] | None = None

    def sign(self, code: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return y of rows of these classes."""
        return np.where(code == self.positive, 1, -1).astype(np.int8)

    def weight(self, code: NDArray[np.intp], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of rows of these classes in the task, given their weights in the training."""
        if self.negative is not None:
            weight = np.where((code == self.positive) | (code == self.negative), weight, 0.0)
        return weight if self.stake is None else weight * self.stake

    def take(self, rows: Any) -> Task:
        """Return the task for some of the rows."""
        stake = None if self.stake is None else self.stake[rows]
        return replace(self, loss=self.loss.take(rows), stake=stake)


def tasks(n_classes: int, losses: Sequence[Loss], stake: NDArray[np.float64] | None = None) -> list[Task]:
    """List the tasks of a training with these losses: one for two classes, one for each class, or one for all."""
    if n_classes == 2:
        return [Task(1, None, losses[0], stake)]
    if len(losses) == n_classes:
        return [Task(k, None, loss, stake) for k, loss in enumerate(losses)]
    return [Task(first, second, losses[0], stake) for first, second in class_pairs(n_classes)]
