"""Whether a kernel is positive semidefinite on the training rows, so that a stationary point is an optimum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from abstain.dual.problem import DualProblem

SAMPLE = 4000  # rows up to which a kernel is tried for definiteness by a Cholesky factor
PANEL = 1024  # columns of the factor between two interrupts


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
