"""One dual problem: its rows in the form that the solver reads, solved until a certificate proves the solution."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.certificate import (
    Certificate,
    certify,
    feasible,
    most_rounding,
    rounding,
    scale,
    score_rounding,
    stretch,
)
from abstain.dual.problem import DualProblem
from abstain.dual.proof import NEGLIGIBLE, SLACK, DualSolution, Proof, Status, certified_gap
from abstain.estimators.fitting.definiteness import is_indefinite
from abstain.gammas import resolve_gamma
from abstain.kernels import Kernel, Matrix, called_kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.native import best_bias, within

ASYMMETRY = 1e-6  # largest |K_ij - K_ji|, relative to the largest entry, that counts as single-precision rounding
BLOCK = 1024
MOST_DENSE = 25_000_000  # entries of sparse rows that may be made dense: 200 MB
DENSE_SHARE = 0.05  # share of entries other than 0 from which dense rows are faster
CANCELLED = 1e-10  # largest cancellation error of a squared distance, relative to the kernel's width


def posed_rows(kernel: Kernel | Callable[..., Any], X: Matrix, kept: NDArray[np.intp]) -> tuple[Kernel, Matrix, bool]:
    """Return the kernel and the rows of a problem of some training rows, and whether the machine sees the same ones."""
    every = len(kept) == X.shape[0]
    if isinstance(kernel, Kernel) and kernel.name != "precomputed":
        rows = centrable(kernel, X if every else X[kept])
        dense = faster_dense(kernel, rows)
        return kernel, np.ascontiguousarray(rows.toarray()) if dense else rows, not dense
    gram = symmetric(*training_gram(kernel, X))
    rows = gram if every else np.ascontiguousarray(gram[np.ix_(kept, kept)])
    return Kernel("precomputed"), rows, gram is X


@dataclass(frozen=True, eq=False)
class Posed:
    """The dual problem of some of the training rows.

    Attributes
    ----------
    problem : DualProblem
    X : ndarray or CSR
        All training rows as given.
    kernel : Kernel or callable
        The kernel; a callable kernel is precomputed in the problem.
    kept : ndarray of intp
        Indices of the training rows in the problem.
    as_posed : bool
        Whether the machine's kernel values on the training rows are those of the problem. A callable kernel may give
        others for (X, vectors) than for (X, X), a Gram matrix was averaged if it was not quite symmetric, and sparse
        rows may have been made dense for the solver.
    """

    problem: DualProblem
    X: Matrix
    kernel: Kernel | Callable[..., Any]
    kept: NDArray[np.intp]
    as_posed: bool

    def expansion(self, solved: KernelMachine, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the sums of the problem's machine on the problem's rows, as `machine` predicts them."""
        if self.as_posed:
            return solved.expansion(self.problem.X, n_jobs)
        rows = self.X if len(self.kept) == self.X.shape[0] else self.X[self.kept]
        return self.machine(solved).expansion(rows, n_jobs)

    def machine(self, solved: KernelMachine) -> KernelMachine:
        """Return the machine of the problem with indices among all training rows."""
        support = self.kept[solved.support]
        as_given = not isinstance(self.kernel, Kernel) or (issparse(self.X) and not self.as_posed)
        vectors = self.X[support] if as_given else solved.vectors
        return replace(solved, kernel=self.kernel, vectors=vectors, support=support, n_rows=self.X.shape[0])

    def sets(self, codes: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the sets of all training rows; a row of weight 0 has coefficient 0."""
        everywhere = np.zeros(self.X.shape[0], dtype=np.int8)
        everywhere[self.kept] = codes
        return everywhere


def resolved_kernel(
    parameters: Any, gamma: float | str, X: Matrix, sample_weight: NDArray[np.float64] | None = None
) -> Kernel | Callable[..., Any]:
    """Return the kernel that an estimator's parameters name, with gamma as a number."""
    if callable(parameters.kernel):
        return parameters.kernel
    kernel = Kernel(parameters.kernel, coef0=float(parameters.coef0), degree=int(parameters.degree))
    takes_gamma = kernel.formula.takes_gamma
    return replace(kernel, gamma=resolve_gamma(gamma, X, sample_weight, kernel.name)) if takes_gamma else kernel


def centrable(kernel: Kernel, X: Matrix) -> Matrix:
    """Make sparse rows dense if they are so far from the origin that distances are accurate only after centring.

    ::

        |x - y|^2 = |x|^2 - 2 x.y + |y|^2      loses eps max|x|^2, in units of 1 / gamma (of the variance if linear)

    Such rows have few zeros, so the dense matrix is not much larger. Dense rows are always centred.
    """
    if not issparse(X) or kernel.name not in ("linear", "rbf"):
        return X
    squares, scale = Kernel("linear").diagonal(X), kernel.gamma
    if kernel.name == "linear":
        centre = np.asarray(X.mean(axis=0)).ravel()
        scale = 1.0 / max(float(squares.mean() - centre @ centre), np.finfo(np.float64).tiny)
    lost = np.finfo(np.float64).eps * float(squares.max(initial=0.0)) * scale
    return X if lost <= CANCELLED else np.ascontiguousarray(X.toarray())


def faster_dense(kernel: Kernel, X: Matrix) -> bool:
    """Whether the solver is faster on these sparse rows if they are made dense.

    It multiplies dense rows in single precision, many features at a time, and sparse ones entry by entry.
    """
    if not issparse(X) or not kernel.formula.native or kernel.name == "linear":  # sparse linear ones are fast enough
        return False
    n, d = X.shape
    return n * d <= MOST_DENSE and X.nnz >= DENSE_SHARE * n * d


def training_gram(kernel: Kernel | Callable[..., Any], X: Matrix) -> tuple[NDArray[np.float64], str]:
    """Return the Gram matrix of the training rows, given or computed by a callable kernel, and its name for errors."""
    if isinstance(kernel, Kernel):
        return (X, "X") if kernel.name == "precomputed" else (kernel(X), "kernel(X)")
    gram = np.require(called_kernel(kernel, X, X), requirements=["C", "A", "E"])
    if gram.shape != (X.shape[0], X.shape[0]):
        raise ValueError(
            f"kernel(X, X) must return one value per pair of rows, shape {(X.shape[0], X.shape[0])}, got {gram.shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("kernel(X, X) returned NaN or infinity; a kernel must be finite on all pairs of rows.")
    return gram, "kernel(X, X)"


def symmetric(gram: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the Gram matrix if it is square and symmetric, with rounding averaged out; otherwise an error."""
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of kernel values between the training rows, got shape {gram.shape}."
        )
    worst = 0.0
    for start in range(0, len(gram), BLOCK):
        rows = slice(start, start + BLOCK)
        worst = max(worst, float(np.abs(gram[rows] - gram[:, rows].T).max()))
    if worst == 0.0:
        return gram
    if not worst <= ASYMMETRY * float(np.abs(gram).max()):
        raise ValueError(
            f"{name} must be symmetric, but K[i, j] and K[j, i] differ by up to {worst:.3g}; "
            "a kernel has k(a, b) = k(b, a). Pass (K + K.T) / 2 if the difference is only rounding."
        )
    return 0.5 * gram + 0.5 * gram.T


SCORED = 2000  # rows up to which all sums are computed again, and four times as many as are sampled beyond
HIDDEN = 0.5  # share of tol that single precision may hide of the gap, which promises ten times tol
ROUNDS = 3  # times that a solver is sent back with a finer tolerance
ON_MARGIN = 1e-12  # share by which the offset of one class is lowered, so that rounding decides no row on the margin
DEFORMED = 0.1  # share of the promised gap that a negative eigenvalue may be worth


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution, its machine, and the machine's certificate."""

    problem: DualProblem
    solution: DualSolution
    machine: KernelMachine
    certificate: Certificate

    @classmethod
    def of(cls, posed: Posed, solution: DualSolution, n_jobs: int | None, tol: float) -> Solved:
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
        expansion, hidden = _trusted_sums(problem, solution, machine, beta, tol) if posed.as_posed else (None, 0.0)
        if expansion is None:
            expansion, hidden = posed.expansion(machine, n_jobs), None
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
    ) -> Solved:
        """Certify a machine by its sums on the training rows, with what rounding may hide of the gap.

        None is what rounding in float64 may hide.
        """
        bias = best_bias(problem, expansion)
        if problem.total != 0.0:
            bias += ON_MARGIN * abs(bias)
        machine = replace(machine, bias=bias)
        certificate = certify(problem, solution.beta, machine.bias, expansion)
        size = scale(problem, solution.beta, certificate.primal, certificate.dual)
        if hidden is None and not most_rounding(problem, solution.beta) <= NEGLIGIBLE * size:
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
    def of(cls, kept: NDArray[np.intp], found: Solved, tol: float) -> FittedMachine:
        """Take the machine from a solution; `kept` has the indices of its rows among all training rows."""
        machine = found.machine
        return cls(kept[machine.support], machine.coef, machine.bias, machine.linear, found.proof(tol))


def _trusted_sums(
    problem: DualProblem, solution: DualSolution, machine: KernelMachine, beta: NDArray[np.float64], tol: float
) -> tuple[NDArray[np.float64] | None, float]:
    """Return the solver's sums and what single precision may hide of the gap; None if they must be computed again."""
    known = machine.linear is None and problem.n > SCORED and beta is solution.beta
    if not known:
        return None, 0.0
    error = score_rounding(problem, beta, np.float32)
    hidden = rounding(problem, beta, error)
    dual = float(problem.dual_values(beta).sum()) - 0.5 * float(beta @ solution.expansion)
    if problem.total != 0.0:
        tol = max(tol, 1e-3)  # that of one class is a share of the score, and so finer than the gap needs
    if not hidden <= HIDDEN * tol * abs(dual):
        return None, 0.0
    sample = np.linspace(0, problem.n - 1, SCORED // 4).astype(np.intp)
    apart = np.abs(machine.expansion(problem.X[sample]) - solution.expansion[sample])
    return (solution.expansion, hidden) if (apart <= 10.0 * error[sample]).all() else (None, 0.0)


def solved(solver: Any, posed: Posed, start: NDArray[np.float64] | None, first: DualSolution | None = None) -> Solved:
    """Solve until the certificate proves an optimum to the solver's tolerance.

    A violation of tol may leave a gap of about tol sum(g), which at large C is not small relative to the objective.
    The solver then continues from where it stopped, with a tolerance finer by the factor by which the gap, or the
    violation in float64, is too large. `first` is what the solver has found already, if anything.
    """
    began, tol, enough = time.monotonic(), solver.tol, certified_gap(solver.tol)
    problem = posed.problem
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
