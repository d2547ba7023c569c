"""Solve, certify, and go on where the certificate is not good enough; and what to say of a fit that fell short."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import Certificate, best_bias, certify
from abstain.dual.problem import DualProblem
from abstain.dual.proof import NEGLIGIBLE, Proof, certified_gap
from abstain.dual.solution import DualSolution, Status
from abstain.machines.kernel_machine import KernelMachine

SAMPLE = 1000  # rows on which a kernel is tried for definiteness
ROUNDS = 3  # times that a solver is sent back with a finer tolerance


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution, the machine that it is, and the machine's certificate."""

    problem: DualProblem
    solution: DualSolution
    machine: KernelMachine
    certificate: Certificate

    @classmethod
    def of(cls, problem: DualProblem, solution: DualSolution) -> Solved:
        """Certify a solution, for the linear kernel by the scores that its machine predicts with."""
        machine = problem.machine(solution.beta, solution.bias)
        expansion = solution.expansion
        if machine.linear is not None:
            expansion = machine.expansion(problem.X)
            machine = replace(machine, bias=best_bias(problem, expansion))
        return cls(problem, solution, machine, certify(problem, solution.beta, machine.bias, expansion))

    def proof(self, tol: float) -> Proof:
        """Give what may be said of it."""
        definite = not is_indefinite(self.problem, self.solution.beta)
        return Proof.of(self.certificate, self.solution, tol, definite=definite)


def solved(solver: Any, problem: DualProblem, start: NDArray[np.float64] | None) -> Solved:
    """Solve until the certificate leaves a relative gap of no more than `certified_gap` of the solver's tolerance.

    A violation of tol may leave a gap of about tol sum(g), which at large C is no longer small beside the objective.
    The solver then goes on from where it stopped, with a tolerance finer by as much as the gap is too large.
    """
    began, tol, enough = time.monotonic(), solver.tol, certified_gap(solver.tol)
    found = Solved.of(problem, solver.solve(problem, start))
    for _ in range(ROUNDS):
        gap, solution = found.certificate.relative_gap, found.solution
        if solution.status is not Status.OPTIMAL or not enough < gap < 1.0 / NEGLIGIBLE:
            break
        tol *= 0.5 * enough / gap
        gone = time.monotonic() - began
        finer = replace(
            solver,
            tol=tol,
            max_iter=max(0, solver.max_iter - solution.iterations),
            time_limit=None if solver.time_limit is None else max(0.0, solver.time_limit - gone),
        )
        again = finer.solve(problem, solution.beta)
        found = Solved.of(problem, replace(again, iterations=solution.iterations + again.iterations))
    return found


def is_indefinite(problem: DualProblem, beta: np.ndarray[Any, Any]) -> bool:
    """Whether the kernel has a negative direction among some rows, so that a stationary point may not be an optimum.

    Kernels that are positive semidefinite by their formula are not tried. On others, any block of rows that has such
    a direction proves it; rows with coefficients come first, because that is where the solver may have gone wrong.
    """
    kernel = problem.kernel
    if kernel.formula.definite(kernel):
        return False
    order = np.argsort(beta == 0, kind="stable")
    rows = np.sort(order[np.linspace(0, len(order) - 1, SAMPLE).astype(np.intp)] if len(order) > SAMPLE else order)
    block = problem.X[np.ix_(rows, rows)] if kernel.name == "precomputed" else kernel(problem.X[rows])
    largest = float(np.abs(block).max())
    if largest == 0.0:
        return False
    # rounding in single precision moves eigenvalues by up to n 1e-7 times the largest entry
    block = block / largest
    block[np.diag_indices_from(block)] += len(block) * 1e-7
    try:
        np.linalg.cholesky(block)
    except np.linalg.LinAlgError:
        return True
    return False


def warning_text(proof: Proof, parameters: Any) -> str | None:
    """Give what to tell the user about a fit that fell short, with the numbers and a way out; None if it did not."""
    if proof.status == Status.OPTIMAL:
        return None
    advice = {
        Status.ITERATION_LIMIT: f"raise max_iter={parameters.max_iter}, scale the features or lower C",
        Status.TIME_LIMIT: f"raise time_limit={parameters.time_limit}, scale the features or lower C",
        Status.INACCURATE: "scale the features, lower C, or raise tol if this gap is small enough",
    }[Status(proof.status)]
    if not proof.definite:
        advice = "the kernel is not positive semidefinite on these rows, so the optimum may be one of many; use another"
    return (
        f"{type(parameters).__name__} stopped after {proof.iterations} iterations with status {proof.status!r}: "
        f"KKT violation {proof.violation:.3g} (tol={parameters.tol:g}), relative duality gap {proof.gap:.3g}; {advice}."
    )
