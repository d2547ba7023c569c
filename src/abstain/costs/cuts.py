"""The cheapest action along one score: the lower envelope of lines, for one table of costs or for one per row.

::

    c_a(p) = (1 - p) c_a(first class) + p c_a(last class)
    action b follows a at  log((c_b(first) - c_a(first)) / (c_a(last) - c_b(last)))

In the plane of the two costs the actions of the envelope are the corners of the lower left convex hull.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import real_number


@dataclass(frozen=True)
class Thresholds:
    """Two thresholds on a score: -1 below the lower, +1 above the upper, reject in between.

    ::

        choice(s) = +1  if s > upper
                    -1  otherwise, if s < lower or lower == upper
                     0  otherwise (reject)

    A score exactly on a threshold is rejected, unless ``lower == upper``, where nothing is rejected.

    Parameters
    ----------
    lower, upper : float
        ``lower <= upper``, on any score: a probability, log-odds, a distance. Infinities are allowed:
        ``Thresholds(-inf, inf)`` rejects everything.

    Examples
    --------
    >>> from abstain import Thresholds
    >>> Thresholds(-0.5, 1.0).decide([-2.0, 0.3, 1.0, 1.5])
    array([-1,  0,  0,  1], dtype=int8)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", real_number("lower", self.lower))
        object.__setattr__(self, "upper", real_number("upper", self.upper))
        if self.lower > self.upper:
            raise ValueError(f"lower={self.lower:g} must not exceed upper={self.upper:g}; swap the two.")

    @property
    def rejects(self) -> bool:
        """Whether any score would be rejected: ``lower < upper``."""
        return self.lower < self.upper

    def decide(self, scores: ArrayLike) -> NDArray[np.int8]:
        """Return the choice for each score: -1, 0 (reject) or +1, with the shape of `scores`."""
        s = np.asarray(scores, dtype=np.float64)
        positive = (s > self.upper).astype(np.int8)
        if not self.rejects:
            return 2 * positive - np.int8(1)
        return positive - (s < self.lower).astype(np.int8)


def distances(scores: NDArray[np.float64], cut: float) -> NDArray[np.float64]:
    """Return the distance of each score from the cut, where distances that differ only by rounding are one distance.

    In floating point |0.2 - 0.5| and |0.8 - 0.5| differ, and a symmetric threshold between them would treat the two
    sides differently. Of such a group the smallest distance counts for all. From a cut at 0 distances are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.costs.cuts import distances
    >>> distances(np.array([0.2, 0.8]), 0.5)
    array([0.3, 0.3])
    """
    distance = np.abs(scores - cut)
    order = np.argsort(distance, kind="stable")
    size = np.maximum(np.abs(scores[order]), abs(cut))
    slack = 8.0 * np.finfo(np.float64).eps * np.where(np.isfinite(size) & (cut != 0.0), size, 0.0)
    ascending = distance[order]
    with np.errstate(invalid="ignore"):  # inf - inf is nan
        begins = np.append(True, np.diff(ascending) > np.maximum(slack[1:], slack[:-1]))
    distance[order] = ascending[np.flatnonzero(begins)[np.cumsum(begins) - 1]] if len(order) else ascending
    return distance


EQUALITY = 1e-12  # an action that is cheaper than its neighbours by at most this share of their costs counts as a tie


@dataclass(frozen=True)
class Levels:
    """Increasing cuts on a score, and the choice between each two: the first below all cuts, the last above all.

    ::

        choice(s) = choices[k],   k = the number of cuts below s; a cut that is equal to s counts if it is closed

    A score that is nan counts as above the closed cuts, where a reject begins.

    Parameters
    ----------
    cuts : tuple of float, or ndarray of shape (n, L)
        Not decreasing; none gives the same choice for every score. An array has the cuts of n rows, one line each,
        with infinity where a row has fewer.
    choices : tuple of int, or ndarray of shape (n, L + 1)
        One more than cuts: positions of actions in a table.
    closed : tuple of bool, or ndarray of shape (n, L)
        For each cut, whether a score exactly on it counts as above it.

    Examples
    --------
    >>> from abstain.costs.cuts import Levels
    >>> Levels((-1.0, 0.5), (0, 2, 1), (True, False)).decide([-2.0, -1.0, 0.5, 3.0])
    array([0, 2, 2, 1])
    """

    cuts: Any
    choices: Any
    closed: Any

    def __post_init__(self) -> None:
        if not isinstance(self.cuts, tuple):
            return
        if not len(self.cuts) == len(self.closed) == len(self.choices) - 1:
            raise ValueError(f"{len(self.cuts)} cuts need as many values of closed, and one choice more.")
        if not all(a <= b for a, b in pairwise(self.cuts)):
            raise ValueError(f"cuts={self.cuts} must not decrease; sort them.")

    @property
    def lower(self) -> Any:
        """The lowest cut."""
        return self.cuts[0] if isinstance(self.cuts, tuple) else self.cuts[:, 0]

    @property
    def upper(self) -> Any:
        """The highest cut; of rows, the highest that is finite."""
        if isinstance(self.cuts, tuple):
            return self.cuts[-1]
        return np.where(self.cuts < np.inf, self.cuts, -np.inf).max(axis=1)

    def decide(self, scores: ArrayLike) -> NDArray[np.intp]:
        """Return the choice for each score; with cuts of rows, the last axis of the scores has the rows."""
        s = np.asarray(scores, dtype=np.float64)
        level = np.zeros(s.shape, dtype=np.int8)
        choices = np.asarray(self.choices, dtype=np.intp)
        for cut, counts in zip(np.asarray(self.cuts).T, np.asarray(self.closed).T, strict=True):
            above = s > cut
            level += np.where(counts, ~(s < cut), above) if np.any(counts) else above
        return choices[level] if choices.ndim == 1 else choices[np.arange(len(choices)), level]

    def turned(self) -> "Levels":
        """Return the levels on the negated score; only those of one table."""
        return Levels(
            tuple(0.0 - cut for cut in reversed(self.cuts)),
            tuple(reversed(self.choices)),
            tuple(not closed for closed in reversed(self.closed)),
        )

    def in_units(self, unit: float) -> "Levels":
        """Return the levels on a score of which one is `unit` of these."""
        cuts = tuple(cut / unit for cut in self.cuts) if isinstance(self.cuts, tuple) else self.cuts / unit
        return Levels(cuts, self.choices, self.closed)


