"""The columns of a training table that are features: numbers, dates and categories, and what looks odd about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import CATEGORIES, DATES, NUMBERS, features, kinds_of
from abstain.cli.input.suspicions import suspect
from abstain.cli.tables.dates import day_first_in, days, is_temporal
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.preprocessing import CellPlan

EITHER = "pass --dates day-first or --dates month-first"


def read_features(
    table: InputTable, batch: Batch, names: Sequence[str], codes: Collection[str]
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
    suspect(X, numbers, dates, [name for name in texts if name not in codes], batch.frame)
    return X, numeric, texts, plan


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
        raise DataError(
            f"{table.place(batch.places[at])}, column {name!r}: whether the day or the month comes first in "
            f"{batch.frame[name][at]!r} cannot be seen; {EITHER}."
        )
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
