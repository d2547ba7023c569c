"""Linear machines with few rows or sparse ones, where Newton steps on the weights take longer than the dual problem.

Few rows have a small Gram matrix, on which `SMO` finds the exact optimum; one matrix serves all classes, folds and Cs.
Sparse rows are cheap to visit one by one: ``native/core/linear/linear_descent.hpp``. Where there are more rows than
features, but not many times more, or visits would take long, an interior point method needs six to twelve steps:
``native/core/linear/linear_interior.hpp``. All return weights and their multipliers gamma, w about
sum_i y_i gamma_i (x_i - c). Newton steps go on from them if they miss the tolerance.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.arguments import one_blas_thread
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.machines.linear_machine import native_data
from abstain.solvers.linear import MOST_DENSE, LinearNewton, LinearSolution
from abstain.solvers.native import SMO, within

MOST_ROWS = 1000  # up to which `SMO` finds the exact optimum
ROWS_PER_FEATURE = 2.5  # from here on Newton steps are faster than the Gram matrix
FEWEST_FEATURES = 100  # with more, the Gram matrix of sparse rows is never made dense, and Newton steps take long
EXACT = 64  # rows up to which sparse ones are solved to about the last digits: a weight is then a repeated row
ROWS_PER_COLUMN = (4, 8)  # of few columns and of many; with more, coordinate descent may need thousands of passes
PASSES = (600.0, 1000.0)  # over the rows after which it ends: with a Gram matrix to go on with, and without
# Interior point steps are faster than the other two from so many rows for each feature (few features, many), and than
# Newton steps up to so many rows, or rows for each feature (dense, sparse). They come first if they take no longer than
# so many visits to all rows, and not at all if they take longer than so many.
ROWS_FOR_STEPS = (1.5, ROWS_PER_FEATURE)
STEPS_BELOW = ((1000, 6.0), (3000, 40.0))
FEWEST_PASSES, MOST_PASSES = 100.0, 2000.0
# What 8.5 of them cost, in units of an entry that a visit reads and adds. In each step: two entries of a row
# multiplied, an entry of the matrix cubed, all readings of an entry and of a row. A visit to a row. Dense entries, read
# by vectors.
STEPS, OUTER, FACTOR, READ, ROW, VISIT, BY_VECTORS = 8.5, 0.5, 0.0075, 5.0, 60.0, 8.0, 0.3
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
            return bool(EXACT < n <= ROWS_PER_COLUMN[d > FEWEST_FEATURES] * d)
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

    @cached_property
    def steps_cost(self) -> float:
        """What interior point steps to one problem take, in passes of visits to all rows; inf if others are faster."""
        n, d = self.X.shape
        most, ratio = STEPS_BELOW[issparse(self.X)]
        if not (max(EXACT, ROWS_FOR_STEPS[d > EXACT] * d) < n <= max(most, ratio * d) and d <= MOST_DENSE):
            return np.inf
        lengths = np.diff(self.X.indptr).astype(np.float64) if issparse(self.X) else np.full(n, BY_VECTORS * d)
        stored = float(lengths.sum())
        step = OUTER * float(lengths @ lengths) + FACTOR * d**3 + READ * stored + ROW * n
        found = STEPS * step / (stored + VISIT * n)
        return found if found < MOST_PASSES or not issparse(self.X) else np.inf

    def solve(
        self, problem: LinearProblem, settings: LinearNewton, n_jobs: int | None = None, start: Any = None
    ) -> list[LinearSolution]:
        """Return the solutions of problems over these rows, or how far they came; none where Newton steps are faster.

        `start` has a point for each problem, and all multipliers.
        """
        began, found = time.monotonic(), []
        cost = self.steps_cost if start is None else np.inf
        if self.one_by_one and cost > FEWEST_PASSES:
            found = self.descended(problem, settings, start, cost)
        missed = [k for k in range(problem.count) if not found or found[k].status is Status.INACCURATE]
        again: list[LinearSolution] = []
        if missed and cost < np.inf:
            some = problem if len(missed) == problem.count else problem.some(missed)
            again = self.stepped(some, within(settings, began))
        elif missed and self.few:
            gammas: Any = [one.gamma for one in found] or (start and start[1].reshape(problem.count, -1))
            ones = [problem.one(k) for k in missed]
            starts = gammas is not None and [one.sign * gammas[k] for k, one in zip(missed, ones, strict=True)]
            again = self.exact(ones, settings, n_jobs, starts or None)
        later = dict(zip(missed, again, strict=False))
        return [later.get(k) or found[k] for k in range(problem.count)] if later else found

    def descended(
        self, problem: LinearProblem, settings: LinearNewton, start: Any = None, patience: float = np.inf
    ) -> list[LinearSolution]:
        """Visit rows one by one; "inaccurate" if that takes too long, or so many passes more."""
        bias = np.zeros(problem.count) if start is None else np.ascontiguousarray(start[0][:, -1])
        gamma = np.zeros(len(problem.sign)) if start is None else np.require(start[1], np.float64, ["C", "A"])
        given = {"gamma": gamma, "bias": bias, "passes": PASSES[not self.few], "patience": patience}
        return self._native(_native.descend, problem, settings, given)

    def stepped(self, problem: LinearProblem, settings: LinearNewton) -> list[LinearSolution]:
        """Take interior point steps; "inaccurate" if one of them fails."""
        return self._native(_native.interior, problem, settings)

    def _native(
        self, solver: Any, problem: LinearProblem, settings: LinearNewton, given: dict[str, Any] | None = None
    ) -> list[LinearSolution]:
        """Return what a solver of the core finds for all problems."""
        points, found, ends = solver(
            native_data(self.X, self.centre),
            **problem.native,
            tol=settings.tol,
            most=settings.max_iter,
            seconds=np.inf if settings.time_limit is None else float(settings.time_limit),
            report=settings.progress,
            **(given or {}),
        )
        each = zip(points.reshape(problem.count, -1), found.reshape(problem.count, -1), ends, strict=True)
        return [
            LinearSolution(point, (1.0, 1.0), Status(status), steps, gap, np.nan, one)
            for point, one, (status, gap, steps) in each
        ]

    def exact(
        self, problems: Sequence[LinearProblem], settings: LinearNewton, n_jobs: int | None, starts: Any = None
    ) -> list[LinearSolution]:
        """Solve the duals on the Gram matrix."""
        K, kernel, origin = self.gram
        duals = [DualProblem(kernel, K, one.sign, one.loss, one.weight) for one in problems]
        steps = settings.max_iter * duals[0].n
        solver = SMO(max_iter=steps, time_limit=settings.time_limit, n_jobs=n_jobs, progress=settings.progress)
        found = solver.solve_many(duals, starts=starts)
        ended = []
        for one, [solution] in zip(problems, found, strict=True):
            beta = solution.beta
            w = np.asarray(beta @ self.X) - beta.sum() * origin
            point = np.append(w, solution.bias + w @ (self.centre - origin))
            epochs = -(-solution.iterations // len(beta))
            ended.append(LinearSolution(point, (1.0, 1.0), solution.status, epochs, np.nan, np.nan, one.sign * beta))
        return ended
