"""The verdicts of review files as training rows, for ``abstain fit --also``.

They count like any other row: weights that make up for the many rows near the boundary did not lower the cost in
experiments/verdicts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.columns import features, labels
from abstain.cli.input.cost_sources import named_columns, row_costs_of
from abstain.cli.input.reviewed import ADDED, CASES, CHANGED, CODE, TWICE, cells_read, left_out, read_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.review.audit import NONE
from abstain.review.codes import unchanged


def with_verdicts(rows: TrainingTable, paths: Sequence[Path], options: TableOptions) -> TrainingTable:
    """Return the training rows and those of review files that have a verdict."""
    if rows.mapped and paths:
        raise UsageError("--also needs the rows in memory; raise --max-memory, or use fewer rows.")
    group, known, twice = options.given.groups, set[str](), 0
    for path in paths:
        with opened(path, options.notation, sheet=CASES) as table:
            batch, truth, _ = read_verdicts(table, rows.classes)
            read = [*rows.numeric, *rows.categorical, *named_columns(rows.plan.costs), CODE]
            table.check_has(read if group is None else [*read, group], "--also")
            if (truth == NONE).all():
                raise DataError(f"{path} has no verdicts; fill in the column 'verdict' and save the file.")
            new = _unchanged(rows, table, batch, truth)
            used = np.array([at in new and new[at] not in known for at in range(len(truth))])
            twice, known = twice + len(new) - int(used.sum()), known | {*new.values()}
            batch, truth = batch.only(used), truth[used]
            X = features(table, batch, rows.numeric, rows.categorical, rows.plan)
            own = {"y": np.array(rows.classes, dtype=object)[truth]}
            own["row_costs"] = row_costs_of(rows.plan, table, batch, len(rows.classes))
            own["groups"] = None if group is None else labels(table, batch, group)
        more: dict[str, Any] = {
            name: np.concatenate([getattr(rows, name), one]) for name, one in own.items() if one is not None
        }
        rows = replace(rows, X=pl.concat([rows.X, X]), **more)
    if twice:
        text = f"--also: {twice} rows are there more than once; the first verdict on each is used."
        warnings.warn(text, Note, stacklevel=2)
    return rows


def _unchanged(rows: TrainingTable, table: InputTable, batch: Batch, truth: NDArray[np.intp]) -> dict[int, str]:
    """Return the codes of the rows with a verdict that are as 'abstain predict' wrote them; the others are named."""
    codes, cells = [str(code or "") for code in batch.frame[CODE].to_list()], cells_read(rows, table, batch)
    same = {at: unchanged(codes[at], cells[at]) for at in np.flatnonzero(truth != NONE).tolist()}
    found, odd = dict[str, int](), dict[str, str]()
    for at, is_same in same.items():
        if is_same is False or codes[at] in found:
            odd[f"{table.unit} {batch.places[at]}"] = ADDED if not codes[at] else CHANGED if not is_same else TWICE
        else:
            found[codes[at]] = at
    if not found:
        raise DataError(f"{table.path}: the cells that the fit reads have changed in all rows; do not edit them.")
    if odd:
        warnings.warn(left_out(table.path, odd), UserWarning, stacklevel=2)
    if None in same.values():
        text = f"{table.path}: its model reads other columns than this fit, so that changed cells cannot be noticed."
        warnings.warn(text, Note, stacklevel=2)
    return {at: code for code, at in found.items()}
