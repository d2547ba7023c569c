"""Intervals of an audit that hold for any number of rows, however few.

::

    share     k of n rows drawn from N: the K / N at which neither tail of the hypergeometric law is below its half
    (N None)  the same of the binomial law (Clopper and Pearson)
    mean      least + sum_j (c_j - c_j-1) P(cost >= c_j), each share at 1 - (1 - confidence) / number of steps
    kappa     (p - e) / (1 - e): the share p of agreement, with chance agreement e from what each reviewer says

The first two hold at least at their confidence, exactly. The interval of kappa takes e as known; in simulations of 8 to
60 rows it held for at least 95.9 % at a confidence of 95 %, where the usual normal interval held for 5 to 99 %.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

SMALL = 100_000  # a batch of more rows is as good as without end
STEPS = 8  # of the costs, at most

Interval = tuple[float, float]


def share_interval(found: int, drawn: int, total: int | None = None, confidence: float = 0.95) -> Interval:
    """Return the interval of a share of which `found` rows of `drawn` are seen, out of `total` rows.

    Examples
    --------
    >>> from abstain.review.intervals import share_interval
    >>> low, high = share_interval(0, 20)
    >>> low, round(high, 3), share_interval(0, 20, total=25)
    (0.0, 0.168, (0.0, 0.08))
    """
    tail = (1.0 - confidence) / 2.0
    if total is None or total > SMALL:
        low = stats.beta.ppf(tail, found, drawn - found + 1) if found else 0.0
        high = stats.beta.isf(tail, found + 1, drawn - found) if found < drawn else 1.0
        return float(low), float(high)

    def at_most(k: int, K: int) -> float:
        """The chance of at most k such rows among those drawn, if there are K."""
        some = np.arange(max(0, drawn - total + K), min(k, K) + 1)
        chances = _log_choices(K, some) + _log_choices(total - K, drawn - some) - _log_choices(total, drawn)
        return float(np.exp(chances).sum())

    possible = range(found, total - drawn + found + 1)
    low = bisect_right(possible, tail, key=lambda K: 1.0 - at_most(found - 1, K))
    high = bisect_left(possible, -tail, key=lambda K: -at_most(found, K)) - 1
    return possible[low] / max(total, 1), possible[high] / max(total, 1)


def _log_choices(n: int, k: Any) -> Any:
    """The logarithm of n! / (k! (n - k)!)."""
    return -np.log1p(n) - special.betaln(n - k + 1, k + 1)


def mean_interval(
    costs: NDArray[np.float64], possible: NDArray[np.float64], total: int | None = None, confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean cost of `total` rows, of which some are seen; each cost is one of `possible`.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.review.intervals import mean_interval
    >>> low, high = mean_interval(np.zeros(20), np.array([0.0, 5.0]))
    >>> low, round(high, 2)
    (0.0, 0.84)
    """
    levels = np.unique(possible)
    if len(levels) > STEPS + 1:
        levels = np.linspace(levels[0], levels[-1], STEPS + 1)
    low = high = float(levels[0])
    each = 1.0 - (1.0 - confidence) / max(len(levels) - 1, 1)
    for below, level in pairwise(levels.tolist()):
        reached, passed = int((costs >= level).sum()), int((costs > below).sum())
        low += (level - below) * share_interval(reached, len(costs), total, each)[0]
        high += (level - below) * share_interval(passed, len(costs), total, each)[1]
    return low, high


def kappa(table: NDArray[np.int64], confidence: float = 0.95) -> tuple[float, Interval]:
    """Return Cohen's kappa of a table of two reviewers' verdicts, and its interval; nan if both always say the same.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.review.intervals import kappa
    >>> found, (low, high) = kappa(np.array([[8, 2], [1, 9]]))
    >>> round(found, 2), round(low, 2), round(high, 2)
    (0.7, 0.24, 0.94)
    """
    n, agreed = int(table.sum()), int(np.trace(table))
    chance = float(table.sum(axis=0) @ table.sum(axis=1)) / n**2 if n else 1.0
    if chance == 1.0:
        return float("nan"), (-1.0, 1.0)
    low, high = ((share - chance) / (1.0 - chance) for share in share_interval(agreed, n, None, confidence))
    return (agreed / n - chance) / (1.0 - chance), (low, high)
