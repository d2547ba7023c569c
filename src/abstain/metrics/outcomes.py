"""What was decided on labelled rows: labels, decisions and costs of every kind, as truths and actions, and counted."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import checked_costs, mean_price, row_weights
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.frames import DataFrame, frame_of, frozen
from abstain.labels import NO_CLASS, Labels, layout, warn_if_assumed
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


# two classes that are not known, answered or rejected
PAIR = Costs.blank(Labels(np.arange(2), 1, -1, rejects=True))


@dataclass(frozen=True, eq=False)
class Counts:
    """Number of rows by true class and action; a ratio with an empty denominator is nan, without a warning."""

    kind: ClassVar[str] = "classes"  # what is chosen from: classes and a reject, or named actions

    counts: NDArray[Any]
    classes: tuple[Any, ...] | None = None
    choices: CostTable = PAIR

    @classmethod
    def _of(cls, outcomes: Outcomes) -> Self:
        return cls(frozen(outcomes.counts), outcomes.classes, outcomes.choices)

    @property
    def sides(self) -> tuple[Any, ...]:
        """The names of the rows."""
        return tuple(str(label) for label in self.classes or ())

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the columns."""
        return self.choices.titles(self.sides)

    @property
    def rates(self) -> dict[str, float]:
        """The rates that say most about the decisions, by name."""
        return {"reject_rate": self.reject_rate}

    @property
    def total(self) -> float:
        """N, the number of rows or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def rejected(self) -> float:
        """Number of rows that were rejected, or whose action hands the case on."""
        return float(self.counts[:, self.choices.rejecting].sum())

    @property
    def accepted(self) -> float:
        """Number of the other rows."""
        return float(self.counts[:, ~self.choices.rejecting].sum())

    @property
    def reject_rate(self) -> float:
        """R = rejected / N."""
        return self.rejected / self.total

    @property
    def coverage(self) -> float:
        """Accepted / N."""
        return self.accepted / self.total

    @property
    def answers(self) -> NDArray[Any]:
        """The counts of answers, (n_classes, n_classes): correct ones on the diagonal."""
        decided = np.flatnonzero(~self.choices.rejecting)
        answers = np.array(self.choices.answers)[decided]
        if (answers == NO_CLASS).any():
            unknown = self.names[decided[int(np.argmin(answers))]]
            raise ValueError(
                f"the action {unknown!r} is not the name of a class, so it is neither right nor wrong, and there "
                "are no errors to count; use mean_cost."
            )
        found = np.zeros((len(self.counts), len(self.counts)), dtype=self.counts.dtype)
        found[:, answers] = self.counts[:, decided]
        return found

    @property
    def errors(self) -> float:
        """Rows that were answered wrongly; a reject is not an error."""
        return float(self.answers[~np.eye(len(self.counts), dtype=bool)].sum())

    @property
    def error_rate(self) -> float:
        """E = errors / N."""
        return self.errors / self.total

    @property
    def selective_error(self) -> float:
        """Errors / accepted."""
        return float(quotients(self.errors, self.accepted))

    @property
    def selective_accuracy(self) -> float:
        """Correct answers / accepted."""
        return float(quotients(np.diag(self.answers).sum(), self.accepted))

    @property
    def class_coverage(self) -> NDArray[np.float64]:
        """Share of the rows of each true class that were not rejected, shape (n_classes,)."""
        return quotients(self.counts[:, ~self.choices.rejecting].sum(axis=1), self.counts.sum(axis=1))

    @property
    def class_selective_error(self) -> NDArray[np.float64]:
        """Errors as a share of the accepted rows of each true class, shape (n_classes,)."""
        accepted = self.answers.sum(axis=1)
        return quotients(accepted - np.diag(self.answers), accepted)

    @property
    def class_sensitivity(self) -> NDArray[np.float64]:
        """Correct answers as a share of the accepted rows of each true class, shape (n_classes,)."""
        return quotients(np.diag(self.answers), self.answers.sum(axis=1))

    @property
    def class_predictivity(self) -> NDArray[np.float64]:
        """Share of the answers of each class that are correct, shape (n_classes,)."""
        return quotients(np.diag(self.answers), self.answers.sum(axis=0))

    @property
    def sensitivity(self) -> float:
        """TP / (TP + FN) of the last class, over accepted rows."""
        return float(self.class_sensitivity[-1])

    @property
    def positive_predictivity(self) -> float:
        """TP / (TP + FP) of the last class, over accepted rows."""
        return float(self.class_predictivity[-1])

    def place(self, label: Any) -> int:
        """Return the place of a class, by default the positive one of two; any other label is an error."""
        known = self.classes or (None, None)
        if len(known) == 2 and label is None:
            return 1
        if label not in known:
            raise ValueError(
                f"pos_label={label!r} is not one of the {len(known)} classes {[*known]}; with more than two, pass the "
                "class that the metric is for."
            )
        return known.index(label)

    def mean_cost(self, costs: Any) -> float:
        """The mean over all rows of the cost of their decision."""
        return self._mean(self._values(checked_costs(costs)))

    def _mean(self, values: NDArray[np.float64]) -> float:
        if values.ndim > 2:
            raise ValueError("each row has its own costs, which counts do not have; use mean_cost of abstain.metrics.")
        return float(np.sum(self.counts / self.total * values))  # shares first: counts may overflow

    def _values(self, costs: CostTable) -> NDArray[np.float64]:
        """Return costs in the order of the counts; an error if they are for other classes or actions."""
        if costs.names != self.choices.names:
            raise ValueError(f"costs={costs!r} are not those of the actions {[*self.names]} of this table.")
        known = [label for label in self.classes or () if label is not None]
        if not known and costs.labels is not None:
            raise ValueError(f"costs={costs!r} name classes, but this table has no classes; make it by RejectTable.of.")
        if len(known) == 1:  # the positive one
            known = [label for label in costs.labels or () if label not in known] + known
        if len(known) > 1:
            labels = Labels(np.array(sorted(known)), known[1] if len(known) == 2 else None, None, rejects=False)
            costs = negative_first(costs.named(labels), labels)
        return costs.values[..., [costs.answers.index(answer) for answer in self.choices.answers]]

    def to_frame(self) -> DataFrame:
        """The counts as a pandas DataFrame: rows true class, columns choice."""
        return frame_of(dict(zip(self.names, self.counts.T, strict=True)), index=list(self.sides))


def quotients(parts: Any, wholes: Any) -> NDArray[np.float64]:
    """Return parts / wholes, nan where the whole is 0."""
    parts, wholes = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)
