"""Intervals of an audit that hold for any number of rows, however few.

::

    share     k of n rows drawn from N: the K / N at which neither tail of the hypergeometric law is below its half
    (N None)  the same of the binomial law (Clopper and Pearson)
    batches   p = sum_h w_h p_h of shares w_h of all rows, estimated by x a = sum_h w_h k_h / n_h, a = max_h w_h / n_h:
              P(estimate <= x a) <= min_{s > x} E (s - B)_+ / (s - x),    B binomial with n = sum_h n_h and mean p / a
    mean      least + sum_j (c_j - c_j-1) P(cost >= c_j), each share at 1 - (1 - confidence) / number of steps
    kappa     (p - e) / (1 - e): the share p of agreement, with chance agreement e from what each reviewer says

The first three hold at least at their confidence, exactly: a draw without replacement, trials of unequal chances, and
trials that count less than one are all below the binomial law of the same mean in the convex order (Hoeffding 1956,
1963), and (s - x)_+ / (s - x) is convex and at least 1 in the tail. The interval of kappa takes e as known; in
simulations of 8 to 60 rows it held for at least 95.9 % at a confidence of 95 %, where the usual normal interval held
for 5 to 99 %.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

SMALL = 100_000  # a batch of more rows is as good as without end
STEPS = 8  # of the costs, at most

Interval = tuple[float, float]
Floats = NDArray[np.float64]


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
        return float(stats.hypergeom.cdf(k, max(total, 1), K, drawn))

    possible = range(found, total - drawn + found + 1)
    low = bisect_right(possible, tail, key=lambda K: 1.0 - at_most(found - 1, K))
    high = bisect_left(possible, -tail, key=lambda K: -at_most(found, K)) - 1
    return possible[low] / max(total, 1), possible[high] / max(total, 1)


def share_of_batches(found: Any, possible: Any, drawn: Any, total: Any, confidence: float = 0.95) -> Interval:
    """Return the interval of a share of all rows of some batches, from the rows that are drawn in each of them.

    Parameters
    ----------
    found, possible, drawn, total : array-like of int, one for each batch
        The rows seen; those that are seen or may be, because some of the drawn rows are unknown; all drawn ones; and
        all rows. A batch without drawn ones may have any share.
    confidence : float, default=0.95

    Examples
    --------
    >>> from abstain.review.intervals import share_of_batches
    >>> low, high = share_of_batches([0, 0], [0, 0], [20, 20], [1000, 150])
    >>> low, round(high, 3), share_of_batches([0], [2], [20], [25])
    (0.0, 0.153, (0.0, 0.2))
    """
    found, possible, drawn, total = (np.asarray(counts) for counts in (found, possible, drawn, total))
    rows, some, all_of = max(total.sum(), 1), (drawn > 0) & (drawn < total), drawn >= total
    low, high = found[all_of].sum() / rows, (possible[all_of].sum() + total[drawn == 0].sum()) / rows
    weight, tail, n = total[some] / rows, (1.0 - confidence) / 2.0, int(drawn[some].sum())
    if some.sum() == 1:
        ends = (share_interval(int(k[some][0]), n, int(total[some][0]), confidence) for k in (found, possible))
        (below, _), (_, above) = ends
        low, high = low + weight[0] * below, high + weight[0] * above
    elif n:
        each = weight / drawn[some]
        least, most = (float(each @ k[some] / each.max()) for k in (found, possible))
        low += each.max() * n * (1.0 - _largest(n - least, n, tail))
        high += min(each.max() * n * _largest(most, n, tail), weight.sum())
    return float(low), float(high)


def _largest(x: float, n: int, tail: float) -> float:
    """The largest chance q of n trials at which at most x of them, or as little, is not less likely than the tail."""
    s = np.arange(int(x) + 1, n + 1)

    def above(q: float) -> float:
        below = np.cumsum(special.bdtr(np.arange(n, dtype=np.float64), n, q))  # E (s - B)_+ for s = 1, ..., n
        return float((below[s - 1] / (s - x)).min()) - tail

    return 1.0 if x >= n else float(optimize.brentq(above, x / n, 1.0, xtol=1e-12))


def mean_interval(
    least: Sequence[Floats], most: Sequence[Floats], possible: Floats, total: Sequence[int], confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean cost of all rows of some batches, of which some are drawn in each.

    Parameters
    ----------
    least, most : sequence of ndarray, one for each batch
        What the drawn rows cost at least and at most; the same where their class is known.
    possible : ndarray
        The costs that a row can have.
    total : sequence of int
        All rows of each batch.
    confidence : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.review.intervals import mean_interval
    >>> costs = [np.zeros(20)]
    >>> low, high = mean_interval(costs, costs, np.array([0.0, 5.0]), [1000])
    >>> low, round(high, 2)
    (0.0, 0.83)
    """
    levels = np.unique(possible)
    if len(levels) > STEPS + 1:
        levels = np.linspace(levels[0], levels[-1], STEPS + 1)
    low = high = float(levels[0])
    each, drawn = 1.0 - (1.0 - confidence) / max(len(levels) - 1, 1), [len(costs) for costs in least]
    for below, level in pairwise(levels.tolist()):
        reached = [int((costs >= level).sum()) for costs in least]
        passed = [int((costs > below).sum()) for costs in most]
        ends = share_of_batches(reached, passed, drawn, total, each)
        low, high = low + (level - below) * ends[0], high + (level - below) * ends[1]
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
