"""Rows ranked from the most to the least confident, with ties merged; the input of every curve and area.

With a score s and its cut, the forced choice is +1 if s > cut, else -1, and its confidence is |s - cut|. With a score
for each of several classes, it is the class of the highest, and its confidence the lead over the second. The symmetric
rule accepts the rows whose confidence reaches a level; rows of equal confidence are accepted together or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from abstain.arguments import real_number, row_weights
from abstain.class_labels import ClassLabels, has_several_classes
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import assigned_costs, checked_costs, costs_for_classes
from abstain.costs.thresholds import Thresholds, distances
from abstain.labels import Labels, encode_pair, free_label


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows of positive weight in order of decreasing confidence.

    Tied rows are ordered by true class, choice and weight, so that sums over them and resamples drawn from them are
    bitwise equal for every order of the input.

    Attributes
    ----------
    sign, choice : ndarray of integers, shape (n,)
        The true class and the forced choice: -1 and +1, or 1 to n for more than two classes.
    weight : ndarray of float64, shape (n,)
        Sample weights; ones if none are given.
    confidence : ndarray of float64, shape (m,)
        The distinct confidences, decreasing.
    starts : ndarray of intp, shape (m,)
        Index of the first row of each confidence.
    cut : float
        The threshold of the forced choice.
    """

    sign: NDArray[Any]
    choice: NDArray[Any]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    starts: NDArray[np.intp]
    cut: float

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        cut: float,
        pos_label: Any,
        sample_weight: Any,
        *,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Check labels, scores and weights, and rank the rows; of several classes, `classes`, or those of `y_true`."""
        if isinstance(getattr(score, "labels", None), Labels | ClassLabels):
            raise TypeError("score must be numbers, not Decisions; pass their scores, decisions.score.")
        if has_class_scores(score):
            return cls._of_classes(y_true, score, sample_weight, classes)
        if has_several_classes(y_true):
            n = len(np.unique(np.asarray(y_true)))
            raise ValueError(
                f"score must have a column for each of the {n} classes of y_true, sorted; its shape is "
                f"{np.shape(score)}."
            )
        s, cut = _checked_scores(score), real_number("cut", cut)
        if math.isinf(cut):
            raise ValueError(f"cut={cut} must be finite: 0 for a decision function, 0.5 for a probability.")
        check_consistent_length(y_true, s)
        sign = _true_signs(y_true, pos_label)
        given = row_weights(sample_weight, len(s))
        weight = np.ones(len(s)) if given is None else given
        return cls._ranked(sign, Thresholds(cut, cut).decide(s), distances(s, cut), weight, cut)

    @classmethod
    def _of_classes(cls, y_true: ArrayLike, score: ArrayLike, sample_weight: Any, classes: Any) -> Self:
        """Rank rows by the lead of their highest score over the second; the choice is the class of the highest."""
        s = np.asarray(score, dtype=np.float64)
        labels = ClassLabels.of(y_true, rejects=False) if classes is None else ClassLabels.named(classes, rejects=False)
        check_consistent_length(y_true, s)
        if s.shape[1] != labels.n_classes or np.isnan(s).any():
            raise ValueError(
                f"score must have a number for each row and each of the {labels.n_classes} classes of y_true, sorted; "
                f"its shape is {s.shape}, with {int(np.isnan(s).sum())} NaN."
            )
        given = row_weights(sample_weight, len(s))
        second, first = np.partition(s, -2, axis=1)[:, -2:].T
        with np.errstate(invalid="ignore"):
            lead = np.where(first == second, 0.0, first - second)
        choice = (np.argmax(s, axis=1) + 1).astype(np.int32)
        weight = np.ones(len(s)) if given is None else given
        return cls._ranked(labels.encode(y_true).astype(np.int32), choice, lead, weight, 0.0)

    @classmethod
    def _ranked(
        cls,
        sign: NDArray[Any],
        choice: NDArray[Any],
        confidence: NDArray[np.float64],
        weight: NDArray[np.float64],
        cut: float,
    ) -> Self:
        order = np.lexsort((weight, choice, sign, -confidence))
        order = order[weight[order] > 0]
        confidence = confidence[order]
        starts = np.flatnonzero(np.append(True, confidence[1:] != confidence[:-1]))
        return cls(sign[order], choice[order], weight[order], confidence[starts], starts, cut)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the forced choice is an error."""
        return self.choice != self.sign

    def merged(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sums of one value per row over the rows of each confidence."""
        return np.asarray(np.add.reduceat(values, self.starts), dtype=np.float64)


def has_class_scores(score: Any) -> bool:
    """Whether there is a score for each of several classes."""
    return np.ndim(score) == 2 and np.shape(score)[-1] > 2


def costs_of_scores(costs: Any, y: ArrayLike, score: Any, pos_label: Any) -> tuple[Any, Any]:
    """Check the costs of a curve for the classes of y, and give them and the positive class; None for several."""
    if isinstance(costs, Actions):
        raise ValueError(  # noqa: TRY004 (as for every bad argument)
            "costs has Actions, and a curve has one reject whose rate it varies; state Costs, or use mean_cost."
        )
    if np.ndim(costs) == 2:
        raise ValueError("costs has a row of costs for each row, and a curve needs one set for all; state Costs.")
    if isinstance(costs, ClassCosts) and not has_class_scores(score):
        raise ValueError(
            f"costs name {len(costs.labels)} classes, so score must have a column for each; its shape is "
            f"{np.shape(score)}."
        )
    if not has_class_scores(score):
        return assigned_costs(costs, y, pos_label)
    if isinstance(costs, ClassCosts):
        return costs, None
    return costs_for_classes(checked_costs(costs), ClassLabels.of(y, rejects=False).classes), None


def running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the first 0, 1, ..., m values."""
    return np.append(0.0, np.cumsum(values))


def _checked_scores(score: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(score)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(
            f"score must be one number per row; its shape is {values.shape}. For probabilities pass the column of the "
            "positive class, such as proba[:, 1], with cut=0.5."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"score must be numbers; its dtype is {values.dtype}. For labels use the metrics of y_pred.")
    s: NDArray[np.float64] = column_or_1d(values).astype(np.float64)
    if np.isnan(s).any():
        raise ValueError(f"score contains NaN at row {int(np.flatnonzero(np.isnan(s))[0])}; every row needs a score.")
    return s


def _true_signs(y_true: ArrayLike, pos_label: Any) -> NDArray[np.int8]:
    """Signs of true labels; no row here is rejected, so any label that is not a class serves as reject label."""
    y = y_true if hasattr(y_true, "dtype") else np.asarray(y_true)
    return encode_pair(y_true, y_true, pos_label, free_label(np.asarray(y)))[0]
