"""A ceiling on the error among the accepted, with a confidence: fixed-sequence exact binomial tests.

Rows are accepted in the order of their confidence, k at a time from the top, so the sequence of thresholds knows no
labels. Given the threshold t, the (k + 1)-th largest confidence, the k rows beyond it are independent and the number of
errors among them is binomial with the true error R(t). Its hypothesis R(t) > max_error is rejected where

    P(Binomial(k, max_error) <= errors) <= level                        (the Clopper-Pearson bound is below max_error)

The level 1 - confidence is shared by a few starts along the sequence: a test has the share of its own start and what
the test before it, if passed, hands on (the fallback procedure of Wiens, Pharm. Stat. 2, 2003; with one start it is the
fixed sequence, Maurer, Hothorn & Lehmacher 1995; for risk control: Angelopoulos et al., "Learn then Test", 2021). With
one start alone, at the first coverage that can be certified, a single error among so few rows would end all.

Why the promise holds for any distribution: let t* be the largest threshold with R > max_error just below. Whatever is
wrongly certified lies beyond t*, so either the test whose rows are those above t* was passed, with errors binomial at
max_error or more and at most the shares of the starts up to there, or a later start was passed with its share alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betaincinv

from abstain.rules.scored_rows import ScoredRows
from abstain.thresholds import Thresholds

Ceilings = float | tuple[float, float]  # on all accepted rows, or on those of the classes (negative, positive)
STARTS = 3
ROOM = 4  # several starts want so many times the rows that the first one needs
SPARE = 1.25  # rows decided for a class over those truly of it: how many more to wait for before the first test
MOST_ROWS = 1e9  # beyond this no number of rows is worth naming


@dataclass(frozen=True)
class ErrorBound:
    """What was promised of the error among the accepted, and what it rests on.

    Attributes
    ----------
    max_error : float or (float, float)
        The ceiling, for all accepted rows or for those of the (negative, positive) class.
    confidence : float
        Of calibrations like this one, at least this share keep the ceiling.
    n_rows : int
        Calibration rows.
    accepted, errors : int or (int, int)
        How many of them the thresholds accept, and how many of these are wrong; by class where the ceilings are.
    upper_bound : float or (float, float)
        The exact (Clopper-Pearson) upper bound on the error among the accepted, at this confidence, for this one
        threshold.
    """

    max_error: Ceilings
    confidence: float
    n_rows: int
    accepted: int | tuple[int, int]
    errors: int | tuple[int, int]

    @property
    def coverage(self) -> float:
        """The share of the calibration rows that is accepted."""
        return float(np.sum(self.accepted)) / self.n_rows

    @property
    def upper_bound(self) -> float | tuple[float, float]:
        """The exact upper bound on the error, in the form of `max_error`."""
        pairs = np.broadcast(self.accepted, self.errors)
        bounds = [1.0 if e == k else float(betaincinv(e + 1, k - e, self.confidence)) for k, e in pairs]
        return bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Thresholds from the top down: the confidence t at each step, and (steps, groups) counts of the rows beyond it."""

    t: NDArray[np.float64]
    accepted: NDArray[np.int64]
    errors: NDArray[np.int64]
    decided: NDArray[np.int64]  # the same groups, as far as they are known without labels

    @classmethod
    def of(cls, rows: ScoredRows, positive: int, *, by_class: bool) -> _Sequence:
        order = np.argsort(-rows.confidence, kind="stable")
        confidence, wrong = rows.confidence[order], rows.wrong[order]
        truth, decision = rows.sign[order] == positive, (rows.score[order] > rows.cut) == (positive > 0)
        everything = np.ones(len(order), dtype=bool)
        groups = np.stack([~truth, truth] if by_class else [everything], axis=1)
        known = np.stack([~decision, decision] if by_class else [everything], axis=1)
        # a step accepts all rows beyond one of the confidences seen; the last accepts every row, by a closed band
        ends = np.flatnonzero((np.diff(confidence) < 0) & (confidence[1:] > 0))
        steps = np.append(ends, len(order) - 1)
        t = np.append(confidence[ends + 1], 0.0)
        counts = (np.cumsum(mask, axis=0)[steps] for mask in (groups, groups & wrong[:, np.newaxis], known))
        return cls(t, *counts)

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self.accepted[-1].sum())

    def p_values(self, ceilings: NDArray[np.float64]) -> NDArray[np.float64]:
        """At each step, the largest over the groups of P(Binomial(accepted, ceiling) <= errors)."""
        return np.asarray(bdtr(self.errors.astype(float), self.accepted, ceilings).max(axis=1))


