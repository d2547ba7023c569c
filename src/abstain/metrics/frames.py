"""Named arrays as a pandas DataFrame, where pandas is there; and arrays that nobody can change by accident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def frame_of(columns: Mapping[str, Any], index: Sequence[str] | None = None) -> Any:
    """A DataFrame of the columns; without pandas an error that says what to do instead."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame() needs pandas; install it, or read the result's arrays directly.") from error
    return pd.DataFrame(dict(columns), index=index)


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """The array itself, read-only from now on."""
    values = np.ascontiguousarray(values)
    values.setflags(write=False)
    return values
