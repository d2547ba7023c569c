"""The evaluation of a model of several classes, or with actions: its table, its metrics and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.class_costs import ClassCosts
from abstain.cli.commands.alternatives import blind_alternatives, class_codes
from abstain.comparison.verdict import FORCED, verdict_on
from abstain.metrics import ActionTable, ClassTable, accuracy_reject_curve, augrc, aurc, e_aurc
from abstain.report.curves import rejected_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from abstain.actions import Actions
    from abstain.cli.commands.evaluation import Judged

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
        codes = class_codes(costs, judged.y_true)
        paid, forced = (costs.prices(codes, _choices(judged, labels)) for labels in (judged.y_pred, judged.forced))
        facts["mean cost"] = float(paid.mean())
    curves = _curve_facts(judged) if len(np.unique(judged.y_true)) == len(known) else {}
    if not isinstance(costs, ClassCosts):
        return facts | curves | {"verdict": {"sentence": IF_NEW}, "warnings": []}
    return facts | curves | _verdict(judged, costs, paid, forced, counts.reject_rate)


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
    if len(np.unique(judged.y_true)) < 2:
        return facts | {"verdict": {"sentence": IF_NEW}, "warnings": []}
    paid, forced = (actions.prices(*actions.encode(judged.y_true, taken)) for taken in (judged.y_pred, judged.forced))
    return facts | _verdict(judged, actions, paid, forced, counts.reject_rate)


def _verdict(
    judged: Judged,
    costs: ClassCosts | Actions,
    paid: NDArray[np.float64],
    forced: NDArray[np.float64],
    reject_rate: float,
) -> dict[str, Any]:
    blind = blind_alternatives(costs, judged.y_true, tuple(judged.model.classes))
    largest = float(costs.table().max())
    found = verdict_on("The machine", paid, blind, {FORCED: forced}, reject_rate=reject_rate, largest=largest)
    facts = found.facts()
    return {"verdict": facts | {"sentence": f"{found.sentence} {IF_NEW}"}, "warnings": list(found.warnings)}


def _choices(judged: Judged, answers: NDArray[Any]) -> NDArray[np.intp]:
    place = {label: at for at, label in enumerate(judged.model.classes, start=1)}
    return np.array([place.get(label, 0) for label in answers.tolist()], dtype=np.intp)


def _curve_facts(judged: Judged) -> dict[str, Any]:
    """Key points of the curves by the lead of the highest score over the second, novel rows first."""
    score = rejected_first(judged.score, judged.novel)
    accuracy = accuracy_reject_curve(judged.y_true, score).at(REJECT_RATES)
    facts: dict[str, Any] = {
        "accuracy by reject rate": {
            f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)
        }
    }
    areas = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}
    return facts | {name: area(judged.y_true, score) for name, area in areas.items()}
