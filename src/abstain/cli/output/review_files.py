"""The review file of ``abstain predict --review``: a workbook, or the same columns as a CSV."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.columns import row_names
from abstain.cli.input.models import FittedModel
from abstain.cli.input.reviewed import cells_read, fingerprint, unsure
from abstain.cli.options import Given
from abstain.cli.output.files import write_csv, writing
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.review.cases import Cases
from abstain.review.codes import AUDITED, HANDED_ON, Drawn, digest
from abstain.review.workbook import CODE, MOST_ROWS, NOTE, ROW, VERDICT, WHY, read_me, workbook

KINDS = (".xlsx", ".csv")


def check_review(given: Given) -> None:
    """Raise an error for options of a review that cannot be meant."""
    if given.capacity is not None and given.capacity < 1:
        raise UsageError(
            f"--capacity {given.capacity} leaves no row for a person; give at least 1, or fit with a higher --reject."
        )
    if given.audit < 0:
        raise UsageError(f"--audit {given.audit} must be a number of rows, such as 20.")
    if given.review is None:
        if stated := given.stated("id") | ({"--audit": given.audit} if given.audit else {}):
            raise UsageError(f"{next(iter(stated))} is for the review file; name it with --review, or leave it out.")
    elif given.review.suffix.lower() not in KINDS:
        raise UsageError(f"--review {given.review} must end in .xlsx (a workbook) or .csv.")
    elif given.output is not None and given.review.resolve() == given.output.resolve():
        raise UsageError(f"--review {given.review} is also the file of -o; use another name for one of them.")


def write_review(model: FittedModel, table: InputTable, batch: Batch, decisions: Any, given: Given) -> dict[str, Any]:
    """Write the rows that people review, and return facts about them."""
    cases = Cases.drawn(decisions, given.audit, given.seed)
    count = int(cases.audited.sum())
    if given.audit > count:
        text = f"{given.data}: --audit {given.audit} takes all {count} rows that the model answers."
        warnings.warn(text, Note, stacklevel=2)
    if len(cases.rows) > MOST_ROWS:
        raise UsageError(f"{len(cases.rows)} rows do not fit in a sheet; give --capacity, or a review file in .csv.")
    chosen = Batch(batch.frame[cases.rows], np.asarray(batch.places)[cases.rows].tolist())
    columns: dict[str, Any] = _names(table, chosen, given) | _added(decisions, cases)
    own = {name: cells for name, cells in _own(model, table, chosen, given).items() if name != given.id}
    if taken := [name for name in [*columns, CODE] if name in own]:
        raise DataError(f"{table.path} already has a column {taken[0]!r}, which the review file adds; rename it.")
    columns |= own | {CODE: _codes(model, table, chosen, cases, given)}
    classes = [str(label) for label in model.classes]
    answer = f"It belongs to {given.data.name} and {given.model.name}; audited rows drawn with seed {cases.seed}."
    with writing(given.review, force=given.force) as file:
        if _is_csv(given):
            rows = pl.DataFrame(columns, strict=False).fill_nan(None)
            write_csv(rows, file, header=True, separator=table.separator, decimal=table.notation.decimal)
        else:
            try:
                file.write(workbook(columns, [*classes, unsure(classes)], read_me(answer, classes, unsure(classes))))
            except ImportError as error:
                raise UsageError(f"{error}, or give a review file in .csv.") from error
    audit = {"audited rows": count, "seed of the audit": cases.seed} if given.audit else {}
    return {"review": str(given.review), "rows to review": len(cases.rows)} | audit


def _is_csv(given: Given) -> bool:
    return bool(given.review.suffix.lower() == ".csv")


def _names(table: InputTable, chosen: Batch, given: Given) -> dict[str, list[Any]]:
    """Return the column that names the rows."""
    lines = [f"{table.unit} {place}" for place in chosen.places]
    if given.id is None:
        return {ROW: lines}
    table.check_has([given.id], "--id")
    return {given.id: row_names(table, chosen, given.id, lines)}


def _added(decisions: Any, cases: Cases) -> dict[str, Any]:
    """Return the reasons, the empty columns and the expected costs; nothing of rows that are not to be told apart."""
    shown, empty = cases.shown, [None] * len(cases.rows)
    costs = np.where(shown[:, np.newaxis], decisions.expected_cost[cases.rows], np.nan)
    reasons = [sentence(decisions, row) if seen else None for row, seen in zip(cases.rows, shown, strict=True)]
    found = {WHY: reasons, VERDICT: empty, NOTE: empty}
    names = [f"cost_{name}" for name in decisions.labels.actions]
    return found | {name: [float(f"{one:.4g}") for one in cost] for name, cost in zip(names, costs.T, strict=True)}


def sentence(decisions: Any, row: int) -> str:
    """Say why a row is handed on."""
    if decisions.reason[row] == "novel":
        return f"Unlike the training rows (p-value {decisions.p_value[row]:.2g})."
    if not np.isfinite(decisions.saving[row]):
        return "Between the classes."
    return f"Ambiguous: a review saves {decisions.saving[row]:.3g} against the best answer."


def _own(model: FittedModel, table: InputTable, chosen: Batch, given: Given) -> dict[str, Any]:
    """Return the columns of the table; in a workbook the numbers that the model reads are numbers."""
    found: dict[str, Any] = {name: chosen.frame[name].to_list() for name in table.columns}
    for name in () if _is_csv(given) else model.numeric:
        cells = chosen.frame[name]
        if cells.dtype == pl.String and name not in model.plan.dates:
            numbers = cells.to_frame().select(table.notation.number(pl.first().str.strip_chars())).to_series()
            found[name] = [text if number is None else number for number, text in zip(numbers, cells, strict=True)]
    return found


def _codes(model: FittedModel, table: InputTable, chosen: Batch, cases: Cases, given: Given) -> list[str]:
    """Return the code of each row."""
    own, cells = fingerprint(given.model), cells_read(model, table, chosen)
    batch = f"h{own[:8]}{digest(str(given.data.name), repr(cells), repr(cases.rows.tolist()))[1:9]}"
    drawn = Drawn(batch, cases.answered, int(cases.audited.sum()), cases.handed_on, cases.seed)
    roles = [AUDITED if audited else HANDED_ON for audited in cases.audited]
    return [drawn.code(own, *row) for row in zip(chosen.places, cells, roles, strict=True)]
