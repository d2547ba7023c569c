"""The warning about columns in very different units, which kernels and penalties take at face value."""

import warnings
from typing import Any

import numpy as np

WIDE = 1_000  # times the standard deviation of another column
SEEN = 10_000  # rows, at most
OF_SCALES = "column .* has a standard deviation of"  # how the warning begins


def warn_of_scales(kernel: Any, X: Any, names: Any, stacklevel: int) -> None:
    """Warn if the standard deviations of columns differ by more than `WIDE`; constant ones and 0 and 1 count not."""
    if not isinstance(X, np.ndarray) or callable(kernel) or kernel == "precomputed":
        return
    some = X[:: max(1, len(X) // SEEN)]
    with np.errstate(all="ignore"):
        spread = some.std(axis=0, dtype=np.float64)
    spread[~np.isfinite(spread) | (spread <= 1e-12 * np.abs(some).max(axis=0, initial=0.0))] = np.nan
    if not np.nanmax(spread, initial=0.0) > WIDE * np.nanmin(spread, initial=np.inf):
        return
    spread[((some == 0) | (some == 1)).all(axis=0)] = np.nan
    if not np.nanmax(spread, initial=0.0) > WIDE * np.nanmin(spread, initial=np.inf):
        return
    wide, narrow = int(np.nanargmax(spread)), int(np.nanargmin(spread))
    widest, narrowest = (at if names is None else repr(names[at]) for at in (wide, narrow))
    warnings.warn(
        f"column {widest} has a standard deviation of {spread[wide]:.3g}, and column {narrowest} one of "
        f"{spread[narrow]:.3g}, which then hardly counts; put a StandardScaler before the machine, as in "
        "make_pipeline(StandardScaler(), machine).",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
