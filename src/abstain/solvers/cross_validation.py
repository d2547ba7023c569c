"""Scores of held-out rows for every kernel width, fold and C, in one native call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.problem import DualProblem
from abstain.dual.solution import Status
from abstain.solvers.boundary import native_rows, native_task

__all__ = ["OutOfFold", "held_out_scores"]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The scores of all rows by every fit of a search.

    Attributes
    ----------
    scores : float64 array of shape (gammas, folds, Cs, rows)
        f of every row by the machine of that width, fold and C, bias included; 0 where not tried or unfinished.
    optimal : bool array of shape (gammas, folds, Cs)
        Whether that fit reached the tolerance.
    finished : bool array of shape (gammas, folds, Cs)
        Whether that fit was tried and ended within the time limit.
    """

    scores: NDArray[np.float64]
    optimal: NDArray[np.bool_]
    finished: NDArray[np.bool_]

    def __or__(self, other: OutOfFold) -> OutOfFold:
        """The fits of two searches on the same rows that tried different pairs."""
        return OutOfFold(self.scores + other.scores, self.optimal | other.optimal, self.finished | other.finished)


def held_out_scores(
    problem: DualProblem,
    gammas: NDArray[np.float64],
    Cs: NDArray[np.float64],
    weights: NDArray[np.float64],
    tried: NDArray[np.bool_] | None = None,
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: Callable[[NDArray[np.float64]], bool | None] | None = None,
) -> OutOfFold:
    """Fit the problem with each fold's weights at C = 1, (folds, rows), which replace its own.

    A row of weight 0 is held out of the fold. Cs must ascend: each fit of a fold starts from the previous one. Widths
    are processed in the order given, and fits not done after `time_limit` seconds are skipped. `tried`, of shape
    (gammas, folds, Cs), marks the fits to make; all by default. `progress` is called with the seconds that each of them
    took, in the order of `tried`, and 0 for those that are not done.
    """
    shape = (len(gammas), len(weights), len(Cs))
    tried = np.ones(shape, dtype=bool) if tried is None else tried
    if not problem.kernel.formula.native and len(gammas) > 1:  # a Gram matrix per width
        limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "cache_size": cache_size, "n_jobs": n_jobs}
        limits["time_limit"] = None if time_limit is None else time_limit / len(gammas)
        parts = [
            held_out_scores(problem, gamma, Cs, weights, own, **limits)
            for gamma, own in zip(gammas[:, np.newaxis], tried[:, np.newaxis], strict=True)
        ]
        return OutOfFold(*(np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])))
    problem = replace(problem, kernel=replace(problem.kernel, gamma=float(gammas[0])))
    used = np.flatnonzero(tried.any(axis=(1, 2)))  # the others need no kernel matrix
    task, weights, Cs = native_task(problem), *(np.require(given, np.float64, ["C", "A"]) for given in (weights, Cs))
    fits = _native.solve_many(
        **native_rows(problem),
        gammas=np.require(gammas[used], np.float64, ["C", "A"]),
        tasks=[
            task | {"weight": weights[fold], "scales": Cs[tried[used[width], fold]], "kernel": width}
            for width, fold in np.argwhere(tried[used].any(axis=2)).tolist()
        ],
        method="search",
        tol=float(tol),
        max_iter=int(max_iter),
        seconds=np.inf if time_limit is None else float(time_limit),
        cache_size=float(cache_size),
        threads=threads(n_jobs),
        coefficients=False,
        report=progress,
    )
    status = np.full(shape, Status.TIME_LIMIT.value, dtype=object)
    status[tried] = fits["status"]
    finished = status != Status.TIME_LIMIT.value
    found = fits["expansion"].reshape(-1, problem.n)
    found += fits["bias"][:, np.newaxis]
    found[~finished[tried]] = 0.0
    scores = found.reshape(*shape, problem.n) if tried.all() else np.zeros((*shape, problem.n))
    if not tried.all():
        scores[tried] = found
    return OutOfFold(scores, status == Status.OPTIMAL.value, finished)
