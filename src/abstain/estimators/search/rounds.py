"""One round of a search: pairs of C and gamma fitted and judged on some of the rows, a stratified subsample of folds.

Every row has a key in [0, 1). The subsample of a part of the rows are those with the smallest keys, so that a larger
subsample contains a smaller one, and folds that share rows share the rows chosen. Rows of a group have the same key,
and are chosen together, where a subsample has many groups. Where it would have few, it has rows of all groups: two
patients say little about forty. In both cases the folds are those of all rows, so a group never trains where it tests.

::

    C_sub = C (n / n_sub)^a      stands for C on all n rows

Theory has the weight of the penalty, 1 / (n C), fall like a power of n between n^-1 (a = 0) and n^0 (a = 1). Measured
with Costs(reject=0.2) on covtype 1 v 2 and 4 v 6, MIT-BIH beats and generated sets with 10 and 100 features: from the
costs of all pairs on 1,000, 2,000 and 4,000 rows to the best pair on 8,000. The pair chosen costs more than the best by
0.0042, 0.0046, 0.0050, 0.0062, 0.0070, 0.0084 a row for a = -1/2, -1/4, 0, 1/4, 1/2, 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from abstain.estimators.fitting.progress import FitsLine
from abstain.estimators.fitting.splitting import Groups, Splits
from abstain.estimators.fitting.training import Training
from abstain.estimators.search.beaten import Beaten
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.held_out import Pricing
from abstain.solvers.cross_validation import Folds

EXPONENT = -0.25  # a
SEED = 0
MANY = 30  # groups that a subsample of whole groups must have


def rescaled(Cs: NDArray[np.float64], rows: int, chosen: int) -> NDArray[np.float64]:
    """Return the C for `chosen` of the rows that each C for all rows stands for."""
    return Cs * (rows / chosen) ** EXPONENT


def keys_of(code: NDArray[np.intp], groups: Groups | None, smallest: float) -> NDArray[np.float64]:
    """Return the key of each row; `smallest` is the share of the smallest subsample.

    Without groups the keys are evenly spaced within each class, so that the first rows have all in proportion::

        key_i = (place of i in a random order of its class) / (rows of its class)
    """
    rng = np.random.default_rng(SEED)
    labels, group = (np.empty(0), np.empty(0)) if groups is None else np.unique(groups, return_inverse=True)
    if smallest * len(labels) >= MANY:
        return np.asarray(rng.permutation(len(labels))[group.ravel()] / len(labels))
    keys = np.empty(len(code))
    for k in range(int(code.max()) + 1):
        own = code == k
        keys[own] = rng.permutation(int(own.sum())) / max(1, int(own.sum()))
    return keys


def subsample(
    splits: Splits, keys: NDArray[np.float64], code: NDArray[np.intp], weight: NDArray[np.float64], share: float
) -> tuple[NDArray[np.intp], Splits]:
    """Choose this share of each fold's training and test rows; return the indices of all rows chosen, and folds."""
    trains = np.stack([first(keys, (train > 0) & (weight > 0), code, share) for train in splits.trains])
    tests = np.stack([first(keys, test > 0, code, share) for test in splits.tests])
    rows = np.flatnonzero(trains.any(axis=0) | tests.any(axis=0))
    tested = np.where(tests, splits.tests * splits.mass[:, np.newaxis], 0.0)[:, rows]
    return rows, Splits.of(np.where(trains, splits.trains, 0)[:, rows], tested)


def first(
    keys: NDArray[np.float64], part: NDArray[np.bool_], code: NDArray[np.intp], share: float
) -> NDArray[np.bool_]:
    """Mark this share of the rows of `part`, those with the smallest keys, and a row at least of each class in it."""
    count = int(np.ceil(share * part.sum()))
    chosen = part & (keys <= np.partition(keys[part], count - 1)[count - 1])
    for k in range(int(code.max()) + 1):
        own = part & (code == k)
        if own.any() and not (chosen & own).any():
            chosen |= part & (keys == keys[own].min())
    return np.asarray(chosen)


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
    optimal, finished : bool arrays of the same shape
        Which of them reached their tolerance, and which ended in time.
    scores : float64 array of shape (Cs, gammas, test rows of all folds), and for several classes a last axis for these
    costs : float64 array of shape (Cs, gammas, folds)
        Mean costs on the test rows; nan for fits that were not tried or did not finish.
    disorder : float64 array of shape (Cs, gammas, folds)
        Likewise 1 - AUC: the share of pairs of test rows, one of a class and one of the rest, with scores in the wrong
        order. It orders pairs of C and gamma with equal costs: on few rows, many reject every row.
    """

    rows: NDArray[np.intp]
    splits: Splits
    tried: NDArray[np.bool_]
    optimal: NDArray[np.bool_]
    finished: NDArray[np.bool_]
    scores: NDArray[np.float64]
    costs: NDArray[np.float64]
    disorder: NDArray[np.float64]

    @property
    def complete(self) -> bool:
        """Whether all fits of the round finished."""
        return bool(self.finished[self.tried].all())

    @property
    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean costs and disorders over the folds of the round, (Cs, gammas); nan for pairs that did not finish."""
        used = self.tried.any(axis=(0, 2))
        mass = self.splits.mass[used]
        return (self.costs[:, :, used] * mass).sum(axis=2) / mass.sum(), self.disorder[:, :, used].mean(axis=2)


