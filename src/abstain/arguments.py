"""Checks of numeric arguments: any real number in, a checked float out."""

from __future__ import annotations

import math
from numbers import Real

__all__ = ["positive_number", "real_number"]


def real_number(name: str, value: object) -> float:
    """Return `value` as a float; anything but a real number (a bool, a string, nan) is an error naming the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        # ValueError for every bad value, as in scikit-learn.
        raise ValueError(f"{name}={value!r} must be a real number, not {type(value).__name__}.")  # noqa: TRY004
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"{name}={value!r} must be a number, not nan.")
    return number


def positive_number(name: str, value: object) -> float:
    """Return `value` as a finite float > 0, or raise an error."""
    number = real_number(name, value)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name}={value!r} must be positive and finite.")
    return number
