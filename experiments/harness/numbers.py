"""Number formats of the pages: signs, standard errors and intervals."""

from __future__ import annotations

from typing import Any


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign, using a true minus; 0 has no sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def with_error(item: dict[str, Any], digits: int = 3) -> str:
    """Mean ± standard error of a result of `over_splits`."""
    return f"{item['mean']:.{digits}f} ± {item['standard_error']:.{digits}f}"


def with_interval(item: dict[str, Any], digits: int = 3) -> str:
    """Mean [low, high], with signs."""
    return f"{signed(item['mean'], digits)} [{signed(item['low'], digits)}, {signed(item['high'], digits)}]"
