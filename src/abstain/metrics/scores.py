"""Metrics of predictions with rejects, each a ratio of counts, or a mean of the costs of rows (docs/theory.md)."""

import math
import warnings
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from abstain.arguments import warn_caller
from abstain.labels import classes_of
from abstain.metrics.outcomes import Outcomes, has_costs, known_positive, read, stated
from abstain.metrics.tables import counted

# The metrics of one class, and why those of accepted rows may be undefined.
OF_ONE_CLASS = {"sensitivity": "class_sensitivity", "positive_predictivity": "class_predictivity"}
_EMPTY = {
    "sensitivity": "no row of the positive class is accepted",
    "positive_predictivity": "no decision is for the positive class",
}


def reject_confusion_matrix(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
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
    return read(y_true, y_pred, pos_label=pos_label, reject_label=reject_label, sample_weight=sample_weight).counts


def mean_cost(
    y_true: ArrayLike,
    y_pred: Any,
    costs: Any = None,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: Any = None,
    row_costs: Any = None,
) -> float:
    """Mean cost of the decisions, ``(c_fn FN + c_fp FP + r_pos Rej_pos + r_neg Rej_neg) / N`` (A14, equation 23).

    `costs` is a `Costs`, of any number of classes, or `Actions` if `y_pred` has the names of actions; the other
    arguments are those of `reject_confusion_matrix`, of which `pos_label` and `reject_label` have no effect with
    `Actions`. The result of a `decide` between actions has them. Costs made by `Costs.from_table` name their classes.
    For others the positive class is assumed to be the larger of the two if it is neither given nor that of the
    decisions; for strings and costs that differ by class this is reported by a `UserWarning`.

    `row_costs` are the costs of each row, in place of those in `costs`: of two classes as in `RejectSVC.fit`, otherwise
    an array of shape (n_samples, n_classes, n_actions), each row in the layout of ``costs.table()``.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.metrics import mean_cost
    >>> mean_cost([0, 0, 1, 1], [0, 1, -1, 1], Costs(1, 5, 0.25))
    0.3125
    """
    return _value("mean_cost", y_true, y_pred, (pos_label, reject_label, sample_weight), costs, row_costs=row_costs)


def reject_rate(
    y_true: ArrayLike,
    y_pred: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: Any = None,
    actions: Any = None,
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
    return _value("reject_rate", y_true, y_pred, (pos_label, reject_label, sample_weight), actions)


def coverage(
    y_true: ArrayLike,
    y_pred: Any,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: Any = None,
    actions: Any = None,
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
    return _value("coverage", y_true, y_pred, (pos_label, reject_label, sample_weight), actions)


def error_rate(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
) -> float:
    """Errors as a share of all rows, ``E = (FP + FN) / N``; a reject is not an error.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import error_rate
    >>> error_rate([0, 0, 1, 1], [0, 1, -1, 1])
    0.25
    """
    return _value("error_rate", y_true, y_pred, (pos_label, reject_label, sample_weight))


def selective_error(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
) -> float:
    """Errors as a share of accepted rows, ``(FP + FN) / (N - Rej_neg - Rej_pos)``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_error
    >>> selective_error([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.25
    """
    return _value("selective_error", y_true, y_pred, (pos_label, reject_label, sample_weight))


def selective_accuracy(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
) -> float:
    """Correct decisions as a share of accepted rows, ``1 - selective_error``; nan if all are rejected.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import selective_accuracy
    >>> selective_accuracy([0, 0, 0, 1, 1], [0, 0, 1, -1, 1])
    0.75
    """
    return _value("selective_accuracy", y_true, y_pred, (pos_label, reject_label, sample_weight))


def sensitivity(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
) -> float:
    """Share of accepted positive rows decided as positive, ``TP / (TP + FN)``; nan if no positive row is accepted.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import sensitivity
    >>> sensitivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    return _value("sensitivity", y_true, y_pred, (pos_label, reject_label, sample_weight))


def positive_predictivity(
    y_true: ArrayLike, y_pred: Any, *, pos_label: Any = None, reject_label: Any = "auto", sample_weight: Any = None
) -> float:
    """Share of positive decisions that are correct, ``TP / (TP + FP)``; nan if no decision is positive.

    The arguments are those of `reject_confusion_matrix`.

    Examples
    --------
    >>> from abstain.metrics import positive_predictivity
    >>> positive_predictivity([0, 0, 1, 1, 1], [0, 1, -1, 1, 0])
    0.5
    """
    return _value("positive_predictivity", y_true, y_pred, (pos_label, reject_label, sample_weight))


def measured(name: str, outcomes: Outcomes, label: Any = None, *, stacklevel: int = 2) -> float:
    """Return a metric of outcomes, of the class `label` if it is one of a class; a warning says why it is nan."""
    if name == "mean_cost":
        return outcomes.mean_cost
    table = counted(outcomes)
    shares = getattr(table, OF_ONE_CLASS.get(name, name))
    value = float(shares[table.place(label)] if name in OF_ONE_CLASS else shares)
    if math.isnan(value):
        text = f"{name} is undefined and set to nan: {_EMPTY.get(name, 'every row is rejected')}."
        warnings.warn(text, UndefinedMetricWarning, stacklevel=stacklevel)
    return value


def _value(
    name: str, y_true: Any, y_pred: Any, given: tuple[Any, Any, Any], costs: Any = None, *, row_costs: Any = None
) -> float:
    """Read the arguments of a metric, and return it."""
    label, reject, weight = given
    label = known_positive(y_pred) if name in OF_ONE_CLASS and label is None else label
    if name in OF_ONE_CLASS and label is None:
        warn_if_assumed(name, y_true)
    options = {"row_costs": row_costs, "pos_label": label, "reject_label": reject, "sample_weight": weight}
    outcomes = read(y_true, y_pred, costs, **options)
    if name == "mean_cost" and not has_costs(outcomes.choices):
        stated(costs)
    return measured(name, outcomes, label, stacklevel=4)


def warn_if_assumed(name: str, y_true: ArrayLike) -> None:
    """Warn that only the sort order of strings says which class is positive."""
    classes = classes_of(y_true)
    if len(classes) == 2 and isinstance(classes[0], str):
        warn_caller(
            f"pos_label is not given: {name} is that of {classes[1]!r}, which sorts last; "
            f"pass pos_label={classes[1]!r} or pos_label={classes[0]!r}."
        )
