"""Intervals of a mean cost, and of the differences of several, from one price per row.

With the prices c_i of n rows, each decided by a machine that was not fitted on it ::

    mean -+ t s / sqrt(n)          s^2 = sum_i (c_i - mean)^2 / (n - 1)          t from Student's distribution, n - 1

For a stable learner this interval is asymptotically exact for the mean cost, on new rows, of the machines fitted on the
folds (Bayle, Bayle, Janson & Mackey, "Cross-validation confidence intervals for test error", NeurIPS 2020), although
they share training rows. It says nothing of other training sets: how much the cost moves with them cannot be estimated
without bias from one cross-validation (Bengio & Grandvalet, JMLR 5, 2004). Means over folds would not help: there are
five of them, not n, and they share training rows just so.

A difference is the same of the paired prices c_i - c'_i: what is hard about a row is hard for both, and cancels. Which
model is best is read from the same rows, so the differences hold for all pairs at once (Bonferroni), whichever it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def half_width(prices: NDArray[np.float64], confidence: float, n_statements: int = 1) -> NDArray[np.float64]:
    """Give t s / sqrt(n) for each column, all of `n_statements` such intervals right at once with this confidence."""
    n = len(prices)
    if n < 2:
        return np.full(prices.shape[1], np.inf)
    t = stats.t.isf((1.0 - confidence) / (2.0 * max(n_statements, 1)), df=n - 1)
    return np.asarray(t * prices.std(axis=0, ddof=1) / np.sqrt(n))
