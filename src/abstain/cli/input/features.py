"""The columns of a training table that are features, and those that are probably not what they seem.

These are numbers for missing values, names of rows, codes and dates read as numbers, times read as categories, columns
without information, and copies of the label.

A number is suspected to stand for a missing value if at least three rows have it and it lies far outside the others:
ten times the range of the others away, or, for 99, -999 and other rows of nines, half of that range.
"""

import math
import re
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, some
from abstain.cli.input.columns import CATEGORIES, DATES, NUMBERS, features, flagged, kinds_of
from abstain.cli.tables.notation import NEARLY, day_first_in, days, is_temporal
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.preprocessing import CellPlan

EITHER = "pass --dates day-first or --dates month-first"
FEW = 3  # rows with the same number
FAR, NINES_FAR = 10.0, 0.5
NUMBERED, NAMED = 50, 20  # fewer numbers or texts may all differ by chance
COPIED = 20  # fewer rows may agree with the label by chance
TIMES = {
    "times": r"^\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(\s*[AaPp][Mm])?$",
    "months": r"^(0?[1-9]|1[0-2])[-/.]\d{4}$|^\d{4}[-/](0?[1-9]|1[0-2])$",
}


def read_features(
    table: InputTable, batch: Batch, names: Sequence[str], codes: Collection[str], keep: Collection[str] = ()
) -> tuple[pl.DataFrame, list[str], list[str], CellPlan]:
    """Read columns as numbers and texts, with warnings of what may not be what it seems.

    Parameters
    ----------
    table, batch
        Where the columns are.
    names : sequence of str
        The features.
    codes : collection of str
        Those that are categories, whatever their cells are.
    keep : collection of str
        Those that are features although nearly every row has another text; others of this kind are left out.

    Returns
    -------
    X : polars.DataFrame
        The numeric columns, then the categorical ones.
    numeric, categorical : list of str
        Their names.
    plan : CellPlan
        What the model must remember of the cells.
    """
    found = kinds_of(table, batch, [name for name in names if name not in codes], table.notation.missing)
    kinds = dict.fromkeys(names, CATEGORIES) | found
    numbers, dates, texts = ([name for name in names if kinds[name] == kind] for kind in (NUMBERS, DATES, CATEGORIES))
    numeric, plan = [name for name in names if kinds[name] != CATEGORIES], _cell_plan(table, batch, dates)
    X = features(table, batch, numeric, texts, plan)
    if named := [name for name in texts if name not in (*codes, *keep) and _names_rows(X[name])]:
        for name in named:
            text = f"column {name!r} has another text in nearly every row, as an identifier has, and is left out"
            text += f"; pass --ignore {name!r} to say so, or --keep {name!r} to keep it."
            warnings.warn(text, Note, stacklevel=2)
        X, texts = X.drop(named), [name for name in texts if name not in named]
    _suspect(X, numbers, dates, [name for name in texts if name not in codes], batch.frame)
    return X, numeric, texts, plan


def _names_rows(column: pl.Series) -> bool:
    """Whether nearly every row has another text."""
    return (count := column.n_unique()) >= NAMED and count > 0.9 * len(column)


def _cell_plan(table: InputTable, batch: Batch, dates: list[str]) -> CellPlan:
    """Return what the model must remember of the cells; dates that nobody asked to convert are an error."""
    given = table.notation
    if not dates:
        return CellPlan(missing=given.missing)
    first, unknown = _order(batch, dates, given.day_first)
    if given.dates is None:
        raise _dates_found(table, batch, dates, unknown)
    if unknown is not None:
        name, at = unknown
        what = f"whether the day or the month comes first in {batch.frame[name][at]!r} cannot be seen"
        raise DataError(f"{table.cell(batch, at, name)}: {what}; {EITHER}.")
    return CellPlan(tuple(dates), first, given.missing)


