"""Columns of numbers, dates, categories or labels; a bad cell is reported with its line and column.

In a numeric column an empty cell, NA, NaN and null (in any case) are missing. In a categorical column only an empty
cell is missing: "NA" is a category like any other. In the label column an empty cell and "NaN" are missing, and "NA" is
a label. The texts and numbers of ``--missing-value`` are missing in every column.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.tables.dates import days, is_temporal, look_like_dates
from abstain.cli.tables.notation import looks_grouped, number_of
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.preprocessing import CellPlan, frame, takes_polars

LARGEST = 1e150  # squares of larger numbers overflow
MISSING = ("", "na", "nan", "null")
NUMBERS, DATES, CATEGORIES = "numbers", "dates", "categories"


def kind_of(table: InputTable, batch: Batch, name: str, missing: Sequence[str] = ()) -> str:
    """Whether a column contains NUMBERS, DATES or CATEGORIES; a mix of numbers and other text is an error.

    A column of only empty cells counts as numeric, with all values missing.
    """
    column = batch.frame[name]
    if is_temporal(column):
        return DATES
    if not _is_text(table, column):
        return NUMBERS
    numbers, odd = _parsed(table, column, missing)
    if len(odd) == 0:
        return NUMBERS
    cells = _present(column, missing)
    if look_like_dates(cells):
        return DATES
    if table.notation.better(cells) or numbers.is_not_null().any():
        raise _no_number(table, batch, name, odd[0], missing, other_way=f", or pass --categorical {name!r}")
    return CATEGORIES


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
    dates, columns = {*plan.dates}, dict[str, pl.Series]()
    for name in numeric:
        columns[name] = pl.Series(name, (_days if name in dates else _numbers)(table, batch, name, plan))
    for name in categorical:
        text = _as_text(table, batch.frame[name])
        columns[name] = text.set(text.is_in(["", *plan.missing]).fill_null(value=False), None)
    return pl.DataFrame(columns)


def labels(table: InputTable, batch: Batch, name: str, missing: Sequence[str] = ()) -> NDArray[Any]:
    """Return the labels, or groups, as text, None where missing; each distinct one is in memory once."""
    text = _as_text(table, batch.frame[name])
    empty = text.str.strip_chars().str.to_lowercase().is_in(["", "nan"]) | text.is_in([*missing])
    cells, known = text.set(empty.fill_null(value=False), None).to_list(), dict[Any, Any]()
    return np.array([known.setdefault(cell, cell) for cell in cells], dtype=object)


def row_names(table: InputTable, batch: Batch, name: str, lines: list[str]) -> list[str]:
    """The texts of a column that names the rows; the line where a row has none."""
    return [text or line for text, line in zip(_as_text(table, batch.frame[name]).to_list(), lines, strict=True)]


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


def _numbers(table: InputTable, batch: Batch, name: str, plan: CellPlan) -> NDArray[np.float64]:

    column = batch.frame[name]
    numbers, odd = _parsed(table, column, plan.missing)
    if len(odd) > 0:
        raise _no_number(table, batch, name, odd[0], plan.missing)
    values = numbers.to_numpy(allow_copy=True).astype(np.float64) if numbers.len() else np.empty(0)
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if len(large) > 0:
        raise DataError(
            f"{table.place(batch.places[large[0]])}, column {name!r}: {_shown(column[int(large[0])])} is too large "
            f"to compute with (above {LARGEST:g}); correct it or leave the cell empty."
        )
    if column.dtype == pl.String and (table.notation.decimal, table.notation.thousands) == (".", ""):
        _warn_of_grouped(table, column, values, plan.missing)
    return values


def _warn_of_grouped(table: InputTable, column: pl.Series, values: NDArray[np.float64], missing: Sequence[str]) -> None:
    # 1.200 is read as 1.2: only numbers with at most three decimals, some of which are not whole, need a closer look
    few = values[~np.isnan(values)][:100]
    if (few == np.round(few)).all() or (np.abs(1e3 * few - np.round(1e3 * few)) > 1e-6).any():
        return
    if looks_grouped(_present(column, missing)):
        warnings.warn(
            f"{table.path}: column {column.name!r} is read with decimal points, and all of its points stand before "
            "three digits; if they separate thousands, pass --thousands '.' --decimal ','",
            UserWarning,
            stacklevel=2,
        )


def _days(table: InputTable, batch: Batch, name: str, plan: CellPlan) -> NDArray[np.float64]:

    column = batch.frame[name]
    if column.dtype != pl.Null and not is_temporal(column) and not _is_text(table, column):
        raise DataError(f"{table.path}: column {name!r} contains numbers, where the model was trained on dates.")
    if not is_temporal(column):
        column = column.cast(pl.String)
        column = column.set(_absent(column.str.strip_chars(), plan.missing), None)
    found = days(column, plan.day_first)
    odd = np.flatnonzero(np.isnan(found) & column.is_not_null().to_numpy())
    if len(odd) > 0:
        place = f"{table.place(batch.places[odd[0]])}, column {name!r}: {_shown(column[int(odd[0])])}"
        raise DataError(
            f"{place} cannot be read as a date; write dates as in 2024-01-31, or pass --dates day-first (31/01/2024) "
            "or --dates month-first (01/31/2024)."
        )
    for date in days(pl.Series(plan.missing, dtype=pl.String), plan.day_first):
        found[found == date] = np.nan
    return found


def _no_number(
    table: InputTable, batch: Batch, name: str, at: int, missing: Sequence[str], *, other_way: str = ""
) -> DataError:
    column = batch.frame[name]
    cell, place = column[at], f"{table.place(batch.places[at])}, column {name!r}"
    cells = _present(column, missing)
    if written := table.notation.better(cells):
        return DataError(f"{place}: {_shown(cell)} {written}{other_way}.")
    if look_like_dates(cells):
        return DataError(f"{place}: {_shown(cell)} is a date, where the model was trained on numbers; correct it.")
    return DataError(
        f"{place}: {_shown(cell)} is not a number; correct it, leave a missing cell empty, pass --missing-value "
        f"{_shown(cell.strip())} if it means that{other_way}."
    )


def _as_text(table: InputTable, column: pl.Series) -> pl.Series:
    """Cells as text; 1.0 in a Parquet file is the same as "1" in a CSV, and NaN is missing."""
    _is_text(table, column)
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if (column.drop_nulls() == column.drop_nulls().round(0)).all():
            column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String)


def _absent(cells: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Whether stripped texts stand for a missing value."""
    return cells.str.to_lowercase().is_in(MISSING) | cells.is_in([*missing])


