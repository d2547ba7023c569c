"""FR02's external threshold: a band around score 0 of a trained machine, chosen on the training rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def external_threshold(score: NDArray[np.float64], y: NDArray[np.int64], cost: float) -> float:
    """The smallest D that minimises w_R R + E when |f| < D is rejected.

    At w_R = 1/k one error costs exactly k rejects, so sums are rounded to keep rounding errors from breaking ties.
    """
    order = np.argsort(np.abs(score), kind="stable")
    size, wrong = np.abs(score)[order], (np.where(score > 0, 1, -1) != y)[order]
    rejects = np.arange(len(y) + 1)
    errors = wrong.sum() - np.r_[0, np.cumsum(wrong)]
    possible = np.r_[True, size[1:] > size[:-1], True]  # rows with equal |f| are rejected together
    risk = np.where(possible, np.round(cost * rejects + errors, 9), np.inf)
    k = int(np.argmin(risk))
    return 0.0 if k == 0 else float(np.nextafter(size[k - 1], np.inf))
