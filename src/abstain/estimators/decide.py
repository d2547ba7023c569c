"""From scores to decisions: what every rejecting classifier does once it has a score and thresholds on it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from abstain.costs import Costs
from abstain.labels import Labels
from abstain.rules.decisions import Decisions
from abstain.thresholds import Thresholds


@dataclass(frozen=True, eq=False)
class Terms:
    """What decisions are made in: the labels, the prices, and the units of the score.

    Attributes
    ----------
    labels : Labels
        The two classes, the positive one, and the reject label.
    costs : Costs or None
        The prices; None if none were stated.
    cut : float
        Where the forced choice cuts the score, oriented to ``classes_[1]``.
    log_odds_per_score : float
        The factor from the score to the log-odds of the positive class; negative if that is ``classes_[0]``.
    """

    labels: Labels
    costs: Costs | None
    cut: float
    log_odds_per_score: float

    def prices(self, y: ArrayLike, choice: NDArray[np.int8]) -> NDArray[np.float64]:
        """What each choice (+1 = the positive class) costs, given the true labels; without prices an error costs 1."""
        sign = self.labels.encode(y)
        if self.costs is None:
            return (choice == -sign).astype(np.float64)
        return self.costs.prices(sign, choice)

    def expected_cost(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected cost of deciding -1, rejecting and deciding +1, by P = 1 / (1 + exp(-f))."""
        if self.costs is None:
            return np.full((len(score), 3), np.nan)
        # in halves: exp of a large negative log-odds underflows to 0, it never overflows
        log_odds = self.log_odds_per_score * score
        small = np.exp(-np.abs(log_odds))
        return self.costs.expected(np.where(log_odds > 0, 1.0, small) / (1.0 + small))


class RejectMixin:
    """Decisions for estimators with a score.

    An estimator that uses it sets `thresholds_` (oriented like its score, to ``classes_[1]``) and `_terms` at fit, and
    has ``_scores(fitted, X)``, the score of rows by the fitted attributes in `fitted`.
    """

    def _fitted(self) -> tuple[SimpleNamespace, Terms]:
        """All attributes as of one moment, so that a refit in another thread cannot mix two machines."""
        check_is_fitted(self)
        attributes = vars(self).copy()
        return SimpleNamespace(**attributes), attributes["_terms"]

    @property
    def terms_(self) -> Terms:
        """What decisions are made in: labels, prices, the cut of a forced choice and the units of the score."""
        return self._fitted()[1]

    @abstractmethod
    def _scores(self, fitted: SimpleNamespace, X: Any) -> NDArray[np.float64]:
        """Give the score of rows by the fitted attributes in `fitted`."""

    def _expected_cost(
        self,
        fitted: SimpleNamespace,  # noqa: ARG002 (for those whose probability is not a function of the score)
        terms: Terms,
        X: Any,  # noqa: ARG002
        score: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        return terms.expected_cost(score)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row, oriented to ``classes_[1]``: decided by `thresholds_`, ``classes_[1]`` above the upper.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score; for a precomputed kernel, their kernel values with all training rows.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
        """
        return self._scores(self._fitted()[0], X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row, `reject_label_` where rejecting is the cheaper decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.

        Returns
        -------
        ndarray of shape (n_samples,)
            A plain array of one dtype: the classes' own, or the smallest that also holds the reject label.
        """
        fitted, terms = self._fitted()
        return _labels(terms, fitted.thresholds_, self._scores(fitted, X))

    def predict_forced(self, X: Any) -> NDArray[Any]:
        """The cheaper of the two classes for each row: always a class, whatever rejecting would cost."""
        fitted, terms = self._fitted()
        above = Thresholds(terms.cut, terms.cut).decide(self._scores(fitted, X)) > 0
        return terms.labels.classes[above.astype(np.intp)]

    def reject_mask(self, X: Any) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects."""
        fitted, terms = self._fitted()
        return _choice(terms, fitted.thresholds_, self._scores(fitted, X)) == 0

    def decide(self, X: Any) -> Decisions:
        """Decisions with their reasons: label, rejected, score and the expected cost of the three actions."""
        fitted, terms = self._fitted()
        score = self._scores(fitted, X)
        return Decisions(
            label=_labels(terms, fitted.thresholds_, score),
            rejected=_choice(terms, fitted.thresholds_, score) == 0,
            score=score,
            expected_cost=self._expected_cost(fitted, terms, X, score),
        )

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the mean cost of `predict` on labelled rows; minus the error rate if no costs were stated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        """
        fitted, terms = self._fitted()
        choice = _choice(terms, fitted.thresholds_, self._scores(fitted, X))
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, choice)
        return -float(np.average(terms.prices(y, choice), weights=weight))


def _choice(terms: Terms, thresholds: Thresholds, score: NDArray[np.float64]) -> NDArray[np.int8]:
    """Choices with +1 = the positive class.

    The thresholds are compared in the orientation of the score, so that one on the threshold goes the same way here
    and wherever else the published score and thresholds are compared.
    """
    return thresholds.decide(score) * np.int8(terms.labels.orientation)


def _labels(terms: Terms, thresholds: Thresholds, score: NDArray[np.float64]) -> NDArray[Any]:
    return terms.labels.decode(_choice(terms, thresholds, score))
