"""The machine around another classifier: its decision function, or the log-odds of its probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResponseMachine", "log_odds"]


@dataclass(frozen=True, eq=False)
class ResponseMachine:
    """A fitted classifier, and the name of its method that gives the score.

    Attributes
    ----------
    classifier : classifier
        Fitted, for two classes.
    method : {"decision_function", "predict_proba"}
        Of probabilities, the score is the log-odds, so that it has the same meaning as that of `RejectSVC`.
    """

    classifier: Any
    method: str

    @classmethod
    def of(cls, classifier: Any, *, probabilities: bool = False) -> ResponseMachine:
        """Use the decision function if there is one, unless probabilities are needed."""
        has_score = hasattr(classifier, "decision_function") and not probabilities
        return cls(classifier, "decision_function" if has_score else "predict_proba")

    @property
    def unit(self) -> float:
        """The log-odds of ``classes_[1]`` per unit of score; nan if the score is not related to probabilities."""
        return 1.0 if self.method == "predict_proba" else math.nan

    def score(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Give the score of each row, oriented to ``classes_[1]``; the classifier itself cuts it at 0."""
        values = np.asarray(getattr(self.classifier, self.method)(X), dtype=np.float64)
        if self.method == "predict_proba":
            values = log_odds(values)
        if values.ndim != 1 or np.isnan(values).any():
            what = "contains nan" if values.ndim == 1 else f"has shape {values.shape}"
            raise ValueError(
                f"{type(self.classifier).__name__}.{self.method} must return one number per row for two classes; "
                f"its result {what}."
            )
        return values


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute log(p_1 / p_0) from the probabilities of two classes, shape (n, 2); finite where one of them is 0.

    Exchanging the classes negates it to the last digit. Any other shape is returned unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.machines.response_machine import log_odds
    >>> log_odds(np.array([[0.8, 0.2], [0.5, 0.5], [0.0, 1.0]])).round(2)
    array([ -1.39,   0.  , 708.4 ])
    """
    if probability.ndim != 2 or probability.shape[1] != 2:
        return probability
    p = np.maximum(probability, np.finfo(np.float64).tiny)
    odds = np.log(p.max(axis=1) / p.min(axis=1))
    return np.where(p[:, 1] > p[:, 0], odds, 0.0 - odds)
