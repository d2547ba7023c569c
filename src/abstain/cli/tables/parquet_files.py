"""Parquet files larger than memory as rows for a linear machine: preprocessed block by block, in a file that is mapped.

Files with the same columns are one table, of which a column or a block of rows is in memory at a time. The
preprocessing is that of `default_pipeline`. It is fitted to one column at a time, which is how Parquet stores them, so
that each column is read once:

::

    numbers   median of those present; mean and variance after imputation; the same of the flag of missing ones
    texts     the distinct ones
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import CATEGORIES, DATES, NUMBERS, features, for_sklearn, kind_of
from abstain.cli.input.suspicions import suspect, suspect_copies
from abstain.cli.input.training_table import cell_plan
from abstain.cli.output.printing import progress
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, Batch, InputTable
from abstain.cli.tables.typed_tables import parquet_facts, parquet_rows, plain_columns, readable
from abstain.preprocessing import NUMERIC, PREPROCESS, CellPlan, default_pipeline, frame

MOST_CATEGORIES = 1000  # distinct texts of a column; more are hardly categories


@dataclass(frozen=True, eq=False)
class ParquetFiles(InputTable):
    """An open table whose rows are those of all files, one after the other.

    Attributes
    ----------
    files : tuple of Path
        In the order of their names.
    ends : tuple of int
        The number of rows up to the end of each file.
    """

    files: tuple[Path, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, paths: Sequence[str | Path], notation: Notation = PLAIN) -> Self:
        """Open files; those with other columns are an error."""
        if not paths:
            raise DataError("no file is given; name at least one Parquet file.")
        files = tuple(sorted(map(Path, paths)))
        if twice := [one for one, other in pairwise(files) if one == other]:
            raise DataError(f"{twice[0]} is given twice; give each file once.")
        facts = [parquet_facts(path) for path in files]
        names = facts[0][0]
        for path, (others, _) in zip(files, facts, strict=True):
            if set(others) != set(names):
                odd = min(set(others) ^ set(names))
                raise DataError(
                    f"{path}: column {odd!r} is not in all files; give files with the same columns as {files[0]}."
                )
        ends = tuple(accumulate(height for _, height in facts))
        if not ends[-1]:
            raise DataError(f"{files[0]}: the table has no rows; add some.")
        shown = files[0] if len(files) == 1 else Path(f"{files[0]} and {len(files) - 1} more")
        return cls(shown, "row", names, iter(()), lambda: 0, notation, files=files, ends=ends)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    def place(self, number: int) -> str:
        """The place of a row, by its number among those of all files."""
        at = bisect_left(self.ends, number)
        return f"{self.files[at]}: row {number - (self.ends[at - 1] if at else 0)}"

    def whole(self, names: Sequence[str]) -> Batch:
        """All rows of a few columns."""
        some = ", ".join(map(repr, names[:3]))
        with readable(f"column {some} cannot be read", "write the files again, with the same type of column in each"):
            frame = plain_columns(pl.scan_parquet(list(self.files)).select(names).collect())
        return Batch(frame, range(1, self.height + 1))

    def blocks(self, names: Sequence[str]) -> Iterator[Batch]:
        """A few columns, at most 20,000 rows at a time."""
        for path, first, last in zip(self.files, (0, *self.ends), self.ends, strict=False):
            for cells, places in parquet_rows(path, last - first, names):
                yield Batch(cells, range(first + places.start, first + places.stop))


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """Rows of Parquet files, and the preprocessing fitted to them.

    Attributes
    ----------
    table : ParquetFiles
    numeric, categorical : list of str
        The columns that are used.
    plan : CellPlan
        Which numeric columns are dates, and what stands for missing values.
    preprocess : ColumnTransformer
        As in `default_pipeline`, fitted to all rows.
    chosen : ndarray of bool
        The rows that are used.
    """

    table: ParquetFiles
    numeric: list[str]
    categorical: list[str]
    plan: CellPlan
    preprocess: Any
    chosen: NDArray[np.bool_]

    dtype = np.dtype(np.float32)

    @classmethod
    def of(
        cls,
        table: ParquetFiles,
        names: Sequence[str],
        y: NDArray[Any],
        chosen: NDArray[np.bool_],
        *,
        categorical: Sequence[str] = (),
    ) -> Self:
        """Fit the preprocessing to these columns; `y` are the labels of the rows chosen, `categorical` are codes."""
        classes, plan = len({*y.tolist()}), CellPlan(missing=table.notation.missing)
        moments, categories = dict[str, tuple[float, ...]](), dict[str, list[str | None]]()
        with progress("read columns", len(names)) as report:
            for name in names:
                cells, found = _cells(table, table.whole([name]).only(chosen), name, coded=name in categorical)
                first = found.day_first if plan.day_first is None else plan.day_first
                plan = replace(plan, dates=(*plan.dates, *found.dates), day_first=first)
                if cells[name].n_unique() == classes:
                    suspect_copies(cells, y)
                if cells[name].dtype.is_float():
                    moments[name] = _moments(cells[name])
                else:
                    categories[name] = _categories(cells[name])
                report(len(moments) + len(categories))
        return cls(table, [*moments], [*categories], plan, _preprocess(moments, categories, len(y)), chosen)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and features after the preprocessing."""
        return int(self.chosen.sum()), len(self.preprocess.get_feature_names_out())

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """Preprocessed rows, at most 20,000 at a time."""
        for block in self.table.blocks([*self.numeric, *self.categorical]):
            batch = block.only(self.chosen[block.places[0] - 1 : block.places[-1]])
            if batch.frame.height:
                cells = features(self.table, batch, self.numeric, self.categorical, self.plan)
                yield self.preprocess.transform(for_sklearn(cells)).astype(self.dtype)

    def mapped(self, path: str | Path) -> NDArray[np.float32]:
        """Write all preprocessed rows to a ``.npy`` file, and return them mapped to memory, read-only."""
        out, done = np.lib.format.open_memmap(path, "w+", self.dtype, self.shape), 0
        with progress("encode rows", self.shape[0]) as report:
            for rows in self.blocks():
                out[done : done + len(rows)] = rows
                done += len(rows)
                report(done)
        out.flush()
        del out
        found: NDArray[np.float32] = np.load(path, mmap_mode="r")
        return found


