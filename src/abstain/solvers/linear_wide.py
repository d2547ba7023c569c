"""Linear machines with few rows or sparse ones, where Newton steps on the weights take longer than the dual problem.

Few rows have a small Gram matrix, on which `SMO` finds the exact optimum; one matrix serves all classes, folds and Cs.
Sparse rows are cheap to visit one by one: ``native/core/linear/linear_descent.hpp``. Both return weights
w = sum_i y_i gamma_i (x_i - c) with their multipliers. Newton steps go on from them if they miss the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.arguments import one_blas_thread
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import DualProblem
from abstain.dual.proof import DualSolution, Status
from abstain.kernels import Kernel
from abstain.solvers.linear import MOST_DENSE, LinearNewton, LinearSolution
from abstain.solvers.linear_rows import LocalSums
from abstain.solvers.native import SMO

MOST_ROWS = 1000  # up to which `SMO` finds the exact optimum
ROWS_PER_FEATURE = 2.5  # from here on Newton steps are faster than the Gram matrix
FEWEST_FEATURES = 100  # of sparse rows that are visited one by one
ROWS_PER_COLUMN = 4  # with more, coordinate descent may need thousands of passes
PASSES = (100.0, 400.0)  # over the rows after which it ends: with a Gram matrix to go on with, and without
LINEAR, PRECOMPUTED = Kernel("linear"), Kernel("precomputed")
COLUMNS = 4096  # that are centred at a time


@dataclass(frozen=True)
class WideRows:
    """Rows, and what is computed of them once for many problems.

    Attributes
    ----------
    X, centre : rows and their centre, as in `LinearProblem`
    """

    X: Any
    centre: NDArray[np.float64]

    @cached_property
    def few(self) -> bool:
        """Whether the Gram matrix is worth its time."""
        n, d = self.X.shape
        return bool(n <= MOST_ROWS and n <= ROWS_PER_FEATURE * d)

    @cached_property
    def one_by_one(self) -> bool:
        """Whether rows are visited one by one first."""
        n, d = self.X.shape
        if issparse(self.X):
            return bool(d > FEWEST_FEATURES and n <= ROWS_PER_COLUMN * d)
        return bool(not self.few and d > MOST_DENSE)

    @cached_property
    def gram(self) -> tuple[Any, Kernel, NDArray[np.float64]]:
        """The Gram matrix with its kernel, or sparse rows with many columns; and the centre of these rows."""
        X, origin = self.X, np.zeros(self.X.shape[1])
        if issparse(X) and X.shape[1] > FEWEST_FEATURES:
            return X.astype(np.float64, copy=False), LINEAR, origin
        X = X.toarray() if issparse(X) else X
        with one_blas_thread():
            if X.dtype == np.float64:
                K = X @ X.T
                # far from the origin the products would agree in most of their digits
                if self.centre @ self.centre <= 0.5 * K.trace() / len(K):
                    return K, PRECOMPUTED, origin
            K = np.zeros((len(X), len(X)))
            for first in range(0, X.shape[1], COLUMNS):
                columns = slice(first, first + COLUMNS)
                part = X[:, columns] - self.centre[columns]
                K += part @ part.T
        return K, PRECOMPUTED, self.centre

    def solve(
        self, problem: LinearProblem, settings: LinearNewton, n_jobs: int | None = None, start: Any = None
    ) -> LinearSolution | None:
        """Return the solution of a problem over these rows, or how far it came; None where Newton steps are faster.

        `start` is a point with its multipliers.
        """
        found = self.descended(problem, settings, n_jobs, start) if self.one_by_one else None
        if self.few and (found is None or found.status is Status.INACCURATE):
            return self.exact(problem, settings, n_jobs, start if found is None else (found.point, found.gamma))
        return found

    def descended(
        self, problem: LinearProblem, settings: LinearNewton, n_jobs: int | None, start: Any
    ) -> LinearSolution:
        """Visit rows one by one; "inaccurate" if that takes too long."""
        sums: Any = LocalSums(problem, n_jobs)
        bias = 0.0
        if start is not None:
            bias = float(start[0][-1])
            sums.start(start[1])
        seconds = np.inf if settings.time_limit is None else float(settings.time_limit)
        limits = (PASSES[0 if self.few else 1], settings.max_iter, seconds, settings.progress)
        point, status, gap, epochs = sums.block.descend(bias, settings.tol, *limits)
        return LinearSolution(point, (1.0, 1.0), Status(status), epochs, gap, np.nan, sums.gamma())

    def exact(self, problem: LinearProblem, settings: LinearNewton, n_jobs: int | None, start: Any) -> LinearSolution:
        """Solve the dual on the Gram matrix."""
        K, kernel, origin = self.gram
        dual = DualProblem(kernel, K, problem.sign, problem.loss, problem.weight)
        steps = settings.max_iter * dual.n
        solver = SMO(max_iter=steps, time_limit=settings.time_limit, n_jobs=n_jobs, progress=settings.progress)
        starts = None if start is None else [problem.sign * start[1]]
        [[found]] = solver.solve_many([dual], starts=starts)
        return self.of(problem, found, origin)

    def of(self, problem: LinearProblem, found: DualSolution, origin: NDArray[np.float64]) -> LinearSolution:
        """Return the weights of a dual solution."""
        w = np.asarray(found.beta @ self.X) - found.beta.sum() * origin
        point = np.append(w, found.bias + w @ (self.centre - origin))
        epochs = -(-found.iterations // len(found.beta))
        gamma = problem.sign * found.beta
        return LinearSolution(point, (1.0, 1.0), found.status, epochs, np.nan, np.nan, gamma)
