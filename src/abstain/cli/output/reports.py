"""Reports of the commands, made with `abstain.report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.actions import Actions
from abstain.cli.exit_codes import UsageError
from abstain.cli.output.files import writing

if TYPE_CHECKING:
    from abstain.cli.commands.evaluation import Judged
    from abstain.cli.input.training_table import TrainingTable
    from abstain.comparison.result import Comparison


def write_evaluation(judged: Judged, path: Path, *, force: bool) -> None:
    """Write the report of a model on labelled rows."""
    from abstain.report.from_estimator import model_facts
    from abstain.report.model import Report
    from abstain.report.table_model import TableReport

    model = judged.model
    if model.costs is None and judged.row_costs is None:
        raise UsageError("--report needs a model trained with costs, and this one has none; train it with --reject.")
    facts = {
        "File": judged.path.name,
        "Numeric columns": len(model.numeric),
        "Categorical columns": len(model.categorical),
    }
    shared: dict[str, Any] = {
        "classes": model.final.classes_,
        "title": judged.path.name,
        "data_facts": {"Rows": len(judged.y_true), **facts},
        "model_facts": model_facts(model.final),
        "row_names": judged.places,
        "novel": judged.novel,
    }
    report: Any
    by_row = judged.row_costs
    if model.several or model.actions is not None or by_row is not None:
        report = TableReport.of(
            judged.y_true,
            judged.y_pred,
            model.costs if by_row is None else None,
            forced=judged.forced,
            score=judged.score,
            row_costs=None if by_row is None else by_row.table(),
            pos_label=None if by_row is None else model.positive,
            reject_label=model.reject_label,
            **shared,
        )
    else:
        cuts = {"cut": model.cut, "pos_label": model.positive}
        report = Report.of(judged.y_true, judged.score, model.costs, model.thresholds, **cuts, **shared)
    write_page(report, path, force=force)


def write_comparison(table: TrainingTable, compared: Comparison, model: Any, path: Path, *, force: bool) -> None:
    """Write the report of the first model of a comparison, by its scores of held-out rows, with the comparison."""
    from abstain.estimators.splitting import group_parameters
    from abstain.estimators.unwrap import final_estimator
    from abstain.report.from_estimator import model_facts
    from abstain.report.model import Report
    from abstain.report.table_model import TableReport

    groups = group_parameters(model, table.groups)
    fitted = final_estimator(model.fit(table.rows, table.y, **groups))  # on all rows, for its thresholds and facts
    facts = {"File": table.path.name, "Rows": len(table.y), "Numeric columns": len(table.numeric)}
    score, rule = np.asarray(compared.scores[0]), fitted.rule_
    shared: dict[str, Any] = {
        "classes": fitted.classes_.astype(str),
        "title": table.path.name,
        "question": f"Rule: {compared.names[0]}. Each row is decided by a machine that was not trained on it.",
        "data_facts": {**facts, "Categorical columns": len(table.categorical)},
        "model_facts": model_facts(fitted),
        "comparison": compared,
        "unseen": True,
    }
    unlike = compared.novel[0] if compared.novel else None
    if unlike is not None:
        shared["novel"] = unlike > 0.5
    report: Any
    if table.several or isinstance(compared.costs, Actions):
        answers = {"forced": rule.forced(score), "score": score, "reject_label": rule.labels.reject_label or "auto"}
        predicted = rule.predict(score)
        if unlike is not None:
            predicted = fitted._fitted_.relabelled(predicted, shared["novel"])
        report = TableReport.of(table.y.astype(str), predicted, compared.costs, **answers, **shared)
    else:
        report = Report.of(
            table.y.astype(str), score, compared.costs, rule.thresholds, pos_label=table.positive, **shared
        )
    write_page(report, path, force=force)


def write_page(report: Any, path: Path, *, force: bool) -> None:
    """Render a report into a file."""
    try:
        from abstain.report.render import render

        page = render(report)
    except ImportError as error:
        raise UsageError(f"{error}; install what a report needs with: pip install 'abstain[cli]'.") from error
    with writing(path, force=force) as file:
        file.write(page.encode())
