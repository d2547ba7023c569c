"""The columns of a table, one at a time, and what the training rows had in each.

Columns of pandas and polars frames are read by name, of arrays by position. A column of numbers, booleans or dates
gives float64, NaN where a cell is missing, dates as days since 1970-01-01; any other column gives its cells as text,
None where one is missing. Of numbers the extremes are kept, of categories their counts.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

KEPT, LONGEST = 1000, 200  # categories of a column, and letters of a category: longer ones are prose
TOGETHER = 8  # columns of an array that are read in one pass: the rows of a C array lie in cache lines of 64 bytes
DAY = np.timedelta64(1, "D")
MOST = np.finfo(np.float64).max


@dataclass(frozen=True)
class SeenNumbers:
    """A column of numbers, booleans (0 and 1) or dates (days since 1970-01-01).

    Attributes
    ----------
    name : str or int
        The name of the column, or its position in an array.
    present, missing : int
        The number of cells with and without a value.
    smallest, largest : float
        The extremes, +inf and -inf if no value is present. An infinite cell counts as the largest float64.
    """

    name: str | int
    present: int
    missing: int
    smallest: float
    largest: float

    @classmethod
    def of(cls, name: str | int, numbers: NDArray[np.float64]) -> Self:
        """Count the cells, NaN where missing."""
        least, most, missing = numbers.min(initial=np.inf), numbers.max(initial=-np.inf), 0
        if np.isnan(least):
            missing = int(np.isnan(numbers).sum())
            least, most = np.fmin.reduce(numbers, initial=np.inf), np.fmax.reduce(numbers, initial=-np.inf)
        return cls(name, len(numbers) - missing, missing, float(least), float(most))

    @staticmethod
    def read(cells: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return cells as numbers, NaN where that is not possible, and the texts that are not numbers."""
        if cells.dtype != object:
            return cells, np.empty(0, dtype=object)
        found = np.array([_number(cell) for cell in cells], dtype=np.float64)
        odd = np.isnan(found) & np.array([cell is not None and cell.lower() != "nan" for cell in cells], dtype=bool)
        return found, cells[odd]


@dataclass(frozen=True)
class SeenCategories:
    """A column of categories, each by its text.

    Attributes
    ----------
    name : str or int
        The name of the column, or its position in an array.
    counts : mapping of str to int
        The cells of each category: the 1,000 most frequent ones of up to 200 letters, most frequent first, then by
        text.
    rest : int
        The cells of all other categories together.
    missing : int or None
        The number of cells without a value; None if that is not known.
    """

    name: str | int
    counts: Mapping[str, int]
    rest: int
    missing: int | None

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.counts.items()), self.rest, self.missing))

    @classmethod
    def of(cls, name: str | int, cells: NDArray[Any]) -> Self:
        """Count the cells, None where missing."""
        counts = Counter(cells.tolist())
        missing = counts.pop(None, 0)
        short = ((text, count) for text, count in counts.items() if len(text) <= LONGEST)
        kept = dict(sorted(short, key=lambda one: (-one[1], one[0]))[:KEPT])
        return cls(name, kept, counts.total() - sum(kept.values()), missing)

    @staticmethod
    def read(cells: NDArray[Any]) -> NDArray[Any]:
        """Return cells as text; of numbers, whole ones without a decimal point."""
        return cells if cells.dtype == object else _texts(cells)

    @property
    def present(self) -> int:
        """The number of cells with a value."""
        return sum(self.counts.values()) + self.rest


SeenColumn = SeenNumbers | SeenCategories


