"""One dual problem, solved until a certificate proves the solution."""

import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from abstain.dual.certificate import (
    Certificate,
    Measures,
    certificate_of,
    feasible,
    most_rounding,
    rounding,
    scale,
    score_rounding,
    stretch,
)
from abstain.dual.problem import DualProblem
from abstain.dual.proof import NEGLIGIBLE, SLACK, DualSolution, Proof, Status, certified_gap
from abstain.estimators.fitting.posing import Posed, sharing
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.native import within

SCORED = 2000  # rows up to which all sums are computed again, and four times as many as are sampled beyond
HIDDEN = 0.5  # share of tol that single precision may hide of the gap, which promises ten times tol
ROUNDS = 3  # times that a solver is sent back with a finer tolerance
ON_MARGIN = 1e-12  # share by which the offset of one class is lowered, so that rounding decides no row on the margin
DEFORMED = 0.1  # share of the promised gap that a negative eigenvalue may be worth
SAMPLE = 4000  # rows up to which a kernel is tried for definiteness by a Cholesky factor
PANEL = 1024  # columns of the factor between two interrupts


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution, its machine, and the machine's certificate."""

    problem: DualProblem
    solution: DualSolution
    machine: KernelMachine
    certificate: Certificate

    @classmethod
    def of(cls, posed: Posed, solution: DualSolution, n_jobs: int | None, tol: float) -> "Solved":
        """Certify a solution by the scores that its machine predicts, not by the solver's own numbers.

        The solver makes its kernel values in single precision, so one scoring pass in double precision replaces its
        sums. The pass is left out for many rows if the rounding of single precision could hide less than half of `tol`
        of the gap, and if the solver's sums are that good on a sample of rows, scored in double precision. What
        rounding may hide is added to the gap unless it is negligible.
        """
        problem = posed.problem
        if not np.isfinite(solution.beta).all():
            raise ValueError(
                "the coefficients of the machine overflow: C, the costs or the weights are too large for such small "
                "kernel values. Scale the features, or lower C."
            )
        beta = feasible(problem, solution.beta)
        machine = problem.machine(beta)
        trusted = _trusted_sums(problem, solution, machine, beta, tol) if posed.as_posed else None
        expansion, hidden = trusted or (posed.expansion(machine, n_jobs), None)
        found = cls._scored(problem, replace(solution, beta=beta), machine, expansion, hidden)
        if found.certificate.relative_gap <= certified_gap(tol):
            return found
        factor = stretch(problem, beta, found.certificate.kkt_violation)
        if factor == 1.0:
            return found
        stretched = replace(solution, beta=factor * beta), problem.machine(factor * beta)
        longer = cls._scored(problem, *stretched, factor * expansion, None if hidden is None else factor * hidden)
        return min(found, longer, key=lambda solved: solved.certificate.relative_gap)

    @classmethod
    def _scored(
        cls,
        problem: DualProblem,
        solution: DualSolution,
        machine: KernelMachine,
        expansion: NDArray[np.float64],
        hidden: float | None,
    ) -> "Solved":
        """Certify a machine by its sums on the training rows, with what rounding may hide of the gap.

        None is what rounding in float64 may hide.
        """
        measures = Measures.of(problem, solution.beta, expansion, lift=ON_MARGIN if problem.total else 0.0)
        machine = replace(machine, bias=measures.bias)
        size = scale(problem, solution.beta, measures.primal, measures.dual)
        certificate = certificate_of(measures, size)
        if hidden is None and not most_rounding(problem, measures) <= NEGLIGIBLE * size:
            hidden = rounding(problem, solution.beta)
        if hidden is not None and hidden > NEGLIGIBLE * size:
            gap = min(certificate.relative_gap + hidden / size, sys.float_info.max)
            certificate = replace(certificate, relative_gap=gap if np.isfinite(gap) else sys.float_info.max)
        return cls(problem, solution, machine, certificate)

    def proof(self, tol: float) -> Proof:
        """Return the proof of how good the solution is."""
        problem, beta, primal = self.problem, self.solution.beta, self.certificate.primal
        size = scale(problem, beta, primal, self.certificate.dual) if problem.total else primal
        allowed = DEFORMED * certified_gap(tol) * size
        definite = problem.kernel.formula.definite(problem.kernel) or not is_indefinite(problem, beta, allowed)
        return Proof.of(self.certificate, self.solution, tol, definite=definite)


@dataclass(frozen=True, eq=False)
class FittedMachine:
    """The machine of one problem: its support vectors by their indices among all training rows, and its proof."""

    support: NDArray[np.intp]
    coef: NDArray[np.float64]
    bias: float
    linear: LinearMachine | None
    proof: Proof

    @classmethod
    def of(cls, kept: NDArray[np.intp], found: "Solved", tol: float) -> "FittedMachine":
        """Take the machine from a solution; `kept` has the indices of its rows among all training rows."""
        machine = found.machine
        return cls(kept[machine.support], machine.coef, machine.bias, machine.linear, found.proof(tol))


