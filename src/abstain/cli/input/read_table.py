"""Input tables: CSV or Parquet, read one batch of rows at a time, each row with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from abstain.cli.exit_codes import DataError
from abstain.cli.input.csv_records import Records, open_bytes

if TYPE_CHECKING:
    import polars as pl

PARQUET_ROWS = 20_000  # rows of a batch of a Parquet file


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of a file.

    Attributes
    ----------
    frame : polars.DataFrame
        Their cells: for CSV text, None if empty; for Parquet the types of the file.
    places : sequence of int
        The place of each row: its line in a CSV file, its number in a Parquet file.
    """

    frame: pl.DataFrame
    places: Sequence[int]


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
    """

    path: Path
    unit: str
    columns: list[str]
    batches: Iterator[Batch]
    position: Callable[[], int]

    def place(self, number: int) -> str:
        """The place of a row, for errors."""
        return f"{self.path}: {self.unit} {number}"

    def check_has(self, names: Sequence[str], asked_by: str) -> None:
        """Raise an error if the table lacks one of the columns."""
        present = set(self.columns)
        for name in names:
            if name not in present:
                raise DataError(
                    f"{self.path} has no column {name!r}, which {asked_by} needs; it has {_some(self.columns)}."
                )


@contextmanager
def opened(path: Path) -> Iterator[InputTable]:
    """Open a table: Parquet if its name ends in .parquet or .pq, else CSV, compressed if it ends in .gz."""
    if path.suffix in (".parquet", ".pq"):
        columns, height = _parquet_facts(path)
        done, size = [0], path.stat().st_size
        batches = _never_empty(path, "row", _parquet(path, height, done))
        yield InputTable(path, "row", columns, batches, lambda: size * done[0] // max(height, 1))
        return
    with open_bytes(path) as file:
        records = Records(file, path)
        raw = getattr(file, "fileobj", file)  # the file on disk, if compressed
        batches = _never_empty(path, "line", (Batch(*rows) for rows in records.batches()))
        yield InputTable(path, "line", records.columns, batches, raw.tell)


def _parquet_facts(path: Path) -> tuple[list[str], int]:
    import polars as pl

    try:
        lazy = pl.scan_parquet(path)
        return lazy.collect_schema().names(), int(lazy.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet ({_first_line(error)}); write it again.") from error


def _parquet(path: Path, height: int, done: list[int]) -> Iterator[Batch]:
    import polars as pl

    for first in range(0, height, PARQUET_ROWS):
        try:
            frame = pl.scan_parquet(path).slice(first, PARQUET_ROWS).collect()
            texts = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum, pl.Boolean)]
            frame = frame.with_columns(pl.col(texts).cast(pl.String))
        except (pl.exceptions.PolarsError, OSError) as error:
            last = min(first + PARQUET_ROWS, height)
            raise DataError(
                f"{path}: rows {first + 1} to {last} cannot be read ({_first_line(error)}); write the file again."
            ) from error
        done[0] = first + frame.height
        yield Batch(frame, range(first + 1, first + frame.height + 1))


def _never_empty(path: Path, unit: str, batches: Iterator[Batch]) -> Iterator[Batch]:
    """The batches; a table without rows is an error."""
    first = next(batches, None)
    if first is None:
        found = "line 1, the header, is not followed by any rows" if unit == "line" else "the table has no rows"
        raise DataError(f"{path}: {found}; add some.")
    yield first
    yield from batches


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
