"""A labelled table, read completely, with its column types, labels and size checked before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import CATEGORIES, DATES, NUMBERS, features, for_sklearn, kinds_of
from abstain.cli.input.suspicions import suspect, suspect_copies
from abstain.cli.input.table_options import TableOptions
from abstain.cli.tables.dates import day_first_in, days, is_temporal
from abstain.cli.tables.memory import MB, TooLargeError, left_by_rows
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.preprocessing import CellPlan

EITHER = "pass --dates day-first or --dates month-first"


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Labelled rows.

    Attributes
    ----------
    path : Path
        The file of the rows.
    target : str
        The column of the labels.
    X : polars.DataFrame, or array of float32
        The numeric columns, then the categorical ones; or the rows after the preprocessing, in a mapped file or on the
        workers of a cluster.
    y : ndarray of object
        The labels, as text.
    numeric, categorical : list of str
        Names of the columns of X.
    classes : tuple of str
        The negative and the positive class; or more than two, in order.
    memory : float
        Memory that the rows leave to the search and the cache of kernel values, in MB.
    plan : CellPlan
        Which numeric columns are dates, and what stands for missing values.
    left_out : int
        Number of rows without a label, which are not in X.
    groups : ndarray of object or None
        The group of each row, as text; None if no column of groups was named.
    row_costs : ndarray of shape (n, 3), (n, 4) or (n, n_classes, n_actions), or None
        The costs of each row; None if they are the same for all rows.
    preprocess : ColumnTransformer or None
        As in `default_pipeline`, fitted to all rows, which X has been through; None if X has the columns themselves.
    """

    path: Path
    target: str
    X: Any
    y: NDArray[Any]
    numeric: list[str]
    categorical: list[str]
    classes: tuple[str, ...]
    memory: float
    plan: CellPlan
    left_out: int
    groups: NDArray[Any] | None = None
    row_costs: NDArray[np.float64] | None = None
    preprocess: Any = None

    @property
    def mapped(self) -> bool:
        """Whether the rows are encoded already and need not fit into memory."""
        return self.preprocess is not None

    @property
    def rows(self) -> Any:
        """X in a form that scikit-learn accepts."""
        return self.X if self.mapped else for_sklearn(self.X)

    def take(self, rows: NDArray[np.intp]) -> TrainingTable:
        """Return the table of some rows."""
        columns = [(name, getattr(self, name)) for name in ("X", "y", "groups", "row_costs")]
        taken: dict[str, Any] = {name: None if values is None else values[rows] for name, values in columns}
        return replace(self, **taken)

    @property
    def several(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.classes) > 2

    @property
    def positive(self) -> str | None:
        """The positive class; None if there are more than two classes."""
        return None if self.several else self.classes[1]

    @property
    def rarest(self) -> tuple[str, int]:
        """The rarest class and the number of its rows."""
        return min(Counter(self.y.tolist()).items(), key=lambda pair: pair[1])

    @property
    def smallest_class(self) -> int:
        """Number of rows of the rarest class."""
        return self.rarest[1]

    @property
    def n_groups(self) -> int:
        """Number of groups, or of rows without groups."""
        return len(self.y) if self.groups is None else len(set(self.groups))


def read_training(path: Path, options: TableOptions) -> TrainingTable:
    """Read a training table from a CSV, Parquet or Excel file."""
    with opened(path, options.notation) as table:
        options.check(table)
        others = options.others(table)
        wanted = [name for name in table.columns if name not in options.ignore or name in others]
        batch = _whole(table, wanted, options.memory)
    batch, _, costs, about = options.labelled(table, batch)
    X, numeric, texts, plan = read_features(table, batch, options.features(table), {*options.categorical})
    suspect_copies(X, about["y"])
    left, plan = left_by_rows(X, numeric, texts, options.memory), replace(plan, costs=costs)
    return TrainingTable(X=X, numeric=numeric, categorical=texts, plan=plan, memory=left, **about)


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
    numeric, plan = [name for name in names if kinds[name] != CATEGORIES], cell_plan(table, batch, dates)
    X = features(table, batch, numeric, texts, plan)
    suspect(X, numbers, dates, [name for name in texts if name not in codes], batch.frame)
    return X, numeric, texts, plan


def cell_plan(table: InputTable, batch: Batch, dates: list[str]) -> CellPlan:
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


def _whole(table: InputTable, names: list[str], memory: float) -> Batch:

    frames, places, size = [], list[int](), 0.0
    for batch in table.batches:
        frames.append(batch.frame.select(names))
        places.extend(batch.places)
        size += frames[-1].estimated_size()
        if size > memory * MB / 2:
            raise TooLargeError(
                f"{table.path} does not fit in {memory:.0f} MB with room for training; raise --max-memory, use "
                "fewer rows, or write it as Parquet and pass --machine linear."
            )
    return Batch(pl.concat(frames), places)
