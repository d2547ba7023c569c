"""What decisions cost on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.comparison.verdict import REJECTING, deciding, taking
from abstain.metrics.counts import Counts
from abstain.costs.per_row import row_array
from abstain.metrics.outcomes import Choices, Outcomes
from abstain.metrics.reading import read, stated
from abstain.metrics.tables import counted

__all__ = ["Judge", "judge_of"]


@dataclass(frozen=True, eq=False)
class Judge:
    """The true labels of rows, and the costs of decisions on them.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The true labels.
    code : ndarray of shape (n,)
        Their places in `classes`.
    choices : Choices
        What can be decided, and the costs.
    """

    truth: NDArray[Any]
    code: NDArray[np.intp]
    choices: Choices

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes: of two, the negative and the positive one; sorted otherwise."""
        return self.choices.classes

    @property
    def costs(self) -> Any:
        """The costs, as they were stated for these classes."""
        return self.choices.costs

    @property
    def positive(self) -> Any:
        """The positive class, if two are answered or rejected; else None."""
        return self.classes[1] if self.choices.pair else None

    @property
    def row_costs(self) -> NDArray[np.float64] | None:
        """The costs of each row, as a model takes them; None if all rows have the same."""
        return row_array(self.costs) if self.choices.by_row else None

    def outcomes(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> Outcomes:
        """Read the predictions for these rows."""
        given = {"pos_label": self.positive, "reject_label": reject_label, "classes": self.classes}
        own = None if self.row_costs is None else self.row_costs[rows]
        costs = self.choices.costs if own is None or self.choices.own_names else None
        return read(self.truth[rows], predicted, costs, row_costs=own, sample_weight=weight, **given)

    def prices(self, rows: Any, predicted: Any, reject_label: Any) -> NDArray[np.float64]:
        """Return the cost of the prediction for each of these rows."""
        return self.outcomes(rows, predicted, reject_label).cost

    def table(self, rows: Any, predicted: Any, reject_label: Any, weight: Any = None) -> Counts:
        """Count the predictions for these rows by true class."""
        return counted(self.outcomes(rows, predicted, reject_label, weight))

    def blind(self, rows: Any) -> dict[str, NDArray[np.float64]]:
        """Return the costs of these rows if all are treated alike, by the name of the treatment: the reject first."""
        first = self.choices.hands_on & (not self.choices.own_names)
        order = np.argsort(~first, kind="stable").tolist()
        return {self._named(at): self.choices.of_each(self.code, np.full(len(self.code), at))[rows] for at in order}

    def _named(self, action: int) -> str:
        if self.choices.own_names:
            return taking(self.choices.actions[action])
        return REJECTING if self.choices.hands_on[action] else deciding(self.classes[self.choices.answers[action]])


def judge_of(
    y: ArrayLike, costs: Any, row_costs: Any = None, pos_label: Any = None, *, classes: ArrayLike | None = None
) -> Judge:
    """Check labels and costs, and return the judge for them; the classes are `classes`, or those of y."""
    truth = np.asarray(y)
    known = (np.unique(truth) if classes is None else np.asarray(classes)).tolist()
    found = read(y, None, stated(costs, row_costs), row_costs=row_costs, pos_label=pos_label, classes=known)
    if pos_label is not None and len(found.choices.classes) > 2:
        raise ValueError(f"pos_label={pos_label!r} is for two classes; leave it out, and name all in the costs.")
    return Judge(truth, found.truth, found.choices)
