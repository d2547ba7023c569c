"""The scale of a softmax that makes held-out scores likeliest: one number for all classes.

::

    P = softmax(scale g)        scale = argmin sum_i w_i (log sum_k exp(scale g_ik) - scale g_iy)

The sum is convex in the scale. Of n rows, a share of 1 / (n + 1) of each row's weight counts as spread evenly over the
classes, which keeps the scale finite where no held-out row is wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

__all__ = ["fitted_scale"]

SMALLEST, LARGEST = 1e-3, 1e3
STEPS = 60


def fitted_scale(heights: NDArray[np.float64], code: NDArray[np.intp], weight: NDArray[np.float64]) -> float:
    """Return the scale for rows of heights g, (n, n_classes), codes of the true classes, and weights with mean 1."""
    g = heights - heights.mean(axis=1, keepdims=True)
    rest = 1.0 / float(weight.sum())
    own = np.take_along_axis(g, code[:, np.newaxis], axis=1)[:, 0]
    aim = float(weight @ own) / (1.0 + rest)  # of the mean g under P; the mean of g over all classes is 0

    def excess(scale: float) -> float:
        """The derivative of the sum."""
        return float(weight @ np.einsum("ik,ik->i", softmax(scale * g, axis=1), g)) - aim

    low, high = np.log(SMALLEST), np.log(LARGEST)
    if excess(SMALLEST) >= 0.0:
        return SMALLEST
    if excess(LARGEST) <= 0.0:
        return LARGEST
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(float(np.exp(middle))) < 0.0 else (low, middle)
        if high - low < 1e-4:
            break
    return float(np.exp(0.5 * (low + high)))
