"""The solvers of the native core: the dual problem as arrays of the right types, and the solution as a value."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.arguments import threads
from abstain.dual.parts import Parts
from abstain.dual.problem import DualProblem
from abstain.dual.proof import DualSolution, PartSolutions, Status
from abstain.kernels import native_matrix

_NO_FORMULA = {"kernel": "precomputed", "coef0": 0.0, "degree": 1}
Progress = Callable[..., bool | None]
# Of one class, rows from which a sample is used for the start, one row in how many, and the least. Without it a fit of
# 10,000 to 50,000 rows takes 1.1 to 1.7 times as long; with one in 8 up to 1.1 times, with one in 32 as long.
WORTH_SAMPLING, ONE_IN, LEAST = 4000, 16, 1000
COARSE = 1e-3  # tolerance of the sample's machine; the same time at 1e-2 and 1e-4


@dataclass(frozen=True)
class SMO:
    """Pair steps on blocks of the worst violators; see ``native/core/decomposition.hpp``.

    They stop when max(up) - min(down) <= ``tol``, the largest gain of any pair of coordinates per unit moved.

    A solver takes no probabilities, labels or estimators. It never warns and never raises for lack of convergence: the
    solution's `status` says how it ended, and `abstain.dual.certificate` proves how good it is.

    Parameters
    ----------
    tol : float
        Violation of the optimality conditions at which it stops, or up to which a solution counts as optimal.
    cache_size : float
        Megabytes for the kernel matrix, or for some of its rows if it does not fit.
    max_iter : int
        Steps after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    n_jobs : int or None
        Threads; None is one. The solution is bit for bit the same for any number of threads.
    progress : callable or None
        Called with ``(iterations, violation)`` about every 20 ms; True stops it, with status ``iteration_limit``.
    polish : bool
        Solve small problems exactly, by the linear system on their active set.
    """

    tol: float = 1e-3
    cache_size: float = 500.0
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    progress: Progress | None = None
    polish: bool = True

    @property
    def method(self) -> str:
        """The name of the core's method."""
        return "auto" if self.polish else "smo"

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "seconds": np.inf if self.time_limit is None else float(self.time_limit),
            "cache_size": float(self.cache_size),
            "threads": threads(self.n_jobs),
        }

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        beta, expansion, bias, status, iterations = _native.solve(
            **native_problem(problem),
            total=float(problem.total),
            start=None if start is None else np.require(start, np.float64, ["C", "A"]),
            report=self.progress,
            **self._settings,
        )
        return DualSolution(beta, bias, expansion, Status(status), iterations)

    def solve_many(
        self,
        problems: Sequence[DualProblem],
        scales: NDArray[np.float64] | None = None,
        starts: Sequence[NDArray[np.float64] | None] | None = None,
    ) -> list[list[DualSolution]]:
        """Solve problems over the same rows and kernel, each at its weights times every one of the ascending `scales`.

        They share one kernel matrix and the threads; along the scales each fit starts from the previous ones. Returns a
        list of solutions per problem, one for each scale. Fits skipped by the time limit have status ``time_limit`` and
        beta = 0. `progress` is called with the number of fits done, nan, and their total.
        """
        if not problems:
            return []
        first, progress = problems[0], self.progress
        if any(problem.total for problem in problems):
            raise ValueError("problems of one class (total other than 0) are solved one at a time.")
        if any(problem.X is not first.X or problem.kernel != first.kernel for problem in problems):
            raise ValueError("the problems of one call must share X and their kernel; use one call for each.")
        scales = np.ones(1) if scales is None else np.require(scales, np.float64, ["C", "A"])
        starts = [None] * len(problems) if starts is None else starts
        fits = _native.solve_many(
            **native_rows(first),
            gammas=np.array([first.kernel.gamma], dtype=np.float64),
            tasks=[
                problem.native
                | {"scales": scales, "start": None if start is None else np.require(start, np.float64, ["C", "A"])}
                for problem, start in zip(problems, starts, strict=True)
            ],
            coefficients=True,
            report=None if progress is None else lambda took: progress(np.count_nonzero(took), np.nan, len(took)),
            **self._settings,
        )
        beta, expansion = (fits[name].reshape(-1, first.n) for name in ("beta", "expansion"))
        status, iterations = fits["status"], fits["iterations"]
        found = [
            DualSolution(beta[fit], float(fits["bias"][fit]), expansion[fit], Status(status[fit]), int(iterations[fit]))
            for fit in range(len(status))
        ]
        return [found[first : first + len(scales)] for first in range(0, len(found), len(scales))]

    def solve_parts(self, parts: Parts) -> PartSolutions:
        """Solve problems over parts of the same rows, several at a time.

        The rows are dense, with a kernel that the core has, or all their kernel values are given.
        """
        kernel = parts.whole.kernel
        beta, expansion, status, iterations = _native.solve_parts(
            X=np.require(parts.whole.X, np.float64, ["C", "A"]) if parts.gram is None else None,
            gram=parts.gram,
            kernel=kernel.name,
            gamma=kernel.gamma,
            coef0=kernel.coef0,
            degree=kernel.degree,
            rows=parts.rows,
            starts=parts.starts,
            **parts.native,
            report=self.progress,
            values_first=parts.values_first,
            **self._settings,
        )
        named = {word: Status(word) for word in set(status)}
        return PartSolutions(beta, expansion, [named[word] for word in status], iterations)


