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
    from abstain.report.model import Report


def check_reportable(n_classes: int, costs: Any, option: str) -> None:
    """Raise an error for what the report does not show."""
    if n_classes > 2 or isinstance(costs, Actions):
        what = f"{n_classes} classes" if n_classes > 2 else "actions"
        raise UsageError(f"{option} writes a report on two classes and costs, and these are {what}; leave it out.")


def write_evaluation(judged: Judged, path: Path, *, force: bool) -> None:
    """Write the report of a model on labelled rows."""
    from abstain.report.from_estimator import model_facts
    from abstain.report.model import Report

    model = judged.model
    check_reportable(len(model.classes), model.costs, "--report")
    if judged.row_costs is not None:
        raise UsageError("--report shows one set of costs, and this model reads each row's own; leave it out.")
    if model.costs is None:
        raise UsageError("--report needs a model trained with costs, and this one has none; train it with --reject.")
    facts = {
        "File": judged.path.name,
        "Numeric columns": len(model.numeric),
        "Categorical columns": len(model.categorical),
    }
    score, thresholds, cut = model.log_odds(judged.score)
    report = Report.of(
        judged.y_true,
        score,
        model.costs,
        thresholds,
        cut=cut,
        pos_label=model.positive,
        classes=model.final.classes_,
        title=judged.path.name,
        data_facts={"Rows": len(judged.y_true), **facts},
        model_facts=model_facts(model.final),
        row_names=judged.places,
    )
    write_page(report, path, force=force)


def write_comparison(table: TrainingTable, compared: Comparison, model: Any, path: Path, *, force: bool) -> None:
    """Write the report of the first model of a comparison, by its scores of held-out rows, with the comparison."""
    from abstain.estimators.splitting import group_parameters
    from abstain.estimators.unwrap import final_estimator
    from abstain.report.from_estimator import model_facts
    from abstain.report.model import Report

    groups = group_parameters(model, table.groups)
    fitted = final_estimator(model.fit(table.rows, table.y, **groups))  # on all rows, for its thresholds and facts
    facts = {"File": table.path.name, "Rows": len(table.y), "Numeric columns": len(table.numeric)}
    report = Report.of(
        table.y.astype(str),
        np.asarray(compared.scores[0]),
        compared.costs,
        fitted.rule_.on_log_odds.thresholds,
        pos_label=table.positive,
        classes=fitted.classes_.astype(str),
        title=table.path.name,
        question=f"Rule: {compared.names[0]}. Each row is decided by a machine that was not trained on it.",
        data_facts={**facts, "Categorical columns": len(table.categorical)},
        model_facts=model_facts(fitted),
        comparison=compared,
        unseen=True,
    )
    write_page(report, path, force=force)


def write_page(report: Report, path: Path, *, force: bool) -> None:
    """Render a report into a file."""
    try:
        from abstain.report.render import render

        page = render(report)
    except ImportError as error:
        raise UsageError(f"{error}; install what a report needs with: pip install 'abstain[cli]'.") from error
    with writing(path, force=force) as file:
        file.write(page.encode())
