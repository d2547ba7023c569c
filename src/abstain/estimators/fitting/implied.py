"""What follows from an estimator's parameters and the classes of y: the rule, and the losses of the tasks.

This is the one place that asks which kind of costs was stated; everything else works with the rule and the losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.class_labels import ClassLabels
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.cost_tables import significant
from abstain.costs.costs import Costs, checked_costs, costs_for_classes, costs_of_classes, warn_if_assumed
from abstain.costs.row_costs import RowCosts
from abstain.labels import Labels, label_vector
from abstain.losses.action_hinge import action_hinge
from abstain.losses.double_hinge import double_hinge
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.losses.hinge import hinge
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.row_tangents import row_losses
from abstain.losses.tangent_hinge import tangent_hinge
from abstain.rules.action_rule import ActionRule, refuse_actions
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.rules.row_rule import RowRule
from abstain.rules.rule import Rule, oriented_costs

__all__ = ["check_costs", "implied", "margin_loss", "of_rows", "refuse_row_costs_in", "unit_of_stakes"]

_RULES = {"chow": None, "bartlett-wegkamp": BartlettWegkamp()}


def check_costs(parameters: Any) -> None:
    """Raise an error for costs, or a rule, that no y could make right."""
    if not isinstance(parameters.costs, ClassCosts):
        margin_loss(_stated(parameters.costs), parameters.rule)


def implied(
    parameters: Any, y: ArrayLike, *, linear: bool = False, by_row: bool = False
) -> tuple[Any, tuple[MarginLoss, ...]]:
    """Return the rule and the losses that follow from the costs and the classes of y.

    There is one loss for two classes, one for each of several classes, or one for all their pairs, which a machine
    without costs has unless it is `linear`. With `by_row`, the rows have costs of their own: see `of_rows`.
    """
    if isinstance(parameters.costs, ClassCosts) or len(np.unique(label_vector(y, "y"))) > 2:
        if by_row:
            raise ValueError(
                "row_costs is for two classes, and y or the costs have more; leave it out, and state a cost for each "
                "pair of classes with Costs.from_table({truth: {answer: cost}}, reject=...)."
            )
        return _of_classes(parameters, y, linear=linear)
    costs = _stated(parameters.costs)
    pos_label, reject_label = parameters.pos_label, parameters.reject_label
    if isinstance(costs, Actions):
        rule: Any = ActionRule.of(costs, y, pos_label, reject_label)
        loss = margin_loss(costs, parameters.rule)
    else:
        labels = Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=costs is not None)
        if costs is not None:
            costs, _ = costs_of_classes(costs, labels.classes, pos_label)
        loss = margin_loss(costs and oriented_costs(costs, labels), parameters.rule)
        rule = Rule.of_loss(loss, labels, costs)
    return (_by_row(parameters, rule) if by_row else rule), (loss,)


def _of_classes(parameters: Any, y: ArrayLike, *, linear: bool) -> tuple[Any, tuple[MarginLoss, ...]]:
    costs: Any = parameters.costs
    if isinstance(costs, Actions):
        raise ValueError(  # noqa: TRY004 (a value that does not fit the classes of y)
            f"costs has actions for the two classes {list(costs.labels)}, and y has more; for these use "
            "Costs.from_table({truth: {answer: cost}}, reject=...)."
        )
    if not isinstance(costs, ClassCosts):
        costs = _stated(costs)
    labels = ClassLabels.of(y, reject_label=parameters.reject_label, rejects=costs is not None)
    n = labels.n_classes
    if parameters.pos_label is not None:
        raise ValueError(
            f"pos_label={parameters.pos_label!r} is for two classes, and y has {n}; leave it out, and "
            "name the classes in the costs if they differ: Costs.from_table({truth: {answer: cost}}, reject=...)."
        )
    if not (isinstance(parameters.rule, str) and parameters.rule == "chow"):
        raise ValueError(f'rule={parameters.rule!r} is for two classes, and y has {n}; use rule="chow".')
    if costs is None:
        return (LeadRule(labels, np.full(n, -np.inf)), (hinge(),) * n) if linear else (VoteRule(labels), (hinge(),))
    named = costs_for_classes(costs, labels.classes)
    losses = tuple(tangent_hinge(named.tangents(k)) for k in range(n))
    return ClassRule(labels, named, tuple(map(ladder, losses)), named.cuts), losses


def ladder(loss: MarginLoss) -> Ladder:
    """Return the probability as a function of the score of a machine with this loss: see `Ladder`."""
    low, high = -loss.negative.knots[-1], loss.positive.knots[-1]
    ends = (loss.thresholds.lower, loss.thresholds.upper) if loss.thresholds.rejects else (loss.thresholds.lower,)
    inner = [(t, float(1.0 / (1.0 + np.exp(-t)))) for t in ends]
    scores, probabilities = zip((low, 0.0), *inner, (high, 1.0), strict=True)
    return Ladder(scores, probabilities)


def _stated(costs: Any) -> Costs | Actions | None:
    """Return the costs if they are a `Costs`, `Actions` or None; anything else is an error."""
    if costs is None or isinstance(costs, Actions):
        return costs
    return checked_costs(costs, "RejectSVC({}), or give C by name: RejectSVC(C=...)")


def margin_loss(costs: Costs | Actions | None, rule: Any) -> MarginLoss:
    """Return the loss of a machine of two classes.

    It is the hinge without costs, the double hinge with them (GRKC08), that of another rule (BW08), and for `Actions`
    the tangent hinge at all their cuts. A rule is any value with a method ``loss(costs)`` that returns a `MarginLoss`.
    """
    if isinstance(rule, str) and rule in _RULES:
        rule = _RULES[rule]
    if isinstance(costs, Actions):
        if rule is not None:
            raise ValueError(f'rule={rule!r} is for Costs only; with Actions use rule="chow".')
        return action_hinge(costs)
    if rule is None:
        return hinge() if costs is None else double_hinge(costs)
    if isinstance(rule, str | type) or not callable(getattr(rule, "loss", None)):
        raise InvalidParameterError(
            f'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp(delta), not {rule!r}.'
        )
    if costs is None:
        raise ValueError(f"rule={rule!r} needs costs, got costs=None; state them, as in costs=Costs(reject=0.3).")
    return rule.loss(costs)


def warn_of_sides(parameters: Any, rule: Any) -> None:
    """Warn if the costs differ by class, and which class is positive was only assumed."""
    if isinstance(parameters.costs, Costs) and len(rule.labels.classes) == 2:
        warn_if_assumed(parameters.costs, rule.labels.classes, parameters.pos_label)


def _by_row(parameters: Any, rule: Any) -> Any:
    """Return the rule of a machine whose training rows have costs of their own."""
    if not (isinstance(parameters.rule, str) and parameters.rule == "chow"):
        raise ValueError(f'row_costs needs rule="chow", got rule={parameters.rule!r}; leave rule out.')
    refuse_actions(rule, "row_costs", "Costs, or no costs")
    if rule.costs is not None:
        return rule
    labels: Any = rule.labels.classes
    return RowRule(
        Labels.of(labels, pos_label=parameters.pos_label, reject_label=parameters.reject_label, rejects=True)
    )


def unit_of_stakes(rule: Any) -> float | None:
    """Return the error costs that a stake of 1 has; None if the rule has no costs, and the mean of the rows counts."""
    return None if rule.costs is None else float(rule.costs.false_positive + rule.costs.false_negative)


def stakes_and_losses(
    labels: Any, row_costs: RowCosts, code: NDArray[np.intp], unit: float
) -> tuple[NDArray[np.float64], LossTable]:
    """Return the factors on the weights of rows with these costs, and their losses.

    ::

        stake_i = (c_fp + c_fn of row i) / (c_fp + c_fn of `costs`, or the mean of the rows if there are none)

    One tangent (a row that is never rejected) then has the slopes c_fn and c_fp of the cost-weighted hinge, up to the
    divisor.
    """
    oriented = row_costs if labels.orientation > 0 else row_costs.swapped()
    # the same bits in any unit of the costs
    return significant(row_costs.stakes / unit), row_losses(oriented, np.where(code == 1, 1, -1).astype(np.int8))


def of_rows(
    parameters: Any, rule: Any, row_costs: RowCosts, code: NDArray[np.intp], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], LossTable]:
    """Return the stakes and losses of training rows with these costs, with warnings about the costs."""
    row_costs.warn_if_never()
    unit = unit_of_stakes(rule)
    if unit is None:
        row_costs.warn_if_assumed(rule.labels.classes, parameters.pos_label)
        stakes = row_costs.stakes
        # the mean of equal numbers may differ from them by rounding
        same = (stakes == stakes[0]).all()
        unit = float(stakes[0]) if same else float(np.average(stakes, weights=sample_weight))
    return stakes_and_losses(rule.labels, row_costs, code, unit)


def refuse_row_costs_in(what: str, row_costs: Any) -> None:
    """Raise an error if rows have costs of their own where one set of costs is needed."""
    if row_costs is not None:
        raise ValueError(
            f"row_costs must be None: {what} one set of costs for all rows; fit RejectSVC with row_costs at each C or "
            "reject cost instead."
        )
