"""Measures of predictions with rejects, each a quotient of the counts in `RejectTable` (MATH.md 6)."""

from __future__ import annotations

import math
import warnings
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from abstain.costs import Costs
from abstain.metrics.table import RejectTable

__all__ = [
    "coverage",
    "error_rate",
    "mean_cost",
    "positive_predictivity",
    "reject_confusion_matrix",
    "reject_rate",
    "selective_accuracy",
    "selective_error",
    "sensitivity",
]


def reject_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Count the six outcomes, ``[[TN, Rej_neg, FP], [FN, Rej_pos, TP]]``: rows truth, columns choice.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Predicted labels, `reject_label` where the row was rejected.
    pos_label : label, default=None
        The positive class; the larger of the two by default.
    reject_label : label or "auto", default="auto"
        What stands for a reject in `y_pred`; "auto" derives it from the labels of `y_true`, as estimators do.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of k counts as the row given k times.

    Returns
    -------
    ndarray of shape (2, 3)
        Integers, or floats where `sample_weight` is given; the layout of ``Costs.table()``.

    Examples
    --------
    >>> from abstain.metrics import reject_confusion_matrix
    >>> reject_confusion_matrix([0, 0, 1, 1], [0, -1, 1, 0])
    array([[1, 1, 0],
           [1, 0, 1]])
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.counts.copy()


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    costs: Costs,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean price of the decisions, ``(c_fn FN + c_fp FP + r_pos Rej_pos + r_neg Rej_neg) / N`` (A14, equation 23).

    `costs` is a `Costs`; the other arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.metrics import mean_cost
    >>> mean_cost([0, 0, 1, 1], [0, 1, -1, 1], Costs(1, 5, 0.25))
    0.3125
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.mean_cost(costs)


def reject_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the rows that are rejected, ``R = (Rej_neg + Rej_pos) / N``.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import reject_rate
    >>> reject_rate([0, 0, 1, 1], [0, 1, -1, 1])
    0.25
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.reject_rate


def coverage(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the rows that are not rejected, ``1 - R``.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import coverage
    >>> coverage([0, 0, 1, 1], [0, 1, -1, 1])
    0.75
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.coverage


def error_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Errors among all rows, ``E = (FP + FN) / N``; a reject is not an error.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import error_rate
    >>> error_rate([0, 0, 1, 1], [0, 1, -1, 1])
    0.25
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.error_rate


def selective_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Errors among the accepted rows, ``(FP + FN) / (N - Rej_neg - Rej_pos)``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_error
    >>> selective_error([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.25
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.selective_error, "selective_error", "every row is rejected")


def selective_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Right decisions among the accepted rows, ``1 - selective_error``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_accuracy
    >>> selective_accuracy([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.75
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.selective_accuracy, "selective_accuracy", "every row is rejected")


def sensitivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Accepted positive rows that are found, ``TP / (TP + FN)``; nan if no positive row is accepted.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import sensitivity
    >>> sensitivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.sensitivity, "sensitivity", "no row of the positive class is accepted")


def positive_predictivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Positive decisions that are right, ``TP / (TP + FP)``; nan if no decision is positive.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import positive_predictivity
    >>> positive_predictivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    table = RejectTable.of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.positive_predictivity, "positive_predictivity", "no decision is for the positive class")


def _defined(value: float, name: str, empty: str) -> float:
    """The value; where it is nan, with one warning at the caller of the measure that says what is missing."""
    if math.isnan(value):
        text = f"{name} is undefined and set to nan: {empty}."
        warnings.warn(text, UndefinedMetricWarning, stacklevel=3)
    return value