def _order(batch: Batch, dates: list[str], first: bool | None) -> tuple[bool | None, tuple[str, int] | None]:
    """Return whether the day comes first, and the column and row of a date that leaves it open; None where unknown."""
    for name in dates:
        if first is None and not is_temporal(batch.frame[name]):
            first, at = day_first_in(batch.frame[name])
            if first is None and at is not None:
                return None, (name, at)
    return first, None


def _dates_found(table: InputTable, batch: Batch, dates: list[str], unknown: tuple[str, int] | None) -> DataError:
    some = [batch.frame[name].drop_nulls().head(1) for name in dates]
    names = ", ".join(repr(name) for name in dates)
    plural = f"s {names} contain" if len(dates) > 1 else f" {names} contains"
    ignore = " ".join(f"--ignore {name!r}" for name in dates)
    readable = all(np.isfinite([days(one, first)[0] for first in (True, False)]).any() for one in some)
    way = "pass --dates days to turn them into days since 1970-01-01" if readable else "write them as in 2024-01-31"
    if readable and unknown is not None:
        shown = str(batch.frame[unknown[0]][unknown[1]])[:40]
        way = f"{EITHER} to turn them into days since 1970-01-01 (which of the two cannot be seen in {shown!r})"
    return DataError(
        f"{table.path}: column{plural} dates such as {str(some[0][0])[:40]!r}; {way}, or leave them out with {ignore}."
    )


def _suspect(
    X: pl.DataFrame, numeric: list[str], dates: Sequence[str], categorical: list[str], cells: pl.DataFrame
) -> None:
    """Warn of columns that may not be what they seem; `cells` are the columns as they were read."""
    _suspect_constant(X.select(pl.col([*numeric, *categorical])))
    _suspect_padded(cells.select(pl.col(numeric)))
    for name in [*dates, *(name for name, _ in flagged(X.select(pl.col(numeric)), _may_be_odd))]:
        values = X[name].drop_nans().to_numpy()
        for value, count, low, high in stand_ins(values):
            shown, others = f"{value:g}", f"far outside the other numbers ({low:g} to {high:g})"
            if name in dates:
                shown, others = str(np.datetime64(int(value), "D")), "far from the other dates"
            means = f"if it stands for a missing value, pass --missing-value {shown}"
            _warn(f"column {name!r}: {shown} occurs in {count} rows, {others}; {means}")
        if name in dates:
            continue
        _suspect_dates(name, values)
        whole = len(values) == X.height >= NUMBERED and (values == np.round(values)).all()
        if whole and len(np.unique(values)) == X.height:
            text = f"column {name!r} has a different whole number in each row; if it names the row, pass --ignore"
            warnings.warn(f"{text} {name!r}.", Note, stacklevel=2)
    for name in categorical:
        _suspect_times(X[name])


def _may_be_odd(block: NDArray[np.float64]) -> NDArray[np.bool_]:
    """One row: the columns to look at, with an end that several rows have, or only whole numbers, perhaps dates."""
    ends = [np.sum(block == end.reduce(block, axis=0), axis=0) >= FEW for end in (np.fmin, np.fmax)]
    whole = ((block == np.round(block)) | np.isnan(block)).all(axis=0)
    return (ends[0] | ends[1] | whole)[np.newaxis]


def suspect_copies(X: pl.DataFrame, y: NDArray[Any]) -> None:
    """Warn of columns with as many values as classes that determine the label in every row."""
    labels, other = pl.Series("label", y.tolist()), int(np.argmin(y == y[0]))
    count = labels.n_unique()
    different = X.select(pl.all().n_unique()).row(0) if len(y) >= COPIED and X.width else ()
    for column in (X.to_series(at) for at, found in enumerate(different) if found == count):
        if count == pl.DataFrame([column.alias("value"), labels]).n_unique():
            name, values = column.name, column.to_numpy(allow_copy=True)
            shown = ", ".join(f"{_shown(values[at])} for {y[at]!r}" for at in (0, other))
            way = f"if it is a copy of the label, pass --ignore {name!r}"
            _warn(f"column {name!r} agrees with the label in every row ({shown}); {way}.")


