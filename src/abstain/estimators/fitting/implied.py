"""What follows from an estimator's parameters and the classes of y: the rule, and the losses of the tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.costs.naming import checked_costs, warn_if_assumed
from abstain.costs.per_row import warn_if_never
from abstain.costs.table import CostTable
from abstain.costs.units import significant
from abstain.labels import Labels
from abstain.losses.double_hinge import task_losses
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.losses.hinge import hinge
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.row_tangents import row_losses
from abstain.rules.class_deciders import Confidence
from abstain.rules.rule import Rule, bayes_rule

__all__ = [
    "check_costs",
    "fit_labels",
    "implied",
    "of_rows",
    "refuse_row_costs_in",
    "stakes_and_losses",
    "unit_of_stakes",
    "warn_of_sides",
]

_RULES = {"chow": None, "bartlett-wegkamp": BartlettWegkamp()}


def check_costs(parameters: Any) -> None:
    """Raise an error for costs, or a rule, that no y could make right."""
    costs, rule = _stated(parameters.costs), _other_rule(parameters)
    if rule is None:
        return
    if costs is None:
        raise ValueError(
            f"rule={parameters.rule!r} needs costs, got costs=None; state them, as in costs=Costs(reject=0.3)."
        )
    if costs.names is not None or costs.n_classes > 2:
        raise ValueError(f'rule={parameters.rule!r} is for two answers and a reject; use rule="chow" for these costs.')
    rule.loss(costs)


def implied(
    parameters: Any, y: ArrayLike, *, linear: bool = False, by_row: bool = False
) -> tuple[Rule, tuple[MarginLoss, ...]]:
    """Return the rule and the losses that follow from the costs and the classes of y.

    There is one loss for two classes, one for each of several classes, or one for all their pairs, which a machine
    without costs has unless it is `linear`. With `by_row`, the rows have costs of their own: see `of_rows`.
    """
    costs, other = _stated(parameters.costs), _other_rule(parameters)
    labels = fit_labels(parameters, y, costs, rejects=costs is not None or by_row)
    n = labels.n_classes
    if other is not None and (by_row or n > 2):
        why = "row_costs needs" if by_row else f"y has {n} classes, which need"
        raise ValueError(f'{why} rule="chow", got rule={parameters.rule!r}; leave rule out.')
    if costs is None:
        if by_row:
            return bayes_rule(None, labels, by_row=True), (hinge(),) * (1 if n == 2 else n)
        found = bayes_rule(None, labels, hinge())
        if not linear or n == 2:
            return found, (hinge(),)
        return replace(found, decider=Confidence(np.full(n, -np.inf))), (hinge(),) * n
    named = costs.named(labels)
    if other is not None:
        loss = other.loss(named)
        return bayes_rule(named, labels, loss), (loss,)
    return bayes_rule(named, labels, by_row=by_row), task_losses(named)


def fit_labels(parameters: Any, y: ArrayLike, costs: CostTable | None, *, rejects: bool) -> Labels:
    """Return the labels, as the `pos_label` and `reject_label` of the parameters say; actions have no reject label."""
    actions = costs is not None and costs.names is not None
    if actions and not (isinstance(parameters.reject_label, str) and parameters.reject_label == "auto"):
        raise ValueError(
            f"reject_label={parameters.reject_label!r} has no effect with Actions, whose names are predicted; leave it "
            'at "auto".'
        )
    given = {"pos_label": parameters.pos_label, "reject_label": parameters.reject_label}
    found = Labels.of(y, **given, rejects=rejects and not actions)
    return replace(found, reject_label=None) if actions else found


def _stated(costs: Any) -> CostTable | None:
    return None if costs is None else checked_costs(costs, "RejectSVC({}), or give C by name: RejectSVC(C=...)")


def _other_rule(parameters: Any) -> Any:
    """Return the rule if it is not Chow's: any value with a method ``loss(costs)`` that returns a `MarginLoss`."""
    rule = parameters.rule
    if isinstance(rule, str) and rule in _RULES:
        return _RULES[rule]
    if isinstance(rule, str | type) or not callable(getattr(rule, "loss", None)):
        raise InvalidParameterError(
            f'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp(delta), not {rule!r}.'
        )
    return rule


def warn_of_sides(parameters: Any, rule: Rule) -> None:
    """Warn if the costs differ by class, and which class is positive was only assumed."""
    if parameters.costs is not None and rule.labels.n_classes == 2:
        warn_if_assumed(parameters.costs, rule.labels.classes, parameters.pos_label)


def unit_of_stakes(rule: Rule) -> float | None:
    """Return the stake of the costs, as which 1 counts; None if there are none, and the mean of the rows counts."""
    return None if rule.costs is None else float(rule.costs.stakes)


def stakes_and_losses(
    row_costs: CostTable, code: NDArray[np.intp], unit: float
) -> tuple[NDArray[np.float64], tuple[LossTable, ...]]:
    """Return the factors on the weights of rows with these costs, and their losses in each task.

    ::

        stake_i = (stake of row i) / (stake of `costs`, or the mean of the rows if there are none)

    One tangent (a row of two classes that is never rejected) then has the slopes c_fn and c_fp of the cost-weighted
    hinge, up to the divisor. A stake is known before the class is, so that it changes no minimiser.
    """
    stakes = significant(row_costs.stakes / unit)  # the same bits in any unit of the costs
    each = row_costs.tangents[:, np.newaxis] if row_costs.n_classes == 2 else row_costs.tangents
    positive = (1,) if row_costs.n_classes == 2 else range(row_costs.n_classes)
    signs = (np.where(code == k, 1, -1).astype(np.int8) for k in positive)
    return stakes, tuple(row_losses(each[:, at], sign) for at, sign in enumerate(signs))


def of_rows(
    parameters: Any, rule: Rule, row_costs: CostTable, code: NDArray[np.intp], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[LossTable, ...]]:
    """Return the stakes and losses of training rows with these costs, with warnings about the costs."""
    warn_if_never(row_costs)
    unit = unit_of_stakes(rule)
    if unit is None:
        if rule.labels.n_classes == 2:
            warn_if_assumed(row_costs, rule.labels.classes, parameters.pos_label)
        stakes = row_costs.stakes
        # the mean of equal numbers may differ from them by rounding
        same = (stakes == stakes[0]).all()
        unit = float(stakes[0]) if same else float(np.average(stakes, weights=sample_weight))
    return stakes_and_losses(row_costs, code, unit)


def refuse_row_costs_in(what: str, row_costs: Any) -> None:
    """Raise an error if rows have costs of their own where one set of costs is needed."""
    if row_costs is not None:
        raise ValueError(
            f"row_costs must be None: {what} one set of costs for all rows; fit RejectSVC with row_costs at each C or "
            "reject cost instead."
        )
