"""RejectTable: the 2 x 3 weighted counts from which every metric of predictions is computed (docs/theory.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.costs.costs import Costs, checked_costs, costs_of_classes
from abstain.labels import read_pair
from abstain.metrics.counts import AnswerCounts, quotients, refuse_action_decisions
from abstain.metrics.frames import frame_of, frozen

__all__ = ["RejectTable"]


@dataclass(frozen=True, eq=False)
class RejectTable(AnswerCounts):
    r"""Number of rows by true class and choice; all metrics of predictions are ratios of its entries.

    ::

        class \ choice    negative    reject      positive
        negative          TN          Rej_neg     FP
        positive          FN          Rej_pos     TP

    The layout is that of ``Costs.table()``. A ratio with an empty denominator is nan here, without a warning; the
    functions of `abstain.metrics` return the same numbers and warn.

    Attributes
    ----------
    counts : ndarray of shape (2, 3)
        The entries, read-only: integers, or floats with sample weights.
    classes : (label, label) or None, default=None
        The negative and the positive class; None if they are not known. Costs by class name need them.

    Examples
    --------
    >>> from abstain.metrics import RejectTable
    >>> table = RejectTable.of(["a", "a", "b", "b"], ["a", "reject", "b", "a"])
    >>> table.counts
    array([[1, 1, 0],
           [1, 0, 1]])
    >>> table.coverage, table.error_rate
    (0.75, 0.25)
    """

    counts: NDArray[Any]
    classes: tuple[Any, Any] | None = None

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Any = None,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count predictions by true class; the arguments are those of every metric of predictions."""
        refuse_action_decisions(y_pred)
        sign, choice, classes = read_pair(y_true, y_pred, pos_label, reject_label)
        weight = row_weights(sample_weight, len(sign))
        cell = 3 * (sign > 0).astype(np.intp) + choice + 1
        return cls(frozen(np.bincount(cell, weights=weight, minlength=6).reshape(2, 3)), classes)

    @property
    def reject_column(self) -> int:
        """The column of the reject, the middle one."""
        return 1

    @property
    def sensitivity(self) -> float:
        """TP / (TP + FN), over accepted rows."""
        return float(quotients(self.counts[1, 2], self.counts[1, 0] + self.counts[1, 2]))

    @property
    def positive_predictivity(self) -> float:
        """TP / (TP + FP), over accepted rows."""
        return float(quotients(self.counts[1, 2], self.counts[0, 2] + self.counts[1, 2]))

    def mean_cost(self, costs: Costs) -> float:
        """(c_fn FN + c_fp FP + r_pos Rej_pos + r_neg Rej_neg) / N."""
        if checked_costs(costs).labels is not None:
            if self.classes is None:
                raise ValueError(
                    f"costs={costs!r} name classes, but this table has no classes; make it by RejectTable.of."
                )
            known = [label for label in self.classes if label is not None]
            costs, _ = costs_of_classes(costs, np.array(known), self.classes[1])
        # shares first: counts times costs may overflow although their mean does not
        return float(np.sum(self.counts / self.total * costs.table()))

    def to_frame(self) -> Any:
        """The counts as a pandas DataFrame: rows true class, columns choice."""
        choices = ("negative", "reject", "positive")
        return frame_of(dict(zip(choices, self.counts.T, strict=True)), index=("negative", "positive"))

