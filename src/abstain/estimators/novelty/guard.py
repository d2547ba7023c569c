"""The guard of a `NoveltyRejector`: how unusual a row is, and its p-value among rows that the detector has not seen.

::

    s(x) = -score_samples(x) of the detector;  p(x) = (1 + #{j: s_j >= s(x)}) / (m + 1);  novel if p(x) <= rate

If x and the m calibration rows are exchangeable, and the detector has seen neither, P(p(x) <= rate) <= rate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_feature_names as check_names
from sklearn.utils.validation import _check_n_features as check_number_of_columns
from sklearn.utils.validation import _num_samples as number_of_rows

from abstain.estimators.novelty.novelty_detector import NoveltyDetector

# A cell beyond this is not passed to other detectors: those that compute in float32 refuse it. The row is novel.
LARGEST = float(np.finfo(np.float32).max)
FEW = 200  # rows below which it takes longer to find those that are surely not novel than to score them
# Scores nearer to each other than this, relative to their size, are equal: rounding depends on the rows in a batch, and
# of equal rows none may be more unusual than the others.
TIED = 1e-8


@dataclass(frozen=True, eq=False)
class Guard:
    """A fitted detector, and the scores of calibration rows that it has not seen.

    Attributes
    ----------
    detector : outlier detector, or Pipeline that ends in one
        Fitted; it takes rows as the classifier takes them.
    scores : ndarray of float64, shape (m,)
        -score_samples of the calibration rows, increasing; inf for a row that the detector cannot score. Scores that
        rounding alone can make differ are equal.
    rate : float
        The largest share of rows like the training rows that are rejected as novel.
    n : int
        The number of rows that the detector was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.estimators.novelty.guard import Guard
    >>> guard = Guard(None, np.array([1.0, 2.0, 2.0, 5.0]), rate=0.2, n=0)
    >>> guard.p_value([0.0, 2.0, 5.0, 5.1])
    array([1. , 0.8, 0.4, 0.2])
    >>> guard.novel([5.0, 5.1])
    array([False,  True])
    """

    detector: Any
    scores: NDArray[np.float64]
    rate: float
    n: int

    @classmethod
    def calibrated(cls, detector: Any, rows: Any, rate: float, n: int) -> "Guard":
        """Make the guard of a detector that was fitted on n rows, `rows` not among them."""
        scores = _levelled(np.sort(_unusual(detector, rows))) if number_of_rows(rows) else np.empty(0)
        if len(scores) and np.isposinf(scores).all():
            _scored(detector, rows)  # raises what is wrong with all of them, if anything was raised
            raise ValueError(f"detector={detector!r} gives no number for any of {len(scores)} rows; use another one.")
        return cls(detector, scores, float(rate), int(n))

    @property
    def m(self) -> int:
        """The number of calibration rows."""
        return len(self.scores)

    @property
    def acts(self) -> bool:
        """Whether any row can be novel: there are enough calibration rows for the rate."""
        return 1.0 / (self.m + 1) <= self.rate

    def unusual(self, X: Any) -> NDArray[np.float64]:
        """Return how unusual each row is: minus the detector's score; inf for a row that it cannot score.

        A score that rounding alone can make differ from a calibration score is that one. Other columns than those of
        training are an error.
        """
        first = self.detector[0] if isinstance(self.detector, Pipeline) else self.detector
        if not isinstance(first, ColumnTransformer):  # which takes more columns, in any order
            check_number_of_columns(first, X, reset=False)
            if hasattr(X, "columns") and hasattr(first, "feature_names_in_"):
                check_names(first, X, reset=False)
        return self._tied(_unusual(self.detector, X))

    def p_value(self, unusual: ArrayLike) -> NDArray[np.float64]:
        """Return the share of calibration rows, and the row itself, that are at least so unusual.

        A row that is exactly as unusual as a calibration row has at least ``least_known``, so that no calibration row
        is novel itself. That only raises p-values, so the promise holds as before.
        """
        s = _nan_as_inf(np.asarray(unusual, dtype=np.float64))
        low, high = self.levels
        above = np.searchsorted(high, s, side="left")
        tied = np.isfinite(s) & (np.searchsorted(low, s, side="right") > above)
        p = (1.0 + self.m - above) / (self.m + 1.0)
        return np.asarray(np.where(tied, np.maximum(p, self.least_known), p))

    @cached_property
    def levels(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores between which a row is as unusual as each calibration row: theirs, but for rounding."""
        room = TIED * np.where(np.isfinite(self.scores), np.abs(self.scores), 0.0)
        return self.scores - room, self.scores + room

    @property
    def least_known(self) -> float:
        """The least p-value above the rate: (k + 1) / (m + 1), k the largest number with k / (m + 1) <= rate."""
        return (self._most + 1.0) / (self.m + 1.0)

    @cached_property
    def _most(self) -> int:
        return int(np.sum(np.arange(1.0, self.m + 2.0) / (self.m + 1.0) <= self.rate))

    def novel(self, unusual: ArrayLike) -> NDArray[np.bool_]:
        """Return True for the rows that are rejected as novel."""
        s = _nan_as_inf(np.asarray(unusual, dtype=np.float64))
        beyond = np.asarray(s > self._level)  # the only ones whose p-value can be so small
        beyond[beyond] = self.p_value(s[beyond]) <= self.rate
        return beyond

    @cached_property
    def _level(self) -> float:
        """What a novel row is more unusual than."""
        return float(self.levels[1][self.m - self._most]) if self.acts else np.inf

    def novel_rows(self, X: Any) -> NDArray[np.bool_]:
        """Return True for the rows of X that are rejected as novel; the detector is not asked if no row can be."""
        if not self.acts:
            return np.zeros(number_of_rows(X), dtype=bool)
        return self.novel(_unusual(self.detector, X, self._level))

    def _tied(self, s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Replace scores by the calibration scores that they are equal to but for rounding."""
        if not self.m:
            return s
        above = np.searchsorted(self.scores, s).clip(max=self.m - 1)
        for known in (self.scores[above], self.scores[np.maximum(above - 1, 0)]):
            s = np.where(_near(s, known), known, s)
        return s


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rows that neither the detector nor the classifier that decided on them was fitted on.

    Attributes
    ----------
    scores : ndarray of float64, shape (m,)
        How unusual each of them is, increasing, as in `Guard`.
    choices : ndarray of int64, shape (n_classes + 1,) or (n_actions,), or None
        How many of them got each decision of the classifier: the classes in order, then rejects; with `Actions`, each
        action in the order of their names. None if every classifier at hand may have seen them. Their sum is less
        than m if rows of a rare class were needed for the fit. They may be counted when they are first read, and a
        copy of rows is kept until then.
    """

    scores: NDArray[np.float64]
    counts: NDArray[np.int64] | Callable[[], NDArray[np.int64] | None] | None = None

    @property
    def choices(self) -> NDArray[np.int64] | None:
        """The counts, which are made when they are first read."""
        found = self.counts
        if callable(found):
            self.__dict__["counts"] = found = found()  # which lets go of the rows
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"scores": self.scores, "counts": self.choices}


