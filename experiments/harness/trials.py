"""Means over random splits of one data set, with errors that allow for the rows which the splits share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats


def over_splits(values: Sequence[float], test_share: float, *, statements: int = 1) -> dict[str, Any]:
    """Mean, standard error and 95 % interval of a number that each of J random splits gives.

    ::

        standard error   s / sqrt(J)                       the noise of these splits
        interval         mean -/+ t s sqrt(1/J + n_test / n_train)

    Splits share rows, so s / sqrt(J) goes to 0 with J although the data set stays as it is. The interval has Nadeau &
    Bengio's correction for that ("Inference for the generalization error", Machine Learning 52, 2003), Student's t with
    J - 1 degrees, and Bonferroni's correction where it is one of several `statements`.
    """
    numbers = np.asarray(values, dtype=np.float64)
    J, s = len(numbers), float(numbers.std(ddof=1))
    t = float(stats.t.isf(0.025 / statements, df=J - 1))
    half = t * s * np.sqrt(1 / J + test_share / (1 - test_share))
    mean = float(numbers.mean())
    return {"mean": mean, "standard_error": s / np.sqrt(J), "low": mean - half, "high": mean + half, "trials": J}
