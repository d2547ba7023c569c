"""Labelled rows of Parquet files that need not fit into memory: encoded in a temporary file that is mapped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.table_options import TableOptions
from abstain.cli.input.training_table import TrainingTable, read_training
from abstain.cli.tables.memory import FIXED, MB, TooLargeError
from abstain.cli.tables.parquet_files import ParquetFiles, ParquetRows
from abstain.cli.tables.read_table import is_parquet

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
            raise UsageError(
                "several files are for --machine linear, which reads Parquet by blocks; pass it, or join them into one."
            )
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
        raise UsageError(
            f"a fit of {table.height:,} rows takes about {need:.0f} MB, however short they are, more than the "
            f"{options.memory:.0f} MB allowed; raise --max-memory or use fewer rows."
        )
    _, present, costs, about = options.labelled(table, table.whole(options.others(table)))
    rows = ParquetRows.of(table, options.features(table), about["y"], present, categorical=options.categorical)
    size, free = int(np.prod(rows.shape)) * rows.dtype.itemsize, shutil.disk_usage(folder).free
    if size > free:
        raise UsageError(
            f"the encoded rows take {size / MB:.0f} MB in {folder.parent}, which has {free / MB:.0f} MB left; set the "
            "environment variable TMPDIR to a folder with more."
        )
    return TrainingTable(
        X=rows.mapped(folder / "rows.npy"),
        numeric=rows.numeric,
        categorical=rows.categorical,
        plan=replace(rows.plan, costs=costs),
        memory=options.memory - need,
        preprocess=rows.preprocess,
        **about,
    )
