"""What scores mean: the probabilities of the classes, as far as they can be read from the scores of a machine.

To add one, write a class with `probabilities`, `known` and `of_rows`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from abstain.costs.table import CostTable
from abstain.losses.tangent_hinge import last_knots, task_tangents
from abstain.rules.tuning.sigmoid import Lead

Floats = NDArray[np.float64]


class Readout(ABC):
    """What scores mean."""

    unit: float = math.nan  # log-odds of the last of two classes per unit of score

    known: Any = True  # whether the scores tell probabilities

    @abstractmethod
    def probabilities(self, score: Floats) -> Floats:
        """Return the probability of each class, on a last axis; nan where unknown."""

    def of_rows(self, costs: CostTable) -> "Readout":  # noqa: ARG002 (for those that depend on the costs)
        """Return what scores mean for rows with these costs."""
        return self


@dataclass(frozen=True)
class LogOdds(Readout):
    """One score of two classes: the log-odds of the last class, in some unit.

    Attributes
    ----------
    unit : float
        The log-odds of ``classes[1]`` per unit of score; nan if the score is not related to probabilities.
    """

    unit: float = math.nan

    @property
    def known(self) -> bool:
        """Whether the unit is known."""
        return math.isfinite(self.unit)

    def probabilities(self, score: Floats) -> Floats:
        """Return P = 1 / (1 + exp(-unit score)) of the last class, and 1 - P."""
        log_odds = self.unit * score
        small = np.exp(-np.abs(log_odds))  # of -|log-odds|: exp may underflow to 0, but never overflows
        p = np.where(log_odds > 0, 1.0, small) / (1.0 + small)
        return np.stack([1.0 - p, p], axis=-1)


@dataclass(frozen=True, eq=False)
class Ladders(Readout):
    """The probability of each of several classes as a function of its own score: straight lines between known points.

    ::

        0 where the loss of the other rows ends,  p where the score passes a tangent at p,  1 where its own loss ends

    A machine that has learnt everything takes one value between each two tangents, and an end beyond them. So a ladder
    is exact where its score passes a tangent, and the ends stand for "surely not" and "surely", as far as can be known.
    With costs per row each row has tangents of its own: a score passes those where the probability does, also if the
    machine was trained on rows with others.
    With a `lead`, fitted to held-out scores, ::

        P = lead(g),   g_k the score of k on its ladder, from 0 (surely not) to 1 (surely)

    a softmax in which the log-odds of the likeliest class, its lead over all others, are corrected (`Lead`).

    Attributes
    ----------
    tangents : ndarray of shape (n_classes, L), or (n, n_classes, L)
        The log-odds at which the loss of each class has a tangent, not decreasing.
    lead : Lead or None, default=None
        The probabilities as a function of g, if it was tuned.
    by_row : bool, default=False
        Whether the machine was trained with costs per row, so that each row has ladders of its own.
    """

    tangents: Floats
    lead: Lead | None = None
    by_row: bool = False

    def of_rows(self, costs: CostTable) -> "Ladders":
        """Return the ladders of these rows, if the machine was trained with costs per row."""
        return replace(self, tangents=task_tangents(costs)) if self.by_row else self

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The scores at which the losses end: of the other rows, and of the class's own."""
        return -last_knots(-self.tangents[..., 0]), last_knots(self.tangents[..., -1])

    def heights(self, score: Floats) -> Floats:
        """Return the scores on their ladders, from 0 to 1 and beyond."""
        low, high = self.ends
        return np.asarray((score - low) / (high - low))

    def own(self, score: Floats) -> Floats:
        """Return the probability of each class by its own score alone; they need not sum to 1."""
        found = self.interpolated(score, np.where)
        return np.where(np.isnan(score), np.nan, found)

    def interpolated(self, score: Any, where: Callable[..., Any]) -> Any:
        """Return straight lines between the points of each class, of arrays or of values in a graph."""
        low, high = (end[..., np.newaxis] for end in self.ends)
        points = np.concatenate([low, self.tangents, high], axis=-1)
        values = np.concatenate([0.0 * low, expit(self.tangents), 1.0 + 0.0 * high], axis=-1)
        found = where(score < points[..., 0], 0.0, 1.0)
        for at in range(points.shape[-1] - 1):
            a, b, rise = points[..., at], points[..., at + 1], values[..., at + 1] - values[..., at]
            share = (score - a) / np.where(b > a, b - a, 1.0)
            found = where((score >= a) & (score < b), share * rise + values[..., at], found)
        return found

    def probabilities(self, score: Floats) -> Floats:
        """Return rough probabilities of all classes, which sum to 1."""
        if self.lead is not None:
            return self.lead(self.heights(score))
        own = self.own(score)
        total = own.sum(axis=-1, keepdims=True)
        # what the classes leave open is shared evenly, which makes rejecting cheaper
        return np.asarray(np.where(total < 1.0, own + (1.0 - total) / own.shape[-1], own / np.maximum(total, 1.0)))


@dataclass(frozen=True)
class Softmax(Readout):
    """Scores of several classes that are logarithms of probabilities, of any classifier."""

    def probabilities(self, score: Floats) -> Floats:
        """Return the probabilities."""
        return np.asarray(softmax(score, axis=-1))


@dataclass(frozen=True)
class Unknown(Readout):
    """Scores of several classes that say nothing of probabilities."""

    known = False

    def probabilities(self, score: Floats) -> Floats:
        """Return nan."""
        return np.full(score.shape, np.nan)


def readout_of(machine: Any, n_classes: int) -> "Readout":
    """Return what the scores of a machine around another classifier mean."""
    if n_classes == 2:
        return LogOdds(machine.unit)
    return Softmax() if machine.method == "predict_proba" else Unknown()
