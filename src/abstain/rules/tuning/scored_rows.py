"""Rows with scores and classes, on which cuts are placed, the bands that separate them, and shares by class."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Thresholds, distances
from abstain.reject_labels import position

Confidence = Literal["lead", "highest"]
NOT_FINITE = (
    "the estimator returned a nan or infinite score, for which no threshold can be set; scale its features, or wrap a "
    "classifier with finite scores."
)
NO_ROWS = "thresholds cannot be tuned without rows; pass rows with weight above 0."


def confidence_of(score: NDArray[np.float64], by: Confidence) -> NDArray[np.float64]:
    """Return the confidence of each row: the lead of its highest score over the second, or the highest score."""
    if by == "highest":
        return np.asarray(score.max(axis=-1))
    second, first = np.moveaxis(np.partition(score, -2, axis=-1)[..., -2:], -1, 0)
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is nan
        return np.asarray(np.where(first == second, 0.0, first - second))


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Rows with their forced answer, its confidence, and the true class.

    Attributes
    ----------
    answer, truth : ndarray of intp, shape (n,)
        Codes of classes.
    confidence, weight : ndarray of float64, shape (n,)
    n_classes : int
    """

    answer: NDArray[np.intp]
    truth: NDArray[np.intp]
    confidence: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_classes: int

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Where the answer is wrong."""
        return self.answer != self.truth

    def answered(self, k: int) -> "AnsweredRows":
        """Return the rows with one answer."""
        own = self.answer == k
        return AnsweredRows(self.answer[own], self.truth[own], self.confidence[own], self.weight[own], self.n_classes)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows to place cuts on, sorted so that the result does not depend on their order.

    Attributes
    ----------
    score : ndarray of float64, shape (n,) or (n, n_classes)
        Of two classes oriented to ``classes_[1]``, in increasing order; of more sorted by the first class, then by the
        second, and so on.
    code : ndarray of intp, shape (n,)
        The true class.
    weight : ndarray of float64, shape (n,)
        Weight of each row, above 0.
    cut : float
        The classifier's own threshold on its one score: 0, or 1/2 for a probability.
    flaw : str
        Why nothing can be promised on these rows, if there is more to say than that they are not held out.
    """

    score: NDArray[np.float64]
    code: NDArray[np.intp]
    weight: NDArray[np.float64]
    cut: float = 0.0
    flaw: str = ""

    @classmethod
    def of(cls, score: Any, code: Any, weight: Any = None, *, cut: float = 0.0, flaw: str = "") -> Self:
        """Sort the rows and drop those of weight 0."""
        s, y = np.asarray(score, dtype=np.float64), np.asarray(code, dtype=np.intp)
        w = np.ones(len(s)) if weight is None else np.asarray(weight, dtype=np.float64)
        if not np.isfinite(s).all():
            raise ValueError(NOT_FINITE)
        if not (w > 0).any():
            raise ValueError(NO_ROWS)
        # also by class and weight, so that sums of weights round the same way for every order of the rows
        order = np.lexsort((w, y, *s.reshape(len(s), -1).T[::-1]))
        order = order[w[order] > 0]
        return cls(s[order], y[order], w[order], cut, flaw)

    def answered(self, by: Confidence = "lead") -> "AnsweredRows":
        """Return the rows with their answer and its confidence.

        Of two classes the answer is the side of the cut, and the confidence the distance from it; of more it is the
        class of the highest score, ties to the first.
        """
        if self.score.ndim == 1:
            answer, confidence, n = (self.score > self.cut).astype(np.intp), self.confidence, 2
        else:
            answer, n = np.argmax(self.score, axis=1), self.score.shape[1]
            confidence = confidence_of(self.score, by)
        return AnsweredRows(answer, self.code, confidence, self.weight, n)

    @cached_property
    def confidence(self) -> NDArray[np.float64]:
        """The distance of each score from the cut."""
        return distances(self.score, self.cut)

    def band(self, cuts: NDArray[np.float64]) -> Thresholds:
        """The thresholds cut -/+ D that reject exactly the rows with confidence up to D, the cut of both answers.

        Rounding of the two sums could move a row across its threshold, so the thresholds are clipped to the scores. If
        no two floating-point numbers separate the rows this way, nothing is rejected.
        """
        distance = float(cuts[0])
        if np.isinf(distance):
            return Thresholds(-np.inf, np.inf) if distance > 0 else Thresholds(self.cut, self.cut)
        near = self.confidence <= distance
        inside, outside = self.score[near], self.score[~near]
        below, above = outside[outside < self.cut].max(initial=-np.inf), outside[outside > self.cut].min(initial=np.inf)
        lower, upper = min(self.cut - distance, inside[0]), max(self.cut + distance, inside[-1])
        lower, upper = lower if lower > below else inside[0], upper if upper < above else inside[-1]
        return Thresholds(float(lower), float(upper)) if lower < upper else Thresholds(self.cut, self.cut)