@dataclass(frozen=True)
class ActiveSet(SMO):
    """The exact optimum by a finite number of changes of the active set; see ``native/core/active_set.hpp``.

    A few pair steps find sets that are nearly right, unless ``start`` already has them: the scaled solution at another
    C, the solution for other costs, or the solution of SMO.
    """

    @property
    def method(self) -> str:
        """The name of the core's method."""
        return "active-set"


@dataclass(frozen=True)
class OneClassSMO(SMO):
    """`SMO` for problems of one class: the coefficients have a total, so a start of 0 is not allowed.

    On many rows it starts with the machine of a sample: the rows that score lowest in it start at their largest
    coefficient, the others at 0. Nearly all of them stay there.
    """

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        if start is not None or problem.n < WORTH_SAMPLING:
            return super().solve(problem, start)
        began = time.monotonic()
        start, iterations = self._start(problem)
        rest = SMO.solve(replace(within(self, began), max_iter=max(0, self.max_iter - iterations)), problem, start)
        return replace(rest, iterations=rest.iterations + iterations)

    def _start(self, problem: DualProblem) -> tuple[NDArray[np.float64], int]:
        """Return coefficients by the scores in the machine of a sample, and the iterations that they took."""
        rows = np.linspace(0, problem.n - 1, max(LEAST, problem.n // ONE_IN)).astype(np.intp)
        part = problem.on_rows(rows)
        found = replace(self, tol=max(self.tol, COARSE * part.total / problem.total), polish=False).solve(part)
        support = np.flatnonzero(found.beta)
        machine = part.machine(found.beta)
        if machine.is_precomputed:
            score = problem.X[:, rows[support]] @ machine.coef
        else:
            score = machine.expansion(problem.X, self.n_jobs)
        order = np.argsort(score, kind="stable")
        start = np.empty(problem.n)
        start[order] = np.diff(np.minimum(np.cumsum(problem.weight[order]), problem.total), prepend=0.0)
        return start, found.iterations


def within(solver: Any, began: float) -> Any:
    """Return a solver with the time that is left, if it has a limit and began at this `time.monotonic`."""
    if solver.time_limit is None:
        return solver
    return replace(solver, time_limit=max(0.0, solver.time_limit - (time.monotonic() - began)))


def best_bias(problem: DualProblem, expansion: NDArray[np.float64]) -> float:
    """Return the bias that minimises the primal for a fixed expansion F; the midpoint if a whole interval does.

    ::

        sum_i w_i loss_i(y_i (F_i + bias)) + total bias is convex and piecewise linear in the bias; far to the left
        its slope is sum_{y_i = +1} w_i slopes_i[0] + total; it grows by w_i times the bend at y_i knot - F_i

    So the minimum is where the running sum of sorted bends crosses 0. If one class has no weight, every bias far enough
    towards the other is optimal: the result is the finite end of that ray, and 0 if neither class has any weight. The
    certificate holds for any bias.
    """
    expansion, ends = np.require(expansion, np.float64, ["C", "A"]), np.array([0, problem.n])
    total = float(problem.total)
    return float(_native.best_biases(starts=ends, **problem.native, expansion=expansion, total=total)[0])


def native_problem(problem: DualProblem) -> dict[str, Any]:
    """Return the problem as keywords of the native solvers; every conversion of arrays happens here."""
    return {**native_rows(problem), "gamma": problem.kernel.gamma, **problem.native}


def native_rows(problem: DualProblem) -> dict[str, Any]:
    """Return the rows and the kernel without gamma as keywords: the part shared by tasks over the same rows.

    A kernel that the core does not have is passed as its Gram matrix.
    """
    kernel = problem.kernel
    if not kernel.formula.native:
        return {"data": {"gram": np.require(kernel(problem.X), np.float64, ["C", "A"])}, **_NO_FORMULA}
    if kernel.name == "precomputed" and not issparse(problem.X):
        data = {"gram": np.require(problem.X, np.float64, ["C", "A"])}
    else:
        data = native_matrix(problem.X, np.float64)
    return {"data": data, "kernel": kernel.name, "coef0": kernel.coef0, "degree": kernel.degree}
