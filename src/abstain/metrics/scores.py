"""Metrics of predictions with rejects, each a ratio of counts in `RejectTable` or `ClassTable` (docs/theory.md)."""

from __future__ import annotations

import math
import warnings
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from abstain.arguments import mean_price, warn_caller
from abstain.costs.actions import Actions
from abstain.costs.costs import Costs, assigned_costs
from abstain.costs.row_costs import RowCosts
from abstain.labels import classes_of, encode_pair, known_positive
from abstain.metrics.action_table import ActionTable
from abstain.metrics.class_table import ClassTable, table_of, takes_classes
from abstain.metrics.counts import Counts, refuse_action_decisions
from abstain.rules.action_rule import ActionDecisions

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

OF_ONE_CLASS = ("sensitivity", "positive_predictivity")


def reject_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Count the six outcomes, ``[[TN, Rej_neg, FP], [FN, Rej_pos, TP]]``: rows true class, columns choice.

    With more than two classes: n_classes rows and n_classes + 1 columns, the classes in order and the reject last.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,), or Decisions
        Predicted labels, with `reject_label` for rejected rows; or what an estimator's `decide` returns, which has its
        positive class and its reject label.
    pos_label : label, default=None
        The positive class. If None, that of the decisions; for an array of labels the larger of the two is assumed.
        More than two classes have none: it then has an effect on `sensitivity` and `positive_predictivity` only.
    reject_label : label or "auto", default="auto"
        The label of a reject in `y_pred`. "auto": that of the decisions; for an array of labels it is derived from the
        labels of `y_true`, as estimators do.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of k is the same as repeating the row k times.

    Returns
    -------
    ndarray of shape (2, 3), or (n_classes, n_classes + 1)
        Integers, or floats if `sample_weight` is given; the layout of ``Costs.table()``.

    Examples
    --------
    >>> from abstain.metrics import reject_confusion_matrix
    >>> reject_confusion_matrix([0, 0, 1, 1], [0, -1, 1, 0])
    array([[1, 1, 0],
           [1, 0, 1]])
    """
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.counts.copy()


def mean_cost(
    y_true: ArrayLike,
    y_pred: Any,
    costs: Costs | Actions | None = None,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
    row_costs: Any = None,
) -> float:
    """Mean cost of the decisions, ``(c_fn FN + c_fp FP + r_pos Rej_pos + r_neg Rej_neg) / N`` (A14, equation 23).

    `costs` is a `Costs`, of any number of classes, or `Actions` if `y_pred` has the names of actions; the other
    arguments are those of `reject_confusion_matrix`, of which `pos_label` and `reject_label` have no effect with
    `Actions`. The result of a `decide` between actions has them. Costs made by `Costs.from_table` name their classes.
    For others the positive class is assumed to be the larger of the two if it is neither given nor that of the
    decisions; for strings and costs that differ by class this is reported by a `UserWarning`. `row_costs`, as in
    `RejectSVC.fit`, takes the place of `Costs`: each row's own.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.metrics import mean_cost
    >>> mean_cost([0, 0, 1, 1], [0, 1, -1, 1], Costs(1, 5, 0.25))
    0.3125
    """
    if costs is None and row_costs is None and isinstance(y_pred, ActionDecisions):
        costs = y_pred.actions
    if row_costs is not None and isinstance(costs, Actions):
        raise ValueError("row_costs takes the place of Costs, and costs has Actions; leave one of the two out.")
    if isinstance(costs, Actions):
        return costs.mean_cost(y_true, y_pred, sample_weight=sample_weight)
    pos_label = known_positive(y_pred) if pos_label is None else pos_label
    if row_costs is not None:
        refuse_action_decisions(y_pred)
        if takes_classes(y_true, y_pred, costs):
            raise ValueError("row_costs is for two classes, and the labels or the costs have more; leave it out.")
        own = RowCosts.of(row_costs)
        own.warn_if_assumed(y_true, pos_label)
        sign, choice = encode_pair(y_true, y_pred, pos_label, reject_label)
        prices = RowCosts.of(own, len(sign)).prices(sign, choice)
        return mean_price(prices, sample_weight)
    options: dict[str, Any] = {"reject_label": reject_label, "sample_weight": sample_weight}
    stated: Any = costs
    if takes_classes(y_true, y_pred, costs):
        return table_of(y_true, y_pred, costs=stated, **options).mean_cost(stated)
    assigned, pos_label = assigned_costs(stated, y_true, pos_label)
    return table_of(y_true, y_pred, pos_label=pos_label, **options).mean_cost(assigned)


def reject_rate(
    y_true: ArrayLike,
    y_pred: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
    actions: Actions | None = None,
) -> float:
    """Share of rows that are rejected, ``R = (Rej_neg + Rej_pos) / N``.

    The arguments are those of `reject_confusion_matrix`. If `y_pred` has the names of actions, pass them as `actions`:
    those of ``actions.rejects`` count as rejects. The result of an estimator's `decide` has them.

    Examples
    --------
    >>> from abstain.metrics import reject_rate
    >>> reject_rate([0, 0, 1, 1], [0, 1, -1, 1])
    0.25
    """
    options: dict[str, Any] = {"reject_label": reject_label, "sample_weight": sample_weight}
    return _any_table(y_true, y_pred, actions, pos_label=pos_label, **options).reject_rate


def coverage(
    y_true: ArrayLike,
    y_pred: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
    actions: Actions | None = None,
) -> float:
    """Share of rows that are not rejected, ``1 - R``.

    The arguments are those of `reject_confusion_matrix`. If `y_pred` has the names of actions, pass them as `actions`:
    those of ``actions.rejects`` count as rejects. The result of an estimator's `decide` has them.

    Examples
    --------
    >>> from abstain.metrics import coverage
    >>> coverage([0, 0, 1, 1], [0, 1, -1, 1])
    0.75
    """
    options: dict[str, Any] = {"reject_label": reject_label, "sample_weight": sample_weight}
    return _any_table(y_true, y_pred, actions, pos_label=pos_label, **options).coverage


def error_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Errors as a share of all rows, ``E = (FP + FN) / N``; a reject is not an error.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import error_rate
    >>> error_rate([0, 0, 1, 1], [0, 1, -1, 1])
    0.25
    """
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return table.error_rate


