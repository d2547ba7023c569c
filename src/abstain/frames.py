"""Named arrays as a pandas DataFrame, and read-only arrays."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = Any  # pandas is imported only to make one

__all__ = ["DataFrame"]  # besides the names that are defined here


def frame_of(columns: Mapping[str, Any], index: Any = None) -> DataFrame:
    """A DataFrame of the columns; an ImportError without pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame() needs pandas; install it, or use the arrays of the result directly.") from error
    return pd.DataFrame(dict(columns), index=index)


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only."""
    values = np.ascontiguousarray(values)
    values.setflags(write=False)
    return values


def arrays_of(result: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a result, by name."""
    parts = {field.name: getattr(result, field.name) for field in fields(result)}
    return {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}


class ReadOnly:
    """A result whose arrays are read-only."""

    def __post_init__(self) -> None:
        for name, part in arrays_of(self).items():
            object.__setattr__(self, name, frozen(part))
