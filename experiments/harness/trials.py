"""Means and tests over random splits of one data set, which share rows, and over data sets, which do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

ROUNDING = 1e-12  # differences of mean costs this small are rounding errors


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


def corrected_p(values: Sequence[float], test_share: float) -> float:
    """Two-sided p value for a mean of 0, with the corrected error of `over_splits`."""
    numbers = np.asarray(values, dtype=np.float64)
    J, mean, s = len(numbers), float(numbers.mean()), float(numbers.std(ddof=1))
    if s < ROUNDING:
        return float(abs(mean) < ROUNDING)
    return float(2 * stats.t.sf(abs(mean) / (s * np.sqrt(1 / J + test_share / (1 - test_share))), df=J - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values: below 0.05, the statement holds at 5 % for all statements together.

    ::

        p*_(k) = max over j <= k of min(1, (m - j + 1) p_(j)),     p_(1) <= ... <= p_(m)
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]))
    return adjusted.tolist()


def over_sets(values: Sequence[float]) -> dict[str, Any]:
    """Mean of one number per data set, its standard error and 95 % interval by Student's t, and a sign test."""
    numbers = np.asarray(values, dtype=np.float64)
    J, mean, error = len(numbers), float(numbers.mean()), float(stats.sem(numbers))
    half = float(stats.t.isf(0.025, df=J - 1)) * error
    above, below = int((numbers > ROUNDING).sum()), int((numbers < -ROUNDING).sum())
    sign_p = float(stats.binomtest(above, above + below).pvalue) if above + below else 1.0
    found = {"mean": mean, "standard_error": error, "low": mean - half, "high": mean + half, "sets": J}
    return {**found, "above": above, "below": below, "sign_p": sign_p}


def as_ratio(logs: dict[str, Any]) -> dict[str, Any]:
    """Mean and interval of logarithms as a geometric mean, minus 1: the relative difference."""
    return {**logs, **{name: float(np.expm1(logs[name])) for name in ("mean", "low", "high")}}
