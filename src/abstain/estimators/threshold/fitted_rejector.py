"""A fitted ThresholdRejector: from a checked request, labels and scored rows to the rule, and what it returns."""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import computed, is_dask, row_weights
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import Model
from abstain.estimators.fitting.decide import Fitted, RejectMixin
from abstain.estimators.fitting.lazy import applied, lazy_rows
from abstain.estimators.fitting.training import fit_labels
from abstain.estimators.wrapping import AroundClassifier, has_probabilities, where_classifier_has
from abstain.labels import Labels
from abstain.machines.cross_machine import CrossMachine, in_favour
from abstain.machines.response_machine import ResponseMachine, sorted_scores
from abstain.rules.readouts import readout_of
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound
from abstain.rules.tuning.request import Request, p_value_rule, placed_rule
from abstain.rules.tuning.risk_control import ErrorBound
from abstain.rules.tuning.scored_rows import ScoredRows

Around = ResponseMachine | CrossMachine  # one classifier, or one for each fold
NOT_HELD_OUT = (
    "the classifier that decides was fitted on their rows, also where folds gave the scores. Pass X and y that it was "
    "not fitted on, or fit again with {}."
)


@dataclass(frozen=True, eq=False)
class Tuned(Fitted):
    """A fitted `ThresholdRejector`.

    Attributes
    ----------
    rows : ScoredRows or None
        The scores that the thresholds were tuned on, for `retune`; None if nothing was tuned.
    error_bound : ErrorBound, ClassErrorBound or None
        The guarantee of `max_error` or `class_error`.
    method : str
        The name of the method that placed the thresholds.
    held_out : bool
        Whether the classifier that decides was not fitted on the rows.
    """

    rows: ScoredRows | None
    error_bound: ErrorBound | ClassErrorBound | None
    method: str
    held_out: bool = False


def labels_for(parameters: Any, request: Request, y: Any) -> Labels:
    """Return the labels of a request."""
    return fit_labels(parameters, y, request.costs, rejects=request.way is not None)


def tuned(
    machine: Around, request: Request, labels: Labels, rows: ScoredRows | None, *, held_out: bool = False
) -> Tuned:
    """Place the cuts that a request for these classes asks for; a promise needs rows that are held out."""
    flaw = "" if rows is None else rows.flaw
    if request.promise is not None and (not held_out or (flaw and request.promise == "max_error")):
        why = flaw or NOT_HELD_OUT.format(request.promise)
        raise ValueError(f"{request.promise} cannot be promised on these scores: {why}")
    if not isinstance(machine, CrossMachine):
        rule, placed = placed_rule(request, labels, rows, readout_of(machine, labels.n_classes))
        return Tuned(machine, rule, rows, placed, request.name, held_out)
    if request.way != "class_error":
        raise ValueError('conformal="cross" gives p-values, on which only class_error can be stated; fit again.')
    bound = class_error_bound(request.share, machine.calibration)
    machine = replace(machine, least=tuple(bound.cuts.values()))
    return Tuned(machine, p_value_rule(labels, machine.least), None, bound, request.name, held_out)


class TunedDecisions(RejectMixin, AroundClassifier):
    """Decisions of an estimator around a classifier whose `fit` sets `_fitted_`, a `Tuned`."""

    _uses_metadata: ClassVar[bool] = True
    confidence: float
    pos_label: Any

    def _probability(self, fitted: Fitted, X: Any, score: NDArray[np.float64]) -> NDArray[np.float64] | None:
        machine: ResponseMachine = fitted.machine
        if machine.method == "predict_proba":
            return None  # the rule computes it from the logarithms
        if fitted.rule.costs is None or not has_probabilities(machine.classifier):
            return np.full((len(score), len(fitted.rule.labels.classes)), np.nan)
        return np.asarray(computed(_probabilities("predict_proba", machine.classifier, X)), dtype=np.float64)

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

    @where_classifier_has("predict_proba", has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the classifier, in the order of `classes_`."""
        return _probabilities("predict_proba", self._now.machine.classifier, X)

    @where_classifier_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`, by the classifier."""
        return _probabilities("predict_log_proba", self._now.machine.classifier, X)

    def retune(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        reject_rate: Any = None,
        max_error: Any = None,
        class_error: Any = None,
        confidence: float | None = None,
    ) -> Self:
        """Tune other thresholds for the same fitted classifier.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`, default=None
            Rows to tune on, preferably rows that the classifier was not fitted on. By default, the scores that `fit`
            tuned on, if it did.
        costs, reject_rate, max_error, class_error, confidence : as in the constructor
            The new request, in one of four ways. The confidence stays unchanged if it is not given. `max_error` and
            `class_error` need rows that the classifier was not fitted on: those that `fit` held out for one of them,
            those of ``cv="prefit"``, or X, y. For `max_error` the same share of each class must have been held out.

        Returns
        -------
        ThresholdRejector
            A copy with these parameters and the new thresholds, around the same fitted classifier; the original is not
            changed.
        """
        other, fitted = copy(self), self._now
        confidence = self.confidence if confidence is None else confidence
        asked = {"costs": costs, "reject_rate": reject_rate, "max_error": max_error, "class_error": class_error}
        other.set_params(**asked, confidence=confidence)
        request = Request.of(other)
        if request.method.needs_probabilities and fitted.machine.method != "predict_proba":
            raise ValueError(
                f"method={request.name!r} needs probabilities, and fit used the decision function; fit again instead."
            )
        labels = labels_for(other, request, np.repeat(fitted.rule.labels.classes, 2))
        request.warn_if_assumed(labels, self.pos_label)
        request = request.of_classes(labels)
        rows, held_out, crossed = fitted.rows, fitted.held_out, isinstance(fitted.machine, CrossMachine)
        if X is not None:
            if crossed:
                raise ValueError('conformal="cross" is calibrated on the rows of its folds; leave out X and y.')
            code = labels.encode(np.asarray(y))
            weight = row_weights(sample_weight, len(code))
            if weight is not None and class_error is not None:
                raise ValueError("sample_weight has no effect here: class_error counts each row once; leave it out.")
            rows, held_out = ScoredRows.of(self._score(fitted, X), code, weight), True
        if request.needs_rows and rows is None and not crossed:
            raise ValueError("retune needs X and y, because fit had no thresholds to tune and kept no scores.")
        other._fitted_ = tuned(fitted.machine, request, labels, rows, held_out=held_out)
        return other

    method_ = fitted[str]("method", 'The method that placed the thresholds; not "auto".')
    estimator_ = fitted[Model]("machine.classifier", "The fitted classifier, with a sigmoid if one was needed.")
    response_method_ = fitted[str]("machine.method", 'The source of the score: "decision_function" or "predict_proba".')
    certificate_ = fitted[ErrorBound | ClassErrorBound | None](
        "error_bound", "For `max_error` and `class_error`: the bound, and what it rests on."
    )
    machine_ = fitted[Around]("machine", "What scores rows: the classifier, or one for each fold.")


def _probabilities(method: str, classifier: Any, X: Any) -> Any:
    """Return the probabilities of the rows, by chunks if X is a dask array."""
    if is_dask(X):
        return lazy_rows(partial(_probabilities, method), classifier, X, (len(classifier.classes_),))
    return sorted_scores(classifier, np.asarray(getattr(classifier, method)(X)))
