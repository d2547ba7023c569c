"""Where to cut: Bayes' cuts moved by a sigmoid of the held-out scores, for the pairs of a search that may be best.

A machine trained on few rows gives scores that are too large or too small near its cuts. Held-out scores show by how
much: log-odds = e^t score + b (`rules/sigmoid.py`), and the cuts are where the log-odds pass Bayes' thresholds. Each
fold is decided with the sigmoid of the other folds, so that no row's label affects its own cuts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.grid import Grid, Splits
from abstain.row_costs import RowCosts
from abstain.rules.row_rule import rule_of_rows
from abstain.rules.rule import oriented_costs
from abstain.rules.sigmoid import shrunk_sigmoids

__all__ = ["HeldOutRows", "Pricing", "tuned"]

FEWEST = 10  # rows of each class; with fewer, Bayes' cuts stay
ERRORS = 1.0  # pairs within this many standard errors of the least mean cost may be best with other cuts


@dataclass(frozen=True, eq=False)
class Pricing:
    """Decides training rows by their scores, and gives the cost of each decision.

    Attributes
    ----------
    rule : Rule or RowRule
    sign : int8 array of shape (n,)
        The classes of the training rows.
    row_costs : RowCosts or None
        Their own costs, if any; else those of the rule count, or an error costs 1.
    """

    rule: Any
    sign: NDArray[np.int8]
    row_costs: RowCosts | None = None

    @property
    def known(self) -> bool:
        """Whether costs were stated."""
        return self.rule.costs is not None or self.row_costs is not None

    def choose(self, row: Any, score: NDArray[np.float64]) -> NDArray[np.int8]:
        """Give the choice for these training rows, which are the last axis of the scores."""
        return np.asarray(self._rule_of(row).choose(score))

    def paid(self, row: Any, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of the choice for these training rows."""
        rule = self._rule_of(row)
        choice, sign = rule.choose(score), self.sign[row]
        if rule.costs is None:
            return np.asarray(choice != sign, dtype=np.float64)
        return oriented_costs(rule.costs, rule.labels).prices(sign, choice)

    def _rule_of(self, row: Any) -> Any:
        return self.rule if self.row_costs is None else rule_of_rows(self.rule, self.row_costs.take(row))


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The test rows of all folds, one after the other, and their scores by all pairs of a search.

    Attributes
    ----------
    scores : float64 array of shape (pairs, m)
        The held-out score of each row, by pairs in the order of C, then gamma.
    fold, row : intp arrays of shape (m,)
        The fold in which the row is tested, and its number; a splitter may test a row in several folds.
    sign : int8 array of shape (m,)
        Their classes.
    weight : float64 array of shape (m,)
        Their weights in the mean cost; each fold has the same sum, and all together sum to 1.
    """

    scores: NDArray[np.float64]
    fold: NDArray[np.intp]
    row: NDArray[np.intp]
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, scores: NDArray[np.float64], splits: Splits, sign: NDArray[np.int8]) -> Self:
        """Take the test rows out of scores of all rows, (gammas, folds, Cs, rows)."""
        fold, row = np.nonzero(splits.tests)
        held_out = scores[:, fold, :, row].transpose(2, 1, 0).reshape(-1, len(row))
        return cls(held_out, fold, row, sign[row], splits.tests[fold, row] / len(splits.tests))

    @property
    def can_tell(self) -> bool:
        """Whether there are two folds and enough rows of each class to place cuts on."""
        rows = [len(np.unique(self.row[self.sign == code])) for code in (-1, 1)]
        return len(np.unique(self.fold)) > 1 and min(rows) >= FEWEST

    def near_best(self, costs: NDArray[np.float64], pricing: Pricing) -> NDArray[np.intp]:
        """The pairs whose mean cost, shape (pairs,), is within a standard error of the least; nan is never near."""
        finished = np.flatnonzero(np.isfinite(costs))
        if not len(finished):
            return finished
        paid = pricing.paid(self.row, self.scores[finished])
        more = paid - paid[np.argmin(costs[finished])]
        error = np.sqrt((self.weight**2 * (more - (more @ self.weight)[:, np.newaxis]) ** 2).sum(axis=1))
        return finished[more @ self.weight <= ERRORS * error + np.finfo(np.float64).eps]

    def tuned_costs(
        self, pairs: NDArray[np.intp], pricing: Pricing
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the mean cost of these pairs on every fold with cuts from the other folds, and their final sigmoids.

        The first has the shape (pairs, folds), the second, of all folds together, (pairs, 2).
        """
        scores, n_rows = self.scores[pairs], len(np.unique(self.row))
        final = shrunk_sigmoids(scores, self.sign, n_rows * self.weight)
        n_folds = int(self.fold.max()) + 1
        costs = np.empty((len(pairs), n_folds))
        for fold in range(n_folds):
            test = self.fold == fold
            train = ~np.isin(self.row, self.row[test])
            weight = self.weight[train] / max(float(self.weight[train].sum()), np.finfo(np.float64).tiny)
            t, b = shrunk_sigmoids(
                scores[:, train], self.sign[train], len(np.unique(self.row[train])) * weight, final
            ).T[..., np.newaxis]
            paid = pricing.paid(self.row[test], np.exp(t) * scores[:, test] + b)
            costs[:, fold] = paid @ (self.weight[test] / self.weight[test].sum())
        return costs, final


def tuned(grid: Grid, pricing: Pricing, rows: HeldOutRows) -> tuple[Grid, Any]:
    """Give the grid with the costs at tuned cuts, and the rule of its best pair."""
    rule = pricing.rule
    if not pricing.known or rule.unit != 1.0 or not rows.can_tell:
        return grid, rule
    pairs = rows.near_best(grid.costs.mean(axis=2).ravel(), pricing)
    if not len(pairs):
        return grid, rule
    costs, sigmoids = rows.tuned_costs(pairs, pricing)
    table = np.full((grid.costs.shape[0] * grid.costs.shape[1], grid.n_splits), np.nan)
    table[pairs] = costs
    found = replace(grid, tuned=table.reshape(grid.costs.shape))
    if not found.best_is_tuned:
        return found, rule
    best = int(np.ravel_multi_index(found.place, grid.costs.shape[:2]))
    t, b = sigmoids[pairs == best][0]
    final = rule.recalibrated(float(np.exp(t)), float(b))
    rejected = rows.weight[replace(pricing, rule=final).choose(rows.row, rows.scores[best]) == 0].sum()
    return replace(found, rejected=float(rejected)), final
