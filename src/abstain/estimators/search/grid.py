"""The grid of a search: the values to try, and the results."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone

from abstain.arguments import positive_number
from abstain.gammas import resolve_gamma
from abstain.kernels import Kernel, Matrix

AUTO = ("rbf", "laplacian")  # the kernels that kernel="auto" stands for; ties go to the first

# Mean costs that differ by less than this share of themselves differ only by rounding, which depends on the unit of the
# costs and on the order of summation. So no choice depends on a smaller difference.
TIE = 1e-10


def checked_Cs(Cs: Any) -> NDArray[np.float64]:
    """Return the values of C to try, ascending: a number k stands for ``logspace(-2, 3, k)``."""
    if _is_count(Cs):
        return np.logspace(-2, 3, _count("Cs", int(Cs)))
    return np.unique([positive_number(f"Cs[{k}]", value) for k, value in enumerate(_listed("Cs", Cs))])


def checked_gammas(gammas: Any, X: Matrix, sample_weight: NDArray[np.float64], kernel: str) -> NDArray[np.float64]:
    """Return the values of gamma to try, ascending: a number k stands for "scale" times ``4 ** linspace(-2, 2, k)``."""
    if _is_count(gammas):
        count = _count("gammas", int(gammas))
        exponents = np.linspace(-2, 2, count) if count > 1 else np.zeros(1)
        with np.errstate(over="ignore", under="ignore"):
            widths = np.asarray(resolve_gamma("scale", X, sample_weight, kernel) * 4.0**exponents)
        if not (np.finfo(np.float64).tiny <= widths[0] and widths[-1] < np.inf):
            raise ValueError(
                f"gammas={count} reaches from {widths[0]:.3g} to {widths[-1]:.3g}, beyond the range of float64; scale "
                "the features, with StandardScaler for example, or list the gammas to try."
            )
        return widths
    return np.unique([resolve_gamma(value, X, sample_weight, kernel) for value in _listed("gammas", gammas)])


def checked_kernels(parameters: Any, X: Matrix, sample_weight: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the kernel of each gamma, if it is chosen too, and the gammas: [nan] for a kernel without gamma."""
    kernel = parameters.kernel
    if callable(kernel) or (kernel != "auto" and not Kernel(kernel).formula.takes_gamma):
        return (), np.array([np.nan])
    names = AUTO if kernel == "auto" else (kernel,)
    widths = [checked_gammas(parameters.gammas, X, sample_weight, name) for name in names]
    each = tuple(np.repeat(names, [len(own) for own in widths]).tolist())
    return each if kernel == "auto" else (), np.concatenate(widths)


def with_kernel(parameters: Any, name: Any) -> Any:
    """Return the parameters with this kernel in place of "auto"."""
    return clone(parameters).set_params(kernel=name) if parameters.kernel == "auto" else parameters


