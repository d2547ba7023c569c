"""Columns of numbers, dates, categories or labels; a bad cell is reported with its line and column.

In a numeric column an empty cell, NA, NaN and null (in any case) are missing. In a categorical column only an empty
cell is missing: "NA" is a category like any other. In the label column an empty cell and "NaN" are missing, and "NA" is
a label. The texts and numbers of ``--missing-value`` are missing in every column.

One polars expression reads the texts of all columns: in wide tables calls for each column add up.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.tables.notation import days, is_temporal, look_like_dates, looks_grouped, number_of
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.preprocessing import CellPlan, frame, takes_polars

LARGEST = 1e150  # squares of larger numbers overflow
BLOCK = 1_000_000  # cells looked at together, at most, or one column
MISSING = ("", "na", "nan", "null")
NUMBERS, DATES, CATEGORIES = "numbers", "dates", "categories"


def kinds_of(table: InputTable, batch: Batch, names: Sequence[str], missing: Sequence[str] = ()) -> dict[str, str]:
    """Whether each column contains NUMBERS, DATES or CATEGORIES; a mix of numbers and other text is an error.

    A column of only empty cells counts as numeric, with all values missing.
    """
    cells, kinds = batch.frame.select(pl.col([*names])), dict[str, str]()
    numbers, odd = _parsed(table, cells.select(pl.col(pl.String)), missing)
    for column in cells:
        name = column.name
        if is_temporal(column):
            kinds[name] = DATES
        elif not _is_text(table, column) or odd.get(name) is None:
            kinds[name] = NUMBERS
        elif look_like_dates(present := _present(column, missing)):
            kinds[name] = DATES
        elif table.notation.better(present) or len(numbers[name].drop_nulls().drop_nans()) > 0:
            raise _no_number(table, batch, column, odd[name], missing, other_way=f", or pass --categorical {name!r}")
        else:
            kinds[name] = CATEGORIES
    return kinds


def for_sklearn(features: pl.DataFrame) -> Any:
    """The features in a form that scikit-learn can select by name: unchanged, or as a pandas table if needed."""
    if takes_polars():
        return features
    try:
        return frame({column.name: column.to_numpy(allow_copy=True) for column in features.get_columns()})
    except ImportError as error:
        raise UsageError(str(error)) from error


def features(
    table: InputTable, batch: Batch, numeric: Sequence[str], categorical: Sequence[str], plan: CellPlan
) -> pl.DataFrame:
    """The columns of a model: float64 with nan for missing values, and text with None."""
    dates = {*plan.dates}
    numbers = _numbers(table, batch, [name for name in numeric if name not in dates], plan.missing)
    times = pl.DataFrame([_days(table, batch, name, plan) for name in numeric if name in dates])
    texts = _texts(table, batch.frame.select(categorical))
    texts = texts.select(pl.when(~pl.all().is_in(["", *plan.missing])).then(pl.all()))
    return pl.concat([numbers, times, texts], how="horizontal").select(pl.col([*numeric, *categorical]))


def typed(table: InputTable, frame: pl.DataFrame) -> pl.DataFrame:
    """The cells of a CSV with numbers in the columns that have only numbers, and no codes such as 0017 or 16 digits."""
    if table.unit != "line":
        return frame
    texts = frame.select(pl.col(pl.String).str.strip_chars())
    numbers, odd = _parsed(table, texts, ())
    tests = pl.all().str.contains(r"^[+-]?(0\d|\d{16})").any(), pl.all().str.contains(r"^[+-]?\d+$").all()
    coded, whole = (texts.select(test).row(0, named=True) for test in tests)
    plain = [column for column in numbers if odd.get(column.name) is None and not coded[column.name]]
    return frame.with_columns(column.cast(pl.Int64) if whole[column.name] else column for column in plain)


def labels(table: InputTable, batch: Batch, name: str, missing: Sequence[str] = ()) -> NDArray[Any]:
    """Return the labels, or groups, as text, None where missing; each distinct one is in memory once."""
    text, known = pl.col(name), dict[Any, Any]()
    empty = text.str.strip_chars().str.to_lowercase().is_in(["", "nan"]) | text.is_in([*missing])
    cells = _texts(table, batch.frame.select(name)).select(pl.when(~empty).then(text)).to_series()
    return np.array([known.setdefault(cell, cell) for cell in cells], dtype=object)


def row_names(table: InputTable, batch: Batch, name: str, lines: list[str]) -> list[str]:
    """The texts of a column that names the rows; the line where a row has none."""
    texts = _texts(table, batch.frame.select(name)).to_series()
    return [text or line for text, line in zip(texts, lines, strict=True)]


def unlabelled(table: InputTable, target: str, count: int, first: int) -> DataError:
    """The error for rows without a label: how many, and the place of the first."""
    if count == 1:
        found, way = f"has no label in column {target!r}", "add it, or pass --drop-unlabelled to leave the row out"
    else:
        found = f"is the first of {count} rows without a label in column {target!r}"
        way = "add the labels, or pass --drop-unlabelled to leave these rows out"
    return DataError(f"{table.place(first)} {found}; {way}.")


def left_out_rows(count: int) -> str:
    """A sentence on the rows without a label that were left out."""
    return "1 row without a label is left out" if count == 1 else f"{count} rows without a label are left out"


def _numbers(table: InputTable, batch: Batch, names: Sequence[str], missing: Sequence[str]) -> pl.DataFrame:
    """The numbers of columns, nan where missing; a cell that is none, or too large, is an error."""
    cells = batch.frame.select(pl.col([*names]))
    known = [column.name for column in cells if _is_number_or_text(column)]
    numbers, odd = _parsed(table, cells.select(pl.col(known)), missing)
    large = dict(flagged(numbers, lambda block: np.abs(block) > LARGEST))
    grouped = {name for name, _ in flagged(numbers, _may_be_grouped)} if table.notation.plain else set[str]()
    for column in cells:
        name, is_text = column.name, _is_text(table, column)
        if odd.get(name) is not None:
            raise _no_number(table, batch, column, odd[name], missing)
        if name in large:
            at = int(large[name].argmax())
            what = f"{_shown(column[at])} is too large to compute with (above {LARGEST:g})"
            raise DataError(f"{table.cell(batch, at, name)}: {what}; correct it or leave the cell empty.")
        if is_text and name in grouped and looks_grouped(_present(column, missing)):
            text = f"{table.path}: column {name!r} is read with decimal points, and all of its points stand before "
            way = "if they separate thousands, pass --thousands '.' --decimal ','"
            warnings.warn(f"{text}three digits; {way}", UserWarning, stacklevel=2)
    return numbers.fill_null(math.nan)


def flagged(
    numbers: pl.DataFrame, test: Callable[[NDArray[np.float64]], NDArray[np.bool_]]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the columns with a row, of a (rows, columns) block of numbers, that a test finds, and what it finds there.

    Blocks bound the memory, and numpy is a hundred times faster than a polars expression for each of many columns.
    """
    width = max(1, BLOCK // max(1, numbers.height))
    for first in range(0, numbers.width, width):
        block = numbers[:, first : first + width]
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite cells
            found = test(block.to_numpy())
        for at in np.flatnonzero(found.any(axis=0)).tolist():
            yield block.columns[at], found[:, at]


def _may_be_grouped(block: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where 1.200 may be read as 1.2: numbers that are not whole in columns with at most three decimals."""
    decimals = np.abs(1e3 * block - np.round(1e3 * block)) > 1e-6
    return (block != np.round(block)) & ~np.isnan(block) & ~decimals.any(axis=0)


def _days(table: InputTable, batch: Batch, name: str, plan: CellPlan) -> pl.Series:
    """The days of a column of dates, nan where missing; a cell that cannot be read as a date is an error."""
    column = batch.frame[name]
    if not is_temporal(column):
        if column.dtype != pl.Null and not _is_text(table, column):
            raise DataError(f"{table.path}: column {name!r} contains numbers, where the model was trained on dates.")
        text = pl.col(name).cast(pl.String)
        column = batch.frame.select(pl.when(~_absent(text.str.strip_chars(), plan.missing)).then(text)).to_series()
    found = days(column, plan.day_first)
    odd = np.flatnonzero(np.isnan(found) & column.is_not_null().to_numpy())
    if len(odd) > 0:
        place = f"{table.cell(batch, odd[0], name)}: {_shown(column[int(odd[0])])}"
        way = "write dates as in 2024-01-31, or pass --dates day-first (31/01/2024) or --dates month-first (01/31/2024)"
        raise DataError(f"{place} cannot be read as a date; {way}.")
    for date in days(pl.Series(plan.missing, dtype=pl.String), plan.day_first):
        found[found == date] = np.nan
    return pl.Series(name, found)


def _no_number(
    table: InputTable, batch: Batch, column: pl.Series, at: int, missing: Sequence[str], *, other_way: str = ""
) -> DataError:
    cell, place = column[at], table.cell(batch, at, column.name)
    cells = _present(column, missing)
    if written := table.notation.better(cells):
        return DataError(f"{place}: {_shown(cell)} {written}{other_way}.")
    if look_like_dates(cells):
        return DataError(f"{place}: {_shown(cell)} is a date, where the model was trained on numbers; correct it.")
    way = f"correct it, leave a missing cell empty, pass --missing-value {_shown(cell.strip())} if it means that"
    return DataError(f"{place}: {_shown(cell)} is not a number; {way}{other_way}.")


def _texts(table: InputTable, cells: pl.DataFrame) -> pl.DataFrame:
    """Cells as text; 1.0 in a Parquet file is the same as "1" in a CSV, and NaN is missing."""
    for column in cells:
        _is_text(table, column)
    real = pl.col(pl.Float32, pl.Float64).fill_nan(None)
    whole = pl.when((real == real.round(0)).all()).then(real.cast(pl.Int64, strict=False).cast(pl.String))
    return cells.with_columns(whole.otherwise(real.cast(pl.String))).with_columns(pl.all().cast(pl.String))


def _absent(text: pl.Expr, missing: Sequence[str]) -> pl.Expr:
    """Whether stripped texts stand for a missing value."""
    return text.str.to_lowercase().is_in(MISSING) | text.is_in([*missing])


def _present(column: pl.Series, missing: Sequence[str]) -> pl.Series:
    """The stripped texts that are not missing."""
    text = pl.col(column.name)
    return column.drop_nulls().str.strip_chars().to_frame().filter(~_absent(text, missing)).to_series()


def _parsed(table: InputTable, cells: pl.DataFrame, missing: Sequence[str]) -> tuple[pl.DataFrame, Mapping[str, Any]]:
    """The numbers of columns, None or nan where missing, and by name the first cell that is neither, or None."""
    kinds, every, texts = cells.schema, pl.all(), pl.col(pl.String)
    numbers = cells if table.notation.plain else cells.with_columns(table.notation.number(texts))
    numbers = numbers.cast(pl.Float64, strict=False)
    odd: dict[str, Any] = {}
    if unread := [column.name for column in numbers if column.null_count() > 0 and kinds[column.name] == pl.String]:
        stripped = pl.col(unread).str.strip_chars()
        number = table.notation.number(stripped)
        odd = cells.select((number.is_null() & ~_absent(stripped, missing)).arg_true().first()).row(0, named=True)
        numbers = numbers.with_columns(cells.select(number))
    if stand_ins := [number for number in map(number_of, missing) if not math.isnan(number)]:
        numbers = numbers.select(pl.when(~every.is_in(stand_ins)).then(every))
    return numbers, odd


def _is_number_or_text(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null)


def _is_text(table: InputTable, column: pl.Series) -> bool:
    """Whether cells are text rather than numbers; any other type is an error."""
    if _is_number_or_text(column):
        return column.dtype == pl.String
    what = f"{table.path}: column {column.name!r} contains {column.dtype}, which is neither number nor text"
    raise DataError(f"{what}; convert it, or pass --ignore with its name.")


def _shown(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else text[:57] + "..."
