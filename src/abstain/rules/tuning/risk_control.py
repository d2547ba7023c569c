"""A certified ceiling on the error among accepted rows, by fixed-sequence exact binomial tests.

Rows are accepted in decreasing order of confidence, so the sequence of thresholds does not depend on the labels. Given
the threshold t, the (k + 1)-th largest confidence, the k rows beyond it are independent, and the number of errors among
them is binomial with the true error R(t). The hypothesis R(t) > max_error is rejected if

    P(Binomial(k, max_error) <= errors) <= level                        (the Clopper-Pearson bound is below max_error)

The level 1 - confidence is divided among a few starts along the sequence. The level of a test is the share of its own
start plus the level of the previous test, if that was passed (the fallback procedure of Wiens, Pharm. Stat. 2, 2003;
with one start it is the fixed sequence, Maurer, Hothorn & Lehmacher 1995; for risk control: Angelopoulos et al., "Learn
then Test", 2021). With only one start, at the first coverage that can be certified, a single error among so few rows
would end the procedure.

The guarantee holds for any distribution. Let t* be the largest threshold with R > max_error just below. Anything
wrongly certified lies beyond t*, so either the test on the rows above t* was passed, with binomial errors at max_error
or more and a level of at most the shares of the starts up to there, or a later start was passed with its own share
alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betaincinv

from abstain.rules.tuning.scored_rows import AnsweredRows, ByAnswer

Ceilings = float | tuple[float, float]  # on all accepted rows, or on those of the classes (negative, positive)
STARTS = 3
ROOM = 4  # several starts need this many times the rows of the first one
SPARE = 1.25  # extra rows decided for a class, relative to rows truly of it, before the first test
MOST_ROWS = 1e9  # above this no number of rows is suggested


@dataclass(frozen=True)
class ErrorBound:
    """The guarantee on the error among accepted rows, and its evidence.

    Attributes
    ----------
    max_error : float, (float, float) or dict
        The ceiling, for all accepted rows, for those of the (negative, positive) class, or for those answered so.
    confidence : float
        The ceiling holds for at least this share of calibrations; several ceilings hold together.
    n_rows : int
        Calibration rows.
    accepted, errors : int, (int, int) or dict
        Number of rows accepted by the thresholds, and of errors among them; by true class if there are two ceilings, by
        class answered, also of classes without a ceiling, if there is a dict of them.
    upper_bound : float, (float, float) or dict
        The exact (Clopper-Pearson) upper bound on the error among accepted rows, at this confidence, for this
        threshold alone; those of a dict hold together.
    """

    max_error: Ceilings | dict[Any, float]
    confidence: float
    n_rows: int
    accepted: int | tuple[int, int] | dict[Any, int]
    errors: int | tuple[int, int] | dict[Any, int]

    @property
    def coverage(self) -> float:
        """The share of calibration rows that are accepted."""
        accepted = [*self.accepted.values()] if isinstance(self.accepted, dict) else self.accepted
        return float(np.sum(accepted)) / self.n_rows

    @property
    def upper_bound(self) -> float | tuple[float, float] | dict[Any, float]:
        """The exact upper bound on the error, in the form of `max_error`."""
        accepted: Any = self.accepted
        errors: Any = self.errors
        if isinstance(self.max_error, dict):
            level = (1.0 - self.confidence) / len(self.max_error)
            return {label: _upper(accepted[label], errors[label], 1.0 - level) for label in self.max_error}
        bounds = [_upper(k, e, self.confidence) for k, e in np.broadcast(accepted, errors)]
        return bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])


def _upper(accepted: int, errors: int, confidence: float) -> float:
    return 1.0 if errors == accepted else float(betaincinv(errors + 1, accepted - errors, confidence))


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Decreasing thresholds: the confidence t at each step, and (steps, groups) counts of the rows beyond it."""

    t: NDArray[np.float64]
    accepted: NDArray[np.int64]
    errors: NDArray[np.int64]
    decided: NDArray[np.int64]  # the same groups by decision, which needs no labels

    @classmethod
    def of(cls, rows: AnsweredRows, order: tuple[int, ...] = (), above: float = -math.inf) -> "_Sequence":
        """A step accepts all rows beyond one of the confidences, which is above a value; the last accepts every row.

        The rows are one group, or one for each of the classes in `order`.
        """
        descending = np.argsort(-rows.confidence, kind="stable")
        confidence, wrong = rows.confidence[descending], rows.wrong[descending, np.newaxis]
        groups = known = np.ones((len(confidence), 1), dtype=bool)
        if order:
            groups, known = (codes[descending, np.newaxis] == np.array(order) for codes in (rows.truth, rows.answer))
        ends = np.flatnonzero((np.diff(confidence) < 0) & (confidence[1:] > above))
        steps = np.append(ends, len(confidence) - 1) if len(confidence) else ends
        t = np.append(confidence[ends + 1], -math.inf) if len(confidence) else confidence
        return cls(t, *(np.cumsum(mask, axis=0)[steps] for mask in (groups, groups & wrong, known)))

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.accepted[-1].sum()) if len(self.accepted) else 0

    def steps(self, coverages: list[int]) -> NDArray[np.intp]:
        """The first steps that accept so many rows."""
        return np.searchsorted(self.accepted.sum(axis=1), coverages)

    def p_values(self, ceilings: NDArray[np.float64]) -> NDArray[np.float64]:
        """At each step, the largest over the groups of P(Binomial(accepted, ceiling) <= errors)."""
        return np.asarray(bdtr(self.errors.astype(float), self.accepted, ceilings).max(axis=1))


