"""Whether two samples come from one law: exact tests on counts, valid for samples of any size and with ties.

All rows are exchangeable if nothing has changed: given the pooled rows, each set of n of them is equally likely to be
the batch. With m reference rows ::

    scores     D = max_s |share of the batch <= s - share of the reference <= s|     (Kolmogorov and Smirnov)
    beyond     K = rows of the batch above the j-th largest reference score
               P(K >= k) = P(H >= k),  H hypergeometric: k + j - 1 of n + m rows, n of them of the batch
    shares     X_c = rows of the batch in category c, of N_c in both
               P(X_c >= x) and P(X_c <= x),  X_c hypergeometric: n of n + m rows, N_c of them in c

With ties, or few rows, these p-values are too large rather than too small.

Several tests of one hypothesis are corrected for their number, but only for those that could have been as significant
(Tarone, "A modified Bonferroni method for discrete data", Biometrics 46, 1990): with l_k the least p-value that test k
can have, given the pooled rows ::

    P(some p_k <= t) <= sum_k P(p_k <= t) <= t #{k : l_k <= t}

so that a category of three rows costs the others nothing. Holm's steps do the rest.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Counts = NDArray[np.int64]
# Up to so many rows the distribution of D is counted; beyond, it is that of one sample of nm / (n + m) rows.
_EXACT = 10_000


@dataclass(frozen=True)
class Tested:
    """The result of one test.

    Attributes
    ----------
    difference : float
        How far apart the two samples are: the largest difference between their shares of any set of rows that the test
        looks at, from 0 to 1.
    p_value : float
        At most t with a probability of at most t, for every t, if nothing has changed.
    least : float
        The least p-value that the pooled rows allow.
    at : int
        The cell where the samples differ most: rows in later cells for scores, rows in this cell for shares.
    here, before : float
        The shares of these rows in the batch and in the reference.
    """

    difference: float
    p_value: float
    least: float
    at: int
    here: float
    before: float


def cells_of(scores: NDArray[np.float64], reference: NDArray[np.float64]) -> Counts:
    """Count scores in cells: the d distinct reference scores (odd cells) and the gaps around them (even), 2 d + 1.

    Every rank test of two samples needs only these counts, so that scores need not be kept. NaN counts as the largest.
    """
    values = np.unique(reference)
    scores = np.where(np.isnan(scores), np.inf, scores)
    cells = np.searchsorted(values, scores, "left") + np.searchsorted(values, scores, "right")
    return np.bincount(cells, minlength=2 * len(values) + 1).astype(np.int64)


def scores_test(here: Counts, before: Counts) -> Tested:
    """Compare two distributions over ordered cells by Kolmogorov and Smirnov's test, two-sided."""
    n, m = int(here.sum()), int(before.sum())
    above = 1.0 - np.cumsum(here) / n, 1.0 - np.cumsum(before) / m
    at = int(np.argmax(np.abs(above[0] - above[1])))
    cells = np.arange(len(here))
    samples = np.repeat(cells, here), np.repeat(cells, before)
    method = "exact" if max(n, m) <= _EXACT else "asymp"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where counting overflows, scipy takes the other method
        p_value = float(stats.ks_2samp(*samples, method=method).pvalue)
    # D = 1 in either direction: 2 of the (n + m)! / (n! m!) orders
    least = max(2.0 / float(special.comb(n + m, n)), 1e-304)
    share = float(above[0][at]), float(above[1][at])
    return Tested(abs(share[0] - share[1]), min(p_value, 1.0), min(least, p_value), at, *share)


