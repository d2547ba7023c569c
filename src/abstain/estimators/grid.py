"""The grid of a search: the values to try, the folds, and the results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from abstain.arguments import positive_number
from abstain.estimators.splitting import Groups, parts_of, splitter
from abstain.kernels import Matrix, resolve_gamma

# Mean costs that differ by less than this, relative to themselves, differ only by the order of summation.
_TIE = 1e-10


def checked_Cs(Cs: Any) -> NDArray[np.float64]:
    """Give the values of C to try, ascending: a number k stands for ``logspace(-2, 3, k)``."""
    if _is_count(Cs):
        return np.logspace(-2, 3, _count("Cs", int(Cs)))
    return np.unique([positive_number(f"Cs[{k}]", value) for k, value in enumerate(_listed("Cs", Cs))])


def checked_gammas(gammas: Any, X: Matrix, sample_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the values of gamma to try, ascending: a number k stands for "scale" times ``4 ** linspace(-2, 2, k)``."""
    if _is_count(gammas):
        count = _count("gammas", int(gammas))
        exponents = np.linspace(-2, 2, count) if count > 1 else np.zeros(1)
        with np.errstate(over="ignore", under="ignore"):
            widths = np.asarray(resolve_gamma("scale", X, sample_weight) * 4.0**exponents)
        if not (np.finfo(np.float64).tiny <= widths[0] and widths[-1] < np.inf):
            raise ValueError(
                f"gammas={count} reaches from {widths[0]:.3g} to {widths[-1]:.3g}, beyond the range of float64; scale "
                "the features, with StandardScaler for example, or list the gammas to try."
            )
        return widths
    return np.unique([resolve_gamma(value, X, sample_weight) for value in _listed("gammas", gammas)])


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)  # by type: 1 == True


def _count(name: str, count: int) -> int:
    if count < 1:
        raise ValueError(f"{name}={count} must be at least 1, or the list of values to try.")
    return count


def _listed(name: str, values: Any) -> list[Any]:
    listed = np.asarray(values, dtype=object).ravel().tolist()
    if not listed or isinstance(values, str | bytes):
        raise ValueError(f"{name}={values!r} must be a number of values or a list with at least one.")
    return listed


@dataclass(frozen=True, eq=False)
class Splits:
    """Folds as arrays.

    Attributes
    ----------
    trains : uint8 array of shape (folds, rows)
        1 where the row trains in the fold.
    tests : float64 array of shape (folds, rows)
        The row's weight in the fold's mean cost; each fold sums to 1.
    """

    trains: NDArray[np.uint8]
    tests: NDArray[np.float64]

    @property
    def shared(self) -> NDArray[np.bool_] | None:
        """Whether two folds test a row in common, (folds, folds); None if only each with itself."""
        tested = (self.tests > 0).astype(np.float64)
        return np.asarray(tested @ tested.T > 0) if tested.sum(axis=0).max() > 1 else None


def checked_splits(
    cv: Any, y: ArrayLike, groups: Groups | None, sign: NDArray[np.int8], sample_weight: NDArray[np.float64]
) -> Splits:
    """Make the folds; each must train on both classes and test on rows with weight."""
    name = f"cv={cv!r}" if isinstance(cv, Integral) or hasattr(cv, "split") else "cv"  # too many rows to show
    fewer = not (isinstance(cv, Integral) and cv <= 2)  # of two there are none fewer
    way = f"{'Use fewer folds' if fewer else 'Add rows'}, or RejectSVC without a search."
    try:
        splits = parts_of(splitter(cv, y, groups), np.zeros(len(sign)), y, groups, way)
    except ValueError as error:
        if str(error).startswith("cv"):  # it names the way out already
            raise
        raise ValueError(f"{name} cannot split these rows: {error} {way}") from error
    if not splits:
        raise ValueError(f"{name} has no folds; give a number of them, a splitter, or pairs of (train, test) rows.")
    trains = np.zeros((len(splits), len(sign)), dtype=np.uint8)
    tests = np.zeros(trains.shape)
    for fold, (train, test) in enumerate(splits):
        trains[fold, train] = 1
        tests[fold, test] = sample_weight[test]
        weighted = sign[(trains[fold] > 0) & (sample_weight > 0)]
        if len(np.unique(weighted)) < 2:
            way = "use fewer folds or stratify them"
            if cv is None or isinstance(cv, Integral):  # these are stratified
                way = "add rows of the other class, or use RejectSVC without a search"
            raise ValueError(f"fold {fold} of {name} trains on one class only; {way}.")
        if not tests[fold].any():
            raise ValueError(f"fold {fold} of {name} has no test rows with weight; use fewer folds.")
        tests[fold] /= tests[fold].sum()
    return Splits(trains, tests)


