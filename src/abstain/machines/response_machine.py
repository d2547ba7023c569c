"""The machine around another classifier: its decision function, or its probability of ``classes_[1]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResponseMachine"]


@dataclass(frozen=True, eq=False)
class ResponseMachine:
    """A fitted classifier, and the name of its method that gives the score.

    Attributes
    ----------
    classifier : classifier
        Fitted, for two classes.
    method : {"decision_function", "predict_proba"}
    """

    classifier: Any
    method: str

    @classmethod
    def of(cls, classifier: Any, *, probabilities: bool = False) -> ResponseMachine:
        """Use the decision function if there is one, unless probabilities are needed."""
        has_score = hasattr(classifier, "decision_function") and not probabilities
        return cls(classifier, "decision_function" if has_score else "predict_proba")

    @property
    def cut(self) -> float:
        """Where the classifier itself cuts the score."""
        return 0.0 if self.method == "decision_function" else 0.5

    def score(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Give the score of each row, oriented to ``classes_[1]``."""
        values = np.asarray(getattr(self.classifier, self.method)(X), dtype=np.float64)
        if self.method == "predict_proba":
            values = values[:, 1]
        if values.ndim != 1 or np.isnan(values).any():
            what = "contains nan" if values.ndim == 1 else f"has shape {values.shape}"
            raise ValueError(
                f"{type(self.classifier).__name__}.{self.method} must return one number per row for two classes; "
                f"its result {what}."
            )
        return values
