"""How many rows of each class are held out to calibrate a promise: about a quarter, more if needed, at most half."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.class_labels import ClassLabels
from abstain.labels import Labels
from abstain.rules.by_answer import ByAnswer
from abstain.rules.class_error import rows_needed
from abstain.rules.risk_control import ROOM, STARTS, rows_without_error

__all__ = ["OTHERWISE", "calibration_sizes"]

SHARE = 0.25  # unless the promise needs more
MOST = 0.5
OTHERWISE = " Or hold out more than half with calibration_size"  # ends an error; the command line has no such option


def calibration_sizes(request: Any, labels: Labels | ClassLabels, counts: NDArray[np.intp], size: Any) -> list[int]:
    """Return the number of calibration rows of each class.

    Parameters
    ----------
    request : Request
        For these classes, with `max_error` or `class_error`.
    labels : Labels or ClassLabels
    counts : ndarray of intp
        The rows of each class, in order.
    size : float, int or None
        The share or number of rows to hold out; None means as many as the promise needs, within bounds.
    """
    n = int(counts.sum())
    if size is not None:
        share = float(size) / n if isinstance(size, int | np.integer) else float(size)
        return [max(1, math.ceil(share * count * (1 - 1e-12))) for count in counts.tolist()]
    if request.class_error is not None:
        return [_for_rate(*one, count) for one, count in zip(request.class_error.items(), counts.tolist(), strict=True)]
    return _for_ceilings(request, labels, counts)


def _for_ceilings(request: Any, labels: Labels | ClassLabels, counts: NDArray[np.intp]) -> list[int]:
    """Enough rows for all starts of the tests on the error among accepted rows, within the bounds."""
    ceiling, level = request.max_error, 1.0 - request.confidence
    asked = f"max_error={ceiling} with confidence={request.confidence:g}"
    if isinstance(ceiling, ByAnswer):
        level /= len(ceiling.named)
        return [_within(c, level, n) for c, n in zip(ceiling.shares, counts.tolist(), strict=True)]
    if isinstance(ceiling, tuple):
        ceilings = ceiling if isinstance(labels, Labels) and labels.orientation > 0 else ceiling[::-1]
        named = zip(labels.classes.tolist(), ceilings, counts.tolist(), strict=True)
        return [_checked(c, level, n, asked, f" of the class {label!r}") for label, c, n in named]
    n = int(counts.sum())
    share = _checked(ceiling, level, n, asked) / n
    return [max(1, math.ceil(share * count * (1 - 1e-12))) for count in counts.tolist()]


def _checked(ceiling: float, level: float, n: int, asked: str, of: str = "") -> int:
    needed = rows_without_error(ceiling, level)
    if needed > MOST * n:
        raise ValueError(
            f"{asked} needs at least {needed} calibration rows{of} even without errors, which are held out, and as "
            f"many to fit on; there are {n} rows{of}. Use at least {2 * needed} rows{of}, raise max_error, or "
            f"lower confidence.{OTHERWISE}."
        )
    return _within(ceiling, level, n)


def _within(ceiling: float, level: float, n: int) -> int:
    wanted = 0 if math.isnan(ceiling) else ROOM * rows_without_error(ceiling, level / STARTS)
    return max(1, min(max(wanted, math.ceil(SHARE * n)), int(MOST * n)))


def _for_rate(label: Any, rate: float, n: int) -> int:
    """About `SHARE` of a class, the next number at which no part of the rate is lost.

    With m rows the rate that is used is floor(rate (m + 1)) / (m + 1), so m + 1 is a multiple of 1 / rate.
    """
    needed = rows_needed(rate)
    if needed > MOST * n:
        raise ValueError(
            f"class_error={rate:g} of the class {label!r} needs at least {needed} calibration rows of this class "
            f"(1 / class_error - 1), which are held out, and as many to fit on; it has {n} rows. Use at least "
            f'{2 * needed} rows of this class, or a higher rate.{OTHERWISE}, or use conformal="cross".'
        )
    j = max(1, math.ceil(rate * (SHARE * n + 1)))
    wanted = [math.ceil(i / rate * (1 - 1e-12)) - 1 for i in (j, j - 1)]
    return next(m for m in (*wanted, needed) if needed <= m <= MOST * n)
