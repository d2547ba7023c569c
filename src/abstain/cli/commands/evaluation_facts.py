"""What an evaluation prints: counts by class and decision, metrics of them, and key points of the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.metrics import RejectTable, accuracy_reject_curve, augrc, aurc, cost_curve, e_aurc
from abstain.metrics.counts import Counts
from abstain.report.curves import are_bayes, price_confidence, rejected_first
from abstain.rules.tuning.methods import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows

if TYPE_CHECKING:
    from abstain.cli.commands.evaluation import Judged
    from abstain.costs.costs import Costs

REJECT_RATES = (0.0, 0.05, 0.1, 0.2, 0.3)
RATES = {  # of answers and rejects; those of one class are of the positive one
    "error rate": "error_rate",
    "error among the accepted": "selective_error",
    "sensitivity": "sensitivity",
    "positive predictivity": "positive_predictivity",
}
AREAS = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}


def count_facts(judged: Judged, counts: Counts, rejected: NDArray[np.bool_]) -> dict[str, Any]:
    """The counts, the rejects by their reason, and the rates."""
    facts = {"rows": len(judged.y_true), **_table_facts(judged, counts), "reject rate": counts.reject_rate}
    facts |= {"ambiguous": int(np.sum(rejected & ~judged.novel)), "novel": int(np.sum(judged.novel))}
    if counts.choices.names is not None:
        return facts | {"coverage": counts.coverage}
    return facts | {name: getattr(counts, RATES[name]) for name in [*RATES][: 4 if counts.pair else 2]}


def _table_facts(judged: Judged, counts: Counts) -> dict[str, Any]:
    """The table of counts with the names of its rows and columns."""
    classes = counts.classes or ()
    novel = [int(np.sum(judged.novel & (judged.y_true == label))) for label in classes]
    each = list(zip(map(str, classes), counts.counts.tolist(), novel, strict=True))
    if counts.pair:
        columns = ("called negative", "rejected", "called positive")
        sides = {
            side: dict(zip(columns, row, strict=True)) | {"novel": count}
            for side, (_, row, count) in zip(("negative", "positive"), each, strict=True)
        }
        return {"classes": dict(zip(sides, classes, strict=True)), "table": sides}
    names = {"classes": [name for name, _, _ in each]}
    if counts.choices.names is not None:
        actions = [str(name) for name in counts.names]
        handed = [name for name, hands_on in zip(actions, counts.choices.hands_on, strict=True) if hands_on]
        table = [{"actual": name, "actions": row, "novel": count} for name, row, count in each]
        return names | {"actions": actions, "hand the case on": handed, "table": table}
    shares = {
        "coverage": counts.class_coverage,
        "error among the accepted": counts.class_selective_error,
        "correct among its answers": counts.class_predictivity,
    }
    return names | {
        "table": [
            {"actual": name, "decided": row[:-1], "rejected": row[-1], "novel": count}
            | {share: float(values[at]) for share, values in shares.items()}
            for at, (name, row, count) in enumerate(each)
        ]
    }


def curve_facts(judged: Judged) -> dict[str, Any]:
    """Key points of the curves, which need rows of all classes; novel rows are rejected first."""
    model, y, facts = judged.model, judged.y_true, dict[str, Any]()
    if model.names is not None or len(np.unique(y)) < len(model.classes):
        return facts
    shared: dict[str, Any] = {}
    if model.positive is None:
        score = rejected_first(judged.class_scores, judged.novel)
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
    score, code = np.clip(judged.score, -largest, largest), (judged.y_true == model.classes[1]).astype(np.intp)
    choice, known = np.zeros(len(code), dtype=np.int8), ~judged.novel
    if len(np.unique(code[known])) < 2:  # one class for all
        choice[known] = 2 * code[known] - 1
    else:
        rows = ScoredRows.of(score[known], code[known], cut=model.cut)
        choice[known] = roc_thresholds(rows, turned).decide(score[known])
    return RejectTable.of(model.orientation * (2 * code - 1), model.orientation * choice, pos_label=1, reject_label=0)


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