def beyond_test(here: Counts, before: Counts, rank: int) -> Tested:
    """Count the rows of the batch above the `rank`-th largest reference score: more than chance brings, one-sided."""
    n, m = int(here.sum()), int(before.sum())
    tail = np.cumsum(before[::-1])[::-1]  # reference rows in this cell or later
    cut = int(np.flatnonzero(tail >= rank)[-1])
    k = int(here[cut + 1 :].sum())

    def chance(count: int) -> float:
        return float(stats.hypergeom.sf(count - 1, n + m, n, count + rank - 1)) if count else 1.0

    share = k / n, float(before[cut + 1 :].sum()) / m
    return Tested(abs(share[0] - share[1]), chance(k), chance(n), cut, *share)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of the batch and of the reference by category.

    Attributes
    ----------
    here, before : ndarray of shape (n_categories,)
        Rows in each category; of either sample at least one.
    hidden : int, default=0
        How many further categories there may be that are not counted apart: the last cell has them, and is not tested.
    slack : int, default=0
        How many rows of the batch may be in another category for a reason that does not count: the p-values are the
        largest that so many rows could give.
    unknown : int, default=0
        Further rows of the reference whose category is not known: the p-values are the largest that any could give.
    """

    here: Counts
    before: Counts
    hidden: int = 0
    slack: int = 0
    unknown: int = 0

    @property
    def tested(self) -> int:
        """The number of categories tested, the first ones; of two, both say the same."""
        return 1 if len(self.here) == 2 else len(self.here) - (self.hidden > 0)


def shares_tests(tables: Sequence[Table]) -> list[Tested]:
    """Compare the shares of the categories of each table, from above and from below, corrected for their number."""
    if not tables:
        return []
    x, y, n, m, slack, unknown = (np.concatenate(cells) for cells in zip(*map(_cells, tables), strict=True))
    m = m + unknown
    fewer, more = np.maximum(x - slack, 0), np.minimum(x + slack, n)
    most, fewest = np.minimum(fewer + y + unknown, n), np.maximum(more + y - m, 0)
    above, most_above = stats.hypergeom.sf(np.array([fewer, most]) - 1, n + m, fewer + y + unknown, n)
    below, most_below = stats.hypergeom.cdf(np.array([more, fewest]), n + m, more + y, n)
    ends = np.cumsum([table.tested for table in tables])[:-1]
    p = np.split(np.clip([above, below], 0.0, 1.0), ends, axis=1)
    least = np.split(np.clip([most_above, most_below], 0.0, 1.0), ends, axis=1)
    return [_shares(*one) for one in zip(tables, p, least, strict=True)]


def _cells(table: Table) -> list[Counts]:
    """For each category tested: rows of the batch and of the reference in it, of both in all, slack, and unknown."""
    here, before = table.here[: table.tested], table.before[: table.tested]
    whole = (table.here.sum(), table.before.sum(), table.slack, table.unknown)
    return [here, before, *(np.full_like(here, rows) for rows in whole)]


def _shares(table: Table, p: NDArray[np.float64], least: NDArray[np.float64]) -> Tested:
    t = float(p.min())
    p_value = float(min(1.0, t * (np.count_nonzero(least <= t) + 2 * table.hidden)))
    here, before = table.here / table.here.sum(), table.before / table.before.sum()
    # the most significant one; of those too small to tell apart, the one that has moved most
    moved = np.abs(here - before)[: table.tested]
    at = int(np.lexsort((-moved, p.min(axis=0)))[0])
    difference = float(np.abs(here - before).sum() / 2)
    return Tested(difference, p_value, min(float(least.min()), p_value), at, float(here[at]), float(before[at]))


def holm(p_values: Sequence[float], least: Sequence[float]) -> NDArray[np.float64]:
    """Correct p-values for their number by Holm's steps, counting only tests that could have been as significant.

    ::

        p*_(i) = max over j <= i of p_(j) #{k not among the first j - 1 : l_k <= p_(j)},     p_(1) <= ... <= p_(m)
    """
    p, lowest = np.asarray(p_values, dtype=np.float64), np.asarray(least, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = [p[k] * np.count_nonzero(lowest[order[at:]] <= p[k]) for at, k in enumerate(order)]
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(p) else []
    return corrected
