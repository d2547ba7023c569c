"""Input tables: CSV, Parquet or Excel, read one batch of rows at a time, each row with its place in the file.

Several Parquet files with the same columns are one table, of which a column or a block of rows is read at a time.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, meant, some
from abstain.cli.progress import progress
from abstain.cli.tables import csv_records as encoding
from abstain.cli.tables.csv_records import Records, open_bytes, peeked
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.typed_tables import excel_table, parquet_facts, parquet_rows, plain_columns, readable

PLAIN = Notation()
PARQUET = (".parquet", ".pq")
REVIEW = ("verdict", "note", "code")  # the columns of a review file, which 'abstain predict' writes for people
Rows = Iterator[tuple[pl.DataFrame, Sequence[int]]]


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of a file.

    Attributes
    ----------
    frame : polars.DataFrame
        Their cells: for CSV text, None if empty; for Parquet and Excel the types of the file.
    places : sequence of int
        The place of each row: its line in a CSV file, its number in a Parquet file or on an Excel sheet.
    """

    frame: pl.DataFrame
    places: Sequence[int]

    @classmethod
    def joined(cls, batches: Iterable[Self]) -> Self:
        """All rows of several batches of a file."""
        found = list(batches)
        return cls(pl.concat([batch.frame for batch in found]), [place for batch in found for place in batch.places])

    def only(self, chosen: NDArray[np.bool_]) -> Self:
        """The chosen rows."""
        return self if chosen.all() else self.take(np.flatnonzero(chosen))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """The rows at these positions."""
        return type(self)(self.frame[rows], np.asarray(self.places)[rows].tolist())


@dataclass(frozen=True, eq=False)
class InputTable:
    """An open table, with its columns; its rows can be read once, by `batches`.

    Attributes
    ----------
    path : Path
        The file.
    unit : str
        What counts its rows: "line" or "row".
    columns : list of str
        The names of the columns.
    batches : iterator of Batch
        The rows, at least one.
    notation : Notation
        How its cells are written.
    separator : str
        What separates the cells of a CSV; for other files what such a CSV would have.
    """

    path: Path
    unit: str
    columns: list[str]
    batches: Iterator[Batch]
    notation: Notation = PLAIN
    separator: str = ","

    def __post_init__(self) -> None:
        for name in self.columns:
            if name == "*" or (name.startswith("^") and name.endswith("$")):
                what = f"{self.path} names a column {name!r}, which polars reads as a pattern for other names"
                raise DataError(f"{what}; rename it.")

    @property
    def is_review(self) -> bool:
        """Whether 'abstain predict' wrote the table for reviewers."""
        return {*REVIEW} <= {*self.columns}

    def place(self, number: int) -> str:
        """The place of a row, for errors."""
        return f"{self.path}: {self.unit} {number}"

    def cell(self, batch: Batch, at: int, name: str) -> str:
        """The place of a row of a batch and a column, for errors."""
        return f"{self.place(batch.places[at])}, column {name!r}"

    def check_has(self, names: Sequence[str], asked_by: str) -> None:
        """Raise an error if the table lacks one of the columns."""
        present = set(self.columns)
        for name in names:
            if name not in present:
                bare = any(re.fullmatch(r"[\d.,]+", column) for column in self.columns)
                way = "; its first line must name the columns" if bare else ""
                found = f"it has {some(self.columns, 8)}{way}{meant(name, self.columns) or '.'}"
                raise DataError(f"{self.path} has no column {name!r}, which {asked_by} needs; {found}")


def is_parquet(path: Path) -> bool:
    """Whether a file is read as Parquet, by its name or its first bytes."""
    if path.suffix in PARQUET:
        return True
    with path.open("rb") as file:
        return file.read(len(encoding.PARQUET)) == encoding.PARQUET