def _suspect_constant(X: pl.DataFrame) -> None:
    """Say which columns are empty or constant."""
    empty, constant = list[str](), list[str]()
    same = X.select(pl.all().eq_missing(pl.all().first()).all())
    for column in (X.to_series(at) for at, found in enumerate(same.row(0) if X.width else ()) if found):
        (empty if column.dtype.is_float() and math.isnan(column[0]) else constant).append(column.name)
    _note(empty, "is empty in all rows", "are empty in all rows")
    _note(constant, "has the same value in all rows", "have the same value in all rows")


def _suspect_padded(cells: pl.DataFrame) -> None:
    """Warn of codes with leading zeros that are read as numbers."""
    found = cells.select(pl.col(pl.String).str.extract(r"^\s*(0\d+)\s*$").drop_nulls().first())  # all columns at once
    for name, code in found.row(0, named=True).items() if found.width else ():
        if code is not None:
            way = f"if these are codes, pass --categorical {name!r}"
            _warn(f"column {name!r} has leading zeros, as in {code!r}, and is read as numbers; {way}.")


def _suspect_dates(name: str, values: NDArray[np.float64]) -> None:
    """Warn of whole numbers that may be dates, such as 20240131."""
    if len(values) < FEW or values.min() < 1900_01_01 or values.max() > 2100_12_31 or (values % 1 != 0).any():
        return
    month, day = values // 100 % 100, values % 100
    if ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
        date = str(int(values[0]))
        way = f"{date[:4]}-{date[4:6]}-{date[6:]} and pass --dates days, or pass --ignore or --categorical {name!r}"
        _warn(f"column {name!r} is read as numbers, which look like dates such as {date}; write them as in {way}.")


def _suspect_times(column: pl.Series) -> None:
    """Warn of texts that are times or months."""
    name, some = column.name, column.drop_nulls().head(100).str.strip_chars()
    for what, pattern in TIMES.items():
        if len(some) > 0 and some.str.contains(pattern).mean() >= NEARLY:  # type: ignore[operator]
            way = f"write them as numbers, or pass --ignore {name!r}, or --categorical {name!r} if categories are meant"
            _warn(f"column {name!r} contains {what} such as {some[0]!r}, and each becomes a category; {way}.")


def _note(names: list[str], one: str, several: str) -> None:
    if names:
        alone = len(names) == 1
        found = f"column {some(names)} {one}" if alone else f"columns {some(names)} {several}"
        ignore = " ".join(f"--ignore {name!r}" for name in names[:5])
        way = f"to leave {'it' if alone else 'them'} out, pass {ignore}"
        warnings.warn(f"{found}, from which a model learns nothing; {way}.", Note, stacklevel=3)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def stand_ins(values: NDArray[np.float64]) -> list[tuple[float, int, float, float]]:
    """Suspected numbers, with how often each occurs, and the range of the others."""
    if len(values) == 0 or max(np.sum(values == values.min()), np.sum(values == values.max())) < FEW:
        return []
    found, (numbers, counts) = [], np.unique(values, return_counts=True)
    while len(numbers) >= 3:
        ends = {0: slice(1, None), -1: slice(None, -1)}  # each end, and the numbers without it
        far = [at for at, rest in ends.items() if counts[at] >= FEW and _is_far(numbers[at], numbers[rest])]
        if not far:
            break
        found.append((float(numbers[far[0]]), int(counts[far[0]])))
        numbers, counts = numbers[ends[far[0]]], counts[ends[far[0]]]
    return [(*one, float(numbers[0]), float(numbers[-1])) for one in found]


def _is_far(value: float, rest: NDArray[np.float64]) -> bool:
    nines = re.fullmatch(r"-?9{2,}(\.0)?", str(float(value))) is not None
    gap = max(rest[0] - value, value - rest[-1])
    return bool(gap > (NINES_FAR if nines else FAR) * float(rest[-1] - rest[0]))


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=3)
