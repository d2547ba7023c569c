"""What decisions cost on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.comparison.verdict import REJECTING
from abstain.costs.table import CostTable
from abstain.metrics.outcomes import Outcomes, read, stated
from abstain.pairs import UNDECIDED


@dataclass(frozen=True, eq=False)
class Judge:
    """The true labels of rows, and the costs of decisions on them.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The true labels.
    code : ndarray of shape (n,)
        Their places in `classes`.
    classes : tuple
        The negative and the positive class where two are answered or rejected; otherwise all, sorted.
    costs : CostTable
        The costs, of all rows or of each, with a row for each of `classes`.
    """

    truth: NDArray[Any]
    code: NDArray[np.intp]
    classes: tuple[Any, ...]
    costs: CostTable

    @property
    def positive(self) -> Any:
        """The positive class, if two are answered or rejected; else None."""
        return self.classes[1] if self.costs.pair else None

    @property
    def row_costs(self) -> NDArray[np.float64] | None:
        """The costs of each row, as a model takes them; None if all rows have the same."""
        return self.costs.as_rows() if self.costs.per_row else None

    def outcomes(self, predicted: Any, reject_label: Any, rows: Any = slice(None), weight: Any = None) -> Outcomes:
        """Read the predictions for these rows."""
        given = {"pos_label": self.positive, "reject_label": reject_label, "classes": self.classes}
        return read(self.truth[rows], predicted, self.costs.take(rows), sample_weight=weight, **given)

    def blind(self, rows: Any = slice(None)) -> dict[str, NDArray[np.float64]]:
        """Return the costs of these rows if all are treated alike, by the name of the treatment: a reject first."""
        costs, code, verb = self.costs.take(rows), self.code[rows], self.costs.verb
        names = [
            REJECTING if name is None else f"{verb} {str(name)[:60]!r} for every row"
            for name in costs.titles(self.classes, None)
        ]
        order = sorted(range(len(names)), key=lambda action: names[action] != REJECTING)
        return {names[action]: costs.of(code, np.full(len(code), action)) for action in order}


def judge_of(
    y: ArrayLike, costs: Any, row_costs: Any = None, pos_label: Any = None, *, classes: ArrayLike | None = None
) -> Judge:
    """Check labels and costs, and return the judge for them; the classes are `classes`, or those of y."""
    truth = np.asarray(y)
    known = (np.unique(truth) if classes is None else np.asarray(classes)).tolist()
    if isinstance(costs, CostTable) and costs.labels is not None:
        costs.check_names(tuple(known))
    found = read(y, UNDECIDED, stated(costs, row_costs), row_costs=row_costs, pos_label=pos_label, classes=known)
    if pos_label is not None and len(found.classes) > 2:
        raise ValueError(f"pos_label={pos_label!r} is for two classes; leave it out, and name all in the costs.")
    return Judge(truth, found.truth, found.classes, found.choices)