def first_pairs(parameters: Any, n_Cs: int, n_gammas: int) -> NDArray[np.bool_]:
    """Mark the pairs to try, (Cs, gammas).

    All, unless kernels share numbers of values: then each has every second pair, like the black squares of a board.
    """
    shared = parameters.kernel == "auto" and _is_count(parameters.Cs) and _is_count(parameters.gammas)
    C, gamma = np.indices((n_Cs, n_gammas))
    each = max(1, n_gammas // len(AUTO))
    black = (C - (n_Cs - 1) // 2 + gamma % each - each // 2) % 2 == 0  # has the middle of each kernel
    return np.asarray(black if shared and min(n_Cs, n_gammas) > 2 else black | True)


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
class Grid:
    """The mean cost of every pair on every fold.

    All means over folds are means over their test rows: a fold counts by the weight of its test rows.

    Attributes
    ----------
    Cs, gammas : float64 arrays, ascending
        The gammas are [nan] if the kernel has none, and those of each kernel one after the other if there are several.
    costs : float64 array of shape (Cs, gammas, folds)
        Costs in the last round in which the pair was tried; nan for folds not used in it, and for fits that did not
        finish within the time limit.
    rows : int64 array of shape (Cs, gammas)
        The number of rows in that round; 0 for pairs that were not tried. The pairs with the most rows were in the last
        round; only they can be chosen.
    tuned : float64 array of shape (Cs, gammas, folds), or None
        The costs with thresholds placed by the scores of the other folds; nan for pairs far from the best. None if all
        thresholds are Bayes'.
    near : bool array of shape (Cs, gammas, folds + 1), or None
        The pairs that are near the best without the test rows of each fold, and last, on all rows: only these may be
        chosen with tuned thresholds. None if all may.
    rejected : float
        Share of the held-out rows that the best pair rejects; nan if unknown, as in a model file.
    shared : bool array of shape (folds, folds), or None
        Whether two folds test a row in common, as folds of different repeats do; None if no two different folds do.
    mass : float64 array of shape (Cs, gammas, folds), or None
        The weight of each fold's test rows, in the round in which the pair was last tried, in any unit; None if all
        are equal.
    kernels : tuple of str
        The kernel of each gamma, if the kernel was chosen too; otherwise empty.
    """

    Cs: NDArray[np.float64]
    gammas: NDArray[np.float64]
    costs: NDArray[np.float64]
    rows: NDArray[np.int64]
    tuned: NDArray[np.float64] | None = None
    rejected: float = np.nan
    shared: NDArray[np.bool_] | None = None
    mass: NDArray[np.float64] | None = None
    near: NDArray[np.bool_] | None = None
    kernels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mass is not None and (self.mass == self.mass.flat[0]).all():
            object.__setattr__(self, "mass", None)

    @property
    def has_gamma(self) -> bool:
        """Whether the kernel has a gamma."""
        return not np.isnan(self.gammas).any()

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
    def kernel(self) -> str | None:
        """The kernel of the best pair, if it was chosen."""
        return self.kernels[self.place[1]] if self.kernels else None

    @property
    def place(self) -> tuple[int, int]:
        """Where the best pair is in the grid."""
        return self._choice(np.ones(self.n_splits, dtype=bool))[1]

    @property
    def best_is_tuned(self) -> bool:
        """Whether the best pair is best with tuned thresholds."""
        return self._choice(np.ones(self.n_splits, dtype=bool))[0] is self.tuned

    @property
    def best_score(self) -> float:
        """Minus the mean cost when each fold is decided by the choice of the other folds.

        The least mean cost of the grid is optimistic, because it was chosen for being the least. This cost is on rows
        that the choice has not seen. Folds that test some of the same rows do not choose for each other, unless all
        folds do. With a single fold there is nothing else to choose by, and it is the least mean cost.
        """
        folds = np.arange(self.n_splits)
        used = np.flatnonzero(np.isfinite(self.costs[self.rows == self.rows.max()]).any(axis=0))
        others = [folds != fold if len(used) > 1 else folds == fold for fold in used]
        if self.shared is not None:
            apart = [~self.shared[fold] for fold in used]
            others = [unseen if unseen[used].any() else other for unseen, other in zip(apart, others, strict=True)]
        choices = [self._choice(other, int(fold)) for fold, other in zip(used, others, strict=True)]
        costs = [table[(*place, fold)] for fold, (table, place) in zip(used, choices, strict=True)]
        masses = [self._masses[(*place, fold)] for fold, (_, place) in zip(used, choices, strict=True)]
        return -float(mean_of_folds(np.array(costs), np.array(masses))) if len(used) else np.nan

    def tuned_near(self, left_out: int = -1) -> NDArray[np.float64]:
        """The costs of the pairs near the best with tuned thresholds, on all rows or without a fold's test rows."""
        assert self.tuned is not None  # noqa: S101 (asked for only if there are tuned cuts)
        return self.tuned if self.near is None else np.where(self.near[:, :, left_out, np.newaxis], self.tuned, np.nan)

    def _choice(self, folds: NDArray[np.bool_], left_out: int = -1) -> tuple[NDArray[np.float64], tuple[int, int]]:
        """Return the table (`costs` or `tuned`) and the pair that these folds choose.

        Tuned thresholds are chosen unless they change nothing, or cost more than Bayes' by a standard error over the
        folds.
        """
        place = self._least(self.costs, folds)
        if self.tuned is None:
            return self.costs, place
        near = self._least(self.tuned_near(left_out), folds)
        more = (self.tuned[near] - self.costs[place])[folds]
        known = np.isfinite(more)
        more, mass, least = more[known], self._masses[near][folds][known], self.costs[place][folds][known]
        more[np.abs(more) <= TIE * least] = 0.0
        if not more.any():
            return self.costs, place
        mean, n = float(mean_of_folds(more, mass)), len(more)
        error = np.sqrt((((more - mean) * mass / mass.sum()) ** 2).sum() * n / (n - 1)) if n > 1 else 0.0
        # where a single fold differs, the two are equal up to rounding
        return (self.costs, place) if mean > error * (1.0 + TIE) else (self.tuned, near)

    def _least(self, costs: NDArray[np.float64], folds: NDArray[np.bool_]) -> tuple[int, int]:
        """The pair of the last round with the least mean, among those finished on the most of these folds, then of all.

        So a pair that dropped out is never chosen for the folds before it did.
        """
        finished = np.isfinite(costs) & (self.rows == self.rows.max())[:, :, np.newaxis] & folds
        if not finished.any():
            return (len(self.Cs) - 1) // 2, len(self.gammas) // (2 * max(1, len({*self.kernels})))
        known = finished.sum(axis=2) * (self.n_splits + 1) + np.isfinite(costs).sum(axis=2)
        mean = np.where(known == known.max(), mean_of_folds(np.where(finished, costs, np.nan), self._masses), np.inf)
        near = mean <= mean.min() * (1.0 + TIE)  # no cost is negative, so a sum's error is relative to the sum
        c, g = np.unravel_index(int(np.argmax(near)), near.shape)  # the first in the order of C, then gamma
        return int(c), int(g)

    @property
    def _masses(self) -> NDArray[np.float64]:
        return np.ones(self.costs.shape) if self.mass is None else self.mass

    @cached_property
    def results(self) -> dict[str, Any]:
        """The whole search in the form of scikit-learn's ``cv_results_``."""
        tried, masses = (self.rows > 0).ravel(), self._masses.reshape(self.rows.size, -1)
        scores, masses = -self.costs.reshape(masses.shape)[tried], masses[tried]
        params = [one for one, used in zip(self.params, tried, strict=True) if used]
        rows, known = self.rows.ravel()[tried], np.isfinite(scores).sum(axis=1)
        most = np.array([known[rows == n].max() for n in rows])  # the mean is nan if others on as many rows have more
        mean = np.where(known == most, mean_of_folds(scores, masses), np.nan)
        mantissa, exponent = np.frexp(-mean)  # rounded to digits, not to decimals: any unit of cost ranks alike
        place = rankdata(np.nan_to_num(np.ldexp(np.round(mantissa, 12), exponent), nan=np.inf), method="min")
        rank = [int(np.sum((rows > n) | ((rows == n) & (place < at)))) + 1 for n, at in zip(rows, place, strict=True)]
        found = {
            "params": params,
            **{f"param_{name}": np.ma.MaskedArray([one[name] for one in params], mask=False) for name in params[0]},
            **{f"split{fold}_test_score": scores[:, fold] for fold in range(self.n_splits)},
            "mean_test_score": mean,
            "std_test_score": np.sqrt(mean_of_folds((scores - mean[:, np.newaxis]) ** 2, masses)),
            "rank_test_score": np.array(rank, dtype=np.int32),
            "n_resources": rows,
        }
        if self.tuned is not None:
            found["mean_tuned_score"] = -mean_of_folds(self.tuned_near(), self._masses).ravel()[tried]
        return found

    @property
    def params(self) -> list[dict[str, Any]]:
        """The parameters of every pair, in the order of C, then gamma."""
        widths: list[dict[str, Any]] = [{"gamma": gamma} if self.has_gamma else {} for gamma in self.gammas.tolist()]
        for width, name in zip(widths, self.kernels, strict=False):
            width["kernel"] = name
        return [{"C": C} | width for C in self.Cs.tolist() for width in widths]


def mean_of_folds(values: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean over the last axis, the folds, without nan; nan if all are."""
    known = np.isfinite(values)
    total = np.where(known, mass * values, 0.0).sum(axis=-1)
    weight = np.where(known, mass, 0.0).sum(axis=-1)
    return np.divide(total, weight, out=np.full(total.shape, np.nan), where=weight > 0)
