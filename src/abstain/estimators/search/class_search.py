"""The search of RejectSVCCV with more than two classes: the mean cost of every C and gamma, and the cuts of the best.

Held-out scores are decided by Bayes' rule and, with ``cuts="tuned"``, under probabilities that are fitted to the other
folds (`rules/tuning/class_lead.py`), so that no row's label affects its own cut.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.estimators.fitting.class_fit import FittedClasses
from abstain.estimators.fitting.class_training import ClassTraining
from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.fitting.splitting import Groups, Splits, checked_splits
from abstain.estimators.search.cuts import Searched
from abstain.estimators.search.grid import Grid, checked_Cs, checked_gammas, mean_of_folds
from abstain.kernels import Kernel
from abstain.machines.class_machine import class_pairs, ovr_values
from abstain.rules.class_rule import ClassRule
from abstain.rules.tuning.class_lead import Lead, fitted_lead
from abstain.solvers.class_cross_validation import Limits, OutOfFoldClasses, pair_scores, rest_scores

__all__ = ["ClassSearch", "FittedClassSearch"]

FEWEST = 10  # held-out rows for each class, on average; with fewer, Bayes' rule stays


@dataclass(frozen=True, eq=False)
class FittedClassSearch(Searched, FittedClasses):
    """A fitted `RejectSVCCV` of several classes."""


@dataclass(frozen=True, eq=False)
class ClassSearch:
    """The values to try and the folds.

    Attributes
    ----------
    training : ClassTraining
    Cs, gammas : ndarray
        Ascending; ``gammas`` is [nan] for kernels without gamma.
    splits : Splits
    """

    training: ClassTraining
    Cs: NDArray[np.float64]
    gammas: NDArray[np.float64]
    splits: Splits

    @classmethod
    def of(cls, training: ClassTraining, y: ArrayLike, groups: Groups | None) -> ClassSearch:
        """Check the values and make the folds, each of which must train on all classes."""
        given = training.parameters
        Cs = checked_Cs(given.Cs)
        has_gamma = isinstance(given.kernel, str) and Kernel(given.kernel).formula.takes_gamma
        gammas = checked_gammas(given.gammas, training.X, training.sample_weight) if has_gamma else np.array([np.nan])
        training.weights(float(Cs[-1]))  # raises an error if they overflow
        code: Any = training.code
        splits = checked_splits(given.cv, y, groups, code, training.sample_weight)
        for fold, train in enumerate(splits.trains):
            here = np.unique(training.code[(train > 0) & (training.sample_weight > 0)])
            if len(here) < training.n_classes:
                left = np.setdiff1d(np.arange(training.n_classes) + 1, here) - 1
                name = training.rule.labels.classes[left].tolist()[0]
                raise ValueError(
                    f"fold {fold} of cv trains without the class {name!r}; use fewer folds or stratify them."
                )
        return cls(training, Cs, gammas, splits)

    def run(self, limits: Limits, *, tuned: bool, shown: bool) -> tuple[Grid, Any, NDArray[np.bool_]]:
        """Give the costs of the grid, the rule of the best pair, and which fits reached their tolerance."""
        shape = (len(self.Cs), len(self.gammas), len(self.splits.trains))
        costs, cut_costs = np.full(shape, np.nan), np.full(shape, np.nan)
        rejected, cut_rejected = np.full(shape, np.nan), np.full(shape, np.nan)
        leads, optimal = np.full(shape[:2], None), np.ones(shape, dtype=bool)
        tests = [np.flatnonzero(test) for test in self.splits.tests]
        rule: Any = self.training.rule
        tuned = tuned and isinstance(rule, ClassRule) and self._can_tell(tests)
        order = np.argsort(np.abs(np.arange(shape[1]) - shape[1] // 2), kind="stable")  # from the middle outwards
        with SearchLine("RejectSVCCV", int(np.prod(shape)), shown=shown) as line:
            for done, g in enumerate(order):
                found = self._scores(float(self.gammas[g]), tests, limits)
                optimal[:, g] = found.optimal.T
                for c in range(shape[0]):
                    values, there = [score[c] for score in found.scores], found.finished[:, c]
                    for fold in np.flatnonzero(there).tolist():
                        costs[c, g, fold], rejected[c, g, fold] = self._cost(rule, values[fold], fold, tests)
                    if tuned and there.all():
                        cut_costs[c, g], leads[c, g], cut_rejected[c, g] = self._tuned(values, tests)
                line.report((done + 1) * shape[0] * shape[2])
        cut = cut_costs if np.isfinite(cut_costs).any() else None
        rows = np.full(shape[:2], len(self.training.code), dtype=np.int64)
        mass, shared = np.broadcast_to(self.splits.mass, shape), self.splits.shared
        grid = Grid(self.Cs, self.gammas, costs, not np.isnan(self.gammas[0]), rows, cut, shared=shared, mass=mass)
        if cut is not None and grid.best_is_tuned:
            rejected, rule = cut_rejected, rule.tuned(leads[grid.place])
        return replace(grid, rejected=float(mean_of_folds(rejected[grid.place], self.splits.mass))), rule, optimal

    def _can_tell(self, tests: list[NDArray[np.intp]]) -> bool:
        rows = len(np.unique(np.concatenate(tests)))
        return len(tests) > 1 and rows >= FEWEST * self.training.n_classes

    def _scores(self, gamma: float, tests: list[NDArray[np.intp]], limits: Limits) -> OutOfFoldClasses:
        """Held-out values of all classes at one gamma, for each C and fold."""
        training, n = self.training, self.training.n_classes
        problem = training.shared(1.0, 1.0 if np.isnan(gamma) else gamma, all_rows=True).problem
        weights = np.stack([training.weights(1.0, train) for train in self.splits.trains])
        if training.one_vs_rest:
            signs = [training.sign(k) for k in range(n)]
            return rest_scores(problem, signs, training.losses, weights, tests=tests, Cs=self.Cs, limits=limits)
        pairs = []
        for i, j in class_pairs(n):
            rows = np.concatenate([np.flatnonzero(training.code == k + 1) for k in (i, j)])
            pairs.append((rows, np.where(training.code[rows] == i + 1, 1, -1).astype(np.int8)))
        found = pair_scores(problem, pairs, weights, tests=tests, Cs=self.Cs, limits=limits)
        return replace(found, scores=[np.stack([ovr_values(one, n) for one in score]) for score in found.scores])

    def _cost(
        self, rule: Any, score: NDArray[np.float64], fold: int, tests: list[NDArray[np.intp]]
    ) -> tuple[float, float]:
        """The mean cost of a fold and its share of rejects."""
        code, choice = self.training.code[tests[fold]], rule.choose(score)
        prices = (choice != code) if rule.costs is None else rule.costs.prices(code, choice)
        weight = self.splits.tests[fold, tests[fold]]
        return float(weight @ prices), float(weight[choice == 0].sum() / weight.sum())

    def _tuned(
        self, values: list[NDArray[np.float64]], tests: list[NDArray[np.intp]]
    ) -> tuple[NDArray[np.float64], Lead, NDArray[np.float64]]:
        """The mean cost of each fold with the lead fitted to the others, that of all, and its rejects by fold."""
        training = self.training
        rule: Any = training.rule
        heights = np.concatenate([rule.heights(score) for score in values])
        row = np.concatenate(tests)
        code = training.code[row]
        each = self.splits.weights(np.ones(len(tests), dtype=bool))
        weight = np.concatenate([shares[test] for shares, test in zip(each, tests, strict=True)])
        costs = np.empty(len(tests))
        for k, score in enumerate(values):
            others = ~np.isin(row, tests[k])
            lead = self._lead(heights, code, weight, row, others) if others.any() else Lead(1.0)
            costs[k], _ = self._cost(rule.tuned(lead), score, k, tests)
        lead = self._lead(heights, code, weight, row, np.ones(len(row), dtype=bool))
        final = [self._cost(rule.tuned(lead), score, k, tests)[1] for k, score in enumerate(values)]
        return costs, lead, np.array(final)

    @staticmethod
    def _lead(
        heights: NDArray[np.float64],
        code: NDArray[np.intp],
        weight: NDArray[np.float64],
        row: NDArray[np.intp],
        which: NDArray[np.bool_],
    ) -> Lead:
        share = weight[which] / weight[which].sum()
        return fitted_lead(heights[which], code[which], len(np.unique(row[which])) * share)


def search_limits(parameters: Any, tol: float, seconds: float | None) -> Limits:
    """The limits of a search that begins now."""
    until = None if seconds is None else time.monotonic() + seconds
    return Limits(tol, parameters.max_iter, parameters.cache_size, parameters.n_jobs, until)
