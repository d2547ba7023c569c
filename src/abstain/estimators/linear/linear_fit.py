"""Fit and certify linear machines: one for two classes, or one for each class against the rest."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.certificate import Certificate
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import Task
from abstain.dual.proof import Proof, Status
from abstain.estimators.fitting.posing import centrable
from abstain.estimators.fitting.training import Training
from abstain.kernels import Kernel
from abstain.losses.margin_loss import in_sequence
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.linear import LinearNewton, LinearSolution, LocalSums, first_penalty
from abstain.solvers.linear_wide import WideRows
from abstain.solvers.native import within

_BLOCK = 2_000_000
POLISHED = 1000  # rows up to which a fit to landmarks goes on to about the last digits, as in `RejectSVC`
FINISHED = 64  # and a linear fit, where that costs next to nothing
AT_ONCE = (200_000, 2_000_000)  # rows of problems that are solved together, and of those that visit rows one by one
ROUNDS = 3  # times that a solver is restarted with a finer tolerance
LINEAR = Kernel("linear")
MOST_SCATTERED = 100_000  # rows: one of them may have all of the squares, and the others none
UNSURE = (Status.OPTIMAL, Status.INACCURATE)  # by the solver's own sums; the certificate decides


Fit = Callable[[Sequence[Task], LinearNewton], list[tuple[Any, Proof]]]


def fitted_tasks(
    tasks: Sequence[Task], settings: LinearNewton, fit: Fit, join: Callable[[Sequence[Any]], Any], at_once: int = 1
) -> tuple[Any, tuple[Proof, ...]]:
    """Fit the machines of tasks, so many at once, within the time limit, and combine several into one."""
    began = time.monotonic()
    found: list[tuple[Any, Proof]] = []
    for first in range(0, len(tasks), at_once):
        if settings.progress is not None and len(tasks) > 1:
            settings.progress(len(found), np.nan, len(tasks))
        found += fit(tasks[first : first + at_once], within(settings, began))
    machines, proofs = zip(*found, strict=True)
    return (machines[0] if len(machines) == 1 else join(machines)), proofs


def linear_machines(
    training: Training, C: float, settings: LinearNewton, n_jobs: int | None
) -> tuple[LinearMachine, tuple[Proof, ...]]:
    """Fit the linear machines of all tasks of a training."""
    rows, code, weight = WideRows(*linear_rows(training.X)), training.code, training.weights(C)
    alike = len({task.loss.n_knots for task in training.tasks}) == 1

    def fit(tasks: Sequence[Task], now: LinearNewton) -> list[tuple[LinearMachine, Proof]]:
        columns: list[Any] = [[task.sign(code) for task in tasks], [task.weight(code, weight) for task in tasks]]
        loss = tasks[0].loss if len(tasks) == 1 else in_sequence([task.loss for task in tasks], columns[0])
        sign, weights = (each[0] if len(tasks) == 1 else np.concatenate(each) for each in columns)
        return fitted_machines(LinearProblem(rows.X, rows.centre, sign, weights, loss), now, n_jobs, rows)

    at_once = max(1, AT_ONCE[rows.one_by_one] // len(code)) if alike else 1
    return fitted_tasks(training.tasks, settings, fit, joined, at_once)


def linear_rows(X: Any) -> tuple[Any, NDArray[np.float64]]:
    """Return the rows as the solver reads them, and their centre."""
    check_reach(X)
    X = X if scattered(X) else centrable(LINEAR, X)
    return X, row_centre(X)


def scattered(X: Any) -> bool:
    """Whether sparse rows are surely not far from the origin: every column is 0 in half of the rows.

    The squared mean of a column is then at most half its mean square, and the variance of the rows at least half of
    theirs, which spares `centrable` the squares.
    """
    if not issparse(X) or X.shape[0] > MOST_SCATTERED:
        return False
    return bool(2 * np.bincount(X.indices, minlength=1).max() <= X.shape[0])


def row_centre(X: Any) -> NDArray[np.float64]:
    """Return the mean of dense rows, block by block; 0 for sparse rows, where a mean would fill the zeros."""
    d = X.shape[1]
    if issparse(X):
        return np.zeros(d)
    total, step = np.zeros(d), max(1, _BLOCK // max(1, d))
    for first in range(0, X.shape[0], step):
        total += X[first : first + step].sum(axis=0, dtype=np.float64) / X.shape[0]
    return total


def check_reach(X: Any) -> None:
    """Refuse rows if their squares overflow."""
    entries = X.data if issparse(X) else X
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))  # no copy, as np.abs would be
    if largest > np.sqrt(sys.float_info.max / max(1, X.shape[1])) / 2.0:
        raise ValueError(
            f"X has values up to {largest:.3g}, and their squares overflow; scale the features, for example with "
            "StandardScaler."
        )


def fitted_machines(
    problem: LinearProblem, settings: LinearNewton, n_jobs: int | None, rows: WideRows
) -> list[tuple[Any, Proof]]:
    """Fit the machines of several problems by the fastest way for their rows, and certify them together."""
    began, n = time.monotonic(), problem.count
    aimed = replace(settings, tol=0.9 * settings.tol)
    first = rows.solve(problem, aimed, n_jobs)
    first = first or [newton_steps(problem.one(k), within(aimed, began), n_jobs) for k in range(n)]
    points, gammas = ([getattr(at, name) for at in first] for name in ("point", "gamma"))
    machine = problem.machine(points[0] if n == 1 else np.stack(points))
    certificates = problem.certificates(machine, gammas[0] if n == 1 else np.concatenate(gammas), n_jobs)
    found: list[tuple[Any, Proof]] = []
    for k, certificate in enumerate(certificates):
        at = first[k]
        if at.status not in UNSURE or certificate.relative_gap <= settings.tol:
            own = machine if n == 1 else problem.machine(at.point)
            found.append((own, proof_of(certificate, at.status, settings.tol, at.iterations)))
        else:
            found.append(fitted_machine(problem.one(k), within(settings, began), n_jobs, first=at))
    return found


def newton_steps(problem: LinearProblem, settings: LinearNewton, n_jobs: int | None) -> LinearSolution:
    """Return what Newton steps lead to, with multipliers that are feasible up to rounding."""
    sums = LocalSums(problem, n_jobs)
    found = replace(settings, polish=problem.X.shape[0] <= FINISHED).solve(sums, first_penalty(problem))
    return replace(found, gamma=sums.gamma() * np.where(problem.sign > 0, found.scale[1], found.scale[0]))


def fitted_machine(
    problem: LinearProblem,
    settings: LinearNewton,
    n_jobs: int | None,
    sums: Any = None,
    first: LinearSolution | None = None,
) -> tuple[Any, Proof]:
    """Fit one machine until the gap in its certificate, computed by the machine that predicts, is below the tolerance.

    `sums` are what the solver needs; by default the sums over the problem's rows, which are in memory. Newton steps go
    on from `first`.
    """

    def certify(found: LinearSolution) -> tuple[Any, Certificate]:
        machine = problem.machine(found.point)
        gamma = sums.gamma() * np.where(problem.sign > 0, found.scale[1], found.scale[0])
        return machine, problem.certify(machine, gamma, n_jobs)

    polish = problem.X.shape[0] <= (FINISHED if sums is None else POLISHED)
    sums = LocalSums(problem, n_jobs) if sums is None else sums
    if first is not None:
        sums.start(first.gamma)
    return certified(sums, first_penalty(problem), replace(settings, polish=polish), certify, first)


def certified(
    sums: Any,
    sigma: float,
    settings: LinearNewton,
    certify: Callable[[LinearSolution], tuple[Any, Certificate]],
    first: LinearSolution | None = None,
) -> tuple[Any, Proof]:
    """Solve, with a finer tolerance each time, until `certify` confirms the tolerance; from `first`."""
    began, tol = time.monotonic(), settings.tol
    steps, point = (0, None) if first is None else (first.iterations, first.point)
    for _ in range(ROUNDS):
        now = replace(within(settings, began), tol=0.9 * tol, max_iter=max(1, settings.max_iter - steps))
        found = now.solve(sums, sigma, point)
        steps += found.iterations
        machine, certificate = certify(found)
        if found.status is not Status.OPTIMAL or certificate.relative_gap <= settings.tol:
            break
        tol, sigma, point = 0.1 * tol, found.sigma, found.point
    return machine, proof_of(certificate, found.status, settings.tol, steps)


def proof_of(certificate: Certificate, status: Status, tol: float, steps: int) -> Proof:
    """Return the proof of a machine, whose gap decides unless a limit was reached."""
    if status in UNSURE:
        status = Status.OPTIMAL if certificate.relative_gap <= tol else Status.INACCURATE
    numbers = (certificate.primal, certificate.dual, certificate.relative_gap, certificate.kkt_violation)
    return Proof(*numbers, status.value, steps)


def joined(machines: Sequence[LinearMachine]) -> LinearMachine:
    """Combine machines around one centre into one."""
    weights = np.stack([machine.weights for machine in machines])
    return LinearMachine(weights, machines[0].centre, np.array([machine.bias for machine in machines]))
