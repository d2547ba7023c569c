"""Scores of held-out rows for every fold and C at one kernel width, by machines of classes or of pairs of classes.

One-vs-rest: all folds and classes are tasks over one kernel. One-vs-one: each pair is solved on its own rows, its folds
as tasks, and its machines then score the held-out rows of all classes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from abstain import _native
from abstain.arguments import threads
from abstain.dual.problem import DualProblem
from abstain.dual.solution import Status
from abstain.losses.margin_loss import MarginLoss
from abstain.machines.class_machine import OneVsRestMachine
from abstain.solvers.boundary import native_rows, native_task

__all__ = ["Limits", "OutOfFoldClasses", "pair_scores", "rest_scores"]

MOST = 32_000_000  # scores of one native call: 256 MB


@dataclass(frozen=True)
class Limits:
    """What a search may use: as in `held_out_scores`, and `until`, the time at which it must end."""

    tol: float
    max_iter: int
    cache_size: float
    n_jobs: int | None
    until: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that are left."""
        return np.inf if self.until is None else max(0.0, self.until - time.monotonic())


@dataclass(frozen=True, eq=False)
class OutOfFoldClasses:
    """Held-out scores at one kernel width.

    Attributes
    ----------
    scores : list of float64 arrays of shape (Cs, test rows, machines), one for each fold
    optimal, finished : bool arrays of shape (folds, Cs)
        Whether all machines of that fold and C reached the tolerance, and whether they ended in time.
    """

    scores: list[NDArray[np.float64]]
    optimal: NDArray[np.bool_]
    finished: NDArray[np.bool_]


def rest_scores(
    problem: DualProblem,
    signs: Sequence[NDArray[np.int8]],
    losses: Sequence[MarginLoss],
    weights: NDArray[np.float64],
    *,
    tests: Sequence[NDArray[np.intp]],
    Cs: NDArray[np.float64],
    limits: Limits,
) -> OutOfFoldClasses:
    """Fit each class against the rest with each fold's weights at C = 1, (folds, rows), where 0 holds a row out."""
    classes = [native_task(replace(problem, sign=s, loss=loss)) for s, loss in zip(signs, losses, strict=True)]
    shape = (len(weights), len(Cs))
    optimal, finished = np.ones(shape, dtype=bool), np.ones(shape, dtype=bool)
    scores = [np.zeros((len(Cs), len(test), len(classes))) for test in tests]
    tasks = [(fold, k) for fold in range(len(weights)) for k in range(len(classes))]
    step = max(1, MOST // (len(Cs) * problem.n))
    rows = native_rows(problem)
    for first in range(0, len(tasks), step):
        part = tasks[first : first + step]
        fits = _solve(rows, problem, [classes[k] | {"weight": weights[fold]} for fold, k in part], Cs, limits)
        values = fits["expansion"].reshape(len(part), len(Cs), -1)
        bias, status = fits["bias"].reshape(len(part), len(Cs)), np.array(fits["status"]).reshape(len(part), len(Cs))
        for at, (fold, k) in enumerate(part):
            scores[fold][:, :, k] = values[at][:, tests[fold]] + bias[at][:, np.newaxis]
            optimal[fold] &= status[at] == Status.OPTIMAL.value
            finished[fold] &= status[at] != Status.TIME_LIMIT.value
    return OutOfFoldClasses(scores, optimal, finished)


def pair_scores(
    problem: DualProblem,
    pairs: Sequence[tuple[NDArray[np.intp], NDArray[np.int8]]],
    weights: NDArray[np.float64],
    *,
    tests: Sequence[NDArray[np.intp]],
    Cs: NDArray[np.float64],
    limits: Limits,
) -> OutOfFoldClasses:
    """Fit each pair of classes, given by its rows and their signs, with each fold's weights at C = 1, (folds, rows)."""
    shape, gram = (len(weights), len(Cs)), problem.kernel.name == "precomputed"
    optimal, finished = np.ones(shape, dtype=bool), np.ones(shape, dtype=bool)
    coef: list[list[csr_array]] = [[] for _ in weights]
    biases: list[list[NDArray[np.float64]]] = [[] for _ in weights]
    for rows, sign in pairs:
        X = np.ascontiguousarray(problem.X[np.ix_(rows, rows)]) if gram else problem.X[rows]
        one = replace(problem, X=X, sign=sign, weight=weights[0, rows])
        folds = [{**native_task(one), "weight": np.ascontiguousarray(weight[rows])} for weight in weights]
        fits = _solve(native_rows(one), one, folds, Cs, limits, coefficients=True)
        beta, F = (fits[name].reshape(*shape, len(rows)) for name in ("beta", "expansion"))
        bias, status = (np.array(fits[name]).reshape(shape) for name in ("bias", "status"))
        optimal &= status == Status.OPTIMAL.value
        finished &= status != Status.TIME_LIMIT.value
        for fold in range(len(weights)):
            coef[fold].append(_spread(beta[fold], rows, problem.n))
            # where the machine and the solver centre rows differently, their sums differ by a constant
            biases[fold].append(bias[fold] + F[fold, :, 0] - _sums(problem, coef[fold][-1], rows[:1])[0])
    scores = []
    for fold, test in enumerate(tests):
        each = _sums(problem, vstack(coef[fold], format="csr"), test)
        each += np.concatenate(biases[fold])
        scores.append(each.reshape(len(test), len(pairs), len(Cs)).transpose(2, 0, 1))
    return OutOfFoldClasses(scores, optimal, finished)


def _solve(
    rows: dict[str, Any],
    problem: DualProblem,
    tasks: list[dict[str, Any]],
    Cs: NDArray[np.float64],
    limits: Limits,
    *,
    coefficients: bool = False,
) -> dict[str, Any]:
    scales = {"scales": np.require(Cs, np.float64, ["C", "A"])}
    return _native.solve_many(
        **rows,
        gammas=np.array([problem.kernel.gamma], dtype=np.float64),
        tasks=[task | scales for task in tasks],
        method="search",
        tol=float(limits.tol),
        max_iter=int(limits.max_iter),
        seconds=limits.seconds,
        cache_size=float(limits.cache_size),
        threads=threads(limits.n_jobs),
        coefficients=coefficients,
        report=None,
    )


def _spread(beta: NDArray[np.float64], rows: NDArray[np.intp], n: int) -> csr_array:
    """Coefficients of some rows as those of all rows."""
    found = csr_array(beta)
    return csr_array((found.data, rows[found.indices], found.indptr), shape=(len(beta), n))


def _sums(problem: DualProblem, coef: csr_array, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """The sums of machines with these coefficients, without biases, at these rows."""
    if problem.kernel.name == "linear":  # around one centre for all machines
        centre = np.zeros(problem.X.shape[1]) if issparse(problem.X) else 2.0 * (0.5 * problem.X).mean(axis=0)
        at = problem.X[rows] if issparse(problem.X) else problem.X[rows] - centre
        sums = at @ (coef @ (problem.X if issparse(problem.X) else problem.X - centre)).T
        return np.asarray(sums.toarray() if issparse(sums) else sums)
    support = np.unique(coef.indices)
    vectors = np.empty((0, 0)) if problem.kernel.name == "precomputed" else problem.X[support]
    machine = OneVsRestMachine(problem.kernel, vectors, coef[:, support], np.zeros(coef.shape[0]), support, problem.n)
    return machine.each(problem.X[rows])