def certify(
    rows: AnsweredRows, max_error: Any, confidence: float, *, order: tuple[int, ...] = (0, 1), above: float = -math.inf
) -> tuple[NDArray[np.float64], ErrorBound]:
    """The cuts on the confidence, by class answered, of the largest coverage that can be certified; else an error.

    Rows with the same answer are a sequence of their own. The error among them is P(wrong | answered k, confidence
    beyond the cut of k). With m ceilings by answer, each is tested at the level (1 - confidence) / m. The chance that
    at least one cut is wrongly certified is at most the sum of the levels, so that all ceilings hold together with the
    confidence (Bonferroni), and each alone with more.

    Parameters
    ----------
    rows : AnsweredRows
        Held-out rows, each with weight 1.
    max_error : float, (float, float) or ByAnswer
        The ceiling on the error among all accepted rows, among those truly of two classes, or among those with each
        answer; answers without a ceiling are all accepted. Two ceilings by true class hold together: each test must be
        passed for both. This needs no correction, because a pair is wrongly certified only if the ceiling that does not
        hold is.
    confidence : float
        Confidence of the guarantee.
    order : (int, int), default=(0, 1)
        The classes of two ceilings.
    above : float, default=-inf
        Cuts, unless they accept every row, are larger than this.
    """
    if (rows.weight != 1).any():
        raise ValueError(
            "max_error cannot be certified with sample_weight: the exact binomial test counts each row once. Fit the "
            'classifier with its weights and use cv="prefit" without them, or use costs or reject_rate instead of '
            "max_error."
        )
    level, n = 1.0 - confidence, len(rows.answer)
    if not isinstance(max_error, ByAnswer):
        asked = f"max_error={max_error} with confidence={confidence:g} cannot be certified on {n} rows"
        sequence = _Sequence.of(rows, order if isinstance(max_error, tuple) else (), above)
        cut, *counts = _certified(sequence, max_error, level, asked)
        return np.full(rows.n_classes, cut), ErrorBound(max_error, confidence, n, *counts)
    cuts, accepted, errors = np.full(rows.n_classes, -np.inf), dict[Any, Any](), dict[Any, Any]()
    for k, (label, ceiling) in enumerate(zip(max_error.classes, max_error.shares, strict=True)):
        own = rows.answered(k)
        accepted[label], errors[label] = len(own.answer), int(own.wrong.sum())
        if not math.isnan(ceiling):
            asked = (
                f"max_error[{label!r}]={ceiling}, one of {len(max_error.named)} ceilings that hold together with "
                f"confidence={confidence:g}, cannot be certified on the {accepted[label]} rows answered {label!r}"
            )
            found = _certified(_Sequence.of(own), ceiling, level / len(max_error.named), asked)
            cuts[k], accepted[label], errors[label] = found
    return cuts, ErrorBound(max_error.named, confidence, n, accepted, errors)


def _certified(sequence: "_Sequence", ceilings: Ceilings, level: float, asked: str) -> tuple[float, Any, Any]:
    """The last cut that is certified, the rows accepted and the errors among them; otherwise an error."""
    each = np.atleast_1d(np.asarray(ceilings, dtype=np.float64))
    step = _last_passed(sequence.p_values(each), _starts(sequence, each, level))
    if step is None:
        raise ValueError(_too_few(sequence, each, level, asked))
    counts = (tuple(count[step].tolist()) for count in (sequence.accepted, sequence.errors))
    accepted, errors = (count if isinstance(ceilings, tuple) else count[0] for count in counts)
    return float(sequence.t[step]), accepted, errors


