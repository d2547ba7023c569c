"""What was decided on labelled rows: labels, decisions and costs of every kind, read into truths and actions taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import checked_costs, mean_price, row_weights
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.labels import Labels, layout, warn_if_assumed
from abstain.pairs import read_pairs


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Decisions on labelled rows.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The place of the true class in `classes`.
    taken : ndarray of shape (n,)
        The place of the action among those of `choices`.
    classes : tuple
        The negative and the positive class where two are answered or rejected; otherwise all, sorted. None for one that
        is not known.
    choices : CostTable
        The actions and their costs, rows in the order of `classes`; the costs are nan if none are stated.
    weight : ndarray of shape (n,) or None
        A weight of k is the same as the row given k times.
    """

    truth: NDArray[np.intp]
    taken: NDArray[np.intp]
    classes: tuple[Any, ...]
    choices: CostTable
    weight: NDArray[np.float64] | None = None

    @property
    def counts(self) -> NDArray[Any]:
        """Rows by true class and action: integers, or sums of weights."""
        shape = self.choices.n_classes, self.choices.n_actions
        cell = shape[1] * self.truth + self.taken
        return np.bincount(cell, weights=self.weight, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def cost(self) -> NDArray[np.float64]:
        """The cost of each row."""
        return self.choices.of(self.truth, self.taken)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a row."""
        return mean_price(self.cost, self.weight)


def has_costs(table: CostTable) -> bool:
    """Return whether costs are stated, and not only actions."""
    return not np.isnan(table.values[..., 0, 0]).any()


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

    `y_pred` are labels, names of actions, or what `decide` returns; `UNDECIDED` if only true classes and costs matter.
    `classes` are all classes, where `y_true` may lack some.
    """
    if are_decisions(y_pred) and y_pred.names:  # between actions, which may be classes
        costs, y_pred = y_pred.costs if costs is None else costs, y_pred.label
    given = None if costs is None else checked_costs(costs)
    names, known = (None, None) if given is None else (given.names, given.labels)
    known = tuple(classes) if known is None and classes is not None else known
    pairs = read_pairs(y_true, y_pred, pos_label, reject_label, known=known, names=names)
    labels, truth = pairs.labels, pairs.truth
    if given is not None and row_costs is None and known_positive(y_pred) is None:
        warn_if_assumed(given, y_true, pos_label)
    table = Costs.blank(labels) if given is None else given.named(labels)
    if row_costs is not None:
        table = row_table(row_costs, labels, table, len(truth))
        warn_if_assumed(table, y_true, pos_label)
    order = [None if label == pairs.stand_in else label for label in labels.classes.tolist()]
    if labels.orientation < 0:
        truth, order = 1 - truth, order[::-1]
    weight = row_weights(sample_weight, len(truth))
    return Outcomes(truth, pairs.choice, tuple(order), negative_first(table, labels), weight)


def negative_first(table: CostTable, labels: Labels) -> CostTable:
    """Return the costs with the rows of tables of counts: if one of two classes is positive, it is the last."""
    return table if labels.orientation > 0 else table.with_values(table.values[..., ::-1, :], layout(2))


def stated(costs: Any, row_costs: Any = None) -> Any:
    """Return the costs; an error that shows how to state them if there are none."""
    return checked_costs(costs) if costs is None and row_costs is None else costs


def known_positive(y_pred: Any) -> Any:
    """Return the positive class of the `Decisions` of an estimator; None for an array of labels."""
    return y_pred.labels.positive if are_decisions(y_pred) else None


def are_decisions(score: Any) -> bool:
    """Return whether these are what `decide` returns, and not scores."""
    return isinstance(getattr(score, "labels", None), Labels)
