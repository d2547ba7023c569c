"""What `abstain fit` can say about new rows: the cost of the rows that its search held out, or that none were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from abstain.cli.input.columns import for_sklearn
from abstain.cli.input.models import FittedModel
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.tables.mapped_table import MappedTable
from abstain.comparison.judges import judge_of
from abstain.comparison.verdict import REJECTING, cautions
from abstain.costs.actions import Actions
from abstain.costs.row_costs import RowCosts
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.unwrap import decide, unguarded
from abstain.html import percent

TOLERANCE = 0.01  # a cost that is less by no more than this share counts as not less: it is only an estimate
COUNTED = 2_000  # training rows on which rejects are counted, at most
NEXT = "'abstain evaluate' on new rows gives a verdict with an interval"


def expected_of(table: TrainingTable, model: Any) -> dict[str, Any]:
    """The facts about new rows, with a verdict and a list of warnings."""
    searched = isinstance(unguarded(model)[-1], RejectSVCCV | LinearRejectSVCCV)
    return _held_out(table, model) if searched else _trained_on(table, model)


def _held_out(table: TrainingTable, model: Any) -> dict[str, Any]:
    machine, costs = unguarded(model)[-1], _costs(table, model)
    return compared_with_none(table, costs, -machine.best_score_, machine.cv_reject_rate_)


def compared_with_none(
    table: TrainingTable, costs: Any, cost: float, rejected: float
) -> dict[str, Any]:
    """The cost of held-out rows that the choice has not seen, against doing the same with every row."""
    known = {"cross-validated mean cost": cost, "held-out reject rate": None if math.isnan(rejected) else rejected}
    if math.isnan(cost) or costs is None:
        sentence = f"No fit of the search finished, so the cost of new rows is unknown. {_next(table)}"
        return known | {"verdict": {"sentence": sentence}, "warnings": []}
    own, one = isinstance(costs, RowCosts), None if isinstance(costs, Actions) else table.positive
    judge = judge_of(table.y, None if own else costs, costs.table() if own else None, one)
    blind = {name: float(prices.mean()) for name, prices in judge.blind(np.arange(len(table.y))).items()}
    other, other_cost = min(blind.items(), key=lambda pair: pair[1])
    sentence = (
        f"Held-out rows, which the choice has not seen, cost {cost:.4g} each; {other}, the cheapest way without a "
        f"machine, costs {other_cost:.4g}. {_next(table)}"
    )
    found = cautions("In cross-validation the machine", cost, rejected, other, other_cost, tolerance=TOLERANCE)
    verdict = {"sentence": sentence, "cheapest alternative": other, "its mean cost": other_cost}
    return known | {"verdict": verdict, "warnings": list(found)}


def _costs(table: TrainingTable, model: Any) -> Any:
    return FittedModel.of(model).costs if table.row_costs is None else RowCosts.of(table.row_costs)


def _trained_on(table: TrainingTable, model: Any) -> dict[str, Any]:
    """Without a search no row is held out: only the rejects are counted, on some of the training rows."""
    some = np.unique(np.linspace(0, len(table.y) - 1, COUNTED).astype(int))
    row_costs = None if table.row_costs is None else table.row_costs[some]
    if isinstance(table, MappedTable):
        decisions = decide(model[-1], table.encoded[some], row_costs)
    else:
        decisions = decide(model, for_sklearn(table.X[some]), row_costs)
    rejected = float(np.mean(decisions.rejected))
    of_training = f"of {len(some):,} training rows" if len(some) < len(table.y) else "of the training rows"
    sentence = (
        f"No row was held out, so the cost of new rows is unknown; {percent(rejected)} % {of_training} are rejected. "
        f"{_next(table)}"
    )
    found = cautions("The machine", 0.0, rejected, REJECTING, math.inf)
    return {"verdict": {"sentence": sentence}, "warnings": [text.replace("of the rows", of_training) for text in found]}


def _next(table: TrainingTable) -> str:
    """What says more about new rows; compare is named if it takes this table."""
    alone = table.row_costs is not None or isinstance(table, MappedTable)
    return f"{NEXT}." if alone else f"{NEXT}, and so does 'abstain compare'."