@dataclass(frozen=True, eq=False)
class CellTable:
    """The columns of X, read when they are asked for.

    Attributes
    ----------
    X : ndarray of two axes, pandas DataFrame or polars DataFrame
    names : sequence of str or int
        The names of the columns if they are different texts; otherwise their positions.
    rows : int
        The number of rows.
    """

    X: Any
    names: Sequence[str | int]
    rows: int

    @classmethod
    def of(cls, X: Any) -> "CellTable | None":
        """Make it of any table; None for sparse matrices, lazy arrays, and what does not have two axes."""
        if sparse.issparse(X) or hasattr(X, "__dask_graph__"):
            return None
        if hasattr(X, "iloc") or hasattr(X, "get_columns"):
            if not hasattr(X, "columns"):
                return None
            names = list(X.columns)
            named = all(isinstance(name, str) for name in names) and len({*names}) == len(names)
            return cls(X, names if named else range(len(names)), len(X))
        array = np.asarray(X)
        if array.ndim != 2 or array.dtype.kind not in "biufmMOUST":
            return None
        return cls(array, range(array.shape[1]), len(array))

    def columns(self, positions: Sequence[int]) -> Iterator[NDArray[Any]]:
        """The cells of the columns at these positions: float64, or an object array of str and None."""
        for first in range(0, len(positions), TOGETHER):
            chosen = positions[first : first + TOGETHER]
            if isinstance(self.X, np.ndarray):
                yield from map(_cells, self.X[:, chosen].T.copy(order="C"))
            elif hasattr(self.X, "iloc"):
                yield from (_pandas(self.X.iloc[:, at]) for at in chosen)
            else:
                yield from (_polars(self.X.to_series(at)) for at in chosen)

    def positions(self, names: Sequence[str | int]) -> list[int]:
        """Where these columns are: by name if both tables have names, else at their places."""
        if not all(isinstance(name, str) for name in (*names, *self.names)):
            if len(names) != len(self.names):
                raise ValueError(f"X has {len(self.names)} columns, but the training rows had {len(names)}.")
            return list(range(len(names)))
        places = {name: at for at, name in enumerate(self.names)}
        if absent := [name for name in names if name not in places]:
            raise ValueError(f"X lacks the column {absent[0]!r} of the training rows; add it.")
        return [places[name] for name in names]


def _number(text: str | None) -> float:
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan


def _pandas(column: Any) -> NDArray[Any]:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "biuf":
        return _finite(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "mM":
        return _cells(column.to_numpy(dtype="datetime64[ns]" if kind == "M" else "timedelta64[ns]"))
    cells = np.asarray(column, dtype=object)
    return _texts(cells) if str(column.dtype) == "category" else _cells(cells)


def _polars(column: Any) -> NDArray[Any]:
    dtype = column.dtype
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        import polars as pl

        return _finite(column.cast(pl.Float64).to_numpy())
    if str(dtype).startswith(("Date", "Duration")):
        return _cells(column.to_numpy())
    cells = objects(column.to_list())
    return cells if str(dtype) == "String" else _cells(cells)


def _cells(column: NDArray[Any]) -> NDArray[Any]:
    kind = column.dtype.kind
    if kind in "biuf":
        return _finite(column.astype(np.float64, copy=False))
    if kind == "M":
        return (column - np.datetime64(0, "D")) / DAY
    if kind == "m":
        return column / DAY
    if kind == "O" and all(_is_number(cell) or is_missing(cell) for cell in column):
        return _finite(np.array([float(cell) if _is_number(cell) else math.nan for cell in column], dtype=np.float64))
    return _texts(column)


def _texts(column: NDArray[Any]) -> NDArray[Any]:
    cells = column.tolist()  # of str, which most of them are, faster than the elements of an array
    return objects([cell if type(cell) is str else None if is_missing(cell) else _text(cell) for cell in cells])


def _text(cell: Any) -> str:
    """The text of a category; 1.0, 1 and True are the same one."""
    if not _is_number(cell):
        return str(cell)
    number = float(cell)
    return str(number) if number % 1 else f"{number:.0f}"


def _finite(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers, with the largest float64 in place of infinity."""
    return np.clip(numbers, -MOST, MOST) if np.isinf(numbers).any() else numbers


def _is_number(cell: Any) -> bool:
    return isinstance(cell, bool | int | float | np.number | np.bool_) and not isinstance(cell, np.complexfloating)


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA, which has no truth value."""
    try:
        return cell is None or bool(cell != cell)  # noqa: PLR0124 (NaN)
    except (TypeError, ValueError):
        return True


def objects(cells: Sequence[Any]) -> NDArray[Any]:
    """An array of these cells, whatever they are."""
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found
