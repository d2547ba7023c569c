"""Input tables: CSV, Parquet or Excel, read one batch of rows at a time, each row with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, some
from abstain.cli.tables import encoding
from abstain.cli.tables.csv_records import Records, open_bytes, peeked
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.typed_tables import parquet_facts, parquet_rows
from abstain.cli.tables.workbooks import excel_table

PLAIN = Notation()
PARQUET = (".parquet", ".pq")
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

    def only(self, chosen: NDArray[np.bool_]) -> Batch:
        """The chosen rows."""
        places: Any = np.asarray(self.places)[chosen]
        return self if chosen.all() else Batch(self.frame.filter(chosen), places)


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
    position : callable
        How many bytes of the file have been read.
    notation : Notation
        How its cells are written.
    separator : str
        What separates the cells of a CSV; for other files what such a CSV would have.
    """

    path: Path
    unit: str
    columns: list[str]
    batches: Iterator[Batch]
    position: Callable[[], int]
    notation: Notation = PLAIN
    separator: str = ","

    def __post_init__(self) -> None:
        for name in self.columns:
            if name == "*" or (name.startswith("^") and name.endswith("$")):
                raise DataError(
                    f"{self.path} names a column {name!r}, which polars reads as a pattern for other names; rename it."
                )

    def place(self, number: int) -> str:
        """The place of a row, for errors."""
        return f"{self.path}: {self.unit} {number}"

    def check_has(self, names: Sequence[str], asked_by: str) -> None:
        """Raise an error if the table lacks one of the columns."""
        present = set(self.columns)
        for name in names:
            if name not in present:
                raise DataError(
                    f"{self.path} has no column {name!r}, which {asked_by} needs; it has {some(self.columns, 8)}."
                )


def is_parquet(path: Path) -> bool:
    """Whether a file is read as Parquet, by its name or its first bytes."""
    if path.suffix in PARQUET:
        return True
    with path.open("rb") as file:
        return file.read(len(encoding.PARQUET)) == encoding.PARQUET


@contextmanager
def opened(path: Path, notation: Notation = PLAIN) -> Iterator[InputTable]:
    """Open a table: Parquet if its name ends in .parquet or .pq, else what its first bytes say, by default CSV."""
    if path.suffix in PARQUET:
        yield _parquet(path, notation)
        return
    with open_bytes(path) as file:
        start = peeked(file, path)
        if start.startswith(encoding.PARQUET):
            yield _parquet(path, notation)
        elif start.startswith(encoding.ZIP):
            frame = excel_table(path)
            rows = [(frame, range(2, frame.height + 2))] if frame.height else []  # row 1 names the columns
            yield _typed(path, notation, frame.columns, frame.height, iter(rows))
        elif start.startswith(encoding.OLD_EXCEL):
            raise DataError(f"{path} is an Excel workbook of the old kind; save it as CSV UTF-8 in the program.")
        else:
            records = Records(encoding.as_utf8(file, start, path, notation.encoding), path)
            raw = getattr(file, "fileobj", file)  # the file on disk, if compressed
            batches = _never_empty(path, "line", records.batches())
            position = raw.tell if raw.seekable() else lambda: 0  # a pipe has no position
            yield InputTable(path, "line", records.columns, batches, position, notation, records.separator)


def _parquet(path: Path, notation: Notation) -> InputTable:
    columns, height = parquet_facts(path)
    return _typed(path, notation, columns, height, parquet_rows(path, height))


def _typed(path: Path, notation: Notation, columns: list[str], height: int, found: Rows) -> InputTable:
    """Open a table whose columns have types; as a CSV it would have the separator of spreadsheets in this notation."""
    done, size = [0], path.stat().st_size

    def counted() -> Rows:
        for frame, places in found:
            done[0] += frame.height
            yield frame, places

    batches, separator = _never_empty(path, "row", counted()), ";" if notation.decimal == "," else ","
    return InputTable(path, "row", columns, batches, lambda: size * done[0] // max(height, 1), notation, separator)


def _never_empty(path: Path, unit: str, rows: Rows) -> Iterator[Batch]:
    """Yield the batches; a table without rows is an error."""
    batch = None
    for batch in (Batch(*found) for found in rows):
        yield batch
    if batch is None:
        found = "line 1, the header, is not followed by any rows" if unit == "line" else "the table has no rows"
        raise DataError(f"{path}: {found}; add some.")
