"""Output files: replaced only with permission, written completely or not at all, and safe to open in a spreadsheet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from abstain.cli.exit_codes import UsageError

if TYPE_CHECKING:
    import polars as pl

_RUNS = r"^[=+\-@\t\r\x00]"


def check_free(path: Path | None, *, force: bool) -> None:
    """Raise an error, before any work, if the path exists or its folder does not."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; specify a file.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: the folder {path.parent} does not exist; create it first.")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; pass --force to replace it, or use another name.")


@contextmanager
def replacing(path: Path | None) -> Iterator[IO[bytes]]:
    """A file to write, renamed to `path` only when complete; None is standard output."""
    if path is None:
        yield sys.stdout.buffer
        return
    from abstain.files.atomic import whole_file

    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror or error}); free some disk space or use another name."
        ) from error


def write_csv(frame: pl.DataFrame, file: IO[bytes], *, header: bool) -> None:
    """Write rows as CSV, with every cell and column name safe to open in a spreadsheet."""
    safe = frame.select(inert(column) for column in frame.get_columns())
    safe = safe.rename(dict(zip(frame.columns, inert_names(frame.columns), strict=True)))
    file.write(safe.write_csv(include_header=header).encode())


def inert(column: pl.Series) -> pl.Series:
    """The column with an apostrophe before each text that is not a number and starts like a formula."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    runs = column.str.contains(_RUNS) & column.cast(pl.Float64, strict=False).is_null()
    if not runs.any():
        return column
    return pl.select(pl.when(runs).then("'" + column).otherwise(column).alias(column.name)).to_series()


def inert_names(names: list[str]) -> list[str]:
    """Column names, made safe in the same way."""
    import polars as pl

    return inert(pl.Series("names", names, dtype=pl.String)).to_list()
