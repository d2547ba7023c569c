"""Scores of held-out rows for every kernel width, fold and C, in one native call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.dual.problem import DualProblem
from abstain.solvers.boundary import native_problem, threads

OPTIMAL, UNFINISHED = 0, 2  # endings of a fit, as the core counts them; 1 is out of iterations

__all__ = ["HeldOut", "held_out_scores"]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the fits of a search say of all rows.

    Attributes
    ----------
    scores : float64 array of shape (gammas, folds, Cs, rows)
        f of every row by the machine of that width, fold and C, bias included; 0 where unfinished.
    optimal : bool array of shape (gammas, folds, Cs)
        Whether that fit reached the tolerance.
    finished : bool array of shape (gammas, folds, Cs)
        Whether that fit ended by itself, before the time was up.
    """

    scores: NDArray[np.float64]
    optimal: NDArray[np.bool_]
    finished: NDArray[np.bool_]


def held_out_scores(
    problem: DualProblem,
    gammas: NDArray[np.float64],
    Cs: NDArray[np.float64],
    trains: NDArray[np.uint8],
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], bool | None] | None = None,
) -> HeldOut:
    """Fit the problem, whose weights are those of C = 1, on the rows that `trains` marks in each fold, (folds, rows).

    Cs must ascend: each fit of a fold starts from the one before. Widths come in the order given, and what is not done
    after `time_limit` seconds is left. `progress` is told how many fits are done.
    """
    native = native_problem(problem)
    del native["gamma"]
    scores, endings = _native.cross_validate(
        **native,
        gammas=np.require(gammas, np.float64, ["C", "A"]),
        Cs=np.require(Cs, np.float64, ["C", "A"]),
        trains=np.require(trains, np.uint8, ["C", "A"]),
        tol=float(tol),
        max_iter=int(max_iter),
        seconds=np.inf if time_limit is None else float(time_limit),
        cache_size=float(cache_size),
        threads=threads(n_jobs),
        report=progress,
    )
    shape = (len(gammas), len(trains), len(Cs))
    endings = endings.reshape(shape)
    return HeldOut(scores.reshape(*shape, problem.n), endings == OPTIMAL, endings != UNFINISHED)
