"""A labelled table, read completely, with its column types, labels and size checked before training."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.classes import checked_classes
from abstain.cli.input.columns import (
    CATEGORIES,
    DATES,
    NUMBERS,
    features,
    for_sklearn,
    kind_of,
    labels,
    left_out_rows,
    unlabelled,
)
from abstain.cli.input.cost_columns import named_columns, row_costs_of
from abstain.cli.input.suspicions import suspect, suspect_copies
from abstain.cli.output.printing import progress
from abstain.cli.tables.dates import day_first_in, days, is_temporal
from abstain.cli.tables.memory import MB, TooLargeError, half_of_the_memory, left_by_rows
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, Batch, InputTable, opened
from abstain.preprocessing import CellPlan, CostPlan

if TYPE_CHECKING:
    import polars as pl

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
    X : polars.DataFrame
        The numeric columns, then the categorical ones.
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
    row_costs : ndarray of shape (n, 3) or (n, 4), or None
        The costs of each row; None if they are the same for all rows.
    """

    path: Path
    target: str
    X: pl.DataFrame
    y: NDArray[Any]
    numeric: list[str]
    categorical: list[str]
    classes: tuple[str, ...]
    memory: float
    plan: CellPlan
    left_out: int
    groups: NDArray[Any] | None = None
    row_costs: NDArray[np.float64] | None = None

    @property
    def rows(self) -> Any:
        """X in a form that scikit-learn accepts."""
        return for_sklearn(self.X)

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


def read_training(
    path: Path,
    target: str,
    *,
    pos_label: str | None = None,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    groups: str | None = None,
    max_memory: float | None = None,
    notation: Notation = PLAIN,
    drop_unlabelled: bool = False,
    costs: CostPlan = (),
    only_two: str | None = None,
) -> TrainingTable:
    """Read a training table.

    Parameters
    ----------
    path : Path
        CSV, Parquet or Excel.
    target : str
        The column of the labels.
    pos_label : str or None
        The positive class; if None the last in sorted order, and the larger one of two numbers.
    categorical, ignore : sequence of str
        Numeric columns to treat as categories, and columns to leave out.
    groups : str or None
        The column of the groups that folds never split; it is not a feature.
    max_memory : float or None
        Memory that the table and the fit may use beyond that of the program, in MB; half of the machine's if None.
    notation : Notation
        How the table is written.
    drop_unlabelled : bool
        Whether to leave out rows without a label, which are an error otherwise.
    costs : CostPlan
        Where the costs of each row are from; empty if rows have none.
    only_two : str or None
        An option that was given and takes two classes only, as in `two_class_option`.
    """
    memory = max_memory or half_of_the_memory()
    with opened(path, notation) as table:
        check_columns(table, target, categorical=categorical, ignore=ignore, groups=groups, costs=costs)
        kept = {groups, *named_columns(costs)}
        batch = _whole(table, [name for name in table.columns if name not in ignore or name in kept], memory)
    y = labels(table, batch, target, notation.missing)
    batch, y, left_out = labelled(table, batch, target, y, drop=drop_unlabelled)
    classes = checked_classes(table, batch, target, y, pos_label=pos_label, only_two=only_two)
    names = feature_names(table, batch.frame.columns, target, groups, ignore)
    codes = {*categorical}
    kinds = {name: CATEGORIES if name in codes else kind_of(table, batch, name, notation.missing) for name in names}
    plan = replace(cell_plan(table, batch, [name for name in names if kinds[name] == DATES]), costs=costs)
    texts = [name for name in names if kinds[name] == CATEGORIES]
    numeric = [name for name in names if kinds[name] != CATEGORIES]
    X, by_row = features(table, batch, numeric, texts, plan), row_costs_of(plan, table, batch)
    numbers = [name for name in numeric if kinds[name] == NUMBERS]
    suspect(X, numbers, plan.dates, [name for name in texts if name not in codes], batch.frame)
    suspect_copies(X, y)
    left = left_by_rows(X, numeric, texts, memory)
    held = None if groups is None else groups_of(table, batch, groups, notation.missing)
    return TrainingTable(path, target, X, y, numeric, texts, classes, left, plan, left_out, held, by_row)


def check_columns(
    table: InputTable,
    target: str,
    *,
    categorical: Sequence[str],
    ignore: Sequence[str],
    groups: str | None,
    costs: CostPlan,
) -> None:
    """Raise an error if a column that an option names does not exist or has two purposes."""
    priced = named_columns(costs)
    table.check_has([target], "--target")
    table.check_has(categorical, "--categorical")
    table.check_has(ignore, "--ignore")
    table.check_has([] if groups is None else [groups], "--groups")
    table.check_has(priced, "a column of costs")
    if target in priced:
        raise UsageError(f"column {target!r} has the labels and cannot have costs too; name another one.")
    if groups == target:
        raise UsageError(f"--groups {groups!r} is the column of the labels; name another one.")


def feature_names(
    table: InputTable, columns: Sequence[str], target: str, groups: str | None, ignore: Sequence[str]
) -> list[str]:
    """The columns that are features; an error if there is none."""
    names = [name for name in columns if name not in (target, groups, *ignore)]
    if not names:
        others = f"{target!r}" if groups is None else f"{target!r} and {groups!r}"
        raise DataError(f"{table.path} has no column besides {others}; a model needs at least one feature.")
    return names


def groups_of(table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> NDArray[Any]:
    """The group of each row; a missing one is an error."""
    held = labels(table, batch, name, missing)
    for at, group in enumerate(held):
        if group is None:
            place = table.place(batch.places[at])
            raise DataError(f"{place} has no group in column {name!r}; add it or remove the row.")
    return held


def labelled(
    table: InputTable, batch: Batch, target: str, y: NDArray[Any], *, drop: bool
) -> tuple[Batch, NDArray[Any], int]:
    """The rows with a label, their labels, and the number of the other rows."""
    present = np.array([label is not None for label in y])
    count = int((~present).sum())
    if count == 0:
        return batch, y, 0
    if not drop or not present.any():
        raise unlabelled(table, target, count, batch.places[int(np.argmin(present))])
    warnings.warn(f"{table.path}: {left_out_rows(count)}.", Note, stacklevel=2)
    return batch.only(present), y[present], count


def cell_plan(table: InputTable, batch: Batch, dates: list[str]) -> CellPlan:
    """What the model must remember of the cells; dates that nobody asked to convert are an error."""
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
    """Whether the day comes first, and the column and row of a date that leaves it open; None where unknown."""
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
    import polars as pl

    frames, places, size = [], list[int](), 0.0
    with progress("read", table.path) as report:
        for batch in table.batches:
            frames.append(batch.frame.select(names))
            places.extend(batch.places)
            report(table.position())
            size += frames[-1].estimated_size()
            if size > memory * MB / 2:
                raise TooLargeError(
                    f"{table.path} does not fit in {memory:.0f} MB with room for training; raise --max-memory, use "
                    "fewer rows, or write it as Parquet and pass --machine linear."
                )
    return Batch(pl.concat(frames), places)
