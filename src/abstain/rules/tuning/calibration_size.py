"""How many rows of each class are held out to calibrate a promise: from a quarter to half of them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.labels import Labels
from abstain.rules.tuning.class_error import rows_needed
from abstain.rules.tuning.risk_control import rows_without_error
from abstain.rules.tuning.scored_rows import ByAnswer

SHARE = 0.25  # unless the promise needs more
MOST = 0.5
ENOUGH = 30  # times the rows that certify a ceiling without errors; half were better on small tables when measured
OTHERWISE = " Or hold out more than half with calibration_size"  # ends an error; the command line has no such option


def calibration_sizes(request: Any, labels: Labels, counts: NDArray[np.intp], size: Any) -> list[int]:
    """Return the number of calibration rows of each class.

    Parameters
    ----------
    request : Request
        For these classes, with `max_error` or `class_error`.
    labels : Labels
    counts : ndarray of intp
        The rows of each class, in order.
    size : float, int or None
        The share or number of rows to hold out; None means as many as the promise needs, within bounds.
    """
    n = int(counts.sum())
    if size is not None:
        share = float(size) / n if isinstance(size, int | np.integer) else float(size)
        return _of_each(share, counts)
    if request.way == "class_error":
        pairs = zip(request.share.items(), counts.tolist(), strict=True)
        return [_for_rate(label, rate, count) for (label, rate), count in pairs]
    return _for_ceilings(request, labels, counts)


def _for_ceilings(request: Any, labels: Labels, counts: NDArray[np.intp]) -> list[int]:
    """Half of the rows until they are `ENOUGH`, then fewer, but at least `SHARE`; the same share of each class.

    Errors among accepted rows mix the classes, so that these must be as frequent as among new rows.
    """
    ceiling, level, n = request.share, 1.0 - request.confidence, int(counts.sum())
    if isinstance(ceiling, ByAnswer):
        level /= len(ceiling.named)
        named = zip(ceiling.shares, counts.tolist(), strict=True)
        share = max(_share(c, level, count) for c, count in named if not math.isnan(c))
    elif isinstance(ceiling, tuple):
        ceilings = ceiling if labels.orientation > 0 else ceiling[::-1]
        of = (f" of the class {label!r}" for label in labels.classes.tolist())
        share = max(_checked(request, *one) for one in zip(ceilings, counts.tolist(), of, strict=True))
    else:
        share = _checked(request, ceiling, n)
    return _of_each(share, counts)


def _of_each(share: float, counts: NDArray[np.intp]) -> list[int]:
    return [max(1, math.ceil(share * count * (1 - 1e-12))) for count in counts.tolist()]


def _checked(request: Any, ceiling: float, n: int, of: str = "") -> float:
    needed = rows_without_error(ceiling, 1.0 - request.confidence)
    if needed > MOST * n:
        raise ValueError(
            f"max_error={request.share} with confidence={request.confidence:g} needs at least {needed} calibration "
            f"rows{of} even without errors, which are held out, and as many to fit on; there are {n} rows{of}. Use at "
            f"least {2 * needed} rows{of}, raise max_error, or lower confidence.{OTHERWISE}."
        )
    return _share(ceiling, 1.0 - request.confidence, n)


def _share(ceiling: float, level: float, n: int) -> float:
    return min(max(ENOUGH * rows_without_error(ceiling, level) / n, SHARE), MOST)


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
