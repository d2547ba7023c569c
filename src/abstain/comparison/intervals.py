"""Intervals for a mean cost, and for differences of several, from one cost per row.

Let d_i be the costs of n held-out rows, or the paired differences of two models' costs. Most d_i are the same (0 if the
models decide alike), and a few are large and of one sign. Student's interval is too short then: at costs of 1 and 20 it
covers .86 instead of .95 if 20 of 200 rows differ. Here the rows above and below the most frequent value m are bounded
separately, each sum by a gamma distribution, and the two are put together ::

    d_i = m + g_i - b_i          g_i, b_i >= 0          y = sum g_i,  v = n / (n - 1) (sum g_i^2 - y^2 / n)

    lower end of a sum   Gamma(y^2 / v) v / y                   at (1 - confidence) / 2
    upper end of a sum   the same with y + k w, v + k w^2       w the largest g_i there can be, k = 0.7

    low  = (n m + y_g - y_b - sqrt(l_g^2 + u_b^2 + 2 r l_g u_b)) / n
    high = (n m + y_g - y_b + sqrt(u_g^2 + l_b^2 + 2 r u_g l_b)) / n

with l and u the distances of the ends from the sums, and r = y_g y_b / (n - 1) / sqrt(v_g v_b), since a row is on one
side only. The gamma bounds are those of Fay and Feuer for weighted counts (Statistics in Medicine 16, 1997), who take
k = 1; 0.7 gives the rule of three, 3 w / n, where no row is on that side. The distances are put together as by Zou and
Donner (Statistics in Medicine 27, 2008), and stretched by the ratio of Student's quantile to the normal one. With many
rows on both sides this is Student's interval: with 80 or more differing rows, a tenth of them at the largest costs, it
was at most a fifth wider in simulations. It stays wide where a large cost is possible and no row shows it.

For a stable learner the interval is for the mean cost, on new rows, of the machines fitted on the folds (Bayle, Bayle,
Janson & Mackey, "Cross-validation confidence intervals for test error", NeurIPS 2020), although they share training
rows. It does not cover other training sets: how much the cost varies with them cannot be estimated without bias from
one cross-validation (Bengio & Grandvalet, JMLR 5, 2004). Means over folds would not help: there are only five of them,
and they share training rows as well.

The difficulty of a row cancels in a difference. The best model is determined from the same rows, so the differences
hold for all pairs at once (Bonferroni).
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

_MORE = 0.7  # of a row with the largest difference, which the upper end of a sum allows for


def interval_of_mean(
    values: NDArray[np.float64], bounds: tuple[float, float], confidence: float, n_statements: int = 1
) -> tuple[float, float]:
    """Return the interval of the mean of one value per row, so that `n_statements` hold at once with this confidence.

    `bounds` are the smallest and the largest value that a row can have.
    """
    n, (least, most) = len(values), bounds
    if n < 2:
        return least, most
    level = (1.0 - confidence) / (2.0 * max(n_statements, 1))
    middle = _most_frequent(values)
    above, below = (_Side(np.maximum(part, 0.0)) for part in (values - middle, middle - values))
    spread = math.sqrt(above.variance * below.variance)
    together = above.total * below.total / (n - 1) / spread if spread > 0 else 0.0
    stretch = float(stats.t.isf(level, n - 1) / stats.norm.isf(level))

    def reach(one: float, other: float) -> float:
        return stretch * math.sqrt(one**2 + other**2 + 2.0 * together * one * other) / n

    mean = float(values.mean())
    low = mean - reach(above.shortfall(level), below.excess(level, middle - least))
    high = mean + reach(above.excess(level, most - middle), below.shortfall(level))
    return max(low, least), min(high, most)


class _Side:
    """The rows on one side of the most frequent value: the sum of their distances from it, and its variance."""

    def __init__(self, distance: NDArray[np.float64]) -> None:
        n, self.total = len(distance), float(distance.sum())
        variance = n / (n - 1) * (float(np.square(distance).sum()) - self.total**2 / n)
        self.variance = variance if variance > 1e-12 * self.total**2 / n else 0.0

    def shortfall(self, level: float) -> float:
        """How far the lower end is below the sum."""
        if self.variance == 0:
            return 0.0
        y, v = self.total, self.variance
        return max(y - v / y * float(special.gammaincinv(y * y / v, level)), 0.0)

    def excess(self, level: float, largest: float) -> float:
        """How far the upper end is above the sum, if one row can add the largest distance."""
        largest = max(largest, 0.0)
        y, v = self.total + _MORE * largest, self.variance + _MORE * largest**2
        if v == 0:
            return 0.0
        return max(v / y * float(special.gammainccinv(y * y / v, level)) - self.total, 0.0)


def _most_frequent(values: NDArray[np.float64]) -> float:
    """The most frequent value; of several, the one next to the median."""
    found, counts = np.unique(values, return_counts=True)
    candidates = found[counts == counts.max()]
    return float(candidates[np.argmin(np.abs(candidates - np.median(values)))])