def certify(
    rows: ScoredRows, max_error: Ceilings, confidence: float, positive: int = 1
) -> tuple[Thresholds, ErrorBound]:
    """The thresholds of the largest coverage that can be certified; an error where there is none.

    Parameters
    ----------
    rows : ScoredRows
        Rows that the classifier was not fitted on, each counted once.
    max_error : float or (float, float)
        The ceiling on the error among the accepted rows, or among those of the (negative, positive) class. Two
        ceilings are promised together: each test must be passed for both, and that needs no correction, since a pair
        is wrongly certified only if the one of them that does not hold is.
    confidence : float
        How sure the promise is to be.
    positive : {1, -1}, default=1
        The sign of the class called positive.
    """
    if (rows.weight != 1).any():
        raise ValueError(
            "max_error cannot be certified with sample_weight: the exact binomial test counts rows, and a row that "
            'counts more or less than once is no count. Fit the classifier with its weights and use cv="prefit" '
            "without them, or ask by costs or reject_rate."
        )
    if rows.flaw:
        raise ValueError(f"max_error cannot be certified: {rows.flaw}")
    by_class = isinstance(max_error, tuple)
    ceilings = np.atleast_1d(np.asarray(max_error, dtype=np.float64))
    sequence = _Sequence.of(rows, positive, by_class=by_class)
    level = 1.0 - confidence
    shares = _starts(sequence, ceilings, level)
    p = sequence.p_values(ceilings)
    step = _last_passed(p, shares)
    if step is None:
        raise ValueError(_too_few(sequence, ceilings, level, max_error))
    accepted, errors = (tuple(map(int, counts[step])) for counts in (sequence.accepted, sequence.errors))
    thresholds = Thresholds(rows.cut, rows.cut)
    if step < len(sequence.t) - 1:
        t = float(sequence.t[step])
        thresholds = rows.symmetric_band(t, t)
    shown = (accepted, errors) if by_class else (accepted[0], errors[0])
    return thresholds, ErrorBound(max_error, confidence, len(rows.score), *shown)


def rows_without_error(max_error: float, level: float) -> int:
    """The fewest accepted rows that certify a ceiling when none is wrong: (1 - max_error)^k <= level."""
    return math.ceil(math.log(level) / math.log1p(-max_error) * (1 - 1e-12))


def _starts(sequence: _Sequence, ceilings: NDArray[np.float64], level: float) -> dict[int, float]:
    """The steps that have a share of the level of their own, by nothing but counts that know no labels."""
    for parts in (STARTS, 1):
        first = _first(sequence, ceilings, level / parts)
        if first is not None and (parts == 1 or len(sequence) >= ROOM * first):
            steps = _spread(sequence, first, parts)
            return {int(step): level * float(np.sum(steps == step)) / parts for step in np.unique(steps)}
    return {}


def _first(sequence: _Sequence, ceilings: NDArray[np.float64], level: float) -> int | None:
    """How many rows the first test accepts: as few as can be certified at this level, were none of them wrong."""
    spare = SPARE if len(ceilings) > 1 else 1.0
    needed = [math.ceil(spare * rows_without_error(c, level)) for c in ceilings]
    enough = np.flatnonzero((sequence.decided >= needed).all(axis=1))
    return int(sequence.accepted[enough[0]].sum()) if len(enough) else None


def _spread(sequence: _Sequence, first: int, parts: int) -> NDArray[np.intp]:
    """The steps at which so many starts begin, evenly from the first coverage to the whole."""
    starts = [first + (len(sequence) - first) * part // parts for part in range(parts)]
    return np.searchsorted(sequence.accepted.sum(axis=1), starts)


def _last_passed(p: NDArray[np.float64], shares: dict[int, float]) -> int | None:
    """The last step whose hypothesis is rejected, levels handed on from each passed test to the next."""
    last, handed_on = None, 0.0
    first = min(shares, default=len(p))
    for step, value in enumerate(p[first:].tolist(), first):
        level = handed_on + shares.get(step, 0.0)
        passed = value <= level
        handed_on = level if passed else 0.0
        last = step if passed else last
    return last


def _too_few(sequence: _Sequence, ceilings: NDArray[np.float64], level: float, max_error: Ceilings) -> str:
    """Why nothing was certified, and the rows it would take."""
    asked = f"max_error={max_error} with confidence={1 - level:g} cannot be certified on {len(sequence)} rows"
    ways = "raise max_error, or lower confidence."
    if _first(sequence, ceilings, level) is None:
        needed = [rows_without_error(c, level) for c in ceilings]
        if len(needed) == 1:
            return f"{asked}: even without an error it takes {needed[0]}. Give at least {needed[0]} rows, {ways}"
        spare, decided = [math.ceil(SPARE * k) for k in needed], sequence.decided[-1]
        return (
            f"{asked}: even without an error it takes {needed[0]} accepted rows of the negative class and {needed[1]} "
            f"of the positive, and {decided[0]} and {decided[1]} are decided so. Give at least {spare[0]} and "
            f"{spare[1]} rows of the two classes, {ways}"
        )
    first = _first(sequence, ceilings, level / STARTS) or len(sequence)
    steps = _spread(sequence, first, STARTS)
    rows, step = min((_rows_it_would_take(sequence, step, ceilings, level / STARTS), step) for step in steps)
    errors = " and ".join(f"{e} of {k}" for e, k in zip(sequence.errors[step], sequence.accepted[step], strict=True))
    seen = f"{asked}: among the most confident rows the errors are {errors}"
    if rows > MOST_ROWS:
        return f"{seen}, and no number of rows would do. Give a better classifier, {ways}"
    return f"{seen}. At this rate it would take about {max(rows, ROOM * first):,.0f} rows. Give more rows, {ways}"


def _rows_it_would_take(sequence: _Sequence, step: int, ceilings: NDArray[np.float64], level: float) -> float:
    """The calibration rows with which the errors at a step, at the same rate, would pass its test."""
    n, k, e = len(sequence), sequence.accepted[step], sequence.errors[step]
    if (e >= ceilings * k).any():
        return math.inf

    def passes(factor: float) -> bool:  # P(Binomial <= errors), between whole numbers by the incomplete beta function
        return bool((betainc(factor * (k - e), factor * e + 1, 1 - ceilings) <= level).all())

    low, high = 1.0, 2.0
    while not passes(high):
        low, high = high, 2 * high
        if n * high > 2 * MOST_ROWS:
            return math.inf
    while high - low > 1e-3 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return math.ceil(n * high)