@dataclass(frozen=True, eq=False)
class Grid:
    """The mean cost of every pair on every fold.

    Attributes
    ----------
    Cs, gammas : float64 arrays, ascending
    costs : float64 array of shape (Cs, gammas, folds)
        Those of the last round in which the pair was tried; nan for folds not used in it, and for fits that did not
        finish within the time limit.
    has_gamma : bool
        If False, the kernel has no gamma, and ``gammas`` is [nan].
    rows : int64 array of shape (Cs, gammas)
        The number of rows in that round. The pairs with the most are those of the last round, the only ones to be
        chosen.
    tuned : float64 array of shape (Cs, gammas, folds), or None
        The costs with cuts placed by the scores of the other folds; nan for pairs far from the best. None if all cuts
        are Bayes'.
    rejected : float
        Share of the held-out rows that the best pair rejects; nan if unknown, as in a model file.
    shared : bool array of shape (folds, folds), or None
        Whether two folds test a row in common, as those of different repeats do; None if only each with itself.
    """

    Cs: NDArray[np.float64]
    gammas: NDArray[np.float64]
    costs: NDArray[np.float64]
    has_gamma: bool
    rows: NDArray[np.int64]
    tuned: NDArray[np.float64] | None = None
    rejected: float = np.nan
    shared: NDArray[np.bool_] | None = None

    @property
    def n_splits(self) -> int:
        """The number of folds."""
        return self.costs.shape[2]

    @property
    def best(self) -> tuple[float, float]:
        """The pair (C, gamma) with the smallest mean cost; ties go to the smaller C, then to the smaller gamma.

        Only pairs of the last round count. If time ran out, the pairs finished on the most folds are compared, on those
        folds. If no fit finished, it is the middle C and gamma, where the search begins.
        """
        c, g = self.place
        return float(self.Cs[c]), float(self.gammas[g])

    @property
    def place(self) -> tuple[int, int]:
        """Where the best pair is in the grid."""
        return self._choice(np.ones(self.n_splits, dtype=bool))[1]

    @property
    def best_is_tuned(self) -> bool:
        """Whether the best pair is best with tuned cuts."""
        return self._choice(np.ones(self.n_splits, dtype=bool))[0] is self.tuned

    @property
    def best_score(self) -> float:
        """Minus the mean cost when each fold is decided by the choice of the other folds.

        The least mean cost of the grid has been chosen for being the least, so it promises too much; this cost is of
        rows that the choice has not seen. Folds that test some of the same rows do not choose for each other, unless
        all do. With a single fold there is nothing else to choose by, and it is the least.
        """
        folds = np.arange(self.n_splits)
        used = np.flatnonzero(np.isfinite(self.costs[self.rows == self.rows.max()]).any(axis=0))
        others = [folds != fold if len(used) > 1 else folds == fold for fold in used]
        if self.shared is not None:
            apart = [~self.shared[fold] for fold in used]
            others = [unseen if unseen[used].any() else other for unseen, other in zip(apart, others, strict=True)]
        choices = [self._choice(other) for other in others]
        costs = [table[(*place, fold)] for fold, (table, place) in zip(used, choices, strict=True)]
        return -float(np.nanmean(costs)) if np.isfinite(costs).any() else np.nan

    def _choice(self, folds: NDArray[np.bool_]) -> tuple[NDArray[np.float64], tuple[int, int]]:
        """Give the table (`costs` or `tuned`) and the pair that these folds choose.

        Tuned cuts are chosen unless they change nothing, or cost more than Bayes' by a standard error over the folds.
        """
        place = self._least(self.costs[:, :, folds])
        if self.tuned is None:
            return self.costs, place
        near = self._least(self.tuned[:, :, folds])
        more = (self.tuned[near] - self.costs[place])[folds]
        more = more[np.isfinite(more)]
        error = float(more.std(ddof=1)) / np.sqrt(len(more)) if len(more) > 1 else 0.0
        if not more.any() or more.mean() > error:
            return self.costs, place
        return self.tuned, near

    def _least(self, costs: NDArray[np.float64]) -> tuple[int, int]:
        """The pair of the last round with the least mean, among those finished on the most of these folds."""
        finished = np.isfinite(costs) & (self.rows == self.rows.max())[:, :, np.newaxis]
        if not finished.any():
            return (len(self.Cs) - 1) // 2, len(self.gammas) // 2
        known = finished.sum(axis=2)
        total = np.where(finished, costs, 0.0).sum(axis=2)
        mean = np.where(known == known.max(), total / np.maximum(known, 1), np.inf)
        near = mean <= mean.min() * (1.0 + _TIE)  # no cost is negative, so a sum's error is relative to the sum
        c, g = np.unravel_index(int(np.argmax(near)), near.shape)  # the first in the order of C, then gamma
        return int(c), int(g)

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """The mean cost of each pair, (Cs, gammas); nan if others on as many rows finished on more folds, or none."""
        finished = np.isfinite(self.costs)
        known = finished.sum(axis=2)
        most = np.zeros_like(known)
        for rows in np.unique(self.rows):
            most[self.rows == rows] = known[self.rows == rows].max()
        total = np.where(finished, self.costs, 0.0).sum(axis=2)
        return np.where((known == most) & (known > 0), total / np.maximum(known, 1), np.nan)

    @cached_property
    def results(self) -> dict[str, Any]:
        """The whole search in the form of scikit-learn's ``cv_results_``."""
        scores = -self.costs.reshape(-1, self.n_splits)
        C, gamma = (values.ravel() for values in np.meshgrid(self.Cs, self.gammas, indexing="ij"))
        names = ("C", "gamma") if self.has_gamma else ("C",)
        columns = dict(zip(names, (C, gamma), strict=False))
        mean, rows = -self._means.ravel(), self.rows.ravel()
        mantissa, exponent = np.frexp(-mean)  # rounded to digits, not to decimals: any unit of cost ranks alike
        place = rankdata(np.nan_to_num(np.ldexp(np.round(mantissa, 12), exponent), nan=np.inf), method="min")
        rank = [int(np.sum((rows > n) | ((rows == n) & (place < at)))) + 1 for n, at in zip(rows, place, strict=True)]
        return {
            "params": [dict(zip(names, pair, strict=False)) for pair in zip(C.tolist(), gamma.tolist(), strict=True)],
            **{f"param_{name}": np.ma.MaskedArray(values, mask=False) for name, values in columns.items()},
            **{f"split{fold}_test_score": scores[:, fold] for fold in range(self.n_splits)},
            "mean_test_score": mean,
            "std_test_score": np.where(np.isnan(mean), np.nan, _deviation(scores)),
            "rank_test_score": np.array(rank, dtype=np.int32),
            "n_resources": rows,
            **({} if self.tuned is None else {"mean_tuned_score": -_means_of(self.tuned).ravel()}),
        }


def _means_of(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the folds that a pair has; nan if it has none."""
    known = np.isfinite(costs).sum(axis=2)
    total = np.where(np.isfinite(costs), costs, 0.0).sum(axis=2)
    return np.where(known > 0, total / np.maximum(known, 1), np.nan)


def _deviation(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of each row over the folds that it has."""
    known = np.isfinite(scores)
    count = np.maximum(1, known.sum(axis=1, keepdims=True))
    centred = scores - np.where(known, scores, 0.0).sum(axis=1, keepdims=True) / count
    return np.asarray(np.sqrt((np.where(known, centred, 0.0) ** 2).sum(axis=1) / count[:, 0]))
