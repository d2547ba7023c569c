"""The machine around another classifier: its decision function, or the logarithms of its probabilities."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAIRWISE = (
    'A decision function for pairs of classes has no score for each class: use decision_function_shape="ovr", or a '
    "classifier with one score for each class."
)


@dataclass(frozen=True, eq=False)
class ResponseMachine:
    """A fitted classifier, and the name of its method that returns the score.

    Attributes
    ----------
    classifier : classifier
        Fitted.
    method : {"decision_function", "predict_proba"}
        With "predict_proba" and two classes the score is the log-odds, so that it means the same as the score of
        `RejectSVC`; with more classes, it is the logarithms of the probabilities.
    """

    classifier: Any
    method: str

    @classmethod
    def of(cls, classifier: Any, *, probabilities: bool = False) -> "ResponseMachine":
        """Use the decision function if there is one, unless probabilities are needed."""
        has_score = hasattr(classifier, "decision_function") and not probabilities
        return cls(classifier, "decision_function" if has_score else "predict_proba")

    @property
    def unit(self) -> float:
        """The log-odds of ``classes_[1]`` per unit of score; nan if the score is not related to probabilities."""
        return 1.0 if self.method == "predict_proba" else math.nan

    def score(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Return the score of each row.

        With two classes it is oriented to the class that sorts last, and the classifier's own threshold is 0. With more
        classes there is one score for each class, sorted, and the classifier answers the class with the highest.
        """
        n_classes = len(getattr(self.classifier, "classes_", ()))
        several = n_classes if n_classes > 2 else None
        if several and self.method == "decision_function" and _is_pairwise(self.classifier):
            raise ValueError(PAIRWISE)
        values = np.asarray(getattr(self.classifier, self.method)(X), dtype=np.float64)
        if self.method == "predict_proba":
            # finite where a probability is 0
            values = np.log(np.maximum(values, np.finfo(np.float64).tiny)) if several else log_odds(values)
        shape = (*values.shape[:1], several) if several else values.shape[:1] or (0,)
        if values.shape == shape and np.isfinite(values).all():
            # for two classes the probabilities became the log-odds of the second class
            return sorted_scores(self.classifier, values)
        what = f"has shape {values.shape}"
        if values.shape == shape:
            what = "contains nan" if np.isnan(values).any() else "contains infinity; scale X like the training rows"
        wanted = f"{several} numbers per row, one for each class" if several else "one number per row for two classes"
        raise ValueError(
            f"{type(self.classifier).__name__}.{self.method} must return {wanted}; its result {what}."
            + (f" {PAIRWISE}" if several and values.shape != shape and self.method == "decision_function" else "")
        )


def sorted_scores(classifier: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores in the order of the sorted classes: scikit-learn sorts `classes_`, and other classifiers may not.

    A single score per row is in favour of the second of two classes; it is negated if that class sorts first.
    """
    classes = np.asarray(getattr(classifier, "classes_", ()))
    order = np.argsort(classes, kind="stable")
    if (order == np.arange(len(order))).all():
        return values
    return values[:, order] if values.ndim > 1 else 0.0 - values


def _is_pairwise(classifier: Any) -> bool:
    """Whether the decision function is for pairs of classes, as in `SVC`; three classes have three pairs."""
    found = getattr(classifier, "best_estimator_", classifier)
    parameters = found.get_params() if hasattr(found, "get_params") else {}
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in parameters.items())


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