def _trusted_sums(
    problem: DualProblem, solution: DualSolution, machine: KernelMachine, beta: NDArray[np.float64], tol: float
) -> tuple[NDArray[np.float64], float] | None:
    """Return the solver's sums and what single precision may hide of the gap; None if they must be computed again."""
    if machine.linear is not None or problem.n <= SCORED or beta is not solution.beta:
        return None
    error = score_rounding(problem, beta, np.float32)
    hidden = rounding(problem, beta, error)
    dual = float(problem.dual_values(beta).sum()) - 0.5 * float(beta @ solution.expansion)
    if problem.total != 0.0:
        tol = max(tol, 1e-3)  # that of one class is a share of the score, and so finer than the gap needs
    if not hidden <= HIDDEN * tol * abs(dual):
        return None
    sample = np.linspace(0, problem.n - 1, SCORED // 4).astype(np.intp)
    apart = np.abs(machine.expansion(problem.X[sample]) - solution.expansion[sample])
    return (solution.expansion, hidden) if (apart <= 10.0 * error[sample]).all() else None


def solved(solver: Any, posed: Posed, start: NDArray[np.float64] | None, first: DualSolution | None = None) -> "Solved":
    """Solve until the certificate proves an optimum to the solver's tolerance.

    A violation of tol may leave a gap of about tol sum(g), which at large C is not small relative to the objective.
    The solver then continues from where it stopped, with a tolerance finer by the factor by which the gap, or the
    violation in float64, is too large. `first` is what the solver has found already, if anything.
    """
    began, tol, enough = time.monotonic(), solver.tol, certified_gap(solver.tol)
    posed = sharing(solver, posed) if first is None else posed
    problem = posed.to_solve
    first = solver.solve(problem, start) if first is None else first
    found = Solved.of(posed, first, solver.n_jobs, solver.tol)
    for _ in range(ROUNDS):
        gap, violation, solution = found.certificate.relative_gap, found.certificate.kkt_violation, found.solution
        too_large = max(gap / enough, violation / (SLACK * solver.tol))
        if solution.status is not Status.OPTIMAL or gap <= NEGLIGIBLE or not 1.0 < too_large < 1.0 / NEGLIGIBLE:
            break
        tol *= 0.5 / too_large
        finer = replace(within(solver, began), tol=tol, max_iter=max(0, solver.max_iter - solution.iterations))
        again = finer.solve(problem, solution.beta)
        again = replace(again, iterations=solution.iterations + again.iterations)
        found = Solved.of(posed, again, solver.n_jobs, solver.tol)
    return found


def is_indefinite(problem: DualProblem, beta: NDArray[np.float64], allowed: float) -> bool:
    """Whether the kernel has a negative direction that matters: a stationary point may then not be an optimum.

    An eigenvalue -e matters if it is larger than any rounding, or if adding e to the diagonal, which makes the problem
    convex, can change the objective by more than `allowed`: by 1/2 e |beta|^2, for the largest coefficients. Kernels
    that are positive semidefinite by their formula are not tested. Other kernels are tested on all rows, up to `SAMPLE`
    (rows with coefficients first); larger Gram matrices in a Krylov space.
    """
    kernel = problem.kernel
    rows = np.arange(problem.n)
    if problem.n > SAMPLE and kernel.name != "precomputed":
        order = np.argsort(beta == 0, kind="stable")
        rows = np.sort(order[np.linspace(0, problem.n - 1, SAMPLE).astype(np.intp)])
    block: Any = problem.X if kernel.name == "precomputed" else kernel(problem.X[rows])
    largest = float(np.abs(block).max())
    top = problem.breakpoint(problem.loss.n_knots)
    squared = float(top @ top)
    if largest == 0.0 or squared == 0.0:
        return False
    # rounding moves eigenvalues by up to n 1e-16 times the largest entry, and by n 1e-7 if the entries were float32
    size = len(rows) * largest
    shift = max(min(2.0 * allowed / squared, 1e-7 * size), 1e-14 * size)
    if len(rows) > SAMPLE:
        return _lowest_ritz_value(block) < -shift
    block = (block.toarray() if issparse(block) else block) / largest
    block[np.diag_indices_from(block)] += shift / largest
    return not _has_cholesky_factor(block)


def _has_cholesky_factor(A: NDArray[np.float64]) -> bool:
    """Whether A, which is overwritten, has one; panel by panel, so that an interrupt waits for a panel and not for all.

    ::

        L11 L11' = A11,   L21 = A21 L11^-T,   A22 <- A22 - L21 L21'
    """
    for first in range(0, len(A), PANEL):
        panel, rest = slice(first, first + PANEL), slice(first + PANEL, None)
        try:
            L11 = np.linalg.cholesky(A[panel, panel])
        except np.linalg.LinAlgError:
            return False
        if first + PANEL < len(A):
            L21 = solve_triangular(L11, A[rest, panel].T, lower=True, check_finite=False).T
            A[rest, rest] -= L21 @ L21.T
    return True


def _lowest_ritz_value(gram: Any) -> float:
    """Return an upper bound on the smallest eigenvalue, close to it where it lies outside the others."""
    start = np.random.default_rng(0).standard_normal(gram.shape[0])
    try:
        return float(eigsh(gram, k=1, which="SA", maxiter=30, tol=1e-3, v0=start, return_eigenvectors=False)[0])
    except ArpackNoConvergence as error:
        return float(error.eigenvalues[0]) if len(error.eigenvalues) else 0.0
