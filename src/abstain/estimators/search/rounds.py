"""One round of a search: pairs of C and gamma fitted and judged on some of the rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from abstain.dual.problem import DualProblem
from abstain.estimators.fitting.progress import FitsLine
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.fitting.training import Training
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.held_out_costs import Pricing
from abstain.estimators.search.subsample import rescaled
from abstain.solvers.cross_validation import OutOfFold, held_out_scores

__all__ = ["Round", "Rounds", "coarse_to_fine", "grid_of"]


@dataclass(frozen=True, eq=False)
class Round:
    """Pairs of C and gamma, fitted on the folds of some rows.

    Attributes
    ----------
    rows : ndarray of intp
        Indices of the rows among all training rows.
    splits : Splits
        Their folds.
    tried : bool array of shape (gammas, folds, Cs)
        The fits of the round.
    held_out : OutOfFold
        What they gave, with scores of shape (gammas, folds, Cs, rows of the round).
    costs : float64 array of shape (Cs, gammas, folds)
        Mean costs on the test rows; nan for fits that were not tried or did not finish.
    disorder : float64 array of shape (Cs, gammas, folds)
        Likewise the share of the pairs of test rows of both classes whose scores are in the wrong order, 1 - AUC. It
        orders pairs with equal costs: on few rows, many reject every row.
    """

    rows: NDArray[np.intp]
    splits: Splits
    tried: NDArray[np.bool_]
    held_out: OutOfFold
    costs: NDArray[np.float64]
    disorder: NDArray[np.float64]

    @property
    def complete(self) -> bool:
        """Whether all fits of the round finished."""
        return bool(self.held_out.finished[self.tried].all())

    @property
    def used(self) -> NDArray[np.bool_]:
        """The folds that were tried."""
        return np.asarray(self.tried.any(axis=(0, 2)))

    @property
    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean costs and disorders over the folds of the round, (Cs, gammas); nan for pairs that did not finish."""
        used = self.used
        mass = self.splits.mass[used]
        return (self.costs[:, :, used] * mass).sum(axis=2) / mass.sum(), self.disorder[:, :, used].mean(axis=2)


@dataclass(frozen=True, eq=False)
class Rounds:
    """What the rounds of a search share.

    Attributes
    ----------
    training : Training
    problem : DualProblem
        That of all rows, at C = 1.
    Cs, widths : float64 arrays, ascending
    settings : dict
        The keywords of `held_out_scores` that limit the fits.
    line : FitsLine
    halves : bool
        Whether pairs drop out between rounds, so that their order matters where costs are equal.
    """

    training: Training
    problem: DualProblem
    Cs: NDArray[np.float64]
    widths: NDArray[np.float64]
    settings: dict[str, Any]
    line: FitsLine
    halves: bool

    def run(
        self,
        rows: NDArray[np.intp],
        splits: Splits,
        tried: NDArray[np.bool_],
        deadline: float | None = None,
        *,
        coarse: bool = True,
    ) -> Round:
        """Make the fits marked by `tried`, (gammas, folds, Cs).

        Under a deadline with `coarse`, the middle of the grid comes first, as all may not be done in time.
        """
        held_out: OutOfFold | None = None
        for level in coarse_to_fine(tried) if coarse and deadline is not None else [tried]:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            found = self._fits(rows, splits, level, left)
            held_out = found if held_out is None else held_out | found
        assert held_out is not None  # noqa: S101 (the last level has what the others leave)
        return Round(rows, splits, tried, held_out, *self._judged(rows, splits, held_out))

    def _fits(
        self, rows: NDArray[np.intp], splits: Splits, tried: NDArray[np.bool_], seconds: float | None
    ) -> OutOfFold:
        n, folds = self.problem.n, np.asarray(tried.any(axis=(0, 2)))
        everywhere = np.zeros((len(folds), n), dtype=np.int32)
        everywhere[:, rows] = splits.trains
        weights = np.zeros(splits.trains.shape)
        weights[folds] = [self.training.weights(1.0, train)[rows] for train in everywhere[folds]]
        # gammas from the middle outwards if time may run out
        order = np.argsort(np.abs(np.arange(len(tried)) - len(tried) // 2), kind="stable")
        order = np.arange(len(tried)) if seconds is None else order
        self.line.begin(np.argwhere(tried[order])[:, 2])
        found = held_out_scores(
            self.problem.on_rows(rows),
            self.widths[order],
            rescaled(self.Cs, n, len(rows)),
            weights,
            tried[order],
            time_limit=seconds,
            progress=self.line.report,
            **self.settings,
        )
        if seconds is None:
            return found
        back = np.argsort(order)
        return OutOfFold(found.scores[back], found.optimal[back], found.finished[back])

    def _judged(
        self, rows: NDArray[np.intp], splits: Splits, held_out: OutOfFold
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give costs and disorder on each fold's test rows, fold by fold to save memory."""
        training, finished = self.training, held_out.finished
        costs = np.full((finished.shape[2], finished.shape[0], finished.shape[1]), np.nan)
        disorder = costs.copy()
        pricing = Pricing.of(training, rows)
        for f in np.flatnonzero(finished.any(axis=(0, 2))).tolist():
            done, test = finished[:, f].T, np.flatnonzero(splits.tests[f])
            sign, scores = pricing.sign[test], held_out.scores[:, f, :, test].transpose(2, 1, 0)[done]
            costs[done, f] = pricing.paid(test, scores) @ splits.tests[f, test]
            if self.halves:
                disorder[done, f] = [wrong_order(sign, score) for score in scores]
        return costs, disorder


def coarse_to_fine(tried: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Divide the fits of a grid, (gammas, folds, Cs): the middle pair first, then every 2^k-th one for k down to 0."""
    gammas, _, Cs = tried.shape
    left = tried.copy()
    stride = 1 << (max(gammas, Cs) - 1).bit_length()
    while stride:
        on_gammas = (np.arange(gammas) - gammas // 2) % stride == 0
        on_Cs = (np.arange(Cs) - (Cs - 1) // 2) % stride == 0
        level = left & on_gammas[:, np.newaxis, np.newaxis] & on_Cs
        if level.any():
            left &= ~level
            yield level
        stride //= 2


def wrong_order(sign: NDArray[np.int8], score: NDArray[np.float64]) -> float:
    """1 - AUC, with ties as half; 1/2 if there is one class only."""
    positive = int(np.sum(sign > 0))
    pairs = positive * (len(sign) - positive)
    above = float(rankdata(score)[sign > 0].sum()) - positive * (positive + 1) / 2
    return 1.0 - above / pairs if pairs else 0.5


def grid_of(
    Cs: NDArray[np.float64], gammas: NDArray[np.float64], rounds: list[Round], *, has_gamma: bool
) -> Grid:
    """Give the costs of every pair in the last round that tried it."""
    costs, rows = np.full(rounds[0].costs.shape, np.nan), np.zeros((len(Cs), len(gammas)), dtype=np.int64)
    mass = np.ones(costs.shape)
    for done in rounds:
        pairs = done.tried.any(axis=1).T
        costs[pairs], rows[pairs], mass[pairs] = done.costs[pairs], len(done.rows), done.splits.mass
    return Grid(Cs, gammas, costs, has_gamma, rows, shared=rounds[-1].splits.shared, mass=mass)