@contextmanager
def opened(
    path: Path, notation: Notation = PLAIN, shown: str = "read", *, sheet: str | None = None
) -> Iterator[InputTable]:
    """Open a table: Parquet if its name ends in .parquet or .pq, else what its first bytes say, by default CSV.

    Of a workbook with several sheets it is the `sheet` of this name, or the first one if no name is given. Its
    progress, if it takes long to go through the batches, is that of `shown`.
    """
    with open_bytes(path) as file, progress(shown, path) as report:
        start = encoding.PARQUET if path.suffix in PARQUET else peeked(file, path)
        rows: Rows
        if start.startswith(encoding.PARQUET):
            columns, height = parquet_facts(path)
            rows = parquet_rows(path, height)
        elif start.startswith(encoding.ZIP):
            frame = excel_table(path, sheet)
            columns, height = frame.columns, frame.height
            rows = iter([(frame, range(2, height + 2))] if height else [])  # row 1 names the columns
        elif start.startswith(encoding.OLD_EXCEL):
            raise DataError(f"{path} is an Excel workbook of the old kind; save it as CSV UTF-8 in the program.")
        elif other := next((what for mark, what in encoding.OTHERS.items() if start.lstrip().startswith(mark)), ""):
            raise DataError(f"{path} is {other}, not a table; save the table as CSV, Parquet or an Excel workbook.")
        else:
            records = Records(encoding.as_utf8(file, start, path, notation.encoding), path)
            raw = getattr(file, "fileobj", file)  # the file on disk, if compressed; a pipe has no position
            batches = _batches(path, "line", records.batches(), lambda _: report(raw.tell() if raw.seekable() else 0))
            yield InputTable(path, "line", records.columns, batches, notation, records.separator)
            return
        batches = _batches(path, "row", rows, lambda batch: report(path.stat().st_size * batch.places[-1] // height))
        # as a CSV it would have the separator of spreadsheets in this notation
        yield InputTable(path, "row", columns, batches, notation, ";" if notation.decimal == "," else ",")


def _batches(path: Path, unit: str, rows: Rows, report: Callable[[Batch], None]) -> Iterator[Batch]:
    """Yield the batches, each reported when it is done; a table without rows is an error."""
    batch = None
    for batch in (Batch(*found) for found in rows):
        yield batch
        report(batch)
    if batch is None:
        found = "line 1, the header, is not followed by any rows" if unit == "line" else "the table has no rows"
        raise DataError(f"{path}: {found}; add some.")


@dataclass(frozen=True, eq=False)
class ParquetFiles(InputTable):
    """An open table whose rows are those of all files, one after the other.

    Attributes
    ----------
    files : tuple of Path
        In the order of their names.
    ends : tuple of int
        The number of rows up to the end of each file.
    """

    files: tuple[Path, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, paths: Sequence[str | Path], notation: Notation = PLAIN) -> Self:
        """Open files; those with other columns are an error."""
        if not paths:
            raise DataError("no file is given; name at least one Parquet file.")
        files = tuple(sorted(map(Path, paths)))
        if twice := [one for one, other in pairwise(files) if one == other]:
            raise DataError(f"{twice[0]} is given twice; give each file once.")
        facts = [parquet_facts(path) for path in files]
        names = facts[0][0]
        for path, (others, _) in zip(files, facts, strict=True):
            if set(others) != set(names):
                odd = min(set(others) ^ set(names))
                raise DataError(f"{path}: column {odd!r} is not in all files; give files with the same columns.")
        ends = tuple(accumulate(height for _, height in facts))
        if not ends[-1]:
            raise DataError(f"{files[0]}: the table has no rows; add some.")
        shown = files[0] if len(files) == 1 else Path(f"{files[0]} and {len(files) - 1} more")
        return cls(shown, "row", names, iter(()), notation, files=files, ends=ends)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    def place(self, number: int) -> str:
        """The place of a row, by its number among those of all files."""
        at = bisect_left(self.ends, number)
        return f"{self.files[at]}: row {number - (self.ends[at - 1] if at else 0)}"

    def whole(self, names: Sequence[str]) -> Batch:
        """All rows of a few columns."""
        some = ", ".join(map(repr, names[:3]))
        with readable(f"column {some} cannot be read", "write the files again, with the same type of column in each"):
            frame = plain_columns(pl.scan_parquet(list(self.files)).select(names).collect())
        return Batch(frame, range(1, self.height + 1))

    def blocks(self, names: Sequence[str]) -> Iterator[Batch]:
        """A few columns, at most 20,000 rows at a time."""
        for path, first, last in zip(self.files, (0, *self.ends), self.ends, strict=False):
            for cells, places in parquet_rows(path, last - first, names):
                yield Batch(cells, range(first + places.start, first + places.stop))
