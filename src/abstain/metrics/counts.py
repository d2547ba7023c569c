"""The weighted counts of true classes and actions taken, from which every metric of predictions is a ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import checked_costs
from abstain.costs.costs import Costs
from abstain.costs.table import CostTable
from abstain.frames import DataFrame, frame_of, frozen
from abstain.labels import NO_CLASS, Labels
from abstain.metrics.outcomes import Outcomes, negative_first

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
