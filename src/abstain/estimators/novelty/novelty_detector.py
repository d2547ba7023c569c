"""NoveltyDetector: how unusual a row is, by the relations between its columns and by its distance from other rows."""

import math
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.compressed import checked_rows
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import BaseEstimator
from abstain.estimators.fitting.decide import FittedMixin
from abstain.estimators.novelty.left_out import residuals_left_out, scores_left_out
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.lower_bound import lower_bound, unsure_rows

Array = NDArray[np.float64]

FEWEST_ROWS, MOST_COLUMNS = 12, 500  # to learn relations from, and to keep a matrix of
FAR = 3.0  # standard deviations at which a cell is clipped
ODD = 5.0  # those beyond which a cell does not stretch its column
RIDGE = 0.01  # of the mean variance
OUTER, UPPER = 0.01, 0.2  # shares of the training rows that set the units of a residual and of each of the two parts
SHORTEST = 0.02  # the mean excess of a part is at least this
FAINTEST = 1e-300  # smallest kernel sum that counts as above 0
LONGEST = math.log(-math.log(FAINTEST))  # the logarithm of a distance that is never reached


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns in standard deviations from their means, after a logarithm where that is possible.

    ::

        u = log(x - o)                 where all training rows lie above the origin o, and x - o >= f
        u = log f + (x - o - f) / f    below f, a tenth of the smallest x - o in training
        u = x                          other columns
        z = (u - centre) / spread

    Attributes
    ----------
    origin, floor, centre, spread : ndarray of shape (n_features,)
        o, f, and the mean and standard deviation of u. Origin and floor are 0 for columns without a logarithm.
    """

    origin: Array
    floor: Array
    centre: Array
    spread: Array

    @classmethod
    def learnt(cls, X: Array, origin: Array | None) -> "tuple[Columns, Array]":
        """Learn from training rows, and return their z; no column has a logarithm if the origin is None."""
        n, d = X.shape
        above = X - origin if origin is not None else np.zeros((n, d))
        least = above.min(axis=0)
        logged = least > 1e-9 * np.abs(above).max(axis=0)
        floor = np.where(logged, least / 10.0, 0.0)
        start = np.where(logged, origin, 0.0) if origin is not None else np.zeros(d)
        given = cls(start, floor, np.zeros(d), np.ones(d)).standardised(X)
        low, middle, high = _quantiles(given, 0.25, 0.5, 0.75)
        reach = np.where(high > low, ODD * (high - low) / 1.349, np.inf)
        u = np.clip(given, middle - reach, middle + reach)
        deviation = u.std(axis=0)
        spread = np.where(deviation > 1e-12 * np.abs(u).max(axis=0), deviation, 1.0)
        mean = u.mean(axis=0)
        shift = np.clip((u - mean) / spread, -FAR, FAR).mean(axis=0)
        columns = cls(start, floor, mean + shift * spread, spread)
        return columns, (given - columns.centre) / spread

    def standardised(self, X: Array) -> Array:
        """Return z, not clipped."""
        logged = np.flatnonzero(self.floor > 0.0)
        if len(logged):
            columns = np.subtract(X.T, self.origin[:, np.newaxis], order="C")
            f, some = self.floor[logged, np.newaxis], columns[logged]
            above = np.maximum(some, f)
            some -= above
            some /= f
            columns[logged] = np.log(above, out=above) + some
            X = columns.T
        z: Array = X - self.centre
        z /= self.spread
        return z


@dataclass(frozen=True, eq=False)
class FittedDetector:
    """A fitted `NoveltyDetector`.

    Attributes
    ----------
    columns : Columns
        Makes z of a row.
    residuals : ndarray of shape (n_features, n_features)
        A column for each feature: z times it is what the other features do not explain of this one, in units of what
        is rare.
    one_class : OneClassSVM
        Fitted to the clipped z.
    units, excess : ndarray of shape (2,)
        The size of each part that one in five held-out rows exceeds, and the mean logarithm of how far they do.
    """

    columns: "Columns"
    residuals: Array
    one_class: OneClassSVM
    units: Array
    excess: Array

    @classmethod
    def of(cls, X: Array, origin: Array | None) -> "FittedDetector":
        """Fit to rows; the units come from the sizes that each row has if it alone is left out."""
        columns, z = Columns.learnt(X, origin)
        clipped = z.clip(-FAR, FAR)
        n, d = z.shape
        covariance = clipped.T @ clipped / n
        ridge = RIDGE * float(np.trace(covariance)) / d or 1.0
        precision = np.linalg.inv(covariance + ridge * np.eye(d))
        one_class = NoveltyDetector.part().fit(clipped)
        residual = np.abs(residuals_left_out(precision, z, clipped))
        rare = np.maximum(_quantiles(residual, 1.0 - OUTER)[0], np.sqrt((residual**2).mean(axis=0)))
        rare = np.where(rare > 0.0, rare, 1.0)
        units, excess = np.ones(2), np.full(2, SHORTEST)
        far = _distance(scores_left_out(one_class.machine_, clipped), one_class.machine_)
        for at, size in enumerate(((residual / rare).max(axis=1), far)):
            upper = np.sort(size)[-1 - max(int(UPPER * n), 3) :]
            if upper[0] > 0.0:
                units[at] = upper[0]
                excess[at] = max(float(np.log(upper[1:] / upper[0]).mean()), SHORTEST)
        return cls(columns, precision / (np.sqrt(np.diag(precision)) * rare), one_class, units, excess)

    @property
    def machine(self) -> Any:
        """The machine of one class."""
        return self.one_class.machine_

    def parts(self, X: Array) -> tuple[Array, Array]:
        """Return the size of the largest residual of each row, and its distance from others."""
        z = self.columns.standardised(X)
        residual = np.abs(self.residuals.T @ z.T).max(axis=0)
        near = self.machine.expansion(z.clip(-FAR, FAR)) if len(z) else np.empty(0)
        return residual, _distance(near, self.machine)

    def unusual(self, X: Array) -> Array:
        """Return how unusual each row is, a positive number."""
        with np.errstate(divide="ignore"):
            parts = zip(self.parts(X), self.units, self.excess, strict=True)
            v = np.maximum(*(np.log(size / unit) / excess for size, unit, excess in parts))
        return np.asarray(np.exp(np.minimum(v, 0.0)) + np.maximum(v, 0.0))

    def unsure(self, X: Array, above: float) -> NDArray[np.intp]:
        """Return the indices of the rows that may be more unusual than `above`, or hold no finite numbers."""
        v = above - 1.0 if above > 1.0 else math.log(above)
        residual_level, far_level = (self.units * np.exp(np.minimum(self.excess * v, LONGEST))).tolist()
        columns, (residuals, bound) = self.columns, self._bounds
        scaling = columns.centre, columns.spread
        if (columns.floor > 0.0).any():
            X, scaling = columns.standardised(X), (np.zeros(X.shape[1]), np.ones(X.shape[1]))
        least = math.exp(-(far_level**2)) * float(self.machine.coef.sum())
        return unsure_rows(X, scaling, residuals, residual_level, bound=bound, least=least, clip=FAR)

    @cached_property
    def _bounds(self) -> tuple[Array, KernelMachine]:
        """The vectors of the residuals, and a bound on the score of the machine."""
        return np.ascontiguousarray(self.residuals.T), lower_bound(self.machine)


def _quantiles(values: Array, *shares: float) -> Array:
    """Return these quantiles of each column: between the two nearest numbers, as NumPy does it with more checks."""
    ordered, at = np.sort(values, axis=0), np.multiply(shares, len(values) - 1)
    below = at.astype(np.intp)
    following = ordered[np.minimum(below + 1, len(values) - 1)]
    return np.asarray(ordered[below] + (at - below)[:, np.newaxis] * (following - ordered[below]))


def _distance(score: Array, machine: Any) -> Array:
    """Return (-log f)^(1/2) from scores f times the sum of the coefficients."""
    return np.asarray(np.sqrt(-np.log((score / machine.coef.sum()).clip(FAINTEST, 1.0))))


class NoveltyDetector(FittedMixin, BaseEstimator):
    """Score how unusual a row is: the default detector of `NoveltyRejector`.

    ::

        z     the columns, after a logarithm where all training rows are positive, in standard deviations
        r_j = (P z)_j / (P_jj^(1/2) q_j)             P = (S + ridge)^-1, S the covariance of z clipped to 3
        f   = sum_i beta_i k(z_i, z clipped) / sum_i beta_i       a OneClassSVM
        v   = max(log(max_j |r_j| / b_1) / w_1, log((-log f)^(1/2) / b_2) / w_2)
        score = -(exp(min(v, 0)) + max(v, 0))

    The residual r_j is what the other columns do not explain of column j, so a column in another unit, or in the place
    of another one, shows even if it is within its range. The second part is the distance from all training rows; a
    single cell can contribute little to it. The units are those of training rows, each left out: q_j is the size that
    one residual in a hundred exceeds, b the size of a part that one row in five exceeds, w the mean of
    log(size / b) over these rows, which is how slowly its tail falls (Hill's estimate): an odd value in a column with
    many odd values counts for little.

    Attributes
    ----------
    columns_, residuals_ : Columns, ndarray
        z, and the matrix of r.
    machine_ : KernelMachine
        Of the second part.
    n_features_in_, feature_names_in_ : int, ndarray
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.estimators.novelty.novelty_detector import NoveltyDetector
    >>> height = np.linspace(1.5, 2.0, 100)
    >>> X = np.column_stack([height, 25 * height**2])
    >>> NoveltyDetector().fit(X, origin=np.zeros(2)).score_samples([[1.8, 81.0], [1.6, 100.0]]).round(1)
    array([ -1. , -39.1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def fit(self, X: ArrayLike, y: Any = None, origin: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Learn from rows without labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, at least 12.
        y : None
            Ignored.
        origin : array-like of shape (n_features,), default=None
            What 0 of each column became before this detector; columns that lie above it in all rows are positive. None:
            no logarithms.

        Returns
        -------
        NoveltyDetector
            The fitted estimator.
        """
        checked = copy(self)
        rows = checked_rows(checked, X, dense=True, reset=True)
        if len(rows) < FEWEST_ROWS:
            raise ValueError(f"X has {len(rows)} rows, and the detector needs {FEWEST_ROWS}; give more rows.")
        zero = None if origin is None else np.asarray(origin, dtype=np.float64)
        self._commit(checked, FittedDetector.of(rows, zero))
        return self

    def score_samples(self, X: ArrayLike) -> Array:
        """Return how usual each row is: minus a positive number, larger where the training rows lie."""
        now: FittedDetector = self._now
        return -now.unusual(checked_rows(self, X, dense=True, reset=False))

    def unsure(self, X: Any, above: float) -> NDArray[np.intp]:
        """Return the indices of the rows that may have a score below minus `above`; faster than their scores."""
        return self._now.unsure(np.asarray(X, dtype=np.float64), above)

    @staticmethod
    def part() -> OneClassSVM:
        """Return the machine of the second part, not fitted."""
        return OneClassSVM(nu=0.05)

    columns_ = fitted[Columns]("columns", "The columns in standard deviations.")
    residuals_ = fitted[NDArray[np.float64]]("residuals", "The matrix that gives the residuals of a row.")
