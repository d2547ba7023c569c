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
from abstain.dual.certificate import best_bias, certify, sets
from abstain.dual.problem import DualProblem
from abstain.solvers.boundary import Progress, native_problem, threads

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
        piece = max(piece, 0)  # 1 / (1 / C_min) may be above C_min by a last digit
        gamma = np.zeros(self.problem.n)
        settled = np.searchsorted(pieces["settled_from"], piece, side="right")
        gamma[pieces["settled_row"][:settled]] = pieces["settled_gamma"][:settled]  # of a repeated row the last holds
        moving = slice(pieces["first"][piece], pieces["first"][piece + 1])
        past = lam - pieces["start"][piece]
        gamma[pieces["rows"][moving]] = pieces["gamma"][moving] + past * pieces["rate"][moving]
        problem, rows = self.problem_at(C), pieces["rows"][moving]
        candidates = [C * gamma]
        if len(rows):
            end = pieces["start"][piece + 1] if piece + 1 < len(pieces["start"]) else 1.0 / self.C_max
            middle = pieces["gamma"][moving] + 0.5 * (end - pieces["start"][piece]) * pieces["rate"][moving]
            for _ in range(2):
                candidates.append(_refined(problem, candidates[-1], rows, C * middle))
        return _best_proven(problem, candidates)

    def problem_at(self, C: float) -> DualProblem:
        """Give the dual problem at this C."""
        return replace(self.problem, weight=C * self.problem.weight)

    def sets_at(self, C: float) -> NDArray[np.int8]:
        """Give each row's set at this C, as `abstain.dual.certificate.sets` codes them."""
        return sets(self.problem_at(C), self.at(C)[0], atol=1e-9)


def _refined(
    problem: DualProblem, beta: NDArray[np.float64], rows: NDArray[np.intp], inside: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take one more step of the system on the moving rows T.

    ::

        K_TT delta + b 1 = y t - F_T,   1' delta = -sum beta

    C (gamma + (lambda - start) rate) cancels where the optimum no longer grows with C: what is left of the digits is
    enough to know T, not for a gap near rounding. `inside` are coefficients within the pieces that T lies on.
    """
    breakpoints = problem.breakpoints[rows]
    g = problem.sign[rows] * inside
    piece = np.clip((breakpoints[:, 1:-1] <= g[:, np.newaxis]).sum(axis=1), 0, problem.loss.n_knots - 1)
    target = problem.sign[rows] * problem.dual_slopes[rows, piece]
    one = np.ones((len(rows), 1))
    gram = problem.X[np.ix_(rows, rows)] if problem.kernel.name == "precomputed" else problem.kernel(problem.X[rows])
    system = np.block([[np.asarray(gram), one], [one.T, np.zeros((1, 1))]])
    wanted = np.append(target - problem.scores(beta, rows), -beta.sum())
    try:
        step = np.linalg.solve(system, wanted)[:-1]
    except np.linalg.LinAlgError:
        return beta
    lower, upper = (breakpoints[np.arange(len(rows)), piece + k] for k in (0, 1))
    refined = beta.copy()
    refined[rows] = problem.sign[rows] * np.clip(problem.sign[rows] * (beta[rows] + step), lower, upper)
    return refined if np.isfinite(refined).all() else beta


def _best_proven(problem: DualProblem, candidates: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    """Give the coefficients with the smallest gap, and their bias: near rounding a step may also lose digits."""
    proven = []
    for beta in candidates:
        expansion = problem.scores(beta)
        bias = best_bias(problem, expansion)
        proven.append((certify(problem, beta, bias, expansion).relative_gap, bias))
    best = int(np.argmin([gap for gap, _ in proven]))
    return candidates[best], proven[best][1]


def follow_path(
    problem: DualProblem,
    C_min: float,
    C_max: float,
    *,
    cache_size: float = 500.0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RegularizationPath:
    """Follow the optimum of `problem`, whose weights are those of C = 1, from C_min to C_max."""
    pieces = _native.path(
        **native_problem(problem),
        lowest=float(C_min),
        highest=float(C_max),
        cache_size=float(cache_size),
        threads=threads(n_jobs),
        report=progress,
    )
    if not pieces["complete"]:
        reached = 1.0 / pieces["start"][-1] if len(pieces["start"]) else C_min
        raise ValueError(
            f"the path could not be followed beyond C={reached:g} (of C_max={C_max:g}): rounding hides the next "
            "breakpoint; scale the features, or give a smaller C_max."
        )
    inner = 1.0 / pieces["start"][1:]
    breakpoints = np.unique(np.clip(np.concatenate([[C_min], inner, [C_max]]), C_min, C_max))
    return RegularizationPath(problem, float(C_min), float(C_max), breakpoints, pieces)