def envelope(costs: NDArray[np.float64], hands_on: NDArray[np.bool_], among: Sequence[int]) -> "Levels":
    """Return the levels on the log-odds of the last class of two, of the actions in `among`.

    Parameters
    ----------
    costs : ndarray of shape (2, n_actions), or (n, 2, n_actions) for one table per row
    hands_on : ndarray of bool, shape (n_actions,)
        On a cut both actions cost the same: one that hands the case on is chosen, otherwise the lower one.
    among : sequence of int
        The actions to choose from.
    """
    actions = np.asarray(among, dtype=np.intp)
    first, last = np.moveaxis(costs[..., actions], -2, 0).reshape(2, -1, len(actions))
    chain, size = _chains(first, last)
    rows = np.arange(len(first))[:, np.newaxis]
    below, above = chain[:, :-1], chain[:, 1:]
    there = np.arange(1, chain.shape[1]) < size[:, np.newaxis]
    rise, fall = first[rows, above] - first[rows, below], last[rows, below] - last[rows, above]
    cuts = np.full(there.shape, np.inf)
    cuts[there] = log_ratio(rise[there], fall[there])
    cuts = np.maximum.accumulate(cuts, axis=1)  # very close to 0 or 1, rounding may swap two in the last digit
    ends = chain[rows, size[:, np.newaxis] - 1]
    choices = actions[np.where(np.arange(chain.shape[1]) < size[:, np.newaxis], chain, ends)]
    closed = there & hands_on[choices[:, 1:]] & ~hands_on[choices[:, :-1]]
    if costs.ndim == 3:
        return Levels(cuts, choices, closed)
    return Levels(tuple(cuts[0].tolist()), tuple(choices[0].tolist()), tuple(closed[0].tolist()))


def _chains(first: NDArray[np.float64], last: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the corners of each row's hull by increasing probability of the last class, and their number.

    b between a and c is a corner if it is below the line through them::

        (first_b - first_a) / (first_c - first_a) + (last_b - last_c) / (last_a - last_c) < 1
    """
    order = np.lexsort((last, first), axis=-1)  # stable: of equal actions the first
    n, count = first.shape
    rows = np.arange(n)
    # two columns at least: one action has none before it
    chain, size = np.zeros((n, max(count, 2)), dtype=np.intp), np.zeros(n, dtype=np.intp)
    for at in order.T:
        top = chain[rows, size - 1]
        live = (size == 0) | (last[rows, at] < last[rows, top])  # otherwise never cheaper than the one before
        while True:
            a, b = chain[rows, size - 2], chain[rows, size - 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                left = (first[rows, b] - first[rows, a]) / (first[rows, at] - first[rows, a])
                right = (last[rows, b] - last[rows, at]) / (last[rows, a] - last[rows, at])
                above = live & (size > 1) & ~(left + right < 1.0 - EQUALITY)
            if not above.any():
                break
            size -= above
        chain[rows[live], size[live]] = at[live]
        size += live
    return chain[:, : size.max()], size


def log_ratio(a: Any, b: Any) -> Any:
    """Return log(a / b) for positive numbers, or arrays of them, also if the quotient overflows or underflows.

    By the larger over the smaller, so that exchanging the two negates it to the last digit, and by the C library's
    logarithm, whose digits do not depend on how many there are.

    Examples
    --------
    >>> from abstain.costs.cuts import log_ratio
    >>> log_ratio(1e-300, 1e300) == -log_ratio(1e300, 1e-300)
    True
    """
    if np.ndim(a) == 0:
        return float(log_ratio(np.array([a]), np.array([b]))[0])
    large, small = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(over="ignore"):
        quotient = large / small
    pairs = zip(quotient.tolist(), large.tolist(), small.tolist(), strict=True)
    size = np.array([math.log(q) if q < math.inf else math.log(x) - math.log(y) for q, x, y in pairs])
    return np.where(a < b, 0.0 - size, size)