def _unusual(detector: Any, X: Any, above: float = 0.0) -> NDArray[np.float64]:
    """Return -score_samples; inf where the detector or its preprocessing fails, or gives nan.

    What is not above a level need not be exact.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # absurd rows; what comes of them is inf below
            return _scored(detector, X, above)
    except NotFittedError:
        raise
    except ValueError:
        n = number_of_rows(X)
        if n <= 1:
            return np.full(n, np.inf)
        # such as a category that the detector's own encoder has not seen; the other rows can be scored
        halves = np.array_split(np.arange(n), 2)
        return np.concatenate([_unusual(detector, some_rows(X, half), above) for half in halves])


def _scored(detector: Any, X: Any, above: float = 0.0) -> NDArray[np.float64]:
    last, n = detector[-1] if isinstance(detector, Pipeline) else detector, number_of_rows(X)
    if above <= 0.0 or n < FEW or not isinstance(last, NoveltyDetector):
        return _scored_by(last, _before(detector, X))
    rows = _before(detector, X)
    at, scored = last.unsure(rows, above), np.full(n, above)
    if len(at):
        scored[at] = _scored_by(last, some_rows(rows, at))
    return scored


def some_rows(X: Any, at: NDArray[np.intp]) -> Any:
    """Return some rows, of an array without scikit-learn's checks."""
    return X[at] if type(X) is np.ndarray else _safe_indexing(X, at)


