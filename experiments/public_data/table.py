"""A data set as two arrays, and the layout of the text files it is read from."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNREADABLE", "Table", "TextLayout"]

# What NumPy, gzip and zip raise on a file that is truncated, altered, or of another type.
UNREADABLE = (
    ValueError,
    KeyError,
    IndexError,
    EOFError,
    RuntimeError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, eq=False)
class Table:
    """A data set in canonical form, over which its checksum is taken.

    Attributes
    ----------
    data : ndarray of shape (n, d)
        Numbers; codes such as A121 are stored as 121. Columns that identify a row (record, sample) come first.
    target : ndarray of shape (n,)
        The class of each row, as an integer of the source.
    """

    data: NDArray[np.number]
    target: NDArray[np.int64]


@dataclass(frozen=True)
class TextLayout:
    """The layout of a table in a text file; gzip is recognised by the file name.

    Attributes
    ----------
    delimiter : str or None
        Separator; None is any white space.
    header : bool
        Whether the first line contains column names.
    class_first : bool
        Whether the class is the first column; otherwise it is the last.
    number : callable or None
        Converts text to a number, if not all values are numbers.
    """

    delimiter: str | None = ","
    header: bool = False
    class_first: bool = False
    number: Callable[[str], float] | None = None

    def read(self, path: Path) -> Table:
        """Read the table; a file with another layout raises one of `UNREADABLE`."""
        values = np.loadtxt(
            path, delimiter=self.delimiter, skiprows=int(self.header), converters=self.number, ndmin=2, encoding="utf-8"
        )
        if values.size == 0:
            raise ValueError("it has no rows")
        column = 0 if self.class_first else values.shape[1] - 1
        target = values[:, column]
        if not np.all(np.isfinite(target) & (target == np.floor(target))):
            raise ValueError("classes must be integers")
        return Table(np.delete(values, column, axis=1), target.astype(np.int64))