@dataclass(frozen=True, eq=False)
class Rounds:
    """What the rounds of a search share.

    Attributes
    ----------
    training : Training
    fits : KernelFits or LinearFits
    Cs : float64 array, ascending
    pairs : bool array of shape (Cs, gammas)
        Those of the first round.
    line : FitsLine
    halves : bool
        Whether pairs drop out between rounds, so that their order matters where costs are equal.
    drops : bool
        Whether pairs drop out between folds (`beaten.py`).
    """

    training: Training
    fits: Any
    Cs: NDArray[np.float64]
    pairs: NDArray[np.bool_]
    line: FitsLine
    halves: bool
    drops: bool = False

    def run(self, rows: NDArray[np.intp], splits: Splits, tried: NDArray[np.bool_], *, coarse: bool = True) -> Round:
        """Make the fits marked by `tried`, (gammas, folds, Cs).

        Under a time limit with `coarse`, the middle of the grid comes first, in case time runs out.
        """
        limited = self.fits.limits.until is not None and self.fits.coarse_first
        folds, held_out = self._folds(rows, splits, tried), None
        Cs = rescaled(self.Cs, len(self.training.code), len(rows))
        kernels = len({*getattr(self.fits, "kernels", ())}) or 1
        own = {"beaten": Beaten(Pricing.of(self.training, rows), splits)} if self.drops else {}
        for level in coarse_to_fine(tried, kernels) if coarse and limited else [tried]:
            found = self.fits.scores(rows, folds, Cs, level, line=self.line, **own)
            held_out = found if held_out is None else held_out.joined(found)
        assert held_out is not None  # noqa: S101 (the last level has what the others leave)
        scores = held_out.scores
        judged = self._judged(rows, splits, scores, held_out.finished)
        return Round(rows, splits, held_out.tried, held_out.optimal, held_out.finished, scores, *judged)

    def _folds(self, rows: NDArray[np.intp], splits: Splits, tried: NDArray[np.bool_]) -> Folds:
        used = np.asarray(tried.any(axis=(0, 2)))
        everywhere = np.zeros((len(used), len(self.training.code)), dtype=np.int32)
        everywhere[:, rows] = splits.trains
        weights = np.zeros(splits.trains.shape)
        weights[used] = [self.training.weights(1.0, train)[rows] for train in everywhere[used]]
        return Folds(self.training.code[rows], weights, [np.flatnonzero(test) for test in splits.tests])

    def _judged(
        self, rows: NDArray[np.intp], splits: Splits, scores: NDArray[np.float64], finished: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return costs and disorder on each fold's test rows, fold by fold to save memory."""
        costs = np.full((finished.shape[2], finished.shape[0], finished.shape[1]), np.nan)
        disorder = costs.copy()
        pricing = Pricing.of(self.training, rows)
        fold, row = np.nonzero(splits.tests)
        for f in np.flatnonzero(finished.any(axis=(0, 2))).tolist():
            done, test = finished[:, f].T, row[fold == f]
            own = scores[:, :, fold == f][done]
            costs[done, f] = pricing.paid(test, own) @ splits.tests[f, test]
            if self.halves:
                disorder[done, f] = [wrong_order(pricing.code[test], score) for score in own]
        return costs, disorder


def coarse_to_fine(tried: NDArray[np.bool_], kernels: int = 1) -> Iterator[NDArray[np.bool_]]:
    """Divide the fits of a grid, (gammas, folds, Cs): the middle pair first, then every 2^k-th one for k down to 0.

    The gammas of several kernels come one after the other, and each has a middle.
    """
    gammas, _, Cs = tried.shape
    each = gammas // kernels
    left = tried.copy()
    stride = 1 << (max(gammas, Cs) - 1).bit_length()
    while stride:
        on_gammas = (np.arange(gammas) % each - each // 2) % stride == 0
        on_Cs = (np.arange(Cs) - (Cs - 1) // 2) % stride == 0
        level = left & on_gammas[:, np.newaxis, np.newaxis] & on_Cs
        if level.any():
            left &= ~level
            yield level
        stride //= 2


def wrong_order(code: NDArray[np.intp], score: NDArray[np.float64]) -> float:
    """1 - AUC, where ties count half, and 1/2 if there is one class only; for several classes, the mean over them."""
    if score.ndim > 1:
        return float(np.mean([wrong_order((code == k).astype(np.intp), each) for k, each in enumerate(score.T)]))
    positive = int(np.sum(code == 1))
    pairs = positive * (len(code) - positive)
    above = float(rankdata(score)[code == 1].sum()) - positive * (positive + 1) / 2
    return 1.0 - above / pairs if pairs else 0.5


def grid_of(Cs: NDArray[np.float64], gammas: NDArray[np.float64], rounds: list[Round]) -> Grid:
    """Return the costs of every pair in the last round that tried it."""
    costs, rows = np.full(rounds[0].costs.shape, np.nan), np.zeros((len(Cs), len(gammas)), dtype=np.int64)
    mass = np.ones(costs.shape)
    for done in rounds:
        pairs = done.tried.any(axis=1).T
        costs[pairs], rows[pairs], mass[pairs] = done.costs[pairs], len(done.rows), done.splits.mass
    return Grid(Cs, gammas, costs, rows, shared=rounds[-1].splits.shared, mass=mass)
