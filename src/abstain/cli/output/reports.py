"""What people read: reports, made with `abstain.report`, and the review file of ``abstain predict --review``.

A review file is a workbook, or has the same columns in another format.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError, listed
from abstain.cli.input.columns import row_names, typed
from abstain.cli.input.deciding import Judged, reasons
from abstain.cli.input.models import FittedModel
from abstain.cli.input.reviewed import CASES, CODE, NOTE, UNSURE, VERDICT, cells_read, fingerprint
from abstain.cli.input.training_table import TrainingTable, fit_to
from abstain.cli.options import Given
from abstain.cli.output.tables import EXCEL, check_table, table_written, workbook, write_sheet, writing
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.comparison.folds import HeldOut
from abstain.comparison.result import Comparison
from abstain.estimators.unwrap import final_estimator
from abstain.report.from_estimator import model_facts, sentences_of
from abstain.report.model import Report
from abstain.report.render import page_of, render
from abstain.report.text import facts_of, plain, today
from abstain.review.cases import drawn_cases
from abstain.review.codes import AUDITED, HANDED_ON, Drawn, code_of, digest


def write_evaluation(judged: Judged, path: Path, *, force: bool) -> None:
    """Write the report of a model on labelled rows."""
    model, by_row = judged.model, judged.row_costs
    if not judged.priced:
        raise UsageError("--report needs a model trained with costs, and this one has none; train it with --reject.")
    shared = _facts(judged.path, len(judged.y_true), model, model.final)
    shared |= {"row_names": judged.places, "rows": judged.cells, "pos_label": model.positive}
    if judged.cells is not None:
        rows = model.rows(judged.cells)
        shared["sentences"] = sentences_of(model.estimator, rows, judged.decisions, by_row)
    report: Any
    if by_row is None and not model.actions and model.positive is not None:
        given = {"cut": model.cut, "decisions": judged.decisions} | shared
        report = Report.of(judged.y_true, judged.decisions.score, model.costs, model.thresholds, **given)
    else:
        report = Report.of_decisions(judged.y_true, judged.decisions, model.costs, row_costs=by_row, **shared)
    _write(render(report), path, force=force)


def write_comparison(
    table: TrainingTable, costs: Any, compared: Comparison, models: Mapping[str, Any], path: Path, *, force: bool
) -> str:
    """Write the report of the rule that the verdict of a comparison is on, and return its name.

    The page counts the held-out decisions that were compared, each by the machine of its fold. A slider needs one pair
    of thresholds for all of them; without one, the page is the table of classes and decisions.
    """
    name = compared.best if compared.verdict is None else compared.verdict.name
    held_out, model, by_row = compared.answers[compared.names.index(name)], models[name], table.row_costs
    fitted = final_estimator(fit_to(table, model))
    shared = _facts(table.path, len(table.y), table, fitted)
    shared["question"] = f"Rule: {name}. Each row is decided by a machine that was not trained on it."
    shared |= {"comparison": compared, "unseen": True, "pos_label": table.positive}
    shared["rows"] = table.X if hasattr(table.X, "columns") else None
    shared["model_facts"] = {"Fitted on": "all rows; the decisions are those of the folds"} | shared["model_facts"]
    report: Any
    if costs is not None and costs.answering and _have_one_pair(held_out, fitted.classes_):
        shared |= {"score": held_out.score, "thresholds": held_out.thresholds, "cut": held_out.cut}
        report = Report.of(table.y, costs=compared.costs, decisions=held_out.decisions, **shared)
    else:
        found = held_out.predicted if held_out.decisions is None else held_out.decisions
        shared |= {"row_costs": by_row, "reject_label": held_out.reject_label}
        report = Report.of_decisions(table.y, found, costs, **shared)
    _write(render(report), path, force=force)
    return name


def write_audit(facts: Mapping[str, Any], model: FittedModel, given: Given) -> None:
    """Write the report of an audit."""
    files = listed([path.name for path in given.reviews])
    warnings = [plain(words, 2000) for words in facts["warnings"]]
    counts = {name: value for name, value in facts.items() if isinstance(value, int)}
    about: dict[str, Any] = {"title": f"Audit of {given.model.name}", "question": f"By {files}", "date": today()}
    about |= {"data_facts": facts_of(counts), "model_facts": facts_of(model_facts(model.final)), "warnings": warnings}
    page = page_of("audit.html", report=about, sentence=facts["verdict"]["sentence"], audit=facts)
    _write(page, given.output, force=given.force)


def _facts(path: Path, rows: int, columns: Any, fitted: Any) -> dict[str, Any]:
    """The parts of a page that all reports have; `columns` has the names of numeric and categorical ones."""
    counts = {"Numeric columns": len(columns.numeric), "Categorical columns": len(columns.categorical)}
    data = {"File": path.name, "Rows": rows, **counts}
    about = {"classes": fitted.classes_, "title": path.name, "data_facts": data}
    return about | {"model_facts": model_facts(fitted)}


def _have_one_pair(held_out: HeldOut, classes: NDArray[Any]) -> bool:
    """Whether one pair of thresholds on the scores makes all the decisions."""
    if held_out.thresholds is None or held_out.score is None:
        return False
    choice = held_out.thresholds.decide(held_out.score)
    if held_out.decisions is not None:
        choice = np.where(held_out.decisions.reason == "novel", 0, choice)
    labels = np.array([classes[0], held_out.reject_label, classes[1]], dtype=object)
    return bool(np.all(labels[choice + 1] == held_out.predicted))


def _write(page: str, path: Path, *, force: bool) -> None:
    """Write a page into a file."""
    with writing(path, force=force) as file:
        file.write(page.encode())


ROW, WHY, ACTION, HELP, CHOICES = "row", "why", "action", "read me", "choices"  # names of columns, then of sheets
DRAWN = "Drawn at random, to see how often the machine is right."  # which of them is the answer is not shown
WRITABLE = {"bg_color": "#FFF8DC", "border": 1, "text_wrap": True, "valign": "top"}
READ_ME = (
    "1. Each line of the sheet 'cases' is one case that waits for your decision; the most urgent come first.",
    "2. Read the case, then choose a value in its yellow cell 'verdict': {choices}.",
    "3. 'why' says why the case came to you; some are drawn at random, to see how often the machine is right.",
    "4. The columns 'cost_...' have what each choice is expected to cost, your review included; your judgement counts.",
    "5. 'note' is for your words. Sort and filter as you like, and leave the other cells as they are.",
    "6. Save the file as it is. It belongs to {data} and {model}; audited rows drawn with seed {seed}.",
)


def check_review(given: Given) -> None:
    """Raise an error for options of a review that cannot be meant."""
    if given.review is not None and given.review.suffix.lower() not in (".csv", EXCEL):
        raise UsageError(f"--review {given.review} must end in .xlsx or .csv, which people can fill in.")
    check_table(given.review, force=given.force, inputs=[given.model, given.data])
    if given.review is None and (given.id is not None or given.audit):
        raise UsageError("--id and --audit are for the review file; name it with --review, or leave them out.")
    if given.review is not None and given.review == given.output:
        raise UsageError(f"--review {given.review} is also the file of -o; use another name for one of them.")


def write_review(model: FittedModel, table: InputTable, batch: Batch, decisions: Any, given: Given) -> dict[str, Any]:
    """Write the rows that people review, and return facts about them."""
    model_id = fingerprint(given.model)
    seed = int(digest(model_id, str(given.seed))[1:], 16)  # who sees the file, but not the model, cannot draw again
    rows, audited = drawn_cases(decisions, given.audit, seed)
    count = int(audited.sum())
    if given.audit > count:
        text = f"{given.data}: --audit {given.audit} takes all {count} rows that the model answers."
        warnings.warn(text, Note, stacklevel=2)
    chosen, book = batch.take(rows), given.review.suffix.lower() == EXCEL
    own, names = chosen.frame, [f"{table.unit} {place}" for place in chosen.places]
    if book:  # categories stay texts
        own = own.with_columns(typed(table, own.drop(model.categorical)))
    if given.id is not None:
        table.check_has([given.id], "--id")
        own, names = own.drop(given.id), row_names(table, chosen, given.id, names)
    told = iter(reasons(model, table, batch, decisions, rows[~audited]))
    why = [DRAWN if one else next(told) for one in audited]
    costs = np.where(audited[:, np.newaxis], np.nan, decisions.expected_cost[rows])
    added = pl.DataFrame(
        {given.id or ROW: names, WHY: why, VERDICT: None, NOTE: None}
        | handing_on(decisions, rows, audited)
        | {f"cost_{action}": cost for action, cost in zip(decisions.labels.actions, costs.T, strict=True)},
        schema_overrides=dict.fromkeys((WHY, VERDICT, NOTE), pl.String),
    )
    if taken := [name for name in [*added.columns, CODE] if name in own.columns]:
        raise DataError(f"{table.path} already has a column {taken[0]!r}, which the review file adds; rename it.")
    added = added.with_columns(pl.col(pl.Float64).fill_nan(None).round_sig_figs(4))
    cells, handed_on = cells_read(model, table, chosen), len(rows) - count
    batch_id = f"h{model_id[:8]}{digest(str(given.data.name), repr(cells), repr(chosen.places))[1:9]}"
    over = int((decisions.reason == "over capacity").sum())
    drawn = Drawn(batch_id, len(decisions) - handed_on, over, count, handed_on, given.seed)
    roles = np.where(audited, AUDITED, HANDED_ON).tolist()
    codes = [code_of(drawn, place, model_id, *row) for place, *row in zip(chosen.places, cells, roles, strict=True)]
    frame = pl.concat([added, own, pl.DataFrame({CODE: codes}, {CODE: pl.String})], how="horizontal")
    if book:
        choices = [*dict.fromkeys([*map(str, model.classes), UNSURE])]
        about = {"choices": ", ".join(choices), "data": given.data.name, "model": given.model.name, "seed": given.seed}
        with writing(given.review, force=given.force) as file:
            write_workbook(frame, choices, [line.format(**about) for line in READ_ME], file)
    else:
        how: dict[str, Any] = {"separator": table.separator, "decimal": table.notation.decimal}
        with table_written(given.review, force=given.force, **how) as write:
            write(frame)
    audit = {"audited rows": count, "seed of the audit": given.seed} if given.audit else {}
    return {"review": str(given.review), "rows to review": len(rows)} | audit


def handing_on(decisions: Any, rows: NDArray[np.intp], audited: NDArray[np.bool_]) -> dict[str, list[str]]:
    """Return the column of what people do with each row, if several actions hand it on.

    An audited row gets the cheapest of these actions: the others would say what the machine answered.
    """
    hands_on = np.array(decisions.labels.hands_on)
    if hands_on.sum() < 2:
        return {}
    cheapest = decisions.labels.actions[hands_on][decisions.expected_cost[rows][:, hands_on].argmin(axis=1)]
    return {ACTION: np.where(audited, cheapest, decisions.label[rows]).astype(str).tolist()}


def write_workbook(frame: pl.DataFrame, choices: list[str], texts: list[str], file: IO[bytes]) -> None:
    """Write a workbook: the cases with a list of verdicts to choose from, and a sheet that says what to do."""
    wide, wrapped = {WHY: 520, VERDICT: 120, NOTE: 180}, {"text_wrap": True, "valign": "top"}
    with workbook(file) as book:
        look: dict[str, Any] = {"freeze_panes": (1, 3), "hidden_columns": [CODE], "column_widths": wide}
        heights = 18 * (frame[WHY].str.len_chars().fill_null(0) // 80 + 1)  # pixels of a line, and its characters
        look["row_heights"] = dict(enumerate(heights.to_list(), start=1))
        look["column_formats"] = {WHY: wrapped, VERDICT: WRITABLE, NOTE: WRITABLE}
        write_sheet(book, frame, worksheet=CASES, **look)
        cases, about, listed = book.get_worksheet_by_name(CASES), *map(book.add_worksheet, (HELP, CHOICES))
        rule = {"validate": "list", "source": f"={CHOICES}!$A$1:$A${len(choices)}"}
        cases.data_validation(1, 2, frame.height, 2, rule | {"input_message": f"Choose {', '.join(choices)}."[:255]})
        for sheet, column in ((about, texts), (listed, choices)):
            sheet.set_column(0, 0, 80)
            sheet.write_column(0, 0, column, book.add_format(wrapped))
        listed.hide()
        cases.set_landscape()
        cases.set_paper(8)  # A3
        cases.print_across()
