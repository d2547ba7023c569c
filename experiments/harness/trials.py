"""Means over random splits of one data set, with errors that account for rows shared between splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats


def over_splits(values: Sequence[float], test_share: float, *, statements: int = 1) -> dict[str, Any]:
    """Mean, standard error and 95 % interval of one number per random split, for J splits.

    ::

        standard error   s / sqrt(J)                       the noise of these splits
        interval         mean -/+ t s sqrt(1/J + n_test / n_train)

    Splits share rows, so s / sqrt(J) goes to 0 as J grows although the data set stays the same. The interval uses
    Nadeau & Bengio's correction for this ("Inference for the generalization error", Machine Learning 52, 2003),
    Student's t with J - 1 degrees of freedom, and Bonferroni's correction for `statements` simultaneous intervals.
    """
    numbers = np.asarray(values, dtype=np.float64)
    J, s = len(numbers), float(numbers.std(ddof=1))
    t = float(stats.t.isf(0.025 / statements, df=J - 1))
    half = t * s * np.sqrt(1 / J + test_share / (1 - test_share))
    mean = float(numbers.mean())
    return {"mean": mean, "standard_error": s / np.sqrt(J), "low": mean - half, "high": mean + half, "trials": J}
