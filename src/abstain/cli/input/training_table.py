"""A labelled table, read completely, with its column types, labels and size checked before training."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.columns import for_sklearn, labels, left_out_rows, unlabelled
from abstain.cli.input.cost_sources import checked_classes, row_costs_of
from abstain.cli.input.costs import CostOptions
from abstain.cli.input.features import read_features, suspect_copies
from abstain.cli.options import Given
from abstain.cli.tables.memory import MB, TooLargeError, half_of_the_memory, left_by_rows
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.estimators.fitting.routing import group_parameters, row_cost_parameters
from abstain.preprocessing import CellPlan, CostPlan


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

    def take(self, rows: NDArray[np.intp]) -> Self:
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

    def labels(self, given: Given) -> dict[str, Any]:
        """Return the parameters of a classifier that name the positive class and the reject."""
        return {"pos_label": self.positive, "reject_label": given.reject_label or "auto"}

    @property
    def rarest(self) -> tuple[str, int]:
        """The rarest class and the number of its rows."""
        return min(Counter(self.y.tolist()).items(), key=lambda pair: pair[1])

    @property
    def n_groups(self) -> int:
        """Number of groups, or of rows without groups."""
        return len(self.y) if self.groups is None else len(set(self.groups))


def fit_to(table: TrainingTable, model: Any) -> Any:
    """Fit a model to the rows, with the groups and the costs of rows if it takes them."""
    parameters = group_parameters(model, table.groups)
    if table.row_costs is not None:
        parameters |= row_cost_parameters(model, "fit", table.row_costs)
    return model.fit(table.rows, table.y, **parameters)


class TableOptions:
    """What the options say about a training table.

    Attributes
    ----------
    given : Given
        The options.
    costs : CostOptions
        The costs as stated, which may name columns.
    notation : Notation
        How the table is written.
    memory : float
        Memory that the table and the fit may use beyond that of the program, in MB; half of the machine's by default.
    categorical, ignore, keep : tuple of str
        Numeric columns to treat as categories, columns to leave out, and columns to keep that seem to name the rows.
    own : list of str
        The columns of the labels and, if there is one, of the groups, which are not features.
    """

    def __init__(self, given: Given) -> None:
        self.given, self.costs, self.notation = given, CostOptions(given), given.notation
        self.memory: float = given.max_memory or half_of_the_memory()
        self.own: list[str] = [name for name in (given.target, given.groups) if name is not None]

    def others(self, table: InputTable) -> list[str]:
        """Return the columns besides the features and those to leave out: labels, groups and costs, each once."""
        return list(dict.fromkeys([*self.own, *self.costs.columns(table.columns)]))

    def check(self, table: InputTable) -> None:
        """Raise an error if a column that an option names does not exist or has two purposes."""
        given, priced = self.given, self.costs.columns(table.columns)
        if table.is_review:
            what = f"{table.path} is a review file, whose rows are harder than others and have columns of the model"
            raise DataError(f"{what}; name the training table, and this file after --also.")
        stated = given.categorical, given.ignore, given.keep
        self.categorical, self.ignore, self.keep = (_each(names, table.columns) for names in stated)
        named = {"--target": self.own[:1], "--categorical": self.categorical, "--ignore": self.ignore}
        named |= {"--keep": self.keep, "--groups": self.own[1:], "a column of costs": priced}
        for option, names in named.items():
            table.check_has(names, option)
        if given.target in priced:
            raise UsageError(f"column {given.target!r} has the labels and cannot have costs too; name another one.")
        if given.groups == given.target:
            raise UsageError(f"--groups {given.groups!r} is the column of the labels; name another one.")

    def features(self, table: InputTable) -> list[str]:
        """Return the columns that are features; an error if there is none."""
        left_out = {*self.own, *self.ignore, *self.costs.not_features(table.columns)}
        names = [name for name in table.columns if name not in left_out]
        if not names:
            others = " and ".join(map(repr, self.own))
            raise DataError(f"{table.path} has no column besides {others}; a model needs at least one feature.")
        return names

    def labelled(self, table: InputTable, batch: Batch) -> tuple[Batch, NDArray[np.bool_], CostPlan, dict[str, Any]]:
        """Return the rows with a label, which these are, where costs are from, and the rest of a `TrainingTable`."""
        given, missing = self.given, self.notation.missing
        y = labels(table, batch, given.target, missing)
        present = np.array([label is not None for label in y])
        if count := int((~present).sum()):
            if not given.drop_unlabelled or not present.any():
                raise unlabelled(table, given.target, count, batch.places[int(np.argmin(present))])
            warnings.warn(f"{table.path}: {left_out_rows(count)}.", Note, stacklevel=2)
            batch, y = batch.only(present), y[present]
        classes = checked_classes(table, batch, y, given, self.costs.only_two)
        groups = None if given.groups is None else _groups(table, batch, given.groups, missing)
        plan = self.costs.plan(table.columns, classes)
        by_row = row_costs_of(CellPlan(missing=missing, costs=plan), table, batch, len(classes))
        about = {"path": table.path, "target": given.target, "y": y, "classes": classes, "left_out": count}
        return batch, present, plan, about | {"groups": groups, "row_costs": by_row}


def read_training(path: Path, options: TableOptions) -> TrainingTable:
    """Read a training table from a CSV, Parquet or Excel file."""
    with opened(path, options.notation) as table:
        options.check(table)
        others = options.others(table)
        wanted = [name for name in table.columns if name not in options.ignore or name in others]
        batch = _whole(table, wanted, options.memory)
    batch, _, costs, about = options.labelled(table, batch)
    X, numeric, texts, plan = read_features(table, batch, options.features(table), options.categorical, options.keep)
    if not X.width:
        raise DataError(f"{path} has no column besides those that are left out; keep one of them with --keep.")
    suspect_copies(X, about["y"])
    left, plan = left_by_rows(X, numeric, texts, options.memory), replace(plan, costs=costs)
    return TrainingTable(X=X, numeric=numeric, categorical=texts, plan=plan, memory=left, **about)


def _each(names: Sequence[str] | None, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that an option names, one at a time or several with commas."""
    parts = ([text] if text in columns else text.split(",") for text in names or ())
    return tuple(part if part in columns else part.strip() for several in parts for part in several)


def _whole(table: InputTable, names: list[str], memory: float) -> Batch:

    frames, places, size = [], list[int](), 0.0
    for batch in table.batches:
        frames.append(batch.frame.select(names))
        places.extend(batch.places)
        size += frames[-1].estimated_size()
        if size > memory * MB / 2:
            way = "raise --max-memory, use fewer rows, or write it as Parquet and pass --machine linear"
            raise TooLargeError(f"{table.path} does not fit in {memory:.0f} MB with room for training; {way}.")
    return Batch(pl.concat(frames), places)


def _groups(table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> NDArray[Any]:
    """Return the group of each row; a missing one is an error."""
    held = labels(table, batch, name, missing)
    if None in (groups := held.tolist()):
        place = table.place(batch.places[groups.index(None)])
        raise DataError(f"{place} has no group in column {name!r}; add it or remove the row.")
    return held
