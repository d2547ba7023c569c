"""Where to cut: Bayes' cuts on a score corrected by held-out rows, for the pairs of a search that may be best.

A machine trained on few rows gives scores that are too large or too small near its cuts. Held-out scores show by how
much: log-odds = e^t score + b (`rules/tuning/sigmoid.py`). The machine is rescaled by these two numbers, so that its
score is the log-odds, and the cuts stay Bayes'. Each fold is decided with the sigmoid of the other folds, so that no
row's label affects its own decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.search.grid import TIE, Grid
from abstain.estimators.search.held_out_costs import Pricing
from abstain.rules.tuning.sigmoid import shrunk_sigmoids

__all__ = ["HeldOutRows", "Searched", "placed"]

FEWEST = 10  # rows of each class; with fewer, Bayes' cuts stay
ERRORS = 1.0  # pairs within this many standard errors of the least mean cost may be best with other cuts


@dataclass(frozen=True, eq=False, kw_only=True)
class Searched(Fitted):
    """What a search adds to a fitted value; its machine is ``trained.rescaled(scale, shift)``.

    Attributes
    ----------
    grid : Grid
        The costs of all pairs on all folds, from which the pair was chosen.
    trained : machine
        As training left it; proof, sets and objective are of this one.
    scale, shift : float
        1 and 0 unless the score was tuned.
    """

    grid: Grid
    trained: Any
    scale: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, fitted: Any, grid: Grid, tuned: tuple[float, float] = (1.0, 0.0), **others: Any) -> Self:
        """Rescale the machine of a fitted value; `others` replace what else it has."""
        machine = fitted.machine if tuned == (1.0, 0.0) else fitted.machine.rescaled(*tuned)
        found = vars(fitted) | {"machine": machine} | others
        return cls(**found, grid=grid, trained=fitted.machine, scale=tuned[0], shift=tuned[1])


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
        Their weights in the mean cost, which sum to 1.
    """

    scores: NDArray[np.float64]
    fold: NDArray[np.intp]
    row: NDArray[np.intp]
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, scores: NDArray[np.float64], splits: Splits, sign: NDArray[np.int8], used: NDArray[np.bool_]
    ) -> Self:
        """Take the test rows of the folds `used` out of scores of all rows, (gammas, folds, Cs, rows)."""
        fold, row = np.nonzero(splits.tests * used[:, np.newaxis])
        held_out = scores[:, fold, :, row].transpose(2, 1, 0).reshape(-1, len(row))
        return cls(held_out, fold, row, sign[row], splits.weights(used)[fold, row])

    @property
    def can_tell(self) -> bool:
        """Whether there are two folds and enough rows of each class to place cuts on."""
        rows = [len(np.unique(self.row[self.sign == code])) for code in (-1, 1)]
        return len(np.unique(self.fold)) > 1 and min(rows) >= FEWEST

    def near_best(self, costs: NDArray[np.float64], pricing: Pricing, n_splits: int) -> NDArray[np.bool_]:
        """Mark the pairs whose mean cost is within a standard error of the least, of those whose `costs` are not nan.

        The shape is (pairs, folds + 1): without the test rows of each fold, so that these have no part in the choice
        that they judge, and last for all rows.
        """
        near = np.zeros((len(costs), n_splits + 1), dtype=bool)
        finished = np.flatnonzero(np.isfinite(costs))
        if not len(finished):
            return near
        paid = pricing.paid(self.row, self.scores[finished])
        for fold in (*np.unique(self.fold).tolist(), -1):
            others = ~np.isin(self.row, self.row[self.fold == fold])
            if not others.any():
                others[:] = True
            weight = self.weight[others] / self.weight[others].sum()
            mean = paid[:, others] @ weight
            more = paid[:, others] - paid[np.argmax(mean <= mean.min() * (1.0 + TIE)), others]
            mean = more @ weight
            error = np.sqrt((weight**2 * (more - mean[:, np.newaxis]) ** 2).sum(axis=1))
            near[finished, fold] = mean <= ERRORS * error * (1.0 + TIE)
        return near

    def tuned_costs(
        self, pairs: NDArray[np.intp], pricing: Pricing
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the mean cost of these pairs on every fold with cuts from the other folds, and their final sigmoids.

        The first has the shape (pairs, folds), for the folds that are there, the second, of all together, (pairs, 2).
        """
        scores, n_rows = self.scores[pairs], len(np.unique(self.row))
        final = shrunk_sigmoids(scores, self.sign, n_rows * self.weight)
        folds = np.unique(self.fold)
        costs = np.empty((len(pairs), len(folds)))
        for at, fold in enumerate(folds):
            test = self.fold == fold
            train = ~np.isin(self.row, self.row[test])
            weight = self.weight[train] / max(float(self.weight[train].sum()), np.finfo(np.float64).tiny)
            t, b = shrunk_sigmoids(
                scores[:, train], self.sign[train], len(np.unique(self.row[train])) * weight, final
            ).T[..., np.newaxis]
            paid = pricing.paid(self.row[test], np.exp(t) * scores[:, test] + b)
            costs[:, at] = paid @ (self.weight[test] / self.weight[test].sum())
        return costs, final


def placed(grid: Grid, pricing: Pricing, rows: HeldOutRows, *, tune: bool) -> tuple[Grid, tuple[float, float]]:
    """Give the grid with the costs of tuned scores and the rejects of its best pair, and the pair's scale and shift."""
    scale, shift = 1.0, 0.0
    if tune and pricing.known and pricing.rule.unit == 1.0 and rows.can_tell:
        grid, (scale, shift) = _tuned(grid, pricing, rows)
    best = int(np.ravel_multi_index(grid.place, grid.rows.shape))
    done = np.isfinite(grid.costs[grid.place])[rows.fold]
    weight = rows.weight * done
    rejects = pricing.rejects(rows.row, scale * rows.scores[best] + shift)
    rejected = weight[rejects].sum() / weight.sum() if done.any() else np.nan
    return replace(grid, rejected=float(rejected)), (scale, shift)


def _tuned(grid: Grid, pricing: Pricing, rows: HeldOutRows) -> tuple[Grid, tuple[float, float]]:
    folds, same = np.unique(rows.fold), (1.0, 0.0)
    last = np.where((grid.rows == grid.rows.max())[:, :, np.newaxis], grid.costs[:, :, folds], np.nan)
    near = rows.near_best(last.mean(axis=2).ravel(), pricing, grid.n_splits)
    pairs = np.flatnonzero(near.any(axis=1))
    if not len(pairs):
        return grid, same
    means, sigmoids = rows.tuned_costs(pairs, pricing)
    table = np.full((grid.rows.size, grid.n_splits), np.nan)
    table[np.ix_(pairs, folds)] = means
    found = replace(grid, tuned=table.reshape(grid.costs.shape), near=near.reshape(*grid.rows.shape, -1))
    if not found.best_is_tuned:
        return found, same
    t, b = sigmoids[pairs == np.ravel_multi_index(found.place, grid.rows.shape)][0]
    return found, (float(np.exp(t)), float(b))
