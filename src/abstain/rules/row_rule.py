"""Decisions by costs that differ from row to row: one score, two thresholds for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from abstain.costs.row_costs import RowCosts, RowThresholds
from abstain.costs.thresholds import Thresholds
from abstain.labels import Labels
from abstain.rules.action_rule import refuse_actions
from abstain.rules.rule import Rule, oriented_costs

__all__ = ["RowRule", "rule_of_rows"]

MISSING = (
    "this machine was fitted with row_costs and without costs, so it has no thresholds of its own; pass row_costs for "
    "these rows, or state costs for rows without them, as in RejectSVC(Costs(reject=0.3))."
)


@dataclass(frozen=True, eq=False)
class RowRule:
    """The rule of a machine with no costs but those of its training rows: it decides rows with costs only.

    Attributes
    ----------
    labels : Labels
        The two classes, the positive one, and the reject label.
    """

    labels: Labels
    costs: None = None
    unit: ClassVar[float] = 1.0  # the score is the log-odds

    @property
    def thresholds(self) -> Thresholds:
        """There are none without the costs of a row."""
        raise AttributeError(MISSING)

    @property
    def cut(self) -> float:
        """There is none without the costs of a row."""
        raise AttributeError(MISSING)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG002 (those of the methods of `Rule`)
        raise ValueError(MISSING)

    choose = is_reject = prices = predict = forced = decide = cost_of = expected_cost = _refuse


def rule_of_rows(rule: Rule | RowRule, costs: RowCosts) -> Rule:
    """Give the rule that decides rows with these costs, in the order of its scores.

    ::

        classes[1] if log-odds > delta_high of the row; classes[0] if log-odds < delta_low of the row; else reject
    """
    refuse_actions(rule, "row_costs", "a machine with Costs, or without costs")
    if not np.isfinite(rule.unit):
        raise ValueError(
            "row_costs needs scores that are log-odds, and this machine was fitted without costs; fit it with costs or "
            "with row_costs."
        )
    if isinstance(rule, Rule) and not rule.costs_decide:
        raise ValueError(
            "row_costs needs a machine that decides by Chow's rule, and this one decides by another, such as Bartlett "
            'and Wegkamp\'s; fit it with rule="chow".'
        )
    oriented: Any = oriented_costs(costs, rule.labels)  # type: ignore[arg-type]
    bayes = oriented.score_thresholds()

    of_rows: dict[str, Any] = {
        "thresholds": RowThresholds(bayes.lower / rule.unit, bayes.upper / rule.unit),
        "cut": oriented.cut / rule.unit,
        "costs": costs,
    }
    return Rule(rule.labels, unit=rule.unit, **of_rows)
