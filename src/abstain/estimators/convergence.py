"""How a fit ended, told truly: the solver's word, checked by the certificate and the kernel, and the way out."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import Certificate, certify
from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution, Status

SAMPLE = 1000  # rows on which a kernel is tried for definiteness
SLACK = 2.0  # the certificate's violation over the solver's: its scores were rounded, the certificate's are not
NEGLIGIBLE = 1e-9  # a relative gap below this is an optimum whatever rounding makes of the violation
CERTIFIED = 10.0  # relative gap over tol (or 1e-3) that a small violation may leave; beyond it proves no optimum
ROUNDS = 3  # times that a solver is sent back with a finer tolerance


def certified_gap(tol: float) -> float:
    """The relative gap up to which a fit to `tol` counts as optimal."""
    return CERTIFIED * max(tol, 1e-3)


def checked_status(solution: DualSolution, proof: Certificate, tol: float, *, indefinite: bool) -> Status:
    """The solver's status; an optimum that the certificate or the kernel does not bear out is "inaccurate"."""
    if solution.status is not Status.OPTIMAL:
        return solution.status
    converged = proof.kkt_violation <= SLACK * tol and proof.relative_gap <= certified_gap(tol)
    proven = converged or proof.relative_gap <= NEGLIGIBLE
    return Status.OPTIMAL if proven and not indefinite else Status.INACCURATE


def solved(
    solver: Any, problem: DualProblem, start: NDArray[np.float64] | None, *, proven_by: float
) -> tuple[DualSolution, Certificate]:
    """The solver's answer and its certificate, which must leave a relative gap of no more than `proven_by`.

    A violation of tol may leave a gap of about tol sum(g), which at large C is no longer small beside the objective.
    The solver is then sent back, from where it stopped, with a tolerance finer by as much as the gap is too large.
    """
    began, tol = time.monotonic(), solver.tol
    solution = solver.solve(problem, start)
    proof = certify(problem, solution.beta, solution.bias, solution.expansion)
    for _ in range(ROUNDS):
        if solution.status is not Status.OPTIMAL or not proven_by < proof.relative_gap < 1.0 / NEGLIGIBLE:
            break
        tol *= 0.5 * proven_by / proof.relative_gap
        gone = time.monotonic() - began
        finer = replace(
            solver,
            tol=tol,
            max_iter=max(0, solver.max_iter - solution.iterations),
            time_limit=None if solver.time_limit is None else max(0.0, solver.time_limit - gone),
        )
        again = finer.solve(problem, solution.beta)
        solution = replace(again, iterations=solution.iterations + again.iterations)
        proof = certify(problem, solution.beta, solution.bias, solution.expansion)
    return solution, proof


def is_indefinite(problem: DualProblem, beta: np.ndarray[Any, Any]) -> bool:
    """Whether the kernel has a negative direction among some rows, so that a point without gain may be no optimum.

    Kernels that are positive semidefinite by their formula are not tried. On others, any block of rows that has such
    a direction proves it; rows with coefficients come first, since there the problem was bent.
    """
    kernel = problem.kernel
    if kernel.name in ("linear", "rbf") or (kernel.name == "poly" and kernel.coef0 >= 0):
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


def warning_text(fitted: dict[str, Any], parameters: Any) -> str | None:
    """What to tell the user about a fit that did not reach the optimum, with the numbers and a way out; else None."""
    if fitted["status_"] == Status.OPTIMAL:
        return None
    advice = {
        Status.ITERATION_LIMIT: f"raise max_iter={parameters.max_iter}, scale the features or lower C",
        Status.TIME_LIMIT: f"raise time_limit={parameters.time_limit}, scale the features or lower C",
        Status.INACCURATE: "scale the features, lower C, or raise tol if this gap is small enough",
    }[Status(fitted["status_"])]
    if fitted["_indefinite"]:
        advice = "the kernel is not positive semidefinite on these rows, so the optimum may be one of many; use another"
    return (
        f"{type(parameters).__name__} stopped after {fitted['n_iter_']} iterations with status {fitted['status_']!r}: "
        f"KKT violation {fitted['_kkt_violation']:.3g} (tol={parameters.tol:g}), "
        f"relative duality gap {fitted['duality_gap_']:.3g}; {advice}."
    )
