"""Fit and certify linear machines: one for two classes, or one for each class against the rest."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.certificate import Certificate
from abstain.dual.joint_proof import joint_proof
from abstain.dual.linear_certificate import LinearProblem, certify_linear
from abstain.dual.proof import Proof
from abstain.dual.solution import Status
from abstain.estimators.fitting.decide import Fitted
from abstain.machines.linear_class_machine import LinearClassMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.rules.class_rule import VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.solvers.linear import LinearNewton, LinearSolution
from abstain.solvers.linear_rows import LocalSums, first_penalty

__all__ = ["FittedLinear", "LinearStart", "certified", "fitted_linear", "row_centre"]

_BLOCK = 2_000_000
POLISHED = 1000  # rows up to which a fit goes on to about the last digits, as that of `RejectSVC` does
ROUNDS = 3  # times that a solver is sent back with a finer tolerance


@dataclass(frozen=True, eq=False)
class FittedLinear(Fitted):
    """A fitted `LinearRejectSVC`.

    Attributes
    ----------
    proofs : tuple of Proof
        How good each machine is.
    largest_row_cost : float or None
        The largest cost of a training row, if they had costs of their own.
    """

    proofs: tuple[Proof, ...]
    largest_row_cost: float | None = None

    @property
    def proof(self) -> Proof:
        """The proof of all machines together."""
        return self.proofs[0] if len(self.proofs) == 1 else joint_proof(self.proofs)


@dataclass(frozen=True, eq=False)
class LinearStart:
    """Where a fit ended: its point and its multipliers, which a fit with another C scales by the ratio of the two."""

    point: NDArray[np.float64]
    gamma: NDArray[np.float64]


def linear_class_rule(rule: Any) -> Any:
    """Give the rule of machines for each class against the rest; without costs, the class of the highest score."""
    return LeadRule(rule.labels, np.full(rule.labels.n_classes, -np.inf)) if isinstance(rule, VoteRule) else rule


def row_centre(X: Any) -> NDArray[np.float64]:
    """Give the mean of dense rows, block by block; 0 for sparse rows, whose zeros it would fill."""
    d = X.shape[1]
    if issparse(X):
        return np.zeros(d)
    total, step = np.zeros(d), max(1, _BLOCK // max(1, d))
    for first in range(0, X.shape[0], step):
        total += X[first : first + step].sum(axis=0, dtype=np.float64) / X.shape[0]
    return total


def check_reach(X: Any) -> None:
    """Refuse rows whose squares overflow."""
    entries = X.data if issparse(X) else X
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))  # no copy, as np.abs would be
    if largest > np.sqrt(sys.float_info.max / max(1, X.shape[1])) / 2.0:
        raise ValueError(
            f"X has values up to {largest:.3g}, whose squares overflow; scale the features, for example with "
            "StandardScaler."
        )


def fitted_linear(
    problem: LinearProblem, settings: LinearNewton, n_jobs: int | None, start: LinearStart | None = None
) -> tuple[LinearMachine, Proof, LinearStart]:
    """Fit one machine until its certificate, by the machine that predicts, is below the tolerance."""
    sums = LocalSums(problem.X, problem.centre, problem.sign, problem.weight, problem.loss, n_jobs)
    sigma, point = first_penalty(problem.weight, problem.loss), None
    if start is not None:
        point = start.point
        sums.start(start.gamma)
    settings = replace(settings, polish=problem.X.shape[0] <= POLISHED)

    def certify(found: LinearSolution) -> tuple[LinearMachine, Certificate]:
        machine = LinearMachine(found.point[:-1].copy(), problem.centre, float(found.point[-1]))
        return machine, certify_linear(problem, machine, scaled(found))

    def scaled(found: LinearSolution) -> NDArray[np.float64]:
        return np.asarray(sums.gamma() * np.where(problem.sign > 0, found.scale[1], found.scale[0]))

    machine, proof, found = certified(sums, sigma, point, settings, certify)
    return machine, proof, LinearStart(found.point, scaled(found))


def certified(
    sums: Any,
    sigma: float,
    point: NDArray[np.float64] | None,
    settings: LinearNewton,
    certify: Callable[[LinearSolution], tuple[Any, Certificate]],
) -> tuple[Any, Proof, LinearSolution]:
    """Solve, with a finer tolerance each time, until `certify` confirms the tolerance."""
    began, tol, steps = time.monotonic(), settings.tol, 0
    for _ in range(ROUNDS):
        left = None if settings.time_limit is None else max(0.0, settings.time_limit - (time.monotonic() - began))
        now = replace(settings, tol=0.9 * tol, time_limit=left, max_iter=settings.max_iter - steps)
        found = now.solve(sums, sigma, point)
        steps += found.iterations
        machine, certificate = certify(found)
        if found.status is not Status.OPTIMAL or certificate.relative_gap <= settings.tol:
            break
        tol, sigma, point = 0.1 * tol, found.sigma, found.point
    status = found.status
    if status is Status.OPTIMAL and not certificate.relative_gap <= settings.tol:
        status = Status.INACCURATE
    if status is Status.INACCURATE and certificate.relative_gap <= settings.tol:
        status = Status.OPTIMAL
    numbers = (certificate.primal, certificate.dual, certificate.relative_gap, certificate.kkt_violation)
    return machine, Proof(*numbers, status.value, steps), found


def fitted_linear_classes(
    problems: Sequence[LinearProblem], settings: LinearNewton, n_jobs: int | None
) -> tuple[LinearClassMachine, tuple[Proof, ...]]:
    """Fit a machine for each class against the rest, on the same rows."""
    began, machines, proofs = time.monotonic(), [], []
    for problem in problems:
        left = None if settings.time_limit is None else max(0.0, settings.time_limit - (time.monotonic() - began))
        machine, proof, _ = fitted_linear(problem, replace(settings, time_limit=left), n_jobs)
        machines.append(machine)
        proofs.append(proof)
    return joined(machines), tuple(proofs)


def joined(machines: Sequence[LinearMachine]) -> LinearClassMachine:
    """Give machines around one centre as one."""
    weights = np.stack([machine.weights for machine in machines])
    return LinearClassMachine(weights, machines[0].centre, np.array([machine.bias for machine in machines]))