def _present(column: pl.Series, missing: Sequence[str]) -> pl.Series:
    """The stripped texts that are not missing."""
    cells = column.drop_nulls().str.strip_chars()
    return cells.filter(~_absent(cells, missing))


def _parsed(table: InputTable, column: pl.Series, missing: Sequence[str]) -> tuple[pl.Series, pl.Series]:
    """The numbers of a column, None where missing, and the indices of the cells that are neither."""
    if column.dtype != pl.String:
        _is_text(table, column)
        numbers = _nan_as_none(column.cast(pl.Float64, strict=False))
        return _without(numbers, missing), numbers.head(0)
    numbers = _nan_as_none(table.notation.numbers(column))
    if numbers.null_count() == 0:
        return _without(numbers, missing), numbers.head(0)
    unread = numbers.is_null().arg_true()
    cells = column.gather(unread).str.strip_chars()
    stripped = table.notation.numbers(cells).fill_nan(None)
    absent = cells.is_null() | _absent(cells, missing)
    numbers = _without(numbers.scatter(unread, stripped), missing)
    return numbers, unread.filter(stripped.is_null() & ~absent)


def _nan_as_none(numbers: pl.Series) -> pl.Series:
    # polars takes 0.1 ms for each operation on a column, which adds up in wide tables
    return numbers if np.isnan(numbers.to_numpy()).sum() == numbers.null_count() else numbers.fill_nan(None)


def _without(numbers: pl.Series, missing: Sequence[str]) -> pl.Series:
    """The numbers without those that stand for a missing value."""
    for number in map(number_of, missing):
        if not np.isnan(number):
            numbers = numbers.set((numbers == number).fill_null(value=False), None)
    return numbers


def _is_text(table: InputTable, column: pl.Series) -> bool:
    """Whether cells are text rather than numbers; any other type is an error."""
    if column.dtype == pl.String:
        return True
    if column.dtype.is_numeric() or column.dtype == pl.Null:
        return False
    raise DataError(
        f"{table.path}: column {column.name!r} contains {column.dtype}, which is neither number nor text; "
        "convert it, or pass --ignore with its name."
    )


def _shown(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else text[:57] + "..."
