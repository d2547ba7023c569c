"""The evaluation of a model of several classes, or with actions: its table, its metrics and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.costs.class_costs import ClassCosts
from abstain.metrics import ActionTable, ClassTable, accuracy_reject_curve, augrc, aurc, e_aurc
from abstain.report.curves import rejected_first

if TYPE_CHECKING:
    from abstain.cli.commands.evaluation import Judged
    from abstain.costs.actions import Actions

REJECT_RATES = (0.0, 0.05, 0.1, 0.2, 0.3)
IF_NEW = "All numbers hold for new rows only if the model was neither trained nor chosen on these."


def class_facts(judged: Judged) -> dict[str, Any]:
    """Counts by class, metrics and key points of more than two classes."""
    model, costs = judged.model, judged.model.costs
    known = tuple(model.classes)
    counts = ClassTable.of(judged.y_true, judged.y_pred, reject_label=model.reject_label, classes=known)
    each = zip(known, counts.counts.tolist(), counts.class_coverage, counts.class_selective_error, strict=True)
    facts: dict[str, Any] = {
        "rows": len(judged.y_true),
        "classes": [str(label) for label in known],
        "table": [
            {
                "actual": str(label),
                "decided": row[:-1],
                "rejected": row[-1],
                "novel": judged.novel_of(label),
                "coverage": float(coverage),
                "error among the accepted": float(error),
                "correct among its answers": float(correct),
            }
            for (label, row, coverage, error), correct in zip(each, counts.class_predictivity, strict=True)
        ],
        "reject rate": counts.reject_rate,
        **judged.reasons,
        "error rate": counts.error_rate,
        "error among the accepted": counts.selective_error,
    }
    if isinstance(costs, ClassCosts):
        facts["mean cost"] = float(judged.paid(judged.y_pred).mean())
    curves = _curve_facts(judged) if len(np.unique(judged.y_true)) == len(known) else {}
    return facts | curves | judged.verdict(counts.reject_rate)


def action_facts(judged: Judged, actions: Actions) -> dict[str, Any]:
    """Counts by class and action, and metrics."""
    counts = ActionTable.of(judged.y_true, judged.y_pred, actions)
    facts: dict[str, Any] = {
        "rows": len(judged.y_true),
        "classes": [str(label) for label in actions.labels],
        "actions": [str(name) for name in actions.names],
        "hand the case on": [str(name) for name in actions.rejects],
        "table": [
            {"actual": str(label), "actions": row, "novel": judged.novel_of(label)}
            for label, row in zip(actions.labels, counts.counts.tolist(), strict=True)
        ],
        "reject rate": counts.reject_rate,
        **judged.reasons,
        "coverage": counts.coverage,
        "mean cost": counts.mean_cost,
    }
    return facts | judged.verdict(counts.reject_rate)


def _curve_facts(judged: Judged) -> dict[str, Any]:
    """Key points of the curves by the confidence by which the model rejects, novel rows first."""
    score = rejected_first(judged.model.class_scores(judged.score), judged.novel)
    accuracy = accuracy_reject_curve(judged.y_true, score).at(REJECT_RATES)
    facts: dict[str, Any] = {
        "accuracy by reject rate": {
            f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)
        }
    }
    areas = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}
    return facts | {name: area(judged.y_true, score) for name, area in areas.items()}
