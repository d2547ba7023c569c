"""All solutions along C, breakpoint by breakpoint, in the native core (after Hastie et al., JMLR 5, 2004).

With gamma = beta / C and lambda = 1 / C the optimum is piecewise linear in lambda: between two breakpoints only the
rows between two bounds of the dual move, each at its own rate, and so does the bias (``native/core/path.hpp``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.certificate import best_bias, sets
from abstain.dual.problem import DualProblem
from abstain.solvers.boundary import Progress, native_problem

__all__ = ["RegularizationPath", "follow_path"]


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The exact optimum for every C from `C_min` to `C_max`.

    Attributes
    ----------
    problem : DualProblem
        The problem at C = 1.
    C_min, C_max : float
        The ends of the path.
    breakpoints : float64 array
        The C at which the active set changes, ascending, the two ends included.
    """

    problem: DualProblem
    C_min: float
    C_max: float
    breakpoints: NDArray[np.float64]
    _pieces: dict[str, Any]

    def at(self, C: float) -> tuple[NDArray[np.float64], float]:
        """Give the coefficients beta of all training rows, signed, and the intercept, at any C on the path."""
        if not self.C_min <= C <= self.C_max:
            raise ValueError(
                f"C={C!r} must lie on the path, between C_min={self.C_min:g} and C_max={self.C_max:g}; "
                "follow a longer one to go beyond."
            )
        pieces, lam = self._pieces, 1.0 / C
        piece = int(np.searchsorted(-pieces["start"], -lam, side="right")) - 1
        piece = max(piece, 0)  # 1 / (1 / C_min) may exceed C_min in the last digit
        gamma = np.zeros(self.problem.n)
        settled = np.searchsorted(pieces["settled_from"], piece, side="right")
        gamma[pieces["settled_row"][:settled]] = pieces["settled_gamma"][:settled]  # the last value of a row counts
        moving = slice(pieces["first"][piece], pieces["first"][piece + 1])
        past = lam - pieces["end"][piece]
        gamma[pieces["rows"][moving]] = pieces["gamma"][moving] + past * pieces["rate"][moving]
        beta = C * gamma
        # If no row moves, the bias is not determined: take the middle of the optimal interval. For the linear kernel
        # the core's bias belongs to the scores of the centred rows, and computing the scores of x is cheap.
        if moving.start == moving.stop or self.problem.kernel.name == "linear":
            return beta, best_bias(self.problem_at(C), self.problem.scores(beta))
        return beta, float(C * (pieces["bias"][piece] + past * pieces["bias_rate"][piece]))

    def problem_at(self, C: float) -> DualProblem:
        """Give the dual problem at this C."""
        return replace(self.problem, weight=C * self.problem.weight)

    def sets_at(self, C: float) -> NDArray[np.int8]:
        """Give each row's set at this C, as `abstain.dual.certificate.sets` codes them."""
        return sets(self.problem_at(C), self.at(C)[0], atol=1e-9)


def follow_path(
    problem: DualProblem,
    C_min: float,
    C_max: float,
    *,
    cache_size: float = 500.0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RegularizationPath:
    """Follow the optimum of `problem`, whose weights are those of C = 1, from C_min to C_max.

    If `progress` stops it, an error gives the C that was reached, because an incomplete path is not returned.
    """
    answers: list[bool] = []

    def report(iterations: int, violation: float) -> bool:
        answers.append(bool(progress and progress(iterations, violation)))
        return answers[-1]

    pieces = _native.path(
        **native_problem(problem),
        lowest=float(C_min),
        highest=float(C_max),
        cache_size=float(cache_size),
        threads=threads(n_jobs),
        report=None if progress is None else report,
    )
    if not pieces["complete"]:
        reached = 1.0 / pieces["start"][-1] if len(pieces["start"]) else C_min
        if any(answers):
            raise ValueError(f"the path was stopped by its progress function at C={reached:g} (of C_max={C_max:g}).")
        raise ValueError(
            f"the path could not be followed beyond C={reached:g} (of C_max={C_max:g}): rounding hides the next "
            "breakpoint; scale the features, or give a smaller C_max."
        )
    inner = 1.0 / pieces["start"][1:][pieces["turned"][1:] > 0]
    breakpoints = np.unique(np.clip(np.concatenate([[C_min], inner, [C_max]]), C_min, C_max))
    return RegularizationPath(problem, float(C_min), float(C_max), breakpoints, pieces)
