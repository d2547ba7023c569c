"""Calls into the native core: the dual problem as arrays of the right types, and the solution as a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.arguments import threads
from abstain.dual.certificate import best_bias
from abstain.dual.parts import Parts
from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution, PartSolutions, Status
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss

__all__ = [
    "native_problem",
    "native_rows",
    "native_solve",
    "native_solve_many",
    "native_solve_parts",
    "native_task",
    "part_biases",
]

_NO_FORMULA = {"kernel": "precomputed", "coef0": 0.0, "degree": 1}
Progress = Callable[[int, float], bool | None]


class Settings(Protocol):
    """The settings of both native solvers."""

    @property
    def tol(self) -> float: ...
    @property
    def cache_size(self) -> float: ...
    @property
    def max_iter(self) -> int: ...
    @property
    def time_limit(self) -> float | None: ...
    @property
    def n_jobs(self) -> int | None: ...
    @property
    def progress(self) -> Progress | None: ...


def native_solve(
    method: str, settings: Settings, problem: DualProblem, start: NDArray[np.float64] | None
) -> DualSolution:
    """Solve the problem by "auto", "smo" or "active-set", starting from the coefficients `start` if given."""
    beta, expansion, status, iterations, _ = _native.solve(
        **native_problem(problem),
        total=float(problem.total),
        start=None if start is None else np.require(start, np.float64, ["C", "A"]),
        method=method,
        tol=float(settings.tol),
        max_iter=int(settings.max_iter),
        seconds=np.inf if settings.time_limit is None else float(settings.time_limit),
        cache_size=float(settings.cache_size),
        threads=threads(settings.n_jobs),
        report=settings.progress,
    )
    return DualSolution(beta, best_bias(problem, expansion), expansion, Status(status), iterations)


def native_solve_many(
    method: str,
    settings: Settings,
    problems: Sequence[DualProblem],
    scales: NDArray[np.float64] | None,
    starts: Sequence[NDArray[np.float64] | None] | None,
) -> list[list[DualSolution]]:
    """Solve problems over the same rows and kernel, each at its weights times every one of the ascending `scales`.

    They share one kernel matrix and the threads; along the scales each fit starts from the previous ones. Returns a
    list of solutions per problem, one for each scale. Fits skipped by the time limit have status ``time_limit`` and
    beta = 0.
    """
    if not problems:
        return []
    first, progress = problems[0], settings.progress
    if any(problem.total for problem in problems):
        raise ValueError("problems of one class (total other than 0) are solved one at a time.")
    if any(problem.X is not first.X or problem.kernel != first.kernel for problem in problems):
        raise ValueError("the problems of one call must share their rows X and their kernel; use one call for each.")
    scales = np.ones(1) if scales is None else np.require(scales, np.float64, ["C", "A"])
    starts = [None] * len(problems) if starts is None else starts
    fits = _native.solve_many(
        **native_rows(first),
        gammas=np.array([first.kernel.gamma], dtype=np.float64),
        tasks=[
            native_task(problem.sign, problem.loss, problem.weight)
            | {"scales": scales, "start": None if start is None else np.require(start, np.float64, ["C", "A"])}
            for problem, start in zip(problems, starts, strict=True)
        ],
        method=method,
        tol=float(settings.tol),
        max_iter=int(settings.max_iter),
        seconds=np.inf if settings.time_limit is None else float(settings.time_limit),
        cache_size=float(settings.cache_size),
        threads=threads(settings.n_jobs),
        coefficients=True,
        report=None if progress is None else lambda seconds: progress(int(np.count_nonzero(seconds)), np.nan),
    )
    beta, expansion = (fits[name].reshape(-1, first.n) for name in ("beta", "expansion"))
    status, iterations = fits["status"], fits["iterations"]
    found = [
        DualSolution(beta[fit], float(fits["bias"][fit]), expansion[fit], Status(status[fit]), int(iterations[fit]))
        for fit in range(len(status))
    ]
    return [found[first : first + len(scales)] for first in range(0, len(found), len(scales))]


def native_solve_parts(method: str, settings: Settings, parts: Parts) -> PartSolutions:
    """Solve problems over parts of the same dense rows, with a kernel that the core has."""
    kernel = parts.whole.kernel
    beta, status, iterations = _native.solve_parts(
        **_rows(parts.whole),
        kernel=kernel.name,
        gamma=kernel.gamma,
        coef0=kernel.coef0,
        degree=kernel.degree,
        rows=parts.rows,
        starts=parts.starts,
        **native_task(parts.sign, parts.loss, parts.weight),
        method=method,
        tol=float(settings.tol),
        max_iter=int(settings.max_iter),
        seconds=np.inf if settings.time_limit is None else float(settings.time_limit),
        cache_size=float(settings.cache_size),
        threads=threads(settings.n_jobs),
        report=settings.progress,
    )
    return PartSolutions(beta, [Status(word) for word in status], iterations)


def part_biases(parts: Parts, expansion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `best_bias` gives for each part at these sums."""
    return _native.best_biases(starts=parts.starts, **native_task(parts.sign, parts.loss, parts.weight), expansion=expansion)


def native_problem(problem: DualProblem) -> dict[str, Any]:
    """Return the problem as keywords of the native solvers; every conversion of arrays happens here."""
    return {**native_rows(problem), "gamma": problem.kernel.gamma, **native_task(problem.sign, problem.loss, problem.weight)}


def native_rows(problem: DualProblem) -> dict[str, Any]:
    """Return the rows and the kernel without gamma as keywords: the part shared by tasks over the same rows.

    A kernel that the core does not have is passed as its Gram matrix.
    """
    kernel = problem.kernel
    if not kernel.formula.native:
        return {"data": {"gram": np.require(kernel(problem.X), np.float64, ["C", "A"])}, **_NO_FORMULA}
    return {"data": _rows(problem), "kernel": kernel.name, "coef0": kernel.coef0, "degree": kernel.degree}


def native_task(
    sign: NDArray[np.int8], loss: MarginLoss | LossTable, weight: NDArray[np.float64]
) -> dict[str, Any]:
    """Return signs, weights and losses as keywords; `kind` is each row's index in the tables of knots and slopes."""
    knots, slopes = loss.tables()
    return {
        "sign": sign,
        "weight": np.require(weight, np.float64, ["C", "A"]),
        "kind": loss.kinds(sign).astype(np.int32),
        "knots": knots,
        "slopes": slopes,
    }


def _rows(problem: DualProblem) -> dict[str, Any]:
    X = problem.X
    if not issparse(X):
        name = "gram" if problem.kernel.name == "precomputed" else "X"
        return {name: np.require(X, np.float64, ["C", "A"])}
    return {
        "values": np.require(X.data, np.float64, ["C", "A"]),
        "columns": np.require(X.indices, np.int32, ["C", "A"]),
        "starts": np.require(X.indptr, np.int64, ["C", "A"]),
        "features": X.shape[1],
    }
