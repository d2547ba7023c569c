"""Labels, decisions and costs of every kind, read into outcomes: truths, actions taken, and a table of costs."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from abstain.arguments import checked_costs, row_weights
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.labels import Labels, layout, warn_if_assumed
from abstain.metrics.outcomes import Outcomes
from abstain.pairs import read_pairs

__all__ = ["are_decisions", "known_positive", "negative_first", "read", "stated"]


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
) -> Outcomes:
    """Read labelled rows and what was decided on them, at any costs or none.

    `y_pred` are labels, names of actions, or what `decide` returns; None if only the true classes and the costs matter.
    `classes` are all classes, where `y_true` may lack some.
    """
    own = y_pred.costs if are_decisions(y_pred) and y_pred.names is not None else None
    costs = own if costs is None else costs
    table = None if costs is None else checked_costs(costs)
    names, known = (None, None) if table is None else (table.names, table.labels)
    known = tuple(classes) if known is None and classes is not None else known
    if names is None and own is not None:
        y_pred = y_pred.label  # between actions that may be classes
    pairs = read_pairs(y_true, y_pred, pos_label, reject_label, known=known, names=names)
    labels, truth = pairs.labels, pairs.truth
    if table is not None:
        if row_costs is None and known_positive(y_pred) is None and labels.n_classes == 2:
            warn_if_assumed(table, y_true, pos_label)
        table = table.named(labels)
    if row_costs is not None:
        table = row_table(row_costs, labels, table, len(truth))
        if labels.n_classes == 2:
            warn_if_assumed(table, y_true, pos_label)
    table = Costs.blank(labels) if table is None else table
    order = labels.classes.tolist()
    if table.names is None and labels.orientation < 0:
        truth, order = 1 - truth, order[::-1]
    shown = tuple(None if pairs.stand_in is not None and label == pairs.stand_in else label for label in order)
    return Outcomes(truth, pairs.choice, shown, negative_first(table), row_weights(sample_weight, len(truth)))


def negative_first(table: CostTable) -> CostTable:
    """Return the costs with the rows of tables of counts: if one of two classes is positive, it is the last."""
    turned = table.names is None and table.answers == layout(2, positive=0)
    return table.with_values(table.values[..., ::-1, :], layout(2)) if turned else table


def stated(costs: Any, row_costs: Any = None) -> Any:
    """Return the costs; an error that shows how to state them if there are none."""
    return checked_costs(costs) if costs is None and row_costs is None else costs


def known_positive(y_pred: Any) -> Any:
    """Return the positive class of the `Decisions` of an estimator; None for an array of labels."""
    return y_pred.labels.positive if are_decisions(y_pred) else None


def are_decisions(score: Any) -> bool:
    """Return whether these are what `decide` returns, and not scores."""
    return isinstance(getattr(score, "labels", None), Labels)