def selective_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Errors as a share of accepted rows, ``(FP + FN) / (N - Rej_neg - Rej_pos)``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_error
    >>> selective_error([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.25
    """
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.selective_error, "selective_error", "every row is rejected")


def selective_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Correct decisions as a share of accepted rows, ``1 - selective_error``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_accuracy
    >>> selective_accuracy([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.75
    """
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    return _defined(table.selective_accuracy, "selective_accuracy", "every row is rejected")


def sensitivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of accepted positive rows decided as positive, ``TP / (TP + FN)``; nan if no positive row is accepted.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import sensitivity
    >>> sensitivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    if pos_label is None and known_positive(y_pred) is None:
        warn_if_assumed("sensitivity", y_true)
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    value = _of_one_class(table, pos_label, "sensitivity")
    return _defined(value, "sensitivity", "no row of the positive class is accepted")


def positive_predictivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of positive decisions that are correct, ``TP / (TP + FP)``; nan if no decision is positive.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import positive_predictivity
    >>> positive_predictivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    if pos_label is None and known_positive(y_pred) is None:
        warn_if_assumed("positive_predictivity", y_true)
    table = table_of(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight)
    value = _of_one_class(table, pos_label, "positive_predictivity")
    return _defined(value, "positive_predictivity", "no decision is for the positive class")


def _any_table(y_true: Any, y_pred: Any, actions: Any, **options: Any) -> Counts:
    """Count answers, or the actions given or decided."""
    if actions is None and isinstance(y_pred, ActionDecisions):
        actions = y_pred.actions
    if actions is None:
        return table_of(y_true, y_pred, **options)
    return ActionTable.of(y_true, y_pred, actions, sample_weight=options["sample_weight"])


def _of_one_class(table: Any, pos_label: Any, name: str) -> float:
    """Give the metric of the positive class, or of the class named if there are more than two."""
    if not isinstance(table, ClassTable):
        return float(getattr(table, name))
    at = table.place(pos_label)
    shares = 1.0 - table.class_selective_error if name == "sensitivity" else table.class_predictivity
    return float(shares[at])


def warn_if_assumed(name: str, y_true: ArrayLike) -> None:
    """Warn that only the sort order of strings says which class is positive."""
    classes = classes_of(y_true)
    if len(classes) == 2 and isinstance(classes[0], str):
        warn_caller(
            f"pos_label is not given: {name} is that of {classes[1]!r}, which sorts last; "
            f"pass pos_label={classes[1]!r} or pos_label={classes[0]!r}."
        )


def _defined(value: float, name: str, empty: str) -> float:
    """The value; if it is nan, warn the caller of the metric and give the reason."""
    if math.isnan(value):
        text = f"{name} is undefined and set to nan: {empty}."
        warnings.warn(text, UndefinedMetricWarning, stacklevel=3)
    return value
