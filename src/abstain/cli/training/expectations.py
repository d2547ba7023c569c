"""What `abstain fit` can say about new rows: the cost of the rows that its search held out, or that none were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from abstain.cli.input.training_table import TrainingTable
from abstain.comparison.judges import judge_of
from abstain.comparison.verdict import REJECTING, cautions
from abstain.estimators.unwrap import decide, unguarded
from abstain.html import percent

TOLERANCE = 0.01  # a cost that is less by no more than this share counts as not less: it is only an estimate
COUNTED = 2_000  # training rows on which rejects are counted, at most
NEXT = "'abstain evaluate' on new rows gives a verdict with an interval"


def expected_of(table: TrainingTable, costs: Any, model: Any) -> dict[str, Any]:
    """The facts about new rows, with a verdict and a list of warnings."""
    machine = unguarded(model)[-1]
    if not hasattr(machine, "best_score_"):
        return _trained_on(table, model)
    return compared_with_none(table, costs, -machine.best_score_, machine.cv_reject_rate_)


def compared_with_none(table: TrainingTable, costs: Any, cost: float, rejected: float) -> dict[str, Any]:
    """The cost of held-out rows that the choice has not seen, against doing the same with every row."""
    known = {"cross-validated mean cost": cost, "held-out reject rate": None if math.isnan(rejected) else rejected}
    if math.isnan(cost):
        sentence = f"No fit of the search finished, so the cost of new rows is unknown. {_next(table)}"
        return known | {"verdict": {"sentence": sentence}, "warnings": []}
    judge = judge_of(table.y, costs, table.row_costs, table.positive)
    blind = {name: float(paid.mean()) for name, paid in judge.blind(np.arange(len(table.y))).items()}
    other, other_cost = min(blind.items(), key=lambda pair: pair[1])
    sentence = (
        f"Held-out rows, which the choice has not seen, cost {cost:.4g} each; {other}, the cheapest way without a "
        f"machine, costs {other_cost:.4g}. {_next(table)}"
    )
    found = cautions("In cross-validation the machine", cost, rejected, other, other_cost, tolerance=TOLERANCE)
    verdict = {"sentence": sentence, "cheapest alternative": other, "its mean cost": other_cost}
    return known | {"verdict": verdict, "warnings": list(found)}


def _trained_on(table: TrainingTable, model: Any) -> dict[str, Any]:
    """Without a search no row is held out: only the rejects are counted, on some of the training rows."""
    some = table.take(np.unique(np.linspace(0, len(table.y) - 1, COUNTED).astype(int)))
    decisions = decide(model[-1] if table.mapped else model, some.rows, some.row_costs)
    rejected = float(np.mean(decisions.rejected))
    of_training = f"of {len(some.y):,} training rows" if len(some.y) < len(table.y) else "of the training rows"
    sentence = (
        f"No row was held out, so the cost of new rows is unknown; {percent(rejected)} % {of_training} are rejected. "
        f"{_next(table)}"
    )
    found = cautions("The machine", 0.0, rejected, REJECTING, math.inf)
    return {"verdict": {"sentence": sentence}, "warnings": [text.replace("of the rows", of_training) for text in found]}


def _next(table: TrainingTable) -> str:
    """Say what tells more about new rows; compare is named if it takes this table."""
    alone = table.row_costs is not None or table.mapped
    return f"{NEXT}." if alone else f"{NEXT}, and so does 'abstain compare'."
