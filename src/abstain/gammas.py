"""The width of a kernel: `gamma` as users state it, and what "scale" is for these rows."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from abstain.arguments import positive_number
from abstain.kernels import KERNELS, Matrix

_BLOCK = 2_000_000  # entries of X that are centred at a time
_SMALL = 100_000  # entries that are centred in fewer calls if their weights are equal


def resolve_gamma(gamma: float | str, X: Matrix, sample_weight: ArrayLike | None = None, kernel: str = "rbf") -> float:
    """Return the numeric value of `gamma`.

    ::

        "scale"   1 / (d v)    v the mean of |x - m|^p over all entries x of X, its rows weighted, m their mean
        "auto"    1 / d

    So v is the variance, p = 2; for the laplacian kernel it is the mean absolute deviation, p = 1. In both cases gamma
    has no unit: X in other units has the same kernel values. If all columns have the same mean, gamma times the
    distance of two random rows is 2 on average (laplacian: from 1 to 2, whatever the distribution).

    For constant data "scale" is 1.0, as in scikit-learn. Data of scale above about 1e+154 or below about 1e-154
    (laplacian: 1e+307 and 1e-307) are refused, because 1 / (d v) is then outside the range of float64.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float > 0
    X : float64 array or CSR matrix of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; a weight of 2 is the same as repeating the row.
    kernel : str, default="rbf"
        The name of the kernel, for its p.
    """
    if not isinstance(gamma, str):
        _check_reach(positive_number("gamma", gamma), X, kernel)
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma != "scale":
        raise ValueError(f'gamma={gamma!r} must be "scale", "auto" or a positive number.')
    power = KERNELS[kernel].power
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _spread(X, sample_weight, power)
    if 1e-200 < spread < 1e200:  # far from where powers overflow
        return 1.0 / (X.shape[1] * spread)
    entries = X.data if issparse(X) else X
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))  # np.abs would be a copy
    # Squares of such data are outside the range of float64; a power of two brings them near 1 without rounding.
    exponent = max(math.frexp(largest)[1], -1000)
    exponent = exponent if abs(exponent) > 400 else 0
    spread = _spread(np.ldexp(1.0, -exponent) * X if exponent else X, sample_weight, power)
    if spread <= 0.0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        width = np.ldexp(1.0 / (X.shape[1] * spread), -power * exponent)
    if not np.finfo(np.float64).tiny <= width < np.inf:
        side = "above" if width == np.inf else "below"
        what = "variance" if power == 2 else "mean absolute deviation"
        raise ValueError(
            f'gamma="scale" is 1 / (n_features * {what} of X), which is {side} the range of float64 because X has '
            f"entries up to {largest:.3g}; scale the features, with StandardScaler for example."
        )
    return float(width)


def _spread(X: Matrix, sample_weight: ArrayLike | None, power: int) -> float:
    """Compute the mean of |entry - mean|^power, rows weighted, in two passes (one pass cancels far from 0)."""
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / weight.max()
    total = d * weight.sum()
    if not issparse(X) and X.size <= _SMALL and (weight == 1.0).all():
        deviation = (X - X.sum(dtype=np.float64) / total).ravel()
        return float(deviation @ deviation if power == 2 else np.abs(deviation).sum()) / float(total)
    if not issparse(X):
        step = max(1, _BLOCK // max(1, d))  # rows in a memory-mapped file may be larger than memory
        blocks = [slice(first, first + step) for first in range(0, n, step)]
        mean = sum(weight[rows] @ X[rows].sum(axis=1, dtype=np.float64) for rows in blocks) / total
        powers = 0.0
        for rows in blocks:
            deviation = X[rows] - mean
            each = np.einsum("ij,ij->i", deviation, deviation) if power == 2 else np.abs(deviation).sum(axis=1)
            powers += weight[rows] @ each
        return float(powers / total)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    stored = np.diff(X.indptr)
    entry_weight = np.repeat(weight, stored)
    mean = entry_weight @ X.data / total
    of_stored = entry_weight @ np.abs(X.data - mean) ** power
    return float((of_stored + (weight @ (d - stored)) * np.abs(mean) ** power) / total)


def _check_reach(gamma: float, X: Matrix, kernel: str) -> None:
    """Raise an error if distances times gamma are beyond float64, so that a row would be far from itself."""
    if KERNELS[kernel].power == 2:  # the certificate says so
        return
    entries = X.data if issparse(X) else X
    largest = float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))
    if gamma * largest * X.shape[1] > np.finfo(np.float64).max / 4:
        raise ValueError(
            f"gamma={gamma!r} times the distances of rows with entries up to {largest:.3g} is beyond the range of "
            "float64; lower gamma, or scale the features, with StandardScaler for example."
        )
