"""Intervals for a mean cost, and for differences of several, from one cost per row.

With the costs c_i of n held-out rows ::

    mean -+ t s / sqrt(n)          s^2 = sum_i (c_i - mean)^2 / (n - 1)          t from Student's distribution, n - 1

For a stable learner this interval is asymptotically exact for the mean cost, on new rows, of the machines fitted on the
folds (Bayle, Bayle, Janson & Mackey, "Cross-validation confidence intervals for test error", NeurIPS 2020), although
they share training rows. It does not cover other training sets: how much the cost varies with them cannot be estimated
without bias from one cross-validation (Bengio & Grandvalet, JMLR 5, 2004). Means over folds would not help: there are
only five of them, and they share training rows as well.

A difference uses the same formula on the paired costs c_i - c'_i, where the difficulty of a row cancels. The best model
is determined from the same rows, so the differences hold for all pairs at once (Bonferroni).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def half_width(prices: NDArray[np.float64], confidence: float, n_statements: int = 1) -> NDArray[np.float64]:
    """Return t s / sqrt(n) for each column, so that `n_statements` intervals hold at once with this confidence."""
    n = len(prices)
    if n < 2:
        return np.full(prices.shape[1], np.inf)
    t = stats.t.isf((1.0 - confidence) / (2.0 * max(n_statements, 1)), df=n - 1)
    return np.asarray(t * prices.std(axis=0, ddof=1) / np.sqrt(n))
