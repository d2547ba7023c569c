"""Files that commands write: replaced only with permission, written completely or not at all; tables for spreadsheets.

CSV is written while rows arrive, a Parquet file or a workbook when all are there.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import polars as pl

from abstain.cli.exit_codes import Note, UsageError
from abstain.cli.tables.read_table import PARQUET
from abstain.files.format.atomic import whole_file

# What spreadsheets take for the beginning of a formula, also in full width
_SIGN = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_START = rf"^([\t\r\n\x00]|\s*{_SIGN})"
_LATER_LINE = rf"([\r\n])(\s*{_SIGN})"
_RUNS = rf"{_START}|{_LATER_LINE}"
_UNIT = "(?:[%$\u20ac\u00a3\u00a5]|EUR|USD|GBP|CHF)?"
# In any notation: with signs between thousands, a currency or a percent sign, and spaces between these
_NUMBER = rf"^\s*[+-]?\s*{_UNIT}\s*[.,]?\d[\d., '\u2019\u00a0\u2009\u202f]*([eE][+-]?\d+)?\s*{_UNIT}\s*$"


def check_free(path: Path | None, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Raise an error, before any work, if the path exists, its folder does not, or it is one of the inputs."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; specify a file.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: the folder {path.parent} does not exist; create it first.")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; pass --force to replace it, or use another name.")
    for given in inputs:
        if path.is_file() and given.exists() and path.samefile(given):
            raise UsageError(f"{path} would replace {given}, which the command reads; use another name.")


@contextmanager
def writing(path: Path | None, *, force: bool) -> Iterator[IO[bytes]]:
    """A file to write, renamed to `path` only when complete; None is standard output."""
    if path is None:
        yield sys.stdout.buffer
        return

    try:
        with whole_file(path, replace=force) as file:
            yield file
    except FileExistsError as error:
        raise UsageError(f"{path} appeared while the command ran; pass --force to replace it.") from error
    except OSError as error:
        what = f"{path} cannot be written ({error.strerror or error})"
        raise UsageError(f"{what}; free some disk space or use another name.") from error


def write_csv(
    frame: pl.DataFrame, file: IO[bytes], *, header: bool, safe: bool = True, separator: str = ",", decimal: str = "."
) -> None:
    """Write rows as CSV, numbers with this decimal sign; if `safe`, a spreadsheet can open every cell and column name.

    Columns that a CSV cannot contain (lists, structs, bytes, durations) are left out, with a note.
    """
    frame = frame.select(pl.col([name for name, kind in frame.schema.items() if writable(name, kind)]))
    if safe:
        frame = inert(frame).rename(dict(zip(frame.columns, inert_names(frame.columns), strict=True)))
    if decimal != ".":
        real = pl.col([name for name, kind in frame.schema.items() if kind.is_float()])
        frame = frame.with_columns(real.cast(pl.String).str.replace(".", decimal, literal=True))
    file.write(frame.write_csv(include_header=header, separator=separator).encode())


def inert(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with an apostrophe where a text that is not a number starts like a formula, also on a later line."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    cells = pl.concat([frame[name] for name in texts]) if texts else pl.Series(dtype=pl.String)  # one call for all
    if not (odd := {texts[at // frame.height] for at in _runs(cells).arg_true()}):
        return frame
    text = pl.col([*odd])
    safe = text.str.replace_all(_LATER_LINE, "${1}'${2}").str.replace(_START, "'${1}")
    return frame.with_columns(pl.when(_runs(text)).then(safe).otherwise(text))


def _runs(text: Any) -> Any:
    number = text.str.contains(_NUMBER) | text.cast(pl.Float64, strict=False).is_not_null()
    return text.str.contains(_RUNS) & ~number


def inert_names(names: list[str]) -> list[str]:
    """Column names, made safe in the same way."""
    return inert(pl.DataFrame({"names": names}, schema={"names": pl.String}))["names"].to_list()


def writable(name: str, kind: pl.DataType) -> bool:
    """Whether a CSV file or a workbook can contain a column of this type; otherwise a note says that it is left out."""
    if not kind.is_nested() and kind.base_type() not in {pl.Binary, pl.Duration, pl.Object}:
        return True
    text = f"column {name!r} contains {kind}, which such a file cannot; it is left out of the output."
    warnings.warn(text, Note, stacklevel=3)
    return False


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
