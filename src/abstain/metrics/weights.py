"""Sample weights of the metrics: a weight of k is the same as repeating the row k times, 0 as dropping it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def checked_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """One finite weight >= 0 per row with a finite sum > 0; None if none are given."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n},); its shape is {weight.shape}.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"sample_weight must be finite and >= 0, got {weight[at]:g} at row {at}; 0 drops a row.")
    if not weight.any():
        raise ValueError("sample_weight is 0 for every row; at least one must be positive.")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"sample_weight sums to {total:g}; divide the weights by their mean.")
    return weight
