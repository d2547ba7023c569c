"""Reports of the commands, made with `abstain.report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import UsageError, listed
from abstain.cli.input.judged import Judged
from abstain.cli.input.models import FittedModel
from abstain.cli.input.training_table import TrainingTable, fit_to
from abstain.cli.options import Given
from abstain.cli.output.files import writing
from abstain.comparison.folds import HeldOut
from abstain.comparison.result import Comparison
from abstain.estimators.unwrap import final_estimator
from abstain.report.from_estimator import model_facts, sentences_of
from abstain.report.model import Report
from abstain.report.render import page_of, render
from abstain.report.text import facts_of, plain, today


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
    shared = _facts(table.path, len(table.y), table, fitted) | {
        "question": f"Rule: {name}. Each row is decided by a machine that was not trained on it.",
        "comparison": compared,
        "rows": table.X if hasattr(table.X, "columns") else None,
        "unseen": True,
        "pos_label": table.positive,
    }
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
