"""Parquet files larger than memory as rows for a linear machine: preprocessed block by block, in a file that is mapped.

The preprocessing is that of `default_pipeline`. It is fitted to one column at a time, which is how Parquet stores them,
so that each column is read once:

::

    numbers   median of those present; mean and variance after imputation; the same of the flag of missing ones
    texts     the distinct ones
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features, for_sklearn
from abstain.cli.input.features import read_features, suspect_copies
from abstain.cli.input.training_table import TableOptions, TrainingTable, read_training
from abstain.cli.progress import progress
from abstain.cli.tables.memory import FIXED, MB, TooLargeError
from abstain.cli.tables.read_table import ParquetFiles, is_parquet
from abstain.preprocessing import NUMERIC, PREPROCESS, CellPlan, default_pipeline, frame

MOST_CATEGORIES = 1000  # distinct texts of a column; more are hardly categories
PER_ROW = 800  # bytes of a row in memory whatever its length: label, column being read, fit, scores of a search


@contextmanager
def training_rows(
    paths: Sequence[Path], options: TableOptions, *, linear: bool, by_blocks: bool = False
) -> Iterator[TrainingTable]:
    """Read one table as `read_training` does, or Parquet files by blocks: several, or one too large for the memory.

    Parameters
    ----------
    paths : sequence of Path
    options : TableOptions
    linear : bool
        Whether the machine is linear, which takes mapped rows.
    by_blocks : bool
        Whether to read a single file by blocks too, which must be Parquet.
    """
    if len(paths) > 1 or by_blocks:
        if not linear:
            advice = "pass it, or join them into one; the verdicts of a review file are added by --also"
            raise UsageError(f"several files are for --machine linear, which reads Parquet by blocks; {advice}.")
        if other := [path for path in paths if not is_parquet(path)]:
            which, way = ("several files", ", or join the files") if len(paths) > 1 else ("rows for --cluster", "")
            raise UsageError(f"{other[0]} is not Parquet, and {which} must be; convert it{way}.")
    else:
        try:
            found = read_training(paths[0], options)
        except TooLargeError:
            if not (linear and is_parquet(paths[0])):
                raise
        else:
            yield found
            return
    with tempfile.TemporaryDirectory(prefix="abstain-", ignore_cleanup_errors=True) as folder:
        yield read_mapped(paths, Path(folder), options)


def read_mapped(paths: Sequence[Path], folder: Path, options: TableOptions) -> TrainingTable:
    """Read Parquet files as `read_training` reads one; the encoded rows are in a file in `folder`."""
    table = ParquetFiles.of(paths, options.notation)
    options.check(table)
    need = FIXED + PER_ROW * table.height / MB
    if need > options.memory:
        fit = f"a fit of {table.height:,} rows takes about {need:.0f} MB, however short they are"
        raise UsageError(f"{fit}, more than the {options.memory:.0f} MB allowed; raise --max-memory or use fewer rows.")
    _, present, costs, about = options.labelled(table, table.whole(options.others(table)))
    names, kept = options.features(table), options.keep
    rows = ParquetRows.of(table, names, about["y"], present, categorical=options.categorical, keep=kept)
    size, free = int(np.prod(rows.shape)) * rows.dtype.itemsize, shutil.disk_usage(folder).free
    if size > free:
        what = f"the encoded rows take {size / MB:.0f} MB in {folder.parent}, which has {free / MB:.0f} MB left"
        raise UsageError(f"{what}; set the environment variable TMPDIR to a folder with more.")
    about |= {"numeric": rows.numeric, "categorical": rows.categorical, "preprocess": rows.preprocess}
    about |= {"plan": replace(rows.plan, costs=costs), "memory": options.memory - need}
    return TrainingTable(X=rows.mapped(folder / "rows.npy"), **about)


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
        categorical: Collection[str] = (),
        keep: Collection[str] = (),
    ) -> Self:
        """Fit the preprocessing to these columns; `y` are the labels of the rows chosen, `categorical` are codes."""
        classes, plan = len({*y.tolist()}), CellPlan(missing=table.notation.missing)
        moments, categories = dict[str, tuple[float, ...]](), dict[str, list[str | None]]()
        with progress("read columns", len(names)) as report:
            for name in names:
                batch = table.whole([name]).only(chosen)
                if name in categorical:
                    _check_whole(table, batch.frame[name])
                cells, *_, found = read_features(table, batch, [name], categorical, keep)
                if not cells.width:  # it names the rows
                    continue
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


def _categories(values: pl.Series) -> list[str | None]:
    """Return the distinct texts of a column, None last if some are missing."""
    found = values.unique().to_list()
    if len(found) > MOST_CATEGORIES:
        what = f"column {values.name!r} has {len(found):,} distinct texts, more than {MOST_CATEGORIES:,}"
        raise DataError(f"{what}; pass --ignore {values.name!r} if it names the rows, or group its values.")
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


def _check_whole(table: ParquetFiles, codes: pl.Series) -> None:
    """Raise an error for codes with fractions: a block of whole ones would be written without decimals."""
    present = codes.drop_nulls().drop_nans() if codes.dtype.is_float() else codes.head(0)
    if (present != present.round(0)).any():
        raise DataError(f"{table.path}: column {codes.name!r} of --categorical has fractions; write its codes as text.")
