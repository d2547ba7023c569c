"""Conformal promises by true class: which p-values they need, and the cuts on scores that these mean.

::

    class k is in the set of x  <=>  p_k(x) > rate_k  <=>  t_k(x) >= the j-th smallest t_k of its n_k calibration rows,
    j = floor(rate_k (n_k + 1))                            (split conformal; for the p-values see `ClassCalibration`)
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from abstain.costs.cuts import Thresholds
from abstain.machines.cross_machine import ClassCalibration, least_count
from abstain.rules.tuning.scored_rows import ByAnswer

LEAST_RATE = 1e-15  # below it no larger number of rows is named


@dataclass(frozen=True)
class ClassErrorBound:
    """The promise by true class, and what it rests on.

    In finite samples and for any law of the data: the probability that a row of the true class k is answered as another
    class is at most its rate, if the row and the calibration rows of this class are exchangeable (drawn alike, in any
    order). The probability is over the new row and the calibration rows together. So it is an average over
    calibrations: for one calibration the share varies, without ties by the law Beta(j, n_k + 1 - j),
    j = floor(rate (n_k + 1)); at a rate of 0.05, 90 % of calibrations lie between 0.02 and 0.09 with 99 rows, and
    between 0.04 and 0.06 with 999 (`interval`). For a ceiling that holds with a confidence, use `max_error`, also for
    the (negative, positive) class: it is about the rows accepted.

    Nothing is promised about the rows answered as k, some of which belong to other classes; about parts of the feature
    space; about rows that have drifted; or about how many rows are answered. Rows of a group are not exchangeable one
    by one, so that with groups the promise holds about, not exactly.

    Attributes
    ----------
    class_error : dict of label to float
        The rate of each class: at most this share of its rows is answered as another class, on average over
        calibrations.
    n_rows : dict of label to int
        Calibration rows of each class.
    cuts : dict of label to float
        A class is in the set of a row whose score in favour of it is at least this: of two classes, f for
        ``classes_[1]`` and -f for ``classes_[0]``; of more, the lead over the highest score of the others. With more
        than one fold, the p-value.
    folds : int, default=1
        1: split conformal. More: cross-conformal, whose bound is about twice as high.
    upper_bound : dict of label to float
        The proven bound on the share answered wrongly.
    """

    class_error: dict[Any, float]
    n_rows: dict[Any, int]
    cuts: dict[Any, float]
    folds: int = 1

    @property
    def upper_bound(self) -> dict[Any, float]:
        """The rates themselves; of K folds 2 (rate + (1 - rate) (K - 1) / (n + K)).

        A weighted mean of p-values is a p-value once it is doubled (Vovk & Wang 2020), and p_k is such a mean over the
        folds, less at most (K - 1) / (n + K).
        """
        if self.folds == 1:
            return dict(self.class_error)
        lost = {label: (self.folds - 1) / (n + self.folds) for label, n in self.n_rows.items()}
        return {label: min(1.0, 2 * (rate + (1 - rate) * lost[label])) for label, rate in self.class_error.items()}

    def interval(self, share: float = 0.9) -> dict[Any, tuple[float, float]]:
        """Where the misses of each class lie for this share of calibrations with as many rows, in the middle of all.

        For one calibration the share of rows whose set lacks their class has the law Beta(j, n + 1 - j) if no scores
        tie. Only for split conformal.
        """
        if self.folds > 1:
            raise ValueError("the law of one calibration is known for conformal='split' only; fit with it.")
        if not 0 < share < 1:
            raise ValueError(f"share={share!r} must lie between 0 and 1, both excluded.")
        found = {}
        for label, n in self.n_rows.items():
            j = least_count(self.class_error[label], n)
            low, high = betaincinv(j, n + 1 - j, [(1 - share) / 2, (1 + share) / 2]).tolist()
            found[label] = (low, high)
        return found


def named_rates(given: Any, classes: NDArray[Any]) -> dict[Any, float]:
    """Give the rate of every class from one rate for all, or a dict, which must name every class."""
    if not isinstance(given, dict):
        return dict.fromkeys(classes.tolist(), given)
    found = ByAnswer.of("class_error", given, classes).named
    if missing := [label for label in classes.tolist() if label not in found]:
        raise ValueError(
            f"class_error={given!r} has no rate for the class {missing[0]!r}; name every class. A class without a rate "
            "could never be ruled out, so no other class would ever be answered."
        )
    return found


def class_error_bound(rates: dict[Any, float], calibration: ClassCalibration) -> ClassErrorBound:
    """Give the cuts of these rates; an error says how many rows of a class are needed if there are too few.

    One fold gives cuts on the scores, several give the least p-values.
    """
    cuts, folds = dict[Any, float](), len(calibration.own)
    counts = dict(zip(rates, calibration.n_rows, strict=True))
    for k, ((label, rate), n) in enumerate(zip(rates.items(), calibration.n_rows, strict=True)):
        j = least_count(rate, n)
        if not j:
            raise ValueError(
                f"class_error={rate:g} of the class {label!r} needs at least {rows_needed(rate)} calibration rows of "
                f"this class (1 / class_error - 1), and there are {n}: it could never be ruled out. Use more rows of "
                "this class, a larger calibration_size, or a higher rate."
            )
        cuts[label] = float(calibration.own[0][k][j - 1]) if folds == 1 else (1.0 + j) / (1.0 + n)
    return ClassErrorBound(rates, counts, cuts, folds)


def rows_needed(rate: float, j: int = 1) -> int:
    """Return the least number n of calibration rows with j / (n + 1) <= rate; with fewer, j of them are too many."""
    rate = max(rate, LEAST_RATE)
    n = max(math.ceil(j / rate) - 1, 0)
    while j / (n + 1) > rate:
        n += 1
    while n > 0 and j / n <= rate:
        n -= 1
    return n


def two_thresholds(bound: ClassErrorBound) -> Thresholds:
    """Give the thresholds on the score f of two classes.

    ::

        classes[1] in the set: f >= a          classes[0] in the set: f <= b
        a <= b: both in [a, b]                 a > b: none in (b, a)           rejected either way

    Where no two floating-point numbers express that, one number more is rejected.
    """
    first, a = bound.cuts.values()
    lower, upper = a, 0.0 - first
    if lower > upper:
        b, lower, upper = upper, float(np.nextafter(upper, math.inf)), float(np.nextafter(a, -math.inf))
        if lower > upper:  # no number between them
            return Thresholds(b, b)
    return Thresholds(lower, upper if lower < upper else float(np.nextafter(upper, math.inf)))


def forced_cut(thresholds: Thresholds) -> float:
    """Give the cut of the forced choice: the classifier's own, 0, moved so that it agrees with every answer."""
    if not thresholds.rejects:
        return thresholds.upper
    return float(np.clip(0.0, np.nextafter(thresholds.lower, -math.inf), thresholds.upper))
