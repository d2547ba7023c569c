"""Rows of several classes on which cuts are tuned: their scores, and the answer and confidence that follow from them.

::

    answer k = the class of the highest score        lead = highest score - second highest
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from abstain.rules.tuning.scored_rows import NO_ROWS, NOT_FINITE, ScoredRows

__all__ = ["AnsweredRows", "ClassRows", "Confidence", "confidence_of"]

Confidence = Literal["lead", "highest"]


def confidence_of(score: NDArray[np.float64], by: Confidence) -> NDArray[np.float64]:
    """Give the confidence of each row: the lead of its highest score over the second, or the highest score."""
    if by == "highest":
        return np.asarray(score.max(axis=-1))
    second, first = np.moveaxis(np.partition(score, -2, axis=-1)[..., -2:], -1, 0)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is nan
        return np.asarray(np.where(first == second, 0.0, first - second))


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Rows with their forced answer, its confidence, and the true class.

    Attributes
    ----------
    answer, truth : ndarray of intp, shape (n,)
        Classes, 1 to `n_classes`.
    confidence, weight : ndarray of float64, shape (n,)
    n_classes : int
    """

    answer: NDArray[np.intp]
    truth: NDArray[np.intp]
    confidence: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_classes: int

    @classmethod
    def of_two(cls, rows: ScoredRows) -> Self:
        """Read rows of two classes: the answer is the side of the cut, the confidence the distance from it."""
        answer = np.where(rows.score > rows.cut, 2, 1).astype(np.intp)
        truth = np.where(rows.sign > 0, 2, 1).astype(np.intp)
        return cls(answer, truth, rows.confidence, rows.weight, 2)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the answer is wrong."""
        return self.answer != self.truth


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with a score for each class, sorted so that the result does not depend on their order.

    Attributes
    ----------
    score : ndarray of float64, shape (n, n_classes)
        Sorted by the first class, then by the second, and so on.
    code : ndarray of intp, shape (n,)
        The true class, 1 to n_classes.
    weight : ndarray of float64, shape (n,)
        Weight of each row, above 0.
    flaw : str
        As in `ScoredRows`.
    """

    score: NDArray[np.float64]
    code: NDArray[np.intp]
    weight: NDArray[np.float64]
    flaw: str = ""

    @classmethod
    def of(cls, score: Any, code: Any, weight: Any = None, *, flaw: str = "") -> Self:
        """Sort the rows and drop those of weight 0."""
        s, y = np.asarray(score, dtype=np.float64), np.asarray(code, dtype=np.intp)
        w = np.ones(len(s)) if weight is None else np.asarray(weight, dtype=np.float64)
        if not np.isfinite(s).all():
            raise ValueError(NOT_FINITE)
        order = np.lexsort((w, y, *s.T[::-1]))
        order = order[w[order] > 0]
        if not len(order):
            raise ValueError(NO_ROWS)
        return cls(s[order], y[order], w[order], flaw)

    def answered(self, by: Confidence) -> AnsweredRows:
        """Give the rows with the answer of the highest score, ties to the first class, and its confidence."""
        answer, confidence = np.argmax(self.score, axis=1) + 1, confidence_of(self.score, by)
        return AnsweredRows(answer, self.code, confidence, self.weight, self.score.shape[1])
