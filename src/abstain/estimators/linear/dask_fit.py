"""Fit `LinearRejectSVC` on dask arrays: the same problem, losses, rule and certificate, as sums over the chunks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cost_tables import significant
from abstain.costs.costs import Costs, warn_if_assumed
from abstain.costs.row_costs import RowCosts
from abstain.dual.certificate import Certificate
from abstain.dual.proof import Proof
from abstain.estimators.fitting.class_training import ClassTraining, implied_class_rule, refuse_row_costs, takes_classes
from abstain.estimators.fitting.row_training import row_cost_rule
from abstain.estimators.fitting.training import CANCELLED, Training, implied_rule
from abstain.estimators.linear.dask_table import DaskTable, Profile, block_weights, located
from abstain.estimators.linear.linear_fit import FittedLinear, certified, joined
from abstain.labels import Labels
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.row_tangents import row_losses
from abstain.machines.linear_machine import LinearMachine
from abstain.rules.class_rule import VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.solvers.dask_rounds import kept, released
from abstain.solvers.dask_rows import BlockRows, DaskSums, Pose
from abstain.solvers.linear import LinearNewton, LinearSolution

__all__ = ["fitted_on_dask"]


@dataclass(frozen=True, eq=False)
class Posed:
    """The problems of a fit, before their rows.

    Attributes
    ----------
    rule : object
        The rule of the machine.
    problems : sequence of (int, MarginLoss or None)
        Of each machine, the class with y = +1 and the loss; None if the rows have their own.
    factors : ndarray
        C times the class weight of each class.
    unit : float or None
        The error costs of a row with a stake of 1, if the rows have costs.
    """

    rule: Any
    problems: Sequence[tuple[int, MarginLoss | None]]
    factors: NDArray[np.float64]
    unit: float | None = None

    def rows(self, first: int, y: Any, weight: Any, costs: Any) -> BlockRows:
        """Encode and weight the rows of a block."""
        labels = self.rule.labels
        with located(first):
            code = labels.encode(y)
            if isinstance(labels, Labels):
                code = (code + 3) // 2  # from -1 and +1 to 1 and 2
            found = self.factors[code - 1] * block_weights(weight, len(code))
            if self.unit is None:
                return BlockRows(code.astype(np.int32), found, None)
            row_costs = RowCosts.of(np.asarray(costs), len(code))
            oriented = row_costs if labels.orientation > 0 else row_costs.swapped()
            table = row_losses(oriented, np.where(code == 2, 1, -1).astype(np.int8))
            return BlockRows(code.astype(np.int32), found * significant(row_costs.stakes / self.unit), table)


def fitted_on_dask(parameters: Any, table: DaskTable, settings: LinearNewton) -> FittedLinear:
    """Fit a machine, or one for each of several classes; `parameters` are those of `LinearRejectSVC`."""
    seen = table.profiles()
    classes = np.unique(np.concatenate([profile.classes for profile in seen]))
    weight = _by_class(classes, seen, "weight")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs more.")
    labels = np.repeat(classes, 3)  # as few rows would have them
    if takes_classes(parameters, labels):
        refuse_row_costs(table.costs[0])
        return _fitted(table, seen, _several(parameters, labels, weight), settings)
    posed = _two(parameters, labels, weight, None if table.costs[0] is None else seen)
    found = _fitted(table, seen, posed, settings)
    if posed.unit is None:
        return found
    return replace(found, largest_row_cost=max(profile.largest_cost for profile in seen))


def _several(parameters: Any, labels: NDArray[Any], weight: NDArray[np.float64]) -> Posed:
    rule, losses = implied_class_rule(parameters, labels)
    n = len(weight)
    # a row for each class, with the weight of all its rows
    whole = ClassTraining(parameters, weight, np.arange(1, n + 1), weight, losses, rule).weights(float(parameters.C))
    problems = [(k + 1, losses[k % len(losses)]) for k in range(n)]
    without_costs = isinstance(rule, VoteRule)
    return Posed(LeadRule(rule.labels, np.full(n, -np.inf)) if without_costs else rule, problems, whole / weight)


def _two(
    parameters: Any, labels: NDArray[Any], weight: NDArray[np.float64], seen: Sequence[Profile] | None
) -> Posed:
    """Pose the problem of two classes; `seen` if the rows have costs."""
    rule, loss = implied_rule(parameters, labels)
    if isinstance(parameters.costs, Costs):
        warn_if_assumed(parameters.costs, rule.labels.classes, parameters.pos_label)
    # a row for each class, with the weight of all its rows
    whole = Training(parameters, weight, np.array([-1, 1], dtype=np.int8), weight, loss, rule)
    if seen is None:
        return Posed(rule, [(2, loss)], whole.weights(float(parameters.C)) / weight)
    staked = _by_class(rule.labels.classes, seen, "staked")
    unit = _unit(whole, seen, float(staked.sum() / weight.sum()))
    stakes = np.divide(staked, weight * unit, out=np.ones(2), where=weight > 0)
    whole = replace(whole, rule=row_cost_rule(whole), stakes=stakes)
    return Posed(whole.rule, [(2, None)], whole.weights(float(parameters.C)) / (weight * stakes), unit)


def _unit(training: Training, seen: Sequence[Profile], mean: float) -> float:
    """Give the error costs that a stake of 1 has: see `with_row_costs`."""
    if training.costs is not None:
        costs: Any = training.costs
        return float(costs.false_positive + costs.false_negative)
    uneven = next((profile.uneven for profile in seen if profile.uneven is not None), None)
    if uneven is not None:
        uneven.warn_if_assumed(training.labels.classes, training.parameters.pos_label)
    least, most = min(profile.stakes[0] for profile in seen), max(profile.stakes[1] for profile in seen)
    return least if least == most else mean


def _by_class(classes: NDArray[Any], seen: Sequence[Profile], name: str) -> NDArray[np.float64]:
    total = np.zeros(len(classes))
    for profile in seen:
        total[np.searchsorted(classes, profile.classes)] += getattr(profile, name)
    return total


def _fitted(table: DaskTable, seen: Sequence[Profile], posed: Posed, settings: LinearNewton) -> FittedLinear:
    began, machines, proofs = time.monotonic(), [], []
    centre, dense = _centre(table, seen)
    rows = kept(table.tasks(posed.rows, "y", "weight", "costs"))
    try:
        for positive, loss in posed.problems:
            left = None if settings.time_limit is None else max(0.0, settings.time_limit - (time.monotonic() - began))
            sums = DaskSums(table.X, rows, Pose(centre, positive, loss, dense), table.shape[0])
            machine, proof = _machine(sums, replace(settings, time_limit=left))
            machines.append(machine)
            proofs.append(proof)
    finally:
        released(rows)
    return FittedLinear(machines[0] if len(machines) == 1 else joined(machines), posed.rule, tuple(proofs))


def _machine(sums: DaskSums, settings: LinearNewton) -> tuple[LinearMachine, Proof]:
    def certify(found: LinearSolution) -> tuple[LinearMachine, Certificate]:
        machine = LinearMachine(found.point[:-1].copy(), sums.pose.centre, float(found.point[-1]))
        return machine, sums.certificate_sums(machine).certificate(machine.weights)

    try:
        machine, proof, _ = certified(sums, sums.first_penalty(), None, settings, certify)
    finally:
        released(sums.now, sums.multipliers)
    return machine, proof


def _centre(table: DaskTable, seen: Sequence[Profile]) -> tuple[NDArray[np.float64], bool]:
    """Give the centre of dense rows, and whether sparse ones are made dense: see `centrable`."""
    n, d = table.shape
    mean = sum((profile.total for profile in seen), np.zeros(d)) / n
    if len({profile.sparse for profile in seen}) > 1:
        raise ValueError("some chunks of X are sparse and others dense; make them alike, for example by X.map_blocks.")
    if not seen[0].sparse:
        return mean, False
    variance = sum(profile.squares[0] for profile in seen) / n - float(mean @ mean)
    largest = max(profile.squares[1] for profile in seen)
    lost = np.finfo(np.float64).eps * largest / max(variance, np.finfo(np.float64).tiny)
    return (np.zeros(d), False) if lost <= CANCELLED else (mean, True)
