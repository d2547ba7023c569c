"""Costs in a unit of their own: the same bits whatever currency they were stated in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_own_unit", "significant"]

_DIGITS = 13  # of costs in their own unit; further ones are rounding errors, or too few to matter
_POWERS = np.array([float(f"1e{k}") for k in range(309)])
_CLOSE = 1e-6  # costs of one class that differ by less than this share keep all digits: the difference needs them
_EQUAL = 1e-15  # and by less than this, they are equal


def in_own_unit(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs of shape (..., classes, actions) in a unit of their own, in which any common factor is gone.

    ::

        unit = min over true classes of the highest cost of an action

    The digits in which the same costs in other units may differ are rounded away, so that both give the same bits.
    Costs of at most 13 digits whose unit is 1 stay as they are.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        own = table / table.max(axis=-1, keepdims=True).min(axis=-2, keepdims=True)
        ascending = np.sort(own, axis=-1)
        share = np.diff(ascending, axis=-1) / np.maximum(ascending[..., 1:], np.finfo(np.float64).tiny)
    exact = ((share > _EQUAL) & (share < _CLOSE)).any(axis=(-2, -1), keepdims=True)
    usual = np.isfinite(own).all(axis=(-2, -1), keepdims=True) & ((own > 0) == (table > 0)).all(
        axis=(-2, -1), keepdims=True
    )
    return np.where(usual, np.where(exact, own, significant(own)), table)


def significant(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers >= 0 rounded to 13 significant decimal digits."""
    usable = (values > 1e-280) & (values < 1e280)
    places = (_DIGITS - 1) - np.floor(np.log10(np.where(usable, values, 1.0))).astype(np.intp)
    scale = _POWERS[np.abs(places)]
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.where(places > 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale)
    return np.where(usable, found, values)
