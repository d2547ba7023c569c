"""One dual problem in the form that the solver reads: its kernel and its rows, or all kernel values between them."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.arguments import one_blas_thread
from abstain.dual.parts import Parts
from abstain.dual.problem import DualProblem
from abstain.gammas import resolve_gamma
from abstain.kernels import KERNELS, Kernel, Matrix, called_kernel
from abstain.machines.kernel_machine import KernelMachine, expand_parts, gram_values, kernel_bytes
from abstain.solvers.native import SMO

SHARED_ROWS, SHARED_FEATURES = 1000, 100  # up to so many rows of at least so many features, values are made once
ASYMMETRY = 1e-6  # largest |K_ij - K_ji|, relative to the largest entry, that counts as single-precision rounding
BLOCK = 1024
MOST_DENSE = 25_000_000  # entries of sparse rows that may be made dense: 200 MB
DENSE_SHARE = 0.05  # share of entries other than 0 from which dense rows are faster
COMPARED, SAME = 4, 1e-10  # rows of shared values that are compared, and the relative difference that is rounding
ALONE = 200_000  # products that BLAS leaves to one thread
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
    gram : ndarray or None
        All kernel values of the problem, if solver and certificate read the same ones.
    """

    problem: DualProblem
    X: Matrix
    kernel: Kernel | Callable[..., Any]
    kept: NDArray[np.intp]
    as_posed: bool
    gram: NDArray[np.float64] | None = None

    @cached_property
    def to_solve(self) -> DualProblem:
        """The problem as the solver reads it."""
        return self.problem if self.gram is None else replace(self.problem, kernel=Kernel("precomputed"), X=self.gram)

    def expansion(self, solved: KernelMachine, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the sums of the problem's machine on the problem's rows, as `machine` predicts them."""
        if self.gram is not None:
            beta, rows = np.zeros(self.problem.n), np.arange(self.problem.n)
            beta[solved.support] = solved.coef
            kernel, ends = self.problem.kernel, np.array([0, len(rows)])
            return expand_parts(kernel, self.problem.X, rows, ends, coef=beta, gram=self.gram, n_jobs=n_jobs)
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
    name: str = parameters.kernel
    takes_gamma = name in KERNELS and KERNELS[name].takes_gamma
    number = resolve_gamma(gamma, X, sample_weight, name) if takes_gamma else 1.0
    return Kernel(name, number, float(parameters.coef0), int(parameters.degree))


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


def can_share_values(solver: Any, shared: Posed) -> bool:
    """Whether these are feature rows with a kernel of the core whose optimum the certificate alone proves."""
    kernel = shared.problem.kernel
    known = kernel.formula.native and kernel.formula.definite(kernel) and kernel.name not in ("linear", "precomputed")
    return isinstance(solver, SMO) and known


def part_values(
    solver: SMO, shared: Posed, held: Sequence[int], order: NDArray[np.intp] | slice = slice(None)
) -> dict[str, Any] | None:
    """Return how `Parts` of the rows in this order get kernel values for solver and certificate; None if too many.

    Those of dense rows are made for each part; `held` has how many rows lie side by side in every part that has them.
    All values between sparse rows are made at once, and are the kernel's own.
    """
    made = shared.as_posed and not issparse(shared.problem.X)
    if sum(map(kernel_bytes, held if made else [shared.problem.n])) > 1e6 * solver.cache_size:
        return None
    if made:
        return {"values_first": True}
    X = (shared.problem.X if shared.as_posed else shared.X[shared.kept])[order]
    return {"gram": gram_values(shared.problem.kernel, X, solver.n_jobs)}


def same_sums(parts: Parts, beta: NDArray[np.float64], F: NDArray[np.float64]) -> bool:
    """Whether sums of the first part, whose values were made for it, are those by the kernel's own values."""
    first = parts.starts[1]
    rows, coef, X = parts.rows[:first], beta[:first], parts.whole.X
    checked, support = _spread(len(rows)), np.flatnonzero(coef)
    values = _as_predicted(parts.whole.kernel, X[rows[checked]], X[rows[support]])
    room = SAME * float(np.abs(values).max(initial=0.0) * np.abs(coef).sum())
    return bool((np.abs(values @ coef[support] - F[checked]) <= room).all())


def _spread(n: int) -> list[int]:
    return sorted({at * (n - 1) // (COMPARED - 1) for at in range(COMPARED)})


def _as_predicted(kernel: Kernel, some: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kernel values as they are computed for predictions."""
    with one_blas_thread() if COMPARED * X.size > ALONE else nullcontext():
        return kernel(some, X)


def sharing(solver: Any, posed: Posed) -> Posed:
    """Return the problem with all kernel values if it has few rows, whose values take longer than the rest.

    Solver and certificate read them, so some rows are compared with the kernel's own values.
    """
    X, kernel = posed.problem.X, posed.problem.kernel
    n, d = X.shape
    few = n <= SHARED_ROWS and d >= SHARED_FEATURES and kernel_bytes(n) <= 1e6 * solver.cache_size
    if not (few and posed.as_posed and not issparse(X) and can_share_values(solver, posed)):
        return posed
    gram = gram_values(kernel, X, solver.n_jobs)[:, :n]
    checked = _spread(n)
    own = _as_predicted(kernel, X[checked], X)
    same = (np.abs(gram[checked] - own) <= SAME * float(np.abs(own).max())).all()
    return replace(posed, gram=np.ascontiguousarray(gram)) if same else posed
