"""Columns of numbers, categories or labels; a bad cell is reported with its line and column.

In a numeric column an empty cell, NA, NaN and null (in any case) are missing. In a categorical column only an empty
cell is missing: "NA" is a category like any other. In the label column no cell may be missing, and "NA" is a label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.read_table import Batch, InputTable

if TYPE_CHECKING:
    import polars as pl

LARGEST = 1e150  # squares of larger numbers overflow
MISSING = ("", "na", "nan", "null")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?\s*")


def is_numeric(table: InputTable, batch: Batch, name: str) -> bool:
    """Whether a column contains numbers; a mix of numbers and other text is an error.

    A column of only empty cells counts as numeric, with all values missing.
    """
    column = batch.frame[name]
    if not _is_text(table, column):
        return True
    numbers, odd = _parsed(column)
    if len(odd) == 0:
        return True
    comma = next((at for at in odd.head(1000) if _DECIMAL_COMMA.fullmatch(column[at])), None)
    if comma is not None or numbers.is_not_null().any():
        raise _no_number(table, batch, name, odd[0] if comma is None else comma, f", or pass --categorical {name!r}")
    return False


def for_sklearn(features: pl.DataFrame) -> Any:
    """The features in a form that scikit-learn can select by name: unchanged, or as a pandas table if needed."""
    from abstain.preprocessing import frame, takes_polars

    if takes_polars():
        return features
    try:
        return frame({column.name: column.to_numpy(allow_copy=True) for column in features.get_columns()})
    except ImportError as error:
        raise UsageError(str(error)) from error


def features(table: InputTable, batch: Batch, numeric: Sequence[str], categorical: Sequence[str]) -> pl.DataFrame:
    """The columns of a model: float64 with nan for missing values, and text with None."""
    import polars as pl

    columns = {name: pl.Series(name, _numbers(table, batch, name)) for name in numeric}
    for name in categorical:
        text = _as_text(table, batch.frame[name])
        columns[name] = text.set(text == "", None)
    return pl.DataFrame(columns)


def labels(table: InputTable, batch: Batch, name: str, what: str = "label") -> NDArray[Any]:
    """The labels, or groups, as text; a missing one is an error."""
    text = _as_text(table, batch.frame[name])
    empty = (text.is_null() | (text == "")).arg_true()
    if len(empty) > 0:
        raise DataError(
            f"{table.place(batch.places[empty[0]])} has no {what} in column {name!r}; add it or remove the row."
        )
    return np.asarray(text.to_list(), dtype=object)


def _numbers(table: InputTable, batch: Batch, name: str) -> NDArray[np.float64]:
    column = batch.frame[name]
    numbers, odd = _parsed(column)
    if len(odd) > 0:
        raise _no_number(table, batch, name, odd[0])
    large = (numbers.abs() > LARGEST).arg_true()
    if len(large) > 0:
        raise DataError(
            f"{table.place(batch.places[large[0]])}, column {name!r}: {_shown(column[large[0]])} is too large "
            f"to compute with (above {LARGEST:g}); correct it or leave the cell empty."
        )
    return numbers.to_numpy(allow_copy=True).astype(np.float64) if numbers.len() else np.empty(0)


def _no_number(table: InputTable, batch: Batch, name: str, at: int, other_way: str = "") -> DataError:
    cell, place = batch.frame[name][at], f"{table.place(batch.places[at])}, column {name!r}"
    if _DECIMAL_COMMA.fullmatch(cell):
        return DataError(f"{place}: {cell!r} has a decimal comma; use a decimal point.")
    return DataError(f"{place}: {_shown(cell)} is not a number; correct it, leave a missing cell empty{other_way}.")


def _as_text(table: InputTable, column: pl.Series) -> pl.Series:
    """Cells as text; 1.0 in a Parquet file is the same as "1" in a CSV."""
    import polars as pl

    _is_text(table, column)
    if column.dtype.is_float() and (column.drop_nulls() == column.drop_nulls().round(0)).all():
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String)


def _parsed(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The numbers of a column, None where missing, and the indices of the cells that are neither."""
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False).fill_nan(None)
    if column.dtype != pl.String or numbers.null_count() == 0:
        return numbers, numbers.head(0)
    unread = numbers.is_null().arg_true()
    cells = column.gather(unread).str.strip_chars()
    stripped = cells.cast(pl.Float64, strict=False).fill_nan(None)
    missing = cells.is_null() | cells.str.to_lowercase().is_in(MISSING)
    return numbers.scatter(unread, stripped), unread.filter(stripped.is_null() & ~missing)


def _is_text(table: InputTable, column: pl.Series) -> bool:
    """Whether cells are text rather than numbers; any other type is an error."""
    import polars as pl

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
