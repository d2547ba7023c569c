"""The one reader of labels, predictions and costs of every kind: nothing else here or in `comparison` asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.class_labels import ClassLabels, has_several_classes, read_classes
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs, assigned_costs, checked_costs, costs_for_classes, costs_of_classes
from abstain.costs.row_costs import RowCosts
from abstain.labels import Labels, free_label, known_positive, read_pair
from abstain.metrics.outcomes import Choices, Outcomes
from abstain.rules.action_rule import ActionDecisions

__all__ = ["are_decisions", "checked_actions", "choices_of", "mean_costs", "never_rejecting", "read", "stated"]
__all__ += ["values_for"]


def read(
    y_true: ArrayLike,
    y_pred: Any,
    costs: Any = None,
    *,
    row_costs: Any = None,
    pos_label: Any = None,
    reject_label: Any = "auto",
    sample_weight: Any = None,
    classes: Any = None,
    several: bool | None = None,
) -> Outcomes:
    """Read labelled rows and what was decided on them, at any costs or none.

    `y_pred` are labels, names of actions, or what `decide` returns; None if only the true classes and the costs matter.
    `classes` are all classes, where `y_true` may lack some. `several` says whether the table is that of two classes
    around a reject, or that of sorted classes with the reject last; None finds out.
    """
    if isinstance(y_pred, ActionDecisions) and costs is None:
        costs = y_pred.actions
    known, positive = y_true if classes is None else classes, pos_label
    truth: NDArray[Any]
    taken: NDArray[Any]
    if isinstance(costs, Actions):
        sign, taken = costs.encode(y_true, _any(costs, y_true) if y_pred is None else y_pred)
        truth, choices = sign > 0, choices_of(costs)
    else:
        positive = known_positive(y_pred) if pos_label is None else pos_label
        several = _has_several(y_true, y_pred, costs, classes) if several is None else several
        if y_pred is None:
            y_pred, reject_label = y_true, free_label(np.asarray(y_true))
        elif isinstance(y_pred, ActionDecisions) or (several and known_positive(y_pred) is not None):
            y_pred = y_pred.label  # between actions that may be classes, or on two of the classes
        own = None if row_costs is not None else costs
        if several:
            named = costs.labels if classes is None and isinstance(costs, ClassCosts) else classes
            code, answer, found = read_classes(y_true, y_pred, reject_label, None if named is None else tuple(named))
            choices = Choices.of_classes(tuple(found.tolist()))
            choices = choices if own is None else choices_of(_for_classes(own, found))
            truth, taken = code - 1, np.where(answer == 0, len(found), answer - 1)
        else:
            assigned, positive = (None, positive) if own is None else assigned_costs(own, known, positive)
            sign, choice, pair = read_pair(y_true, y_pred, positive, reject_label)
            if pair[0] is None and classes is not None:  # no row has the negative class
                pair = next((label for label in classes if label != pair[1]), None), pair[1]
            choices = replace(Choices.of_pair() if own is None else choices_of(assigned), classes=pair)
            truth, taken = sign > 0, choice + 1
    n = len(truth)
    if row_costs is not None:
        choices = _with_rows(choices, row_costs, n, (known, positive))
    return Outcomes(truth.astype(np.intp), taken.astype(np.intp), choices, row_weights(sample_weight, n))


def choices_of(costs: Any) -> Choices:
    """Return the table of any costs."""
    if isinstance(costs, Choices):
        return costs
    if isinstance(costs, Actions):
        answers = [costs.labels.index(name) if name in costs.labels else -1 for name in costs.names]
        actions = costs.names, np.array(answers), costs.rejecting
        return Choices(costs.labels, *actions, values=costs.table(), costs=costs, own_names=True)
    if isinstance(costs, ClassCosts):
        return Choices.of_classes(costs.labels, values=costs.table(), costs=costs)
    if isinstance(costs, RowCosts):
        values = np.zeros((len(costs), 2, 3))
        values[:, *_ROW_COSTS] = costs.table()
        return Choices.of_pair(values=values, costs=costs)
    return Choices.of_pair(values=checked_costs(costs).table(), costs=costs)


def values_for(choices: Choices, costs: Any) -> NDArray[np.float64]:
    """Return the costs of known choices, (n_classes, n_actions); an error if the costs are for others."""
    if isinstance(costs, Actions) or choices.own_names:
        if not (isinstance(costs, Actions) and (costs.names, costs.labels) == (choices.actions, choices.classes)):
            raise ValueError(f"costs={costs!r} are not those of the actions {[*choices.actions]} of this table.")
        return costs.table()
    if not choices.pair:
        return _for_classes(costs, np.array(choices.classes)).table()
    if checked_costs(costs).labels is not None:
        known = [label for label in choices.classes if label is not None]
        if not known:
            raise ValueError(f"costs={costs!r} name classes, but this table has no classes; make it by RejectTable.of.")
        costs, _ = costs_of_classes(costs, np.array(known), choices.classes[1])
    return np.asarray(costs.table())


def stated(costs: Any, row_costs: Any = None) -> Any:
    """Return the costs; an error that shows how to state them if there are none."""
    return checked_costs(costs) if costs is None and row_costs is None else costs


def checked_actions(actions: Any) -> Actions:
    """Return the actions; an error for anything else."""
    if not isinstance(actions, Actions):
        raise ValueError(  # noqa: TRY004 (as for every bad argument)
            f"actions={actions!r} must be an Actions, not a {type(actions).__name__}; for Costs use "
            "reject_confusion_matrix."
        )
    return actions


def mean_costs(costs: Any) -> Costs:
    """Return the mean of each cost over the rows; rejects that could never pay cost the most that can."""
    if not isinstance(costs, RowCosts):
        raise ValueError("models=None has no rules for this table of costs per row; pass the models.")  # noqa: TRY004
    return RowCosts(*costs.table().mean(axis=0)[:, np.newaxis]).of_row(0)


def never_rejecting(costs: Any) -> Any:
    """Return the same error costs with the largest reject costs that can pay, at which nothing is rejected."""
    if isinstance(costs, ClassCosts):
        return replace(costs, reject=tuple((costs.largest_scale * costs.reject_costs).tolist()))
    even = 1.0 / (1.0 / costs.false_positive + 1.0 / costs.false_negative)  # where the two thresholds meet
    return Costs(costs.false_positive, costs.false_negative, even)


def are_decisions(score: Any) -> bool:
    """Whether these are what `decide` returns, and not scores."""
    return isinstance(getattr(score, "labels", None), Labels | ClassLabels)


# The places of false positive, false negative, and the rejects of both classes in the table of two classes.
_ROW_COSTS = [0, 1, 0, 1], [2, 0, 1, 1]


def _any(actions: Actions, y_true: Any) -> NDArray[Any]:
    return np.full(len(np.asarray(y_true)), actions.names[0])


def _for_classes(costs: Any, classes: NDArray[Any]) -> ClassCosts:
    return costs_for_classes(costs if isinstance(costs, ClassCosts) else checked_costs(costs), classes)


def _has_several(y_true: Any, y_pred: Any, costs: Any, classes: Any) -> bool:
    """Whether more than two classes are meant."""
    if isinstance(costs, ClassCosts) or isinstance(getattr(y_pred, "labels", None), ClassLabels):
        return True
    return has_several_classes(y_true) if classes is None else len(classes) > 2


def _with_rows(choices: Choices, row_costs: Any, n: int, assumed: tuple[Any, Any]) -> Choices:
    """Return the choices with the costs of each row: (n, 3) or (n, 4) of two classes, or in the layout of the table."""
    whole = np.ndim(row_costs) == 3
    if choices.pair and not whole:
        own = RowCosts.of(row_costs, n)
        own.warn_if_assumed(*assumed)
        return replace(choices_of(own), classes=choices.classes)
    wanted, found = (n, len(choices.classes), len(choices.actions)), np.shape(row_costs)
    if found != wanted:
        raise ValueError(
            f"row_costs must have the shape {wanted}, a cost for each row, each of the classes {[*choices.classes]} "
            f"and each of the actions {[*choices.actions]}; its shape is {found}."
        )
    values = np.asarray(row_costs, dtype=np.float64)
    if bad := np.argwhere(~(np.isfinite(values) & (values >= 0.0))).tolist():
        raise ValueError(f"row_costs must be finite and >= 0, got {values[tuple(bad[0])]:g} at row {bad[0][0]}.")
    if not choices.pair:
        return replace(choices, values=values)
    if values[:, [0, 1], [0, 2]].any():
        raise ValueError("row_costs must be 0 where a decision is correct; subtract that cost from those of the class.")
    return _with_rows(choices, values[:, *_ROW_COSTS], n, assumed)
