"""Mean ranks of methods over data sets and costs, with a critical difference that keeps the costs of a set together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

DRAWS = 20_000
BATCH = 1_000


def ranked(costs: NDArray[np.float64]) -> dict[str, Any]:
    """Mean ranks of costs (sets, settings, methods), Friedman's test and Nemenyi's critical difference by permutation.

    If no method differs from another, the methods of a set could be exchanged, for all its costs at once. Drawn so::

        p                     share of draws whose mean ranks spread (sum of squares) at least as much
        critical difference   95 % quantile of the largest minus the smallest mean rank

    Friedman's and Nemenyi's own distributions would count the settings of a set, which share rows, as independent.
    """
    ranks = rankdata(np.round(costs, 12), axis=2).mean(axis=1)  # (sets, methods)
    mean = ranks.mean(axis=0)
    spread = float(np.sum((mean - mean.mean()) ** 2))
    rng = np.random.default_rng(0)
    ranges, as_wide = [], 0
    for _ in range(DRAWS // BATCH):
        drawn = rng.permuted(np.broadcast_to(ranks, (BATCH, *ranks.shape)), axis=2).mean(axis=1)
        ranges.append(np.ptp(drawn, axis=1))
        as_wide += int(np.sum(np.sum((drawn - mean.mean()) ** 2, axis=1) >= spread - 1e-12))
    critical = float(np.quantile(np.concatenate(ranges), 0.95))
    return {"mean": mean.tolist(), "p": (as_wide + 1) / (DRAWS + 1), "critical_difference": critical}
