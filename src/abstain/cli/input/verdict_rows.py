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
from abstain.cli.input.reviewed import CASES, CODE, read_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.tables.read_table import opened
from abstain.review.audit import NONE


def with_verdicts(rows: TrainingTable, paths: Sequence[Path], options: TableOptions) -> TrainingTable:
    """Return the training rows and those of review files that have a verdict."""
    if rows.mapped and paths:
        raise UsageError("--also needs the rows in memory; raise --max-memory, or use fewer rows.")
    group, costs, known, twice = options.given.groups, rows.plan.costs, set[Any](), 0
    for path in paths:
        with opened(path, options.notation, sheet=CASES) as table:
            batch, truth, _ = read_verdicts(table, rows.classes)
            read = [*rows.numeric, *rows.categorical, *named_columns(costs), *([] if group is None else [group])]
            table.check_has(read, "--also")
            if (truth == NONE).all():
                raise DataError(f"{path} has no verdicts; fill in the column 'verdict' and save the file.")
            used = truth != NONE
            codes = batch.frame[CODE].to_list() if CODE in table.columns else [None] * len(truth)
            for at in np.flatnonzero(used):
                used[at] = codes[at] is None or codes[at] not in known
                twice += not used[at]
                known.add(codes[at])
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