def _before(detector: Any, rows: Any) -> Any:
    """Return the rows as the last step of a Pipeline takes them."""
    if not isinstance(detector, Pipeline):
        return rows
    named = any(hasattr(step, "feature_names_in_") for _, step in detector.steps)
    for _, step in detector.steps[:-1]:  # a Pipeline of them would ask whether the last is fitted
        if step not in (None, "passthrough"):
            rows = step.transform(rows) if named else _transformed(step, rows)
    return rows


def _scored_by(last: Any, rows: Any) -> NDArray[np.float64]:
    usable = _usable(rows, last)
    scored, inside = np.full(len(usable), np.inf), rows
    if not usable.all():
        if not usable.any():
            return scored
        inside = some_rows(rows, np.flatnonzero(usable))
    found = np.asarray(last.score_samples(inside), dtype=np.float64)
    if found.shape != (n := number_of_rows(inside),):
        raise TypeError(f"detector={last!r} must give one score for each of {n} rows, got shape {found.shape}.")
    scored[usable] = _nan_as_inf(-found)
    return scored


def _transformed(step: Any, rows: Any) -> Any:
    """Return the rows after a transformer; a scaler's checks of an array take longer than its arithmetic."""
    plain = type(step) is StandardScaler and type(rows) is np.ndarray and rows.dtype == np.float64
    if not plain or rows.shape[1:] != (step.n_features_in_,):
        return step.transform(rows)
    rows = rows - (step.mean_ if step.with_mean else 0.0)
    if step.with_std:
        rows /= step.scale_
    return rows


def _usable(rows: Any, detector: Any) -> NDArray[np.bool_]:
    """Return True for rows of finite numbers that the detector can hold, and for all rows that are not numbers."""
    rows = rows.tocsr() if issparse(rows) else np.asarray(rows)
    values, n, most = rows.data if issparse(rows) else rows, number_of_rows(rows), largest_cell(detector)
    if values.dtype.kind != "f" or not values.size or max(-values.min(), values.max()) <= most:
        return np.ones(n, dtype=bool)  # nan is not <= most
    nan = bool(get_tags(detector).input_tags.allow_nan)
    beyond = ~((np.abs(values) <= most) | (nan & np.isnan(values)))
    if issparse(rows):
        return np.isin(np.arange(n), np.repeat(np.arange(n), np.diff(rows.indptr))[beyond], invert=True)
    return np.asarray(~beyond.any(axis=1))


def largest_cell(detector: Any) -> float:
    """Return the largest number that is passed to a detector; ours computes in float64."""
    return float(np.finfo(np.float64).max) if isinstance(detector, NoveltyDetector) else LARGEST


def _near(s: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):  # inf - inf, which is nan and so not near
        return np.asarray(np.abs(s - t) <= TIED * np.minimum(np.abs(s), np.abs(t)))


def _levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return increasing scores, each run of near ones replaced by its largest, so that no row becomes novel by it."""
    near = _near(scores[1:], scores[:-1])
    if not near.any():
        return scores
    last = np.flatnonzero(np.append(~near, True))
    return np.asarray(np.repeat(scores[last], np.diff(last, prepend=-1)))


def _nan_as_inf(s: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(s), np.inf, s)