def rows_without_error(max_error: float, level: float) -> int:
    """The smallest number of accepted rows that certifies a ceiling without errors: (1 - max_error)^k <= level."""
    return math.ceil(math.log(level) / math.log1p(-max_error) * (1 - 1e-12))


def _starts(sequence: "_Sequence", ceilings: NDArray[np.float64], level: float) -> dict[int, float]:
    """The steps with their own share of the level, chosen from counts that do not depend on labels."""
    for parts in (STARTS, 1):
        first = _first(sequence, ceilings, level / parts)
        if first is not None and (parts == 1 or len(sequence) >= ROOM * first):
            # spread evenly from the first coverage to full coverage
            coverages = [first + (len(sequence) - first) * part // parts for part in range(parts)]
            steps = sequence.steps(coverages)
            return {int(step): level * float(np.sum(steps == step)) / parts for step in np.unique(steps)}
    return {}


def _first(sequence: "_Sequence", ceilings: NDArray[np.float64], level: float) -> int | None:
    """Number of rows accepted by the first test: the fewest that can be certified at this level without errors."""
    spare = SPARE if len(ceilings) > 1 else 1.0
    needed = [math.ceil(spare * rows_without_error(c, level)) for c in ceilings]
    enough = np.flatnonzero((sequence.decided >= needed).all(axis=1))
    return int(sequence.accepted[enough[0]].sum()) if len(enough) else None


def _last_passed(p: NDArray[np.float64], shares: dict[int, float]) -> int | None:
    """The last step whose hypothesis is rejected; each passed test passes its level on to the next."""
    last, handed_on = None, 0.0
    first = min(shares, default=len(p))
    for step, value in enumerate(p[first:].tolist(), first):
        level = handed_on + shares.get(step, 0.0)
        passed = value <= level
        handed_on = level if passed else 0.0
        last = step if passed else last
    return last


def _too_few(sequence: "_Sequence", ceilings: NDArray[np.float64], level: float, asked: str) -> str:
    """Why nothing was certified, and how many rows are needed, if the error of any tenths of them is low enough."""
    ways = "raise max_error, or lower confidence."
    if _first(sequence, ceilings, level) is None:
        least = [rows_without_error(c, level) for c in ceilings]
        if len(least) == 1:
            return f"{asked}: even without errors it needs {least[0]}, with errors more. Use more rows, {ways}"
        spare, decided = [math.ceil(SPARE * k) for k in least], sequence.decided[-1]
        return (
            f"{asked}: even without errors it needs {least[0]} accepted rows of the negative class and {least[1]} of "
            f"the positive, with errors more, but only {decided[0]} and {decided[1]} are decided for them. Use at "
            f"least {spare[0]} and {spare[1]} calibration rows of the two classes, {ways}"
        )
    first = _first(sequence, ceilings, level / STARTS) or 0
    steps = sequence.steps([math.ceil(len(sequence) * tenth / 10) for tenth in range(1, 11)])
    rows, step = min((_rows_it_would_take(sequence, step, ceilings, level / STARTS), step) for step in steps)
    errors = " and ".join(f"{e} of {k}" for e, k in zip(sequence.errors[step], sequence.accepted[step], strict=True))
    seen = f"{asked}: the errors among the most confident rows are {errors}"
    if rows > MOST_ROWS:
        return (
            f"{seen}, and not much rarer among more or fewer of them: no number of rows would be enough at this rate. "
            f"Use a better classifier, {ways}"
        )
    return f"{seen}. At this rate about {max(rows, ROOM * first):,.0f} such rows are needed. Use more rows, {ways}"


def _rows_it_would_take(sequence: "_Sequence", step: int, ceilings: NDArray[np.float64], level: float) -> float:
    """Number of calibration rows with which a step would pass its test at the same error rate."""
    n, k, e = len(sequence), sequence.accepted[step], sequence.errors[step]
    if (e >= ceilings * k).any():
        return math.inf

    # P(Binomial <= errors), with fractional counts by the incomplete beta function
    factor = np.exp(np.arange(0.0, math.log(2 * MOST_ROWS / n), 1e-3))[:, np.newaxis]
    passed = (betainc(factor * (k - e), factor * e + 1, 1 - ceilings) <= level).all(axis=1)
    return math.ceil(n * factor[np.argmax(passed), 0]) if passed.any() else math.inf
