"""What all rejecting classifiers share once fitted: score rows with the machine, decide with the rule."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from abstain.arguments import computed, is_dask, mean_price
from abstain.costs.cuts import Levels, Thresholds
from abstain.costs.per_row import row_table, sample_costs
from abstain.dual.proof import Proof, warning_text
from abstain.estimators.fitting.attributes import fitted, read
from abstain.estimators.fitting.lazy import applied, lazy_rows
from abstain.estimators.fitting.parameters import where
from abstain.machines.machine import Machine
from abstain.rules.decisions import Decisions
from abstain.rules.rule import Rule


@dataclass(frozen=True, eq=False)
class Fitted:
    """The complete result of a fit in one value, so that `predict` in another thread sees the old or the new one.

    Attributes
    ----------
    machine : Machine
        Scores rows.
    rule : Rule
        Turns scores into decisions.
    """

    machine: Any
    rule: Rule


class FittedMixin:
    """The fitted value of estimators whose `fit` sets `_fitted_`."""

    _fitted_: Any
    n_jobs: int | None = None

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted_" in vars(self)

    def _commit(self, checked: Any, fitted: Any) -> None:
        """Store what a fit found, all at once; `checked` is the copy of the estimator that X was validated with."""
        names = {name: vars(checked)[name] for name in ("n_features_in_", "feature_names_in_") if name in vars(checked)}
        if "feature_names_in_" not in names:
            vars(self).pop("feature_names_in_", None)
        self.__dict__.update(names, _fitted_=fitted)

    @property
    def _now(self) -> Any:
        """The current fitted value."""
        if "_fitted_" not in vars(self):
            check_is_fitted(self)  # an error
        return self._fitted_

    machine_ = fitted[Machine]("machine", "What scores rows.")

    if TYPE_CHECKING:  # stored by scikit-learn's check of X
        n_features_in_ = read[int]("n_features_in_", "The number of features.")
        feature_names_in_ = read[NDArray[Any]]("feature_names_in_", "The names of the features, if they have names.")


class ProvenMixin(FittedMixin):
    """The proof of estimators whose fitted value has one."""

    _by_gap: ClassVar[bool] = False  # whether `tol` is for the relative duality gap, not for the violation

    def _store(self, checked: Any, fitted: Any) -> None:
        """Store what a fit found, and warn if it did not converge."""
        self._commit(checked, fitted)
        if text := warning_text(fitted.proof, self, by_gap=self._by_gap):
            warnings.warn(text, ConvergenceWarning, stacklevel=4)  # at the caller of fit, past scikit-learn's decorator

    proof_ = fitted[Proof]("proof", "How good the solution is: objectives, gap, violation and status.")
    objective_ = fitted[float]("proof.objective", "The primal value of the training problem.")
    dual_objective_ = fitted[float]("proof.dual_objective", "The dual value, a lower bound on the primal value.")
    duality_gap_ = fitted[float]("proof.gap", "The primal minus the dual value, relative to the primal value.")
    status_ = fitted[str]("proof.status", "How the solver ended.")
    n_iter_ = fitted[int]("proof.iterations", "The number of iterations of the solver.")


def _tells_probabilities(estimator: Any) -> bool:
    fitted = vars(estimator).get("_fitted_")
    return vars(estimator).get("costs") is not None if fitted is None else fitted.rule.readout.known


class RejectMixin(FittedMixin):
    """Decisions for estimators whose fitted value is a `Fitted`."""

    def __sklearn_tags__(self) -> Any:
        """Several classes, unless a parameter is for two: costs by side, a positive class, another rule than Chow's."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        given: Any = vars(self).get
        costs, rule, budget = given("costs"), given("rule", "chow"), given("reject_rate")
        if (
            (hasattr(costs, "hands_on") and costs.n_classes == 2 and not (costs.symmetric and costs.labels is None))
            or given("pos_label") is not None
            or not (isinstance(rule, str) and rule == "chow")
            or (given("method") == "roc" and budget is not None)
            or tuple in (type(budget), type(given("max_error")))
            or (isinstance(rates := given("class_error"), dict) and len(rates) == 2)  # which names every class
        ):
            tags.classifier_tags.multi_class = False
        return tags

    def _checked(self, X: Any) -> Any:
        """X in the form that the machine takes."""
        return X

    def _score(self, fitted: Fitted, X: Any) -> NDArray[np.float64]:
        """Return the scores of the rows; lazy ones, a dask array, for a dask array."""
        if is_dask(X):
            frozen, n = copy(self), len(fitted.rule.labels.classes)  # nothing changes the copy
            frozen._fitted_ = fitted
            return lazy_rows(type(self).decision_function, frozen, X, (n,) if n > 2 else ())
        return np.asarray(fitted.machine.score(self._checked(X), self.n_jobs))

    def _probability(self, *_: Any, **__: Any) -> NDArray[np.float64] | None:
        """Return the probabilities of the rows if they do not follow from the score: of a fitted value, X and score."""
        return None

    rule_ = fitted[Rule]("rule", "What turns scores into decisions: labels, costs and cuts.")
    classes_ = fitted[NDArray[Any]]("rule.labels.classes", "The classes, sorted.")
    reject_label_ = fitted[str | float | None]("rule.labels.reject_label", "The label of a rejected row.")
    thresholds_ = fitted[Thresholds | Levels | NDArray[np.float64]](
        "rule.thresholds", "The thresholds on the score, oriented to ``classes_[1]``."
    )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row, oriented to ``classes_[1]``: a score above the upper of `thresholds_` means that class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score; for a precomputed kernel, kernel values between these rows and all training rows.

        Returns
        -------
        ndarray of float64, shape (n_samples,); a dask array for a dask array
            (n_samples, n_classes) for more than two classes: a score for each, or, without costs, its votes and a part
            of less than 1/3 by its scores, as scikit-learn's ``SVC`` has them.
        """
        return self._score(self._now, X)

    def _applied(self, function: Callable[[Any, Any], Any], X: Any, row_costs: Any) -> Any:
        """Return `function(rule, score)`, lazily for a dask array."""
        fitted = self._now
        score = self._score(fitted, X)
        if row_costs is None:
            return applied(partial(function, fitted.rule), score)
        if not is_dask(X):
            return function(fitted.rule.for_rows(row_costs, len(score)), score)
        if not is_dask(row_costs):  # a frame is read by its names
            row_costs = row_table(row_costs, fitted.rule.labels, fitted.rule.costs).as_rows()
        sample = sample_costs(fitted.rule.labels, fitted.rule.costs)
        return applied(partial(_by_rows, function, fitted.rule), score, row_costs, sample)

    def _scored(self, X: Any, row_costs: Any) -> tuple[Any, Rule, NDArray[np.float64]]:
        """Return the fitted value, the rule for these rows, and their scores, computed if X is a dask array."""
        fitted = self._now
        score = computed(self._score(fitted, X))
        return fitted, fitted.rule.for_rows(computed(row_costs), len(score)), score

    def predict(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """Label of each row, `reject_label_` where rejecting is the cheaper decision; with `Actions`, the action.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `RejectSVC.fit`; they replace `costs`. Needed if the machine was fitted with row
            costs and ``costs=None``.

        Returns
        -------
        ndarray of shape (n_samples,); a dask array for a dask array
            A plain array of one dtype: the classes' own, or the smallest that also holds the reject label.
        """
        return self._applied(lambda rule, score: rule.predict(score), X, row_costs)

    def predict_forced(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """The cheapest class for each row, never a reject; with `Actions`, the cheapest of the others."""
        return self._applied(lambda rule, score: rule.forced(score), X, row_costs)

    def reject_mask(self, X: Any, row_costs: Any = None) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects."""
        return self._applied(lambda rule, score: rule.is_reject(rule.choose(score)), X, row_costs)

    def predict_set(self, X: Any, include: float | None = None, row_costs: Any = None) -> NDArray[np.bool_]:
        """The classes that are not ruled out for each row: a set of answers where one alone would be too uncertain.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        include : float or None, default=None
            None: a class is left out if its score is below its lower cut, where missing it costs less than rejecting;
            the cheapest class is always in, and for a rejected row the next cheapest too. A number: the cheapest class,
            and every other one whose probability is at least this; it is the cost of naming one more class, if missing
            the true one costs 1 (Ha 1997).
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`; a number for `include` needs none.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
        """
        return self._applied(lambda rule, score: rule.included(score, include), X, row_costs)

    @where(_tells_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Rough probability of each class, in the order of `classes_`: ``decide(X).probability``.

        ::

            two classes    P(classes_[1]) = 1 / (1 + exp(-u f)),   f the score, u the log-odds per unit of score
            more           straight lines in the scores between the points where the cheapest action changes

        The loss makes them exact, at best, where the cheapest action changes. With ``cuts="tuned"`` they are fitted to
        held-out scores. For any other use calibrate them: ``CalibratedClassifierCV(clf)``. The class that `predict`
        answers need not be the likeliest one, because it also depends on the costs; and machines of several classes
        that decide by a threshold on each score do so before the probabilities are made to sum to 1. Without costs,
        the score says nothing of probabilities, and there is no such method.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes); a dask array for a dask array
        """
        return self._applied(lambda rule, score: rule.readout.probabilities(score), X, None)

    def decide(self, X: Any, row_costs: Any = None) -> Decisions:
        """Decisions with their reasons: label, rejected, score and the expected cost of every action.

        They keep the index of a pandas DataFrame. For a Pipeline around this classifier, use :func:`abstain.decide`.
        The scores of a dask array are computed first: decisions are in memory.
        """
        fitted, rule, score = self._scored(X, row_costs)
        index = X.index if hasattr(X, "iloc") else None  # a list has a method of that name
        return rule.decide(score, self._probability(fitted, X, score), index)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None) -> float:
        """Minus the mean cost of `predict` on labelled rows; minus the error rate if no costs were stated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`; the mean is then that of the rows' own costs.
        """
        _, rule, score = self._scored(X, row_costs)
        return -mean_price(rule.cost_of(computed(y), score), computed(sample_weight))


def _by_rows(function: Callable[[Any, Any], Any], rule: Rule, score: NDArray[np.float64], row_costs: Any) -> Any:
    try:
        costs = row_table(row_costs, rule.labels, rule.costs, len(score))
    except ValueError as error:  # a chunk of a dask array
        raise ValueError(f"in a chunk, with rows counted from its first: {error}") from error
    return function(rule.of_rows(costs), score)
