"""Review files with their verdicts: which rows are of the model and unchanged, and what it does with them."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, listed, meant, some
from abstain.cli.input.columns import features, labels
from abstain.cli.input.deciding import Deciding
from abstain.cli.input.models import FittedModel
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.review.audit import NONE, Case
from abstain.review.codes import recognised

CASES, VERDICT, NOTE, CODE = "cases", "verdict", "note", "code"  # the sheet and its columns
UNSURE = "unsure"  # the verdict of a reviewer who has none, unless it is a class
TIMES = ("started", "finished")  # columns that reviewers may add
INERT = r"^'(\s*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])"  # the apostrophe of a safe CSV, before what it kept from running
ANSWERS = {"label", "rejected", "reason"}  # columns of the other file that predict writes


def fingerprint(path: Path) -> str:
    """Return what a model file is recognised by."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def cells_read(model: FittedModel, table: InputTable, batch: Batch) -> list[tuple[Any, ...]]:
    """Return the cells of each row that the model reads, its own costs included."""
    cells = features(table, batch, model.numeric, model.categorical, model.plan)
    costs = model.row_costs(table, batch)
    by_row = np.zeros((cells.height, 0)) if costs is None else np.asarray(costs).reshape(cells.height, -1)
    return [(*row, *own) for row, own in zip(cells.iter_rows(), by_row.tolist(), strict=True)]


def read_verdicts(table: InputTable, classes: Any) -> tuple[Batch, NDArray[np.intp], int]:
    """Return the rows of an open review file, the class that each verdict names, or `NONE`, and how many are unsure.

    Rows without any cell are left out. A verdict that is not a class is an error that names the row.
    """
    if VERDICT not in table.columns and {*table.columns} >= ANSWERS:
        raise DataError(f"{table.path} is the file of answers; name the one that 'abstain predict' wrote by --review.")
    table.check_has([VERDICT], "a review file")
    whole = Batch.joined(table.batches)
    whole = Batch(whole.frame.with_columns(pl.col(pl.String).str.replace(INERT, "${1}")), whole.places)
    batch = whole.only(~whole.frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy())
    known = dict.fromkeys([*map(str, classes), UNSURE, ""], NONE) | {str(name): at for at, name in enumerate(classes)}
    folded = {name.strip().casefold(): name for name in known}
    said = [text or "" for text in labels(table, batch, VERDICT)]
    said = [text if text in known else folded.get(text.strip().casefold(), text.strip()) for text in said]
    for text, place in zip(said, batch.places, strict=True):
        if text not in known:
            way = meant(text, [*known][:-1]) or f"; choose one of {listed([*known][:-1])}"
            raise DataError(f"{table.place(place)}, column {VERDICT!r}: {text!r} is not a class of the model{way}.")
    return batch, np.array([known[text] for text in said], dtype=np.intp), said.count(UNSURE)


@dataclass(frozen=True, eq=False)
class Review:
    """A review file.

    Attributes
    ----------
    rows : dict of str to Case
        The rows that are of the model and unchanged, by what they are recognised by.
    not_used : list of str
        The places of the other rows.
    unsure : int
        Number of verdicts that name no class.
    seconds : list of float
        The times between `TIMES`, where a row has both.
    """

    path: Path
    rows: dict[str, Case]
    not_used: list[str]
    unsure: int
    seconds: list[float]


def read_review(path: Path, deciding: Deciding, own: str, notation: Notation) -> Review:
    """Read a review file of the model whose fingerprint is `own`; rows that are not its own are named and left out."""
    model, rows, not_used = deciding.model, dict[str, Case](), list[str]()
    with opened(path, notation, "audit", sheet=CASES) as table:
        batch, truth, unsure_rows = read_verdicts(table, model.classes)
        table.check_has([CODE], "abstain audit (it recognises the rows)")
        model.check(table)
        codes = [str(code or "") for code in batch.frame[CODE].to_list()]
        if not any(code[1:9] == own[:8] for code in codes):
            raise DataError(f"{path} has no row of this model; name the model that 'abstain predict' wrote it with.")
        decided = deciding.decide(table, batch)
        answer, choice = (decided.labels.choices(label) for label in (decided.forced, decided.label))
        prices = None if decided.costs is None else decided.costs.values
        for at, (code, cells) in enumerate(zip(codes, cells_read(model, table, batch), strict=True)):
            found = None if code in rows else recognised(code, own, cells)
            if found is None:
                not_used.append(f"{table.unit} {batch.places[at]}")
                continue
            own_prices = prices[at] if prices is not None and prices.ndim == 3 else prices
            rows[code] = Case(int(truth[at]), int((answer if found[1] else choice)[at]), found[1], own_prices, found[0])
    if not rows:
        raise DataError(f"{path}: the cells that the model reads have changed in all rows; do not edit these cells.")
    if not_used:
        text = f"{path}: {some(not_used)} changed after 'abstain predict' wrote the file, or there twice; not used."
        warnings.warn(text, UserWarning, stacklevel=2)
    seconds = list[float]()
    if {*TIMES} <= {*table.columns}:
        try:
            start, end = (batch.frame[name].cast(pl.String).str.to_datetime(strict=False) for name in TIMES)
        except pl.exceptions.PolarsError as error:
            way = "write dates with times, such as 2026-03-02 09:15, or remove the columns"
            raise DataError(f"{path}: the columns {listed(TIMES)} are not times; {way}.") from error
        seconds = (end - start).dt.total_seconds().drop_nulls().to_list()
        if min(seconds, default=0) < 0:
            raise DataError(f"{path}: a row has {TIMES[1]!r} before {TIMES[0]!r}; correct its times.")
    return Review(path, rows, not_used, unsure_rows, seconds)
