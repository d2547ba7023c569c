"""Fit `LinearRejectSVC` on dask arrays: the same problem, losses, rule and certificate, as sums over the chunks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs import Costs, warn_if_assumed
from abstain.dual.certificate import Certificate
from abstain.dual.proof import Proof
from abstain.estimators.class_training import ClassTraining, implied_class_rule, refuse_row_costs, takes_classes
from abstain.estimators.dask_table import DaskTable, Profile, block_weights, located
from abstain.estimators.linear_fit import FittedLinear, certified, joined
from abstain.estimators.row_training import row_cost_rule
from abstain.estimators.training import CANCELLED, Training, implied_rule
from abstain.losses.row_losses import row_losses
from abstain.machines.linear_machine import LinearMachine
from abstain.row_costs import RowCosts
from abstain.rules.class_rule import VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.solvers.dask_rows import BlockRows, DaskSums, Pose, kept, released
from abstain.solvers.linear import LinearNewton, LinearSolution

__all__ = ["fitted_on_dask"]


def fitted_on_dask(
    parameters: Any, X: Any, y: Any, sample_weight: Any, row_costs: Any, settings: LinearNewton
) -> FittedLinear:
    """Fit a machine, or one for each of several classes; `parameters` are those of `LinearRejectSVC`."""
    table = DaskTable.of(X, y, sample_weight, row_costs)
    seen = table.profiles()
    classes = np.unique(np.concatenate([profile.classes for profile in seen]))
    some = np.repeat(classes, 3)  # labels as few rows would have them
    weight, staked = (_by_class(classes, seen, name) for name in ("weight", "staked"))
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs more.")
    if takes_classes(parameters, some):
        refuse_row_costs(row_costs)
        rule, losses = implied_class_rule(parameters, some)
        n = len(classes)
        factors = ClassTraining(parameters, weight, np.arange(1, n + 1), weight, losses, rule).weights(float(parameters.C))
        pose_rows = partial(_block_rows, rule.labels, factors / weight, None, 1)
        poses = [(k + 1, losses[k if len(losses) > 1 else 0]) for k in range(n)]
        if isinstance(rule, VoteRule):
            return _fitted(table, seen, pose_rows, poses, settings, LeadRule(rule.labels, np.full(n, -np.inf)))
        return _fitted(table, seen, pose_rows, poses, settings, rule)
    own, loss = implied_rule(parameters, some)
    if isinstance(parameters.costs, Costs):
        warn_if_assumed(parameters.costs, own.labels.classes, parameters.pos_label)
    signs = np.array([-1, 1], dtype=np.int8)
    whole = Training(parameters, weight, signs, weight, loss, own)  # a row for each class, with its total weight
    unit = None
    if row_costs is not None:
        rule = row_cost_rule(whole)
        unit = _unit(whole, seen, float(staked.sum() / weight.sum()))
        whole = replace(whole, rule=rule, stakes=np.divide(staked, weight * unit, out=np.ones(2), where=weight > 0))
    factors = whole.weights(float(parameters.C)) / weight
    if whole.stakes is not None:
        factors = factors / whole.stakes
    pose_rows = partial(_block_rows, whole.labels, factors, unit, whole.labels.orientation)
    found = _fitted(table, seen, pose_rows, [(2, None if unit else loss)], settings, whole.rule)
    return found if unit is None else replace(found, largest_row_cost=max(profile.largest_cost for profile in seen))


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


def _block_rows(
    labels: Any, factors: NDArray[np.float64], unit: float | None, orientation: int, first: int, y: Any, weight: Any, costs: Any
) -> BlockRows:
    """Encode and weight the rows of a block."""
    with located(first):
        code = labels.encode(y)
        if len(factors) == 2 and code.dtype == np.int8:  # the signs of two classes
            code = (code + 3) // 2
        found = factors[code - 1] * block_weights(weight, len(code))
        table = None
        if unit is not None:
            row_costs = RowCosts.of(np.asarray(costs), len(code))
            found = found * (row_costs.stakes / unit)
            oriented = row_costs if orientation > 0 else row_costs.swapped()
            table = row_losses(oriented, np.where(code == 2, 1, -1).astype(np.int8))
        return BlockRows(code.astype(np.int32), found, table)


def _fitted(
    table: DaskTable, seen: Sequence[Profile], pose_rows: Any, poses: Sequence[Any], settings: LinearNewton, rule: Any
) -> FittedLinear:
    began, machines, proofs = time.monotonic(), [], []
    centre, dense = _centre(table, seen)
    rows = kept(table.tasks(pose_rows, "y", "weight", "costs"))
    try:
        for positive, loss in poses:
            left = None if settings.time_limit is None else max(0.0, settings.time_limit - (time.monotonic() - began))
            sums = DaskSums(table.X, rows, Pose(centre, positive, loss, dense), table.shape[0])
            machine, proof = _machine(sums, replace(settings, time_limit=left))
            machines.append(machine)
            proofs.append(proof)
    finally:
        released(rows)
    return FittedLinear(machines[0] if len(machines) == 1 else joined(machines), rule, tuple(proofs))


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
        raise ValueError("some chunks of X are sparse and others dense; make them alike, for example with X.map_blocks.")
    if not seen[0].sparse:
        return mean, False
    variance = sum(profile.squares[0] for profile in seen) / n - float(mean @ mean)
    largest = max(profile.squares[1] for profile in seen)
    lost = np.finfo(np.float64).eps * largest / max(variance, np.finfo(np.float64).tiny)
    return (np.zeros(d), False) if lost <= CANCELLED else (mean, True)
