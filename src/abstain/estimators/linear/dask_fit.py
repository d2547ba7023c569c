"""Fit `LinearRejectSVC` on dask arrays: the same problem, losses, rule and certificate, as sums over the chunks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.dual.certificate import Certificate
from abstain.dual.problem import Task
from abstain.dual.proof import Proof
from abstain.estimators.fitting.kernel_fit import FittedMachines
from abstain.estimators.fitting.posing import CANCELLED
from abstain.estimators.fitting.training import Training, implied, stakes_and_losses, unit_of_stakes, warn_of_sides
from abstain.estimators.linear.dask_table import DaskTable, Profile, block_weights, located
from abstain.estimators.linear.linear_fit import certified, fitted_tasks, joined
from abstain.labels import Labels, warn_if_assumed
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.dask_rounds import kept, released
from abstain.solvers.dask_rows import BlockRows, DaskSums, Pose
from abstain.solvers.linear import LinearNewton, LinearSolution


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the rows of a block are encoded and weighted.

    Attributes
    ----------
    labels : Labels
    factors : ndarray
        C times the class weight of each class.
    unit : float or None
        The stake that counts as 1, if the rows have their own costs.
    costs : CostTable or None
        The table with the actions that the rows have costs for.
    """

    labels: Labels
    factors: NDArray[np.float64]
    unit: float | None = None
    costs: CostTable | None = None

    def rows(self, first: int, y: Any, weight: Any, costs: Any) -> BlockRows:
        """Encode and weight the rows of a block."""
        with located(first):
            code = self.labels.encode(y)
            found = self.factors[code] * block_weights(weight, len(code))
            if self.unit is None:
                return BlockRows(code, found, None)
            own = row_table(np.asarray(costs), self.labels, self.costs, len(code))
            stakes, tables = stakes_and_losses(own, code, self.unit)
            return BlockRows(code, found * stakes, tables)


def fitted_on_dask(parameters: Any, table: DaskTable, settings: LinearNewton) -> FittedMachines:
    """Fit a machine, or one for each of several classes; `parameters` are those of `LinearRejectSVC`."""
    seen, by_row = table.profiles(parameters.costs), table.costs[0] is not None
    classes = np.unique(np.concatenate([profile.classes for profile in seen]))
    weight = _by_class(classes, seen, "weight")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs more.")
    labels = np.repeat(classes, 3)  # as few rows would have them
    rule, losses = implied(parameters, labels, linear=True, by_row=by_row)
    warn_of_sides(parameters, rule)
    # a row for each class, with the weight of all its rows
    whole = Training(parameters, weight, np.arange(len(weight)), weight, losses, rule)
    unit = None
    if by_row:
        staked = _by_class(rule.labels.classes, seen, "staked")
        unit = _unit(whole, seen, float(staked.sum() / weight.sum()))
        whole = replace(whole, stakes=np.divide(staked, weight * unit, out=np.ones(len(weight)), where=weight > 0))
    encoding = Encoding(rule.labels, whole.weights(float(parameters.C)) / weight, unit, rule.costs)
    centre, dense = _centre(table, seen)
    rows = kept(table.tasks(encoding.rows, "y", "weight", "costs"))

    def fit(tasks: Sequence[Task], now: LinearNewton) -> list[tuple[LinearMachine, Proof]]:
        return [_machine(DaskSums(table.X, rows, Pose(centre, task, dense), table.shape[0]), now) for task in tasks]

    try:
        machine, proofs = fitted_tasks(whole.tasks, settings, fit, joined)
    finally:
        released(rows)
    largest = max(profile.largest_cost for profile in seen) if by_row else None
    return FittedMachines(machine, rule, proofs, largest)


def _unit(training: Training, seen: Sequence[Profile], mean: float) -> float:
    """Return the stake that counts as 1: see `of_rows`."""
    if (unit := unit_of_stakes(training.rule)) is not None:
        return unit
    uneven = next((profile.uneven for profile in seen if profile.uneven is not None), None)
    if uneven is not None:
        warn_if_assumed(uneven, training.rule.labels.classes, training.parameters.pos_label)
    least, most = min(profile.stakes[0] for profile in seen), max(profile.stakes[1] for profile in seen)
    return least if least == most else mean


def _by_class(classes: NDArray[Any], seen: Sequence[Profile], name: str) -> NDArray[np.float64]:
    total = np.zeros(len(classes))
    for profile in seen:
        total[np.searchsorted(classes, profile.classes)] += getattr(profile, name)
    return total


def _machine(sums: DaskSums, settings: LinearNewton) -> tuple[LinearMachine, Proof]:
    def certify(found: LinearSolution) -> tuple[LinearMachine, Certificate]:
        machine = LinearMachine(found.point[:-1].copy(), sums.pose.centre, float(found.point[-1]))
        return machine, sums.certificate_sums(machine).certificate(machine.weights)

    try:
        return certified(sums, sums.first_penalty(), settings, certify)
    finally:
        released(sums.now, sums.multipliers)


def _centre(table: DaskTable, seen: Sequence[Profile]) -> tuple[NDArray[np.float64], bool]:
    """Return the centre of dense rows, and whether sparse ones are made dense: see `centrable`."""
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
