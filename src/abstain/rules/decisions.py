"""What `decide` returns: one row per sample, with the reasons for the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on n rows.

    Attributes
    ----------
    label : ndarray of shape (n,)
        What `predict` returns: a class, or the reject label.
    rejected : ndarray of bool, shape (n,)
        True where the row was rejected.
    score : ndarray of float64, shape (n,)
        The decision function, oriented to ``classes_[1]``.
    expected_cost : ndarray of float64, shape (n, 3)
        Expected cost of deciding for the negative class, of rejecting, and of deciding for the positive class, in
        this order, by P = 1 / (1 + exp(-f)). The loss makes this P right near the thresholds only, where the decision
        is made; far from them it is no calibrated probability. A `ThresholdRejector` takes the wrapped classifier's own
        probabilities instead. nan if no costs were stated, or if there are no probabilities.
    """

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    score: NDArray[np.float64]
    expected_cost: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self) -> Any:
        """The decisions as a pandas DataFrame, the three expected costs as columns of their own."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas; install it, or read the record's arrays directly.") from error
        columns = {"label": self.label, "rejected": self.rejected, "score": self.score}
        for action, cost in zip(("negative", "reject", "positive"), self.expected_cost.T, strict=True):
            columns[f"cost_{action}"] = cost
        return pd.DataFrame(columns)
