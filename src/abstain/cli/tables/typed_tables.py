"""Tables whose columns have types: Parquet, read one batch at a time, and what Excel workbooks have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from abstain.cli.exit_codes import DataError

PARQUET_ROWS = 20_000  # rows of a batch of a Parquet file


def parquet_facts(path: Path) -> tuple[list[str], int]:
    """The names of the columns of a Parquet file, and its number of rows."""
    with readable(f"{path} cannot be read as Parquet", "write it again"):
        lazy = pl.scan_parquet(path)
        return lazy.collect_schema().names(), int(lazy.select(pl.len()).collect().item())


def parquet_rows(path: Path, height: int, names: Sequence[str] | None = None) -> Iterator[tuple[pl.DataFrame, range]]:
    """The rows of a Parquet file with their numbers; all columns, or those named."""
    for first in range(0, height, PARQUET_ROWS):
        last = min(first + PARQUET_ROWS, height)
        with readable(f"{path}: rows {first + 1} to {last} cannot be read", "write the file again"):
            lazy = pl.scan_parquet(path) if names is None else pl.scan_parquet(path).select(names)
            frame = plain_columns(lazy.slice(first, PARQUET_ROWS).collect())
        yield frame, range(first + 1, first + frame.height + 1)


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with categories and truths as text."""
    texts = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum, pl.Boolean)]
    return frame.with_columns(pl.col(texts).cast(pl.String))


@contextmanager
def readable(fault: str, way_out: str) -> Iterator[None]:
    """Turn every failure of polars into a DataError, also its panics, whose messages on stderr are discarded."""
    try:
        with _without_stderr():
            yield
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 (whatever the readers raise)
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if isinstance(error, pl.exceptions.PanicException):
            reason = "it is malformed"
        raise DataError(f"{fault} ({reason}); {way_out}.") from None


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Discard what native code writes to stderr; Python's own stream is not written to meanwhile."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # stderr is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
