"""What a fitted ThresholdRejector gives besides the decisions of all rejectors: probabilities and sets of classes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from abstain.arguments import computed, is_dask
from abstain.estimators.fitting.decide import Fitted, RejectMixin, fitted
from abstain.estimators.fitting.lazy import applied, lazy_rows
from abstain.estimators.wrapping import AroundClassifier, classifier_has
from abstain.machines.class_calibration import in_favour
from abstain.machines.cross_machine import CrossMachine
from abstain.machines.response_machine import ResponseMachine, sorted_scores
from abstain.rules.tuning.class_error import ClassErrorBound

__all__ = ["TunedDecisions"]


class TunedDecisions(RejectMixin, AroundClassifier):
    """Decisions of an estimator around a classifier whose `fit` sets `_fitted_`, a `Tuned`."""

    _uses_metadata: ClassVar[bool] = True

    def _probability(self, fitted: Fitted, X: Any, score: NDArray[np.float64]) -> NDArray[np.float64] | None:
        machine: ResponseMachine = fitted.machine
        if machine.method == "predict_proba":
            return None  # the rule computes it from the logarithms
        if fitted.rule.costs is None or not hasattr(machine.classifier, "predict_proba"):
            return np.full((len(score), len(fitted.rule.labels.classes)), np.nan)
        return np.asarray(computed(_probabilities(machine.classifier, X)), dtype=np.float64)

    def predict_set(self, X: Any, include: float | None = None, row_costs: Any = None) -> NDArray[np.bool_]:
        """The classes that are not ruled out for each row: the answer alone for an accepted row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        include : float or None, default=None
            None: a rejected row has both of two classes; of several, all that are behind the first by at most the cut
            on the lead, for a cut on the probability the likeliest that exceed it together, and for costs with "chow"
            those that cost less to reject than to miss. For `class_error` the conformal set, which can be empty. A
            number: the answer, and every class that is at least so likely; only if the score is made of probabilities.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
        """
        now = self._now
        bound = now.error_bound
        if include is not None or not isinstance(bound, ClassErrorBound):
            return super().predict_set(X, include, row_costs)
        if isinstance(now.machine, CrossMachine):
            return np.asarray(now.machine.p_values(computed(X)) >= now.machine.least)
        cuts = np.array([*bound.cuts.values()])
        return applied(lambda score: in_favour(score) >= cuts, self._score(now, X))

    @available_if(classifier_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the classifier, in the order of `classes_`."""
        return _probabilities(self._now.machine.classifier, X)

    @available_if(classifier_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`, by the classifier."""
        return _probabilities(self._now.machine.classifier, X, "predict_log_proba")

    method_ = fitted("method", 'The method that placed the thresholds; not "auto".')
    estimator_ = fitted("machine.classifier", "The fitted classifier, with a sigmoid if one was needed.")
    response_method_ = fitted("machine.method", 'The source of the score: "decision_function" or "predict_proba".')
    certificate_ = fitted("error_bound", "For `max_error` and `class_error`: the bound, and what it rests on.")


def _probabilities(classifier: Any, X: Any, method: str = "predict_proba") -> Any:
    """Give the probabilities of the rows, by chunks if X is a dask array."""
    if not is_dask(X):
        return sorted_scores(classifier, np.asarray(getattr(classifier, method)(X)))
    return lazy_rows(partial(_chunk_probabilities, method), classifier, X, (len(classifier.classes_),))


def _chunk_probabilities(method: str, classifier: Any, chunk: Any) -> NDArray[np.float64]:
    return sorted_scores(classifier, np.asarray(getattr(classifier, method)(chunk)))
