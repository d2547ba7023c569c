"""Review files with their verdicts: which rows are of the model and unchanged, and what it does with them.

As training rows, for ``abstain fit --also``, verdicts count like any other row: weights that make up for the many rows
near the boundary did not lower the cost in experiments/verdicts.
"""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError, listed, meant, some
from abstain.cli.input.columns import features, labels
from abstain.cli.input.cost_sources import named_columns, row_costs_of
from abstain.cli.input.deciding import Deciding
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.tables.notation import Notation, number_of
from abstain.cli.tables.read_table import REVIEW, Batch, InputTable, opened
from abstain.review.audit import NONE, Case
from abstain.review.codes import recognised, unchanged

CASES, (VERDICT, NOTE, CODE) = "cases", REVIEW  # the sheet and its columns
UNSURE = "unsure"  # the verdict of a reviewer who has none, unless it is a class
TIMES = ("started", "finished")  # columns that reviewers may add
INERT = r"^'(\s*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])"  # the apostrophe of a safe CSV, before what it kept from running
ADDED = "without a code of this model"  # why a row is not used
CHANGED, TWICE = "changed after 'abstain predict' wrote the file", "there twice"
ANSWERS = {"label", "rejected", "reason"}  # columns of the other file that predict writes


def fingerprint(path: Path) -> str:
    """Return what a model file is recognised by."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def cells_read(of: Any, table: InputTable, batch: Batch) -> list[dict[str, Any]]:
    """Return the cells of each row that a model, or a fit, reads, its own costs included."""
    numbers = dict.fromkeys([*of.numeric, *named_columns(of.plan.costs)])
    return features(table, batch, [*numbers], of.categorical, of.plan).to_dicts()


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
    numbers = {number: name for name in known if isfinite(number := number_of(name))}  # 1 may be written as 1.0
    said = [text or "" for text in labels(table, batch, VERDICT)]
    said = [text if text in known else folded.get(text.strip().casefold(), text.strip()) for text in said]
    said = [text if text in known else numbers.get(number_of(text), text) for text in said]
    for text, place in zip(said, batch.places, strict=True):
        if text not in known:
            way = meant(text, [*known][:-1]) or f"; choose one of {listed([*known][:-1])}."
            raise DataError(f"{table.place(place)}, column {VERDICT!r}: {text!r} is not a class of the model{way}")
    return batch, np.array([known[text] for text in said], dtype=np.intp), said.count(UNSURE) * (known[UNSURE] == NONE)


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
    model, rows, odd = deciding.model, dict[str, Case](), dict[str, str]()
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
                why = TWICE if code in rows else CHANGED if code[1:9] == own[:8] else ADDED
                odd[f"{table.unit} {batch.places[at]}"] = why
                continue
            own_prices = prices[at] if prices is not None and prices.ndim == 3 else prices
            drawn, audited = found
            over = audited and bool(decided.rejected[at])
            taken = int((answer if audited else choice)[at])
            rows[code] = Case(int(truth[at]), taken, audited, own_prices, drawn, over)
    if not rows:
        raise DataError(f"{path}: the cells that the model reads have changed in all rows; do not edit these cells.")
    if odd:
        warnings.warn(left_out(path, odd), UserWarning, stacklevel=2)
    return Review(path, rows, [*odd], unsure_rows, _seconds(table, batch) if {*TIMES} <= {*table.columns} else [])


def left_out(path: Path, odd: dict[str, str]) -> str:
    """A sentence that names the rows of a review file that are not used, by the reason."""
    said = [f"{some([place for place in odd if odd[place] == why])} {why}" for why in dict.fromkeys(odd.values())]
    return f"{path}: {'; '.join(said)}; not used."


def _seconds(table: InputTable, batch: Batch) -> list[float]:
    """The seconds between the two times of each row that has both."""
    written = batch.frame.select(pl.col(TIMES).cast(pl.String).str.strip_chars().replace("", None))
    way = "write dates with times, such as 2026-03-02 09:15"
    times = written.with_columns(pl.all().str.to_datetime(strict=False))
    unread, empty = (frame.select(pl.all().is_null()).to_numpy() for frame in (times, written))
    if lost := [f"{table.unit} {batch.places[at]}" for at in np.flatnonzero((unread & ~empty).any(axis=1)).tolist()]:
        if unread.all():
            text = f"{table.path}: the columns {listed(TIMES)} are not times; {way}, or remove the columns."
            raise DataError(text)
        text = f"{table.path}: the times of {some(lost)} are not written as the others and not used; {way}."
        warnings.warn(text, UserWarning, stacklevel=2)
    seconds = (times[TIMES[1]] - times[TIMES[0]]).dt.total_seconds().drop_nulls().to_list()
    if min(seconds, default=0) < 0:
        raise DataError(f"{table.path}: a row has {TIMES[1]!r} before {TIMES[0]!r}; correct its times.")
    return seconds


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
