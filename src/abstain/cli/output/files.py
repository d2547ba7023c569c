"""Files as we write them: never over another without leave, never half, and no cell that a spreadsheet would run."""

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
    """Refuse, before any work, a path that is taken or lies in no folder."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; pass --force to replace it, or name another file.")


@contextmanager
def replacing(path: Path | None) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when all is written; None is standard output."""
    if path is None:
        yield sys.stdout.buffer
        return
    from abstain.files.atomic import whole_file

    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror or error}); free the disk or name another file."
        ) from error


def write_csv(frame: pl.DataFrame, file: IO[bytes], *, header: bool) -> None:
    """Write rows as CSV, every cell and name safe to open in a spreadsheet."""
    safe = frame.select(inert(column) for column in frame.get_columns())
    safe = safe.rename(dict(zip(frame.columns, inert_names(frame.columns), strict=True)))
    file.write(safe.write_csv(include_header=header).encode())


def inert(column: pl.Series) -> pl.Series:
    """The column with an apostrophe before each text that is no number and begins as a formula does."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    runs = column.str.contains(_RUNS) & column.cast(pl.Float64, strict=False).is_null()
    if not runs.any():
        return column
    return pl.select(pl.when(runs).then("'" + column).otherwise(column).alias(column.name)).to_series()


def inert_names(names: list[str]) -> list[str]:
    """Names of columns, made safe in the same way."""
    import polars as pl

    return inert(pl.Series("names", names, dtype=pl.String)).to_list()
