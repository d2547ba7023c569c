"""Accuracy-reject curves from counts, FR02's rule to compare two, and paired differences of risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_REJECT_RATE = 0.30  # FR02, section 4: "values of the reject rate up to 30 %"
KINDS = ("better", "neither", "worse")

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


def curve(rejects: NDArray[np.int64], errors: NDArray[np.int64], n: int) -> Curve:
    """Reject rates up to 30 %, increasing, and the accuracy among accepted rows; points of equal rate are averaged."""
    kept = rejects <= MAX_REJECT_RATE * n
    rates, place = np.unique(rejects[kept], return_inverse=True)
    accuracy = 1.0 - errors[kept] / (n - rejects[kept])
    return rates / n, np.bincount(place, accuracy) / np.bincount(place)


def better(first: Curve, second: Curve) -> str:
    """FR02's rule: better if the first is nowhere below the second and somewhere above, at every common reject rate.

    The points of a curve are joined by lines, so it is enough to compare at the points of both. The common rates range
    from the larger of the two lowest to the smaller of the two highest; if there are none, neither is better.
    """
    if not (len(first[0]) and len(second[0])):
        return "neither"
    low, high = max(first[0][0], second[0][0]), min(first[0][-1], second[0][-1])
    rates = np.union1d(first[0], second[0])
    rates = rates[(rates >= low) & (rates <= high)]
    if not rates.size:
        return "neither"
    gain = np.interp(rates, *first) - np.interp(rates, *second)
    gain[np.abs(gain) < 1e-12] = 0.0
    if gain.min() >= 0.0 < gain.max():
        return "better"
    return "worse" if gain.max() <= 0.0 > gain.min() else "neither"


def risks(counts: NDArray[np.int64], n: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """w_R R + E; counts (..., costs, [rejects, errors]), n the same shape without its last two axes."""
    return (costs * counts[..., 0] + counts[..., 1]) / n[..., None]


def paired(difference: NDArray[np.float64]) -> dict[str, Any]:
    """Mean and standard error of differences (pairs, splits, costs): for each cost, and of the mean over the costs.

    The splits of a pair share its rows, so they are averaged first; the standard error is taken over the pairs.
    """
    by_pair = difference.mean(axis=1)
    overall = by_pair.mean(axis=1)
    return {
        "mean": by_pair.mean(axis=0).tolist(),
        "se": _standard_error(by_pair).tolist(),
        "overall": {"mean": float(overall.mean()), "se": float(_standard_error(overall))},
    }


def _standard_error(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))
