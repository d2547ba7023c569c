"""Tables that commands write: CSV while rows arrive, a Parquet file or a workbook when all are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import polars as pl

from abstain.cli.exit_codes import UsageError
from abstain.cli.output.files import check_free, writable, write_csv, writing
from abstain.cli.tables.read_table import PARQUET

EXCEL = ".xlsx"
MOST_ROWS, MOST_TEXT = (1 << 20) - 1, (1 << 15) - 1  # of a sheet, below the names; characters of a cell


def check_table(path: Path | None, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Raise an error, before any work, if a table cannot be written there: by its name, or as in `check_free`."""
    check_free(path, force=force, inputs=inputs)
    kind = "" if path is None else path.suffix.lower()
    if path is not None and kind not in (".csv", EXCEL, *PARQUET):
        raise UsageError(f"{path} must end in .csv, .parquet or .xlsx, which says how the table is written.")
    if kind == EXCEL and find_spec("xlsxwriter") is None:
        raise UsageError(f"{path} needs a package; install it with pip install 'abstain[excel]', or write a .csv.")


@contextmanager
def table_written(
    path: Path | None, typed: Callable[[pl.DataFrame], pl.DataFrame] = pl.DataFrame.clone, *, force: bool, **how: Any
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Give a function that writes rows to a table of the kind that its name says; CSV for standard output.

    `how` are options of `write_csv`. For a Parquet file or a workbook, `typed` turns texts into numbers.
    """
    kept = list[Any]()
    with writing(path, force=force) as file:
        if path is None or path.suffix.lower() == ".csv":

            def write(frame: pl.DataFrame) -> None:
                write_csv(frame, file, header=not kept, **how)
                kept.append(None)

            yield write
        else:
            yield kept.append
            frame, kind = typed(pl.concat(kept, how="vertical_relaxed")), path.suffix.lower()
            (_write_workbook if kind == EXCEL else pl.DataFrame.write_parquet)(frame, file)


def _write_workbook(frame: pl.DataFrame, file: IO[bytes]) -> None:
    with workbook(file) as book:
        write_sheet(book, frame)


@contextmanager
def workbook(file: IO[bytes]) -> Iterator[Any]:
    """Give a workbook in which texts are texts, also those that start like a formula or a link."""
    from xlsxwriter import Workbook

    never = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with Workbook(file, {**never, "nan_inf_to_errors": True}) as book:
        yield book


def write_sheet(book: Any, frame: pl.DataFrame, **look: Any) -> None:
    """Write a sheet with a frozen header; `look` are options of `polars.DataFrame.write_excel`."""
    frame = frame.select(pl.col([name for name, kind in frame.schema.items() if writable(name, kind)]))
    frame, folded = frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None)), dict[str, str]()
    for name in frame.columns:
        if (other := folded.setdefault(name.casefold(), name)) != name or not name.isprintable():
            why = f"one called {other!r}" if other != name else "characters that cannot be shown"
            raise UsageError(f"a sheet cannot have the column {name!r} and {why}; rename it, or write a .csv.")
    texts = frame.select(pl.col(pl.String).str.len_chars().max())
    if frame.height > MOST_ROWS or max((column[0] or 0 for column in texts), default=0) > MOST_TEXT:
        raise UsageError(f"a sheet holds {MOST_ROWS:,} rows, and a cell {MOST_TEXT:,} characters; write a .parquet.")
    widths = {name: 8 * max(len(name), 10) for name in frame.columns} | look.pop("column_widths", {})  # in pixels
    frame.write_excel(
        book,
        **{"freeze_panes": (1, 0)} | look,
        column_widths=widths,
        header_format={"bold": True},
        dtype_formats={pl.Float64: "General", pl.Int64: "0", pl.Boolean: '"TRUE";"TRUE";"FALSE"'},
    )
