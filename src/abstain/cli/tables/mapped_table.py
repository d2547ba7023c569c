"""Labelled rows of Parquet files that need not fit into memory: encoded in a temporary file that is mapped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.classes import checked_classes
from abstain.cli.input.columns import labels
from abstain.cli.input.cost_columns import named_columns, row_costs_of
from abstain.cli.input.training_table import (
    TrainingTable,
    check_columns,
    feature_names,
    groups_of,
    labelled,
    read_training,
)
from abstain.cli.tables.memory import FIXED, MB, TooLargeError, half_of_the_memory
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.parquet_files import ParquetFiles
from abstain.cli.tables.parquet_rows import ParquetRows
from abstain.cli.tables.read_table import PLAIN, is_parquet
from abstain.preprocessing import CostPlan

__all__ = ["MappedTable", "read_mapped", "training_rows"]

PER_ROW = 800  # bytes of a row in memory whatever its length: label, column being read, fit, scores of a search


@dataclass(frozen=True, eq=False)
class MappedTable(TrainingTable):
    """Labelled rows that are encoded already; X is empty.

    Attributes
    ----------
    preprocess : ColumnTransformer
        As in `default_pipeline`, fitted to all rows.
    encoded : ndarray of float32
        The rows after it, mapped to memory.
    """

    preprocess: Any = None
    encoded: Any = None


@contextmanager
def training_rows(
    paths: Sequence[Path], target: str, *, linear: bool, by_blocks: bool = False, **options: Any
) -> Iterator[TrainingTable]:
    """Read one table as `read_training` does, or Parquet files by blocks: several, or one too large for the memory.

    Parameters
    ----------
    paths : sequence of Path
    target : str
    linear : bool
        Whether the machine is linear, which takes mapped rows.
    by_blocks : bool
        Whether to read a single file by blocks too, which must be Parquet.
    **options
        Those of `read_training`.
    """
    if len(paths) > 1 or by_blocks:
        if not linear:
            raise UsageError(
                "several files are for --machine linear, which reads Parquet by blocks; pass it, or join them into one."
            )
        if other := [path for path in paths if not is_parquet(path)]:
            which, way = ("several files", ", or join the files") if len(paths) > 1 else ("rows for --cluster", "")
            raise UsageError(f"{other[0]} is not Parquet, and {which} must be; convert it{way}.")
    else:
        try:
            found = read_training(paths[0], target, **options)
        except TooLargeError:
            if not (linear and is_parquet(paths[0])):
                raise
        else:
            yield found
            return
    with tempfile.TemporaryDirectory(prefix="abstain-", ignore_cleanup_errors=True) as folder:
        yield read_mapped(paths, Path(folder), target, **options)


def read_mapped(
    paths: Sequence[Path],
    folder: Path,
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
) -> MappedTable:
    """Read Parquet files as `read_training` reads one; the encoded rows are in a file in `folder`."""
    memory = max_memory or half_of_the_memory()
    table = ParquetFiles.of(paths, notation)
    check_columns(table, target, categorical=categorical, ignore=ignore, groups=groups, costs=costs)
    need = FIXED + PER_ROW * table.height / MB
    if need > memory:
        raise UsageError(
            f"a fit of {table.height:,} rows takes about {need:.0f} MB, however short they are, more than the "
            f"{memory:.0f} MB allowed; raise --max-memory or use fewer rows."
        )
    batch = table.whole(list(dict.fromkeys([target, *([groups] if groups else []), *named_columns(costs)])))
    y = _shared(labels(table, batch, target, notation.missing))
    present = np.array([label is not None for label in y])
    batch, y, left_out = labelled(table, batch, target, y, drop=drop_unlabelled)
    classes = checked_classes(table, batch, target, y, pos_label=pos_label, only_two=only_two)
    names = feature_names(table, table.columns, target, groups, ignore)
    held = None if groups is None else _shared(groups_of(table, batch, groups, notation.missing))
    rows = ParquetRows.of(table, names, y, categorical=categorical, chosen=present if left_out else None)
    plan = replace(rows.plan, costs=costs)
    by_row = row_costs_of(plan, table, batch)
    size, free = int(np.prod(rows.shape)) * rows.dtype.itemsize, shutil.disk_usage(folder).free
    if size > free:
        raise UsageError(
            f"the encoded rows take {size / MB:.0f} MB in {folder.parent}, which has {free / MB:.0f} MB left; set the "
            "environment variable TMPDIR to a folder with more."
        )
    about = (classes, memory - need, plan, left_out, held, by_row)
    encoded = rows.mapped(folder / "rows.npy")
    X = batch.frame.select([])
    return MappedTable(
        table.path, target, X, y, rows.numeric, rows.categorical, *about, preprocess=rows.preprocess, encoded=encoded
    )


def _shared(texts: NDArray[Any]) -> NDArray[Any]:
    """The same texts, each distinct one in memory once."""
    known: dict[Any, Any] = {}
    return np.array([known.setdefault(text, text) for text in texts.tolist()], dtype=object)
