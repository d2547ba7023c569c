"""What an evaluation prints: counts by class and decision, metrics of them, and key points of the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.metrics import (
    ActionTable,
    ClassTable,
    RejectTable,
    accuracy_reject_curve,
    augrc,
    aurc,
    cost_curve,
    e_aurc,
)
from abstain.report.curves import are_bayes, price_confidence, rejected_first
from abstain.rules.tuning.empirical_cost import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows

if TYPE_CHECKING:
    from abstain.cli.commands.evaluation import Judged
    from abstain.costs.costs import Costs

REJECT_RATES = (0.0, 0.05, 0.1, 0.2, 0.3)
RATES = {  # of the table of counts, those that it has
    "error rate": "error_rate",
    "error among the accepted": "selective_error",
    "sensitivity": "sensitivity",
    "positive predictivity": "positive_predictivity",
}
AREAS = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}


def tables(judged: Judged) -> Any:
    """Count the decisions by true class."""
    model, pair = judged.model, (judged.y_true, judged.y_pred)
    if model.actions is not None:
        return ActionTable.of(*pair, model.actions)
    if model.several:
        return ClassTable.of(*pair, reject_label=model.reject_label, classes=tuple(model.classes))
    return RejectTable.of(*pair, pos_label=model.positive, reject_label=model.reject_label)


def count_facts(judged: Judged, counts: Any) -> dict[str, Any]:
    """The counts, the rejects by their reason, and the rates."""
    actions = judged.model.actions
    handed_on = {judged.model.reject_label} if actions is None else {*actions.rejects}
    rejected = np.array([label in handed_on for label in judged.y_pred.tolist()])
    facts = {"rows": len(judged.y_true), **_table_facts(judged, counts), "reject rate": counts.reject_rate}
    facts |= {"ambiguous": int(np.sum(rejected & ~judged.novel)), "novel": int(np.sum(judged.novel))}
    facts |= {name: getattr(counts, rate) for name, rate in RATES.items() if hasattr(counts, rate)}
    return facts if actions is None else facts | {"coverage": counts.coverage}


def _table_facts(judged: Judged, counts: Any) -> dict[str, Any]:
    """The table of counts with the names of its rows and columns."""
    model, actions, rows = judged.model, judged.model.actions, counts.counts.tolist()
    novel = {label: int(np.sum(judged.novel & (judged.y_true == label))) for label in model.classes}
    names = [str(label) for label in model.classes]
    if actions is not None:
        each = zip(names, rows, novel.values(), strict=True)
        return {
            "classes": names,
            "actions": [str(name) for name in actions.names],
            "hand the case on": [str(name) for name in actions.rejects],
            "table": [{"actual": name, "actions": row, "novel": count} for name, row, count in each],
        }
    if model.several:
        shares = {
            "coverage": counts.class_coverage,
            "error among the accepted": counts.class_selective_error,
            "correct among its answers": counts.class_predictivity,
        }
        each = zip(names, rows, novel.values(), strict=True)
        table: list[dict[str, Any]] = [
            {"actual": name, "decided": row[:-1], "rejected": row[-1], "novel": count} for name, row, count in each
        ]
        for at, record in enumerate(table):
            record |= {name: float(share[at]) for name, share in shares.items()}
        return {"classes": names, "table": table}
    sides = {"negative": model.negative, "positive": model.positive}
    columns = ("called negative", "rejected", "called positive")
    return {
        "classes": sides,
        "table": {
            side: dict(zip(columns, row, strict=True)) | {"novel": novel[label]}
            for (side, label), row in zip(sides.items(), rows, strict=True)
        },
    }


def curve_facts(judged: Judged) -> dict[str, Any]:
    """Key points of the curves, which need rows of all classes; novel rows are rejected first."""
    model, y, facts = judged.model, judged.y_true, dict[str, Any]()
    if model.actions is not None or len(np.unique(y)) < len(model.classes):
        return facts
    shared: dict[str, Any] = {}
    if model.several:
        score = rejected_first(model.class_scores(judged.score), judged.novel)
    else:
        score, cut = model.towards_positive(*_ranked(judged))
        shared |= {"cut": cut, "pos_label": model.positive}
        if model.costs is not None:
            curve, least = cost_curve(y, score, model.costs, **shared), _least(judged, model.costs)
            facts["mean cost without rejecting"] = float(curve.mean_cost[0])
            facts["mean cost of rejecting all"] = float(curve.mean_cost[-1])
            facts["least mean cost of any two thresholds"] = least.mean_cost(model.costs)
            facts["reject rate there"] = least.reject_rate
    accuracy = accuracy_reject_curve(y, score, **shared).at(REJECT_RATES)
    shown = {f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)}
    return facts | {"accuracy by reject rate": shown} | {name: area(y, score, **shared) for name, area in AREAS.items()}


def _least(judged: Judged, costs: Costs) -> RejectTable:
    """Count by the two thresholds that cost least on these rows: never more than the model's own two.

    The points of the cost curve reject in one order only, so other thresholds may cost less than all of them. Novel
    rows stay rejected.
    """
    model, largest = judged.model, np.finfo(np.float64).max
    turned = costs if model.orientation > 0 else costs.swapped()
    score, sign = np.clip(judged.score, -largest, largest), np.where(judged.y_true == model.classes[1], 1, -1)
    choice, known = np.zeros(len(sign), dtype=np.int8), ~judged.novel
    if len(np.unique(sign[known])) < 2:  # one class for all
        choice[known] = sign[known]
    else:
        rows = ScoredRows.of(score[known], sign[known], cut=model.cut)
        choice[known] = roc_thresholds(rows, turned).decide(score[known])
    return RejectTable.of(model.orientation * sign, model.orientation * choice, pos_label=1, reject_label=0)


def _ranked(judged: Judged) -> tuple[NDArray[np.float64], float]:
    """Return the scores in the order in which the report rejects them, and their cut, for the same curves."""
    model, costs, score = judged.model, judged.model.costs, judged.score
    cut = 0.0 if judged.row_costs is not None and model.rule is not None else None  # by probability: no common cuts
    if cut is None and costs is not None:
        turned = costs if model.orientation > 0 else costs.swapped()
        if are_bayes(model.thresholds, turned):
            score, cut = price_confidence(turned, score), 0.0
    cut = model.cut if cut is None else cut
    return rejected_first(score, judged.novel, cut), cut
