"""Labels, decisions and costs of every kind, read into outcomes: truths, actions taken, and a table of costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.costs.actions import Actions
from abstain.costs.naming import checked_costs, warn_if_assumed
from abstain.costs.per_row import row_table
from abstain.labels import Labels, choice_of, layout
from abstain.metrics.outcomes import Choices, Outcomes
from abstain.pairs import read_pairs
from abstain.reject_labels import free_label

__all__ = ["are_decisions", "checked_actions", "known_positive", "read", "stated", "values_for"]


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
    own = getattr(y_pred, "costs", None) if are_decisions(y_pred) else None
    costs = own if costs is None and own is not None and own.names is not None else costs
    stated_costs = None if costs is None else checked_costs(costs)
    names = None if stated_costs is None else stated_costs.names
    known = None if stated_costs is None else stated_costs.labels
    known = tuple(classes) if known is None and classes is not None else known
    if y_pred is None:
        y_pred, reject_label = _any(y_true, names)
    elif names is None and getattr(own, "names", None) is not None:
        y_pred = y_pred.label  # between actions that may be classes
    pairs = read_pairs(y_true, y_pred, pos_label, reject_label, known=known, names=names)
    labels, answers = pairs.labels, None
    if several is False and labels.n_classes > 2:
        raise ValueError(f"y_true has {labels.n_classes} classes, {labels.classes.tolist()}; this table is of two.")
    if several and labels.n_classes == 2:
        answers = layout(3)[:2] + (-1,)
    table = None
    if stated_costs is not None:
        if row_costs is None and pos_label is None and known_positive(y_pred) is None and labels.n_classes == 2:
            warn_if_assumed(stated_costs, labels.classes, pos_label)
        table = stated_costs.named(labels)
    if row_costs is not None:
        table = row_table(row_costs, labels, table, len(pairs.truth))
        if labels.n_classes == 2:
            warn_if_assumed(table, labels.classes, pos_label)
    choices = Choices.of(labels, table, answers, missing=pairs.stand_in)
    taken = pairs.choice if answers is None else choice_of(np.array(labels.answers)[pairs.choice], answers)
    return Outcomes(choices.row_of(pairs.truth), taken, choices, row_weights(sample_weight, len(pairs.truth)))


def _any(y_true: Any, names: tuple[Any, ...] | None) -> tuple[Any, Any]:
    """Decisions that could be, and a label that none of them has."""
    if names is None:
        return y_true, free_label(np.asarray(y_true))
    return np.full(len(np.asarray(y_true)), names[0]), "auto"


def values_for(choices: Choices, costs: Any) -> NDArray[np.float64]:
    """Return the costs of known choices, (n_classes, n_actions); an error if the costs are for others."""
    table = checked_costs(costs)
    if table.names is not None or choices.own_names:
        if (table.names, table.labels) != (choices.actions, choices.classes):
            raise ValueError(f"costs={costs!r} are not those of the actions {[*choices.actions]} of this table.")
        return table.values
    known = [label for label in choices.classes if label is not None]
    if len(known) < 2:
        if table.labels is not None and not known:
            raise ValueError(f"costs={costs!r} name classes, but this table has no classes; make it by RejectTable.of.")
        return table.values if table.labels is None else table.with_positive(choices.classes[1]).values  # type: ignore[attr-defined, no-any-return]
    positive = choices.classes[1] if len(known) == 2 else None
    labels = Labels.named(np.array(known), pos_label=positive, reject_label=free_label(np.array(known)), rejects=True)
    return Choices.of(labels, table.named(labels), tuple(choices.answers.tolist())).values  # type: ignore[return-value]


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


def known_positive(y_pred: Any) -> Any:
    """Return the positive class of the `Decisions` of an estimator; None for an array of labels."""
    labels = getattr(y_pred, "labels", None)
    return labels.positive if isinstance(labels, Labels) else None


def are_decisions(score: Any) -> bool:
    """Return whether these are what `decide` returns, and not scores."""
    return isinstance(getattr(score, "labels", None), Labels)
