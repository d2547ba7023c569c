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
        f of every row by the machine of that width, fold and C, bias included; 0 where unfinished.
    optimal : bool array of shape (gammas, folds, Cs)
        Whether that fit reached the tolerance.
    finished : bool array of shape (gammas, folds, Cs)
        Whether that fit ended before the time was up.
    """

    scores: NDArray[np.float64]
    optimal: NDArray[np.bool_]
    finished: NDArray[np.bool_]


def held_out_scores(
    problem: DualProblem,
    gammas: NDArray[np.float64],
    Cs: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], bool | None] | None = None,
) -> OutOfFold:
    """Fit the problem with each fold's weights at C = 1, (folds, rows), which replace its own.

    A row of weight 0 is held out of the fold. Cs must ascend: each fit of a fold starts from the one before. Widths
    come in the order given, and what is not done after `time_limit` seconds is left. `progress` is called with the
    number of fits done.
    """
    if not problem.kernel.formula.native and len(gammas) > 1:  # a Gram matrix per width
        limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "cache_size": cache_size, "n_jobs": n_jobs}
        limits["time_limit"] = None if time_limit is None else time_limit / len(gammas)
        parts = [held_out_scores(problem, gammas[[at]], Cs, weights, **limits) for at in range(len(gammas))]
        return OutOfFold(*(np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])))
    problem = replace(problem, kernel=replace(problem.kernel, gamma=float(gammas[0])))
    task = native_task(problem) | {"scales": np.require(Cs, np.float64, ["C", "A"])}
    folds = [task | {"weight": weight} for weight in np.require(weights, np.float64, ["C", "A"])]
    fits = _native.solve_many(
        **native_rows(problem),
        gammas=np.require(gammas, np.float64, ["C", "A"]),
        tasks=[fold | {"kernel": width} for width in range(len(gammas)) for fold in folds],
        method="search",
        tol=float(tol),
        max_iter=int(max_iter),
        seconds=np.inf if time_limit is None else float(time_limit),
        cache_size=float(cache_size),
        threads=threads(n_jobs),
        coefficients=False,
        report=progress,
    )
    shape = (len(gammas), len(folds), len(Cs))
    status = np.array(fits["status"]).reshape(shape)
    finished = status != Status.TIME_LIMIT.value
    scores = fits["expansion"].reshape(*shape, problem.n)
    scores += fits["bias"].reshape(*shape, 1)
    scores[~finished] = 0.0
    return OutOfFold(scores, status == Status.OPTIMAL.value, finished)
