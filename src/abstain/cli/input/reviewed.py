"""What a review file has in common with the command that wrote it: the model by its bytes, and the cells it reads."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from abstain.cli.input.columns import features
from abstain.cli.input.models import FittedModel
from abstain.cli.tables.read_table import Batch, InputTable

UNSURE = ("unsure", "cannot say")  # the verdict of a reviewer who has none; the second if the first is a class


def fingerprint(path: Path) -> str:
    """Return what a model file is recognised by."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def unsure(model: FittedModel) -> str:
    """Return the verdict that is no class."""
    return next(name for name in UNSURE if name not in map(str, model.classes))


def cells_read(model: FittedModel, table: InputTable, batch: Batch) -> list[tuple[Any, ...]]:
    """Return the cells of each row that the model reads, its own costs included."""
    cells = features(table, batch, model.numeric, model.categorical, model.plan)
    costs = model.row_costs(table, batch)
    by_row = np.zeros((cells.height, 0)) if costs is None else np.asarray(costs).reshape(cells.height, -1)
    return [(*row, *own) for row, own in zip(cells.iter_rows(), by_row.tolist(), strict=True)]
