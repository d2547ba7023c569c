"""Training rows with costs of their own: each row gets the loss of its costs, weighted by what is at stake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abstain.costs.cost_tables import significant
from abstain.costs.row_costs import RowCosts
from abstain.labels import Labels
from abstain.losses.row_tangents import row_losses
from abstain.rules.action_rule import refuse_actions
from abstain.rules.row_rule import RowRule

__all__ = ["implied_row_rule", "refuse_row_costs_in", "row_cost_rule", "with_row_costs"]


def refuse_row_costs_in(what: str, row_costs: Any) -> None:
    """Raise an error if rows have costs of their own where one set of costs is needed."""
    if row_costs is not None:
        raise ValueError(
            f"row_costs must be None: {what} one set of costs for all rows; fit RejectSVC with row_costs at each C or "
            "reject cost instead."
        )


def with_row_costs(training: Any, row_costs: RowCosts) -> Any:
    """Give a `Training` whose rows have these costs.

    ::

        stake_i = (c_fp + c_fn of row i) / (c_fp + c_fn of `costs`, or the mean of the rows if there are none)

    One tangent (a row that is never rejected) then has the slopes c_fn and c_fp of the cost-weighted hinge, up to the
    divisor.
    """
    parameters, costs = training.parameters, training.costs
    rule = row_cost_rule(training)
    row_costs.warn_if_never()
    stakes = row_costs.stakes
    if costs is not None:
        unit = costs.false_positive + costs.false_negative
    else:
        row_costs.warn_if_assumed(rule.labels.classes, parameters.pos_label)
        # the mean of equal numbers may differ from them by rounding
        same = (stakes == stakes[0]).all()
        unit = float(stakes[0]) if same else float(np.average(stakes, weights=training.sample_weight))
    oriented = row_costs if rule.labels.orientation > 0 else row_costs.swapped()
    return replace(
        training,
        loss=row_losses(oriented, training.sign),
        rule=rule,
        row_costs=row_costs,
        stakes=significant(stakes / unit),  # the same bits in any unit of the costs
    )


def row_cost_rule(training: Any) -> Any:
    """Give the rule of a machine whose training rows have costs of their own."""
    parameters = training.parameters
    if not (isinstance(parameters.rule, str) and parameters.rule == "chow"):
        raise ValueError(f'row_costs needs rule="chow", got rule={parameters.rule!r}; leave rule out.')
    refuse_actions(training.rule, "row_costs", "Costs, or no costs")
    return training.rule if training.costs is not None else implied_row_rule(parameters, training.labels.classes)


def implied_row_rule(parameters: Any, y: ArrayLike) -> RowRule:
    """Give the rule of a machine with no costs but those of its rows."""
    labels = Labels.of(y, pos_label=parameters.pos_label, reject_label=parameters.reject_label, rejects=True)
    return RowRule(labels)
