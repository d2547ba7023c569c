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

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.columns import features, labels
from abstain.cli.input.cost_sources import named_columns, row_costs_of
from abstain.cli.input.reviewed import ADDED, CASES, CHANGED, CODE, TWICE, cells_read, left_out, read_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.tables.read_table import opened
from abstain.review.audit import NONE
from abstain.review.codes import unchanged


def with_verdicts(rows: TrainingTable, paths: Sequence[Path], options: TableOptions) -> TrainingTable:
    """Return the training rows and those of review files that have a verdict."""
    if rows.mapped and paths:
        raise UsageError("--also needs the rows in memory; raise --max-memory, or use fewer rows.")
    group, costs, known, twice = options.given.groups, rows.plan.costs, set[str](), 0
    unseen = False
    for path in paths:
        with opened(path, options.notation, sheet=CASES) as table:
            batch, truth, _ = read_verdicts(table, rows.classes)
            read = [*rows.numeric, *rows.categorical, *named_columns(costs), *([] if group is None else [group]), CODE]
            table.check_has(read, "--also")
            if (truth == NONE).all():
                raise DataError(f"{path} has no verdicts; fill in the column 'verdict' and save the file.")
            codes, cells = [str(code or "") for code in batch.frame[CODE].to_list()], cells_read(rows, table, batch)
            used, odd, here = truth != NONE, dict[str, str](), set[str]()
            for at in np.flatnonzero(used).tolist():
                code, same = codes[at], unchanged(codes[at], cells[at])
                if same is False or code in here:
                    why = TWICE if code in here else CHANGED if code else ADDED
                    odd[f"{table.unit} {batch.places[at]}"], used[at] = why, False
                elif code in known:
                    used[at], twice = False, twice + 1
                unseen = unseen or same is None
                here.add(code)
            if not used.any() and not twice:
                raise DataError(f"{path}: the cells that the fit reads have changed in all rows; do not edit these cells.")
            if odd:
                warnings.warn(left_out(path, odd), UserWarning, stacklevel=2)
            known |= here
            batch, truth = batch.only(used), truth[used]
            X = features(table, batch, rows.numeric, rows.categorical, rows.plan)
            own = {"y": np.array(rows.classes, dtype=object)[truth]}
            own["row_costs"] = row_costs_of(rows.plan, table, batch, len(rows.classes))
            own["groups"] = None if group is None else labels(table, batch, group)
        more: dict[str, Any] = {
            name: np.concatenate([getattr(rows, name), one]) for name, one in own.items() if one is not None
        }
        rows = replace(rows, X=pl.concat([rows.X, X]), **more)
    if unseen:
        text = "--also: the model that wrote the file reads other columns, so that changed cells cannot be noticed."
        warnings.warn(text, Note, stacklevel=2)
    if twice:
        text = f"--also: {twice} rows are there more than once; the first verdict on each is used."
        warnings.warn(text, Note, stacklevel=2)
    return rows
