"""Decisions with costs per row: what `RejectSVC` adds to the decisions of all rejecting classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import mean_price
from abstain.estimators.decide import Fitted, RejectMixin
from abstain.row_costs import RowCosts
from abstain.rules.row_rule import rule_of_rows
from abstain.rules.rule import Decisions, Rule

__all__ = ["RowCostsMixin"]


class RowCostsMixin(RejectMixin):
    """The decisions of `RejectMixin`, by the costs of the rows where they are given."""

    def _scored(self, X: Any, row_costs: Any) -> tuple[Fitted, Rule, NDArray[np.float64]]:
        """Give the fitted value, the rule for these rows, and their scores."""
        fitted = self._now
        if row_costs is None:
            return fitted, fitted.rule, self._score(fitted, X)
        if len(fitted.rule.labels.classes) > 2:
            raise ValueError("row_costs is for two classes, and this machine has more; leave it out.")
        costs = RowCosts.of(row_costs)
        score = self._score(fitted, X)
        return fitted, rule_of_rows(fitted.rule, RowCosts.of(costs, len(score))), score

    def predict(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """Label of each row, `reject_label_` where rejecting is the cheaper decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, as in `fit`; they replace `costs`. Needed if the machine was fitted with row costs and
            ``costs=None``.

        Returns
        -------
        ndarray of shape (n_samples,)
            A plain array of one dtype: the classes' own, or the smallest that also holds the reject label.
        """
        _, rule, score = self._scored(X, row_costs)
        return rule.predict(score)

    def predict_forced(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """The cheaper of the two classes for each row: always a class, never a reject."""
        _, rule, score = self._scored(X, row_costs)
        return rule.forced(score)

    def reject_mask(self, X: Any, row_costs: Any = None) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects."""
        _, rule, score = self._scored(X, row_costs)
        return np.asarray(rule.is_reject(rule.choose(score)))

    def decide(self, X: Any, row_costs: Any = None) -> Decisions:
        """Decisions with their reasons: label, rejected, score and the expected cost of every action.

        They keep the index of a pandas DataFrame. For a Pipeline around this classifier, use :func:`abstain.decide`.
        """
        fitted, rule, score = self._scored(X, row_costs)
        index = X.index if hasattr(X, "iloc") else None  # a list has a method of that name
        return rule.decide(score, self._probability(fitted, X, score), index)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None
    ) -> float:
        """Minus the mean cost of `predict` on labelled rows; minus the error rate if no costs were stated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to decide on.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, as in `predict`; the mean is then that of the rows' own costs.
        """
        _, rule, score = self._scored(X, row_costs)
        costs = rule.cost_of(y, score)
        return -mean_price(costs, sample_weight)
