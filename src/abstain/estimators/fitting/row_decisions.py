"""Decisions with costs per row: what `RejectSVC` adds to the decisions of all rejecting classifiers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import mean_price
from abstain.costs.row_costs import RowCosts
from abstain.estimators.fitting.decide import Fitted, RejectMixin
from abstain.estimators.fitting.lazy import applied, computed, is_dask
from abstain.rules.class_sets import class_sets
from abstain.rules.row_rule import rule_of_rows
from abstain.rules.rule import Decisions, Rule

__all__ = ["RowCostsMixin"]


class RowCostsMixin(RejectMixin):
    """The decisions of `RejectMixin`, by the costs of the rows where they are given."""

    def _scored(self, X: Any, row_costs: Any) -> tuple[Fitted, Rule, NDArray[np.float64]]:
        """Return the fitted value, the rule for these rows, and their scores, computed if X is a dask array."""
        fitted = self._now
        if row_costs is None:
            return fitted, fitted.rule, computed(self._score(fitted, X))
        costs = self._row_costs(fitted, row_costs)
        score = computed(self._score(fitted, X))
        return fitted, rule_of_rows(fitted.rule, RowCosts.of(computed(costs), len(score))), score

    def _applied(self, function: Callable[[Any, Any], Any], X: Any, row_costs: Any) -> Any:
        """Return `function(rule, score)`, lazily for a dask array."""
        fitted = self._now
        if row_costs is None:
            return applied(partial(function, fitted.rule), self._score(fitted, X))
        costs = self._row_costs(fitted, row_costs)
        score = self._score(fitted, X)
        if not is_dask(X):
            costs = RowCosts.of(costs, len(score))
        return applied(partial(_by_rows, function, fitted.rule), score, costs)

    @staticmethod
    def _row_costs(fitted: Fitted, row_costs: Any) -> Any:
        if len(fitted.rule.labels.classes) > 2:
            raise ValueError("row_costs is for two classes, and this machine has more; leave it out.")
        return row_costs if is_dask(row_costs) else RowCosts.of(row_costs)

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
        ndarray of shape (n_samples,); a dask array for a dask array
            A plain array of one dtype: the classes' own, or the smallest that also holds the reject label.
        """
        return self._applied(lambda rule, score: rule.predict(score), X, row_costs)

    def predict_forced(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """The cheaper of the two classes for each row: always a class, never a reject."""
        return self._applied(lambda rule, score: rule.forced(score), X, row_costs)

    def reject_mask(self, X: Any, row_costs: Any = None) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects."""
        return self._applied(lambda rule, score: np.asarray(rule.is_reject(rule.choose(score))), X, row_costs)

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
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, as in `predict`; a number for `include` needs none.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
        """
        return self._applied(lambda rule, score: class_sets(rule, score, include), X, row_costs)

    def decide(self, X: Any, row_costs: Any = None) -> Decisions:
        """Decisions with their reasons: label, rejected, score and the expected cost of every action.

        They keep the index of a pandas DataFrame. For a Pipeline around this classifier, use :func:`abstain.decide`.
        The scores of a dask array are computed first: decisions are in memory.
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
        costs = rule.cost_of(computed(y), score)
        return -mean_price(costs, computed(sample_weight))


def _by_rows(function: Callable[[Any, Any], Any], rule: Any, score: NDArray[np.float64], row_costs: Any) -> Any:
    try:
        costs = RowCosts.of(row_costs, len(score))
    except ValueError as error:  # a chunk of a dask array
        raise ValueError(f"in a chunk, with rows counted from its first: {error}") from error
    return function(rule_of_rows(rule, costs), score)