def _cells(table: ParquetFiles, batch: Batch, name: str, *, coded: bool) -> tuple[pl.DataFrame, CellPlan]:
    """Read a column as the numbers or texts of a model, with warnings of what may not be what it seems."""
    values = batch.frame[name]
    if coded and values.dtype.is_float():
        present = values.drop_nulls().drop_nans()
        if (present != present.round(0)).any():  # a block of whole numbers would be written without decimals
            raise DataError(f"{table.path}: column {name!r} of --categorical has fractions; write its codes as text.")
    kind = CATEGORIES if coded else kind_of(table, batch, name, table.notation.missing)
    plan = cell_plan(table, batch, [name] if kind == DATES else [])
    numeric, texts = ([], [name]) if kind == CATEGORIES else ([name], [])
    cells = features(table, batch, numeric, texts, plan)
    suspect(cells, [name] if kind == NUMBERS else [], plan.dates, [] if coded else texts, batch.frame)
    return cells, plan


def _categories(values: pl.Series) -> list[str | None]:
    """Return the distinct texts of a column, None last if some are missing."""
    found = values.unique().to_list()
    if len(found) > MOST_CATEGORIES:
        raise DataError(
            f"column {values.name!r} has {len(found):,} distinct texts, more than {MOST_CATEGORIES:,}; pass --ignore "
            f"{values.name!r} if it names the rows, or group its values."
        )
    return sorted(found, key=lambda text: (text is None, text or ""))


def _moments(values: pl.Series) -> tuple[float, ...]:
    """Return the median of a column, its mean and variance after imputation by it, and the share of missing values."""
    numbers = np.array(values.to_numpy(), dtype=np.float64)
    here = ~np.isnan(numbers)
    median = float(np.median(numbers[here])) if here.any() else 0.0  # as the imputer does for an empty column
    numbers[~here] = median
    return median, float(numbers.mean()), float(numbers.var()), float(1.0 - here.mean())


def _preprocess(moments: dict[str, tuple[float, ...]], categories: dict[str, list[str | None]], n: int) -> Any:
    """Fit the default preprocessing to a few rows with all categories and missing cells; then set the moments."""
    height = max([3, *map(len, categories.values())])
    cells: dict[str, Any] = {}
    for name, (*_, missing) in moments.items():
        cells[name] = np.arange(height, dtype=np.float64)
        cells[name][0] = np.nan if missing else 0.0
    for name, known in categories.items():
        cells[name] = np.array([known[min(at, len(known) - 1)] for at in range(height)], dtype=object)
    fitted = default_pipeline(None, [*moments], [*categories]).named_steps[PREPROCESS].fit(frame(cells))
    if moments:
        part = fitted.named_transformers_[NUMERIC]
        impute, scale = part.named_steps["impute"], part.named_steps["scale"]
        median, mean, variance, missing = np.array([*moments.values()]).T
        flags = missing[missing > 0.0]
        impute.statistics_ = median
        scale.n_samples_seen_ = np.int64(n)
        scale.mean_ = np.concatenate([mean, flags])
        scale.var_ = np.concatenate([variance, flags * (1.0 - flags)])
        constant = scale.var_ <= 10 * np.finfo(np.float64).eps * np.maximum(scale.var_, scale.mean_**2)
        scale.scale_ = np.where(constant, 1.0, np.sqrt(scale.var_))
    return fitted