def two_sided(cuts: NDArray[np.float64]) -> Thresholds:
    """The thresholds on the score of two classes with these cuts on the distance from 0, where a 0 means the first."""
    first, second = cuts.tolist()
    tiny = np.nextafter(0.0, 1.0)
    upper = second if second > -np.inf else 0.0
    lower = 0.0 - first if first > -np.inf else tiny if upper > 0.0 else 0.0
    if first == 0.0 and upper == 0.0:
        lower = -tiny  # two equal thresholds would accept a score of 0
    return Thresholds(lower, upper)


@dataclass(frozen=True, eq=False)
class Line:
    """Rows in the order of a number, on which every cut can be tried.

    Attributes
    ----------
    values : ndarray of float64, shape (m,)
        The distinct values of the number, increasing.
    place : ndarray of intp, shape (n,)
        The position of each row's value among them.
    """

    values: NDArray[np.float64]
    place: NDArray[np.intp]

    @classmethod
    def of(cls, key: NDArray[np.float64]) -> Self:
        """Order the rows by this number."""
        return cls(*np.unique(key, return_inverse=True))

    def sums(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the rows up to each value, shape (m + 1,): entry i is over the i smallest values."""
        return np.append(0.0, np.cumsum(np.bincount(self.place, each, len(self.values))))

    def by_class(self, code: NDArray[np.intp], weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the sums of the weights of each of two classes."""
        return tuple(self.sums(np.where(code == k, weight, 0.0)) for k in (0, 1))

    def cut_after(self, i: int) -> float:
        """A number t with the i smallest values <= t < the others; infinite if either group is empty."""
        return cut_after(self.values, i)

    def band(self, i: int, j: int) -> Thresholds:
        """Thresholds with the i smallest values below, the next j - i in between, and the rest above."""
        upper = self.cut_after(j)
        if i == j:
            return Thresholds(upper, upper)
        lower = self.cut_after(i)
        if i > 0 and lower == self.values[i - 1]:  # adjacent floats: values below the band must be strictly smaller
            lower = float(self.values[i])
        return Thresholds(lower, upper)


def cut_after(values: NDArray[np.float64], i: int) -> float:
    """A number t with the i first of increasing values <= t < the others; infinite if either group is empty."""
    if i == 0:
        return -np.inf
    if i == len(values):
        return np.inf
    middle = values[i - 1] / 2 + values[i] / 2
    return float(middle if values[i - 1] <= middle < values[i] else values[i - 1])


@dataclass(frozen=True)
class ByAnswer:
    """A share for some of the classes; the others have none, and their answers are never rejected.

    Attributes
    ----------
    classes : tuple
        All classes, sorted.
    shares : tuple of float
        One for each class; nan for a class that was not named.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.rules.tuning.scored_rows import ByAnswer
    >>> found = ByAnswer.of("reject_rate", {"fox": 0.1, "cat": 0.2}, np.array(["cat", "dog", "fox"]))
    >>> found.named
    {'cat': 0.2, 'fox': 0.1}
    """

    classes: tuple[Any, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, name: str, given: Mapping[Any, float], classes: NDArray[Any]) -> Self:
        """Put the shares of a dict in the order of the classes; a name that is not a class is an error."""
        known = classes.tolist()
        shares = np.full(len(known), np.nan)
        for label, share in given.items():
            at = position(classes, label)
            if at is None:
                raise ValueError(
                    f"{name}={dict(given)!r} names {label!r}, which is not one of the classes {known}; name classes "
                    "of y, as y has them."
                )
            shares[at] = share
        return cls(tuple(known), tuple(shares.tolist()))

    @property
    def named(self) -> dict[Any, float]:
        """The shares of the classes that were named."""
        pairs = zip(self.classes, self.shares, strict=True)
        return {label: share for label, share in pairs if not np.isnan(share)}
