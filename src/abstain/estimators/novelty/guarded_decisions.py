"""What a fitted NoveltyRejector returns: the decisions of its classifier, with novel rows rejected."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from abstain.arguments import mean_price, refuse_dask
from abstain.estimators.fitting.decide import RejectMixin, fitted
from abstain.estimators.fitting.routing import decider, row_cost_parameters
from abstain.estimators.unwrap import final_estimator
from abstain.estimators.wrapping import AroundClassifier, classifier_has
from abstain.machines.response_machine import sorted_scores
from abstain.rules.rule import Decisions

__all__ = ["GuardedDecisions", "in_memory"]


def in_memory(X: Any) -> None:
    """Raise an error for dask arrays and frames."""
    some = "NoveltyRejector(FrozenEstimator(classifier)).fit(some_rows, some_labels)"
    refuse_dask(X, "NoveltyRejector", f"pass it chunk by chunk, and fit the guard on some of the rows, {some}")


class GuardedDecisions(RejectMixin, AroundClassifier):
    """Decisions of an estimator whose `fit` sets `_fitted_`, a `Guarded`."""

    _uses_metadata: ClassVar[bool] = True

    def _for(self, X: Any) -> Any:
        """The fitted value, for rows in memory."""
        in_memory(X)
        return self._now

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row by the classifier, whether it is novel or not; log-odds if it has probabilities only.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
        """
        return self._for(X).score(X)

    def predict(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """Label of each row by the classifier, `reject_label_` if it is novel; with `Actions`, the action.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        row_costs : array-like or data frame, default=None
            Costs of each row, for a classifier that takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        now = self._for(X)
        return now.predict(X) if row_costs is None else now.decide(X, row_costs).label

    def predict_forced(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """The cheapest class for each row by the classifier, also for novel rows."""
        return np.asarray(self._for(X).decided(X, row_costs).forced)

    def reject_mask(self, X: Any, row_costs: Any = None) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects, as ambiguous or as novel."""
        return np.asarray(self._for(X).decide(X, row_costs).rejected)

    def decide(self, X: Any, row_costs: Any = None) -> Decisions:
        """Decisions with their reasons: those of the classifier, and novel rows rejected.

        ``reason`` is "decided", "ambiguous" or "novel". Of a novel row the expected costs are nan, because nothing is
        known about it.
        """
        return self._for(X).decide(X, row_costs)

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """P-value of each row: small if it is unlike the training rows; novel if it is at most `rate`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the classifier takes.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            The share of calibration rows, and the row itself, that are at least as unusual.
        """
        guard = self._for(X).guard
        return np.asarray(guard.p_value(guard.unusual(X)))

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None
    ) -> float:
        """Minus the mean cost of `predict` on labelled rows, of which novel ones pay for a reject.

        Minus the share of rows decided wrongly if no costs were stated; rejecting a novel row then costs nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`.
        """
        return -mean_price(self._for(X).costs(X, y, row_costs), sample_weight)

    def predict_set(self, X: Any, include: float | None = None, row_costs: Any = None) -> NDArray[np.bool_]:
        """The classes that are not ruled out for each row: all of them for a novel row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        include : float or None, default=None
            As in the classifier's own `predict_set`.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
        """
        now = self._for(X)
        found = now.decide(X, row_costs)
        sets = now.rule.for_rows(row_costs, len(found)).included(found.score, include)
        return np.asarray(sets | found.novel[:, np.newaxis])

    @available_if(classifier_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the classifier, whether a row is novel or not."""
        classifier = self._for(X).estimator
        return sorted_scores(classifier, np.asarray(classifier.predict_proba(X)))

    @property
    def proof_(self) -> Any:
        """How good the classifier's solution is, if it is certified."""
        return final_estimator(self._now.estimator).proof_

    def _takes_row_costs(self, method: str) -> bool:
        """Whether the classifier's `fit` or `predict` takes costs per row."""
        model = decider(self._now.estimator) if method == "predict" else self.estimator
        return bool(row_cost_parameters(model, method, ()))

    estimator_ = fitted("estimator", "The fitted classifier.")
    guard_ = fitted("guard", "The fitted detector and the scores of the calibration rows.")
    calibration_ = fitted("calibration", "Scores and decisions of the calibration rows.")
    seen_ = fitted("seen", "What the training rows had in each column.")
