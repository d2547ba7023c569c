"""Parquet files larger than memory as rows for a linear machine: preprocessed block by block, in a file that is mapped.

The preprocessing is that of `default_pipeline`. It is fitted to one column at a time, which is how Parquet stores them,
so that each column is read once and only one is in memory:

::

    numbers   median of those present; mean and variance after imputation; the same of the flag of missing ones
    texts     the distinct ones
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError
from abstain.cli.input.typed_tables import parquet_facts, parquet_rows, plain_columns, readable
from abstain.preprocessing import NUMERIC, PREPROCESS, default_pipeline, frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ParquetRows"]

MOST_CATEGORIES = 1000  # distinct texts of a column; more are hardly categories


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """Rows of Parquet files with the same columns, and the preprocessing fitted to them.

    Attributes
    ----------
    paths : tuple of Path
    heights : tuple of int
        The number of rows of each file.
    target : str
        The column of labels.
    numeric, categorical : tuple of str
        The other columns that are used.
    preprocess : ColumnTransformer
        As in `default_pipeline`, fitted to all rows.
    """

    paths: tuple[Path, ...]
    heights: tuple[int, ...]
    target: str
    numeric: tuple[str, ...]
    categorical: tuple[str, ...]
    preprocess: Any

    dtype = np.dtype(np.float32)

    @classmethod
    def of(cls, paths: Sequence[str | Path], target: str, *, ignore: Sequence[str] = ()) -> Self:
        """Fit the preprocessing to the columns of the files, without the target and those to ignore."""
        if not paths:
            raise DataError("no file is given; name at least one Parquet file.")
        files = tuple(sorted(map(Path, paths)))
        facts = [parquet_facts(path) for path in files]
        names = facts[0][0]
        for path, (others, _) in zip(files, facts, strict=True):
            if set(others) != set(names):
                odd = min(set(others) ^ set(names))
                raise DataError(
                    f"{path}: column {odd!r} is not in all files; give files with the same columns as {files[0]}."
                )
        for name in (target, *ignore):
            if name not in names:
                raise DataError(f"column {name!r} does not exist; the columns are {', '.join(map(repr, names[:20]))}.")
        columns = [_column(files, name) for name in names if name != target and name not in ignore]
        if not columns:
            raise DataError(f"{target!r} is the only column left; a model needs at least one besides it.")
        numeric = tuple(column.name for column in columns if isinstance(column, _Numbers))
        categorical = tuple(column.name for column in columns if isinstance(column, _Texts))
        fitted = _preprocess({column.name: column for column in columns}, numeric, categorical)
        return cls(files, tuple(height for _, height in facts), target, numeric, categorical, fitted)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and features after the preprocessing."""
        return sum(self.heights), len(self.preprocess.get_feature_names_out())

    def blocks(self) -> Iterator[tuple[NDArray[np.float32], NDArray[Any]]]:
        """Preprocessed rows and their labels, at most 20,000 rows at a time."""
        for path, height in zip(self.paths, self.heights, strict=True):
            for table, numbers in parquet_rows(path, height):
                labels = table[self.target]
                missing = labels.is_null() | (labels.is_nan() if labels.dtype.is_float() else False)
                if missing.any():
                    at = numbers[int(missing.arg_true()[0])]
                    raise DataError(f"{path}: row {at} has no label in {self.target!r}; remove such rows.")
                cells: dict[str, Any] = {name: _floats(table[name]) for name in self.numeric}
                cells |= {name: np.array(table[name].to_list(), dtype=object) for name in self.categorical}
                yield self.preprocess.transform(frame(cells)).astype(self.dtype), labels.to_numpy()

    def mapped(self, path: str | Path) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Write all preprocessed rows to a ``.npy`` file; give them mapped to memory, read-only, and their labels."""
        out = np.lib.format.open_memmap(path, "w+", self.dtype, self.shape)
        labels, done = [], 0
        for rows, of_rows in self.blocks():
            out[done : done + len(rows)] = rows
            labels.append(of_rows)
            done += len(rows)
        out.flush()
        del out
        return np.load(path, mmap_mode="r"), np.concatenate(labels)


@dataclass(frozen=True)
class _Numbers:
    """A column of numbers: moments after imputation by the median, and the share of missing ones."""

    name: str
    median: float
    mean: float
    variance: float
    missing: float


@dataclass(frozen=True)
class _Texts:
    """A column of texts: the distinct ones, None among them if some are missing."""

    name: str
    categories: tuple[str | None, ...]


def _column(paths: Sequence[Path], name: str) -> _Numbers | _Texts:
    import polars as pl

    with readable(f"column {name!r} cannot be read", "write the files again, with the same type of column in each"):
        values = plain_columns(pl.scan_parquet(list(paths)).select(name).collect())[name]
    if values.dtype == pl.String:
        found = values.unique().to_list()
        if len(found) > MOST_CATEGORIES:
            raise DataError(
                f"column {name!r} has {len(found):,} distinct texts, more than {MOST_CATEGORIES:,}; leave it out if it "
                "names the rows, or group its values."
            )
        return _Texts(name, tuple(sorted(found, key=lambda text: (text is None, text or ""))))
    if not values.dtype.is_numeric():
        raise DataError(f"column {name!r} has the type {values.dtype}; write it as numbers or text, or leave it out.")
    numbers = _floats(values)
    here = ~np.isnan(numbers)
    if not here.any():
        raise DataError(f"column {name!r} has no value; leave it out.")
    if np.isinf(numbers).any():
        raise DataError(f"column {name!r} has infinite values; write them as missing, or leave it out.")
    median = float(np.median(numbers[here]))
    numbers[~here] = median
    return _Numbers(name, median, float(numbers.mean()), float(numbers.var()), float(1.0 - here.mean()))


def _floats(values: pl.Series) -> NDArray[np.float64]:
    import polars as pl

    return np.array(values.cast(pl.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _preprocess(columns: dict[str, Any], numeric: Sequence[str], categorical: Sequence[str]) -> Any:
    """Fit the default preprocessing to a few rows with all categories and missing cells; then set the moments."""
    height = max([3, *(len(columns[name].categories) for name in categorical)])
    cells: dict[str, Any] = {}
    for name in numeric:
        cells[name] = np.arange(height, dtype=np.float64)
        cells[name][0] = np.nan if columns[name].missing else 0.0
    for name in categorical:
        known = columns[name].categories
        cells[name] = np.array([known[min(at, len(known) - 1)] for at in range(height)], dtype=object)
    fitted = default_pipeline(None, numeric, categorical).named_steps[PREPROCESS].fit(frame(cells))
    if numeric:
        part = fitted.named_transformers_[NUMERIC]
        impute, scale = part.named_steps["impute"], part.named_steps["scale"]
        found = [columns[name] for name in numeric]
        flags = [column.missing for column in found if column.missing]
        impute.statistics_ = np.array([column.median for column in found])
        scale.mean_ = np.array([column.mean for column in found] + flags)
        scale.var_ = np.array([column.variance for column in found] + [p * (1.0 - p) for p in flags])
        constant = scale.var_ <= 10 * np.finfo(np.float64).eps * np.maximum(scale.var_, scale.mean_**2)
        scale.scale_ = np.where(constant, 1.0, np.sqrt(scale.var_))
    return fitted
