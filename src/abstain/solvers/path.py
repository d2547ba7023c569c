"""All solutions along C, breakpoint by breakpoint, in the native core (after Hastie et al., JMLR 5, 2004).

With gamma = beta / C and lambda = 1 / C the optimum is piecewise linear in lambda: between two breakpoints only the
rows between two bounds of the dual move, each at its own rate, and so does the bias (``native/core/path.hpp``).
"""

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.certificate import certify, feasible, rounding, score_rounding
from abstain.dual.problem import DualProblem
from abstain.solvers.native import ActiveSet, Progress, best_bias, native_problem

CERTIFIED = 1e-6  # largest relative duality gap of what `RegularizationPath.at` returns
NEAR_A_KNOT = 10.0  # in errors of the score: as in native/core/policy.hpp


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The optimum for every C from `C_min` to `C_max`.

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
    _cache_size: float = 500.0
    _n_jobs: int | None = None

    def at(self, C: float) -> tuple[NDArray[np.float64], float]:
        """Return the coefficients beta of all training rows, signed, and the intercept, at any C on the path.

        The result is certified: its relative duality gap is at most `CERTIFIED` = 1e-6, computed in float64. This takes
        one product of the kernel matrix with beta. If rounding has led the path astray, the active set is solved again
        at this C; if even that leaves a larger gap, an error says so.
        """
        if not self.C_min <= C <= self.C_max:
            raise ValueError(
                f"C={C!r} must lie on the path, between C_min={self.C_min:g} and C_max={self.C_max:g}; "
                "follow a longer one to go beyond."
            )
        beta, bias = self._interpolated(C)
        problem = self.problem_at(C)
        gap, intercept = _certified(problem, beta, bias)
        if gap > CERTIFIED:
            steps = 1000 * problem.n  # a start this near needs few; the limit ends fits that rounding stalls
            solver = ActiveSet(cache_size=self._cache_size, n_jobs=self._n_jobs, max_iter=steps)
            beta = feasible(problem, solver.solve(problem, feasible(problem, beta)).beta)
            gap, intercept = _certified(problem, beta, None)
        if gap > CERTIFIED:
            raise ValueError(
                f"the optimum at C={C:g} cannot be certified: rounding leaves a relative duality gap of {gap:.3g}, "
                f"above {CERTIFIED:g}; scale the features, or choose a smaller C."
            )
        if self.problem.kernel.name == "linear":
            X = self.problem.X
            gap = certify(problem, beta, intercept, X @ (beta @ X)).relative_gap
            if gap > CERTIFIED:
                raise ValueError(
                    f"the rows lie so far from the origin that beta and the intercept cannot express the optimum at "
                    f"C={C:g}: scores computed from them have a relative duality gap of {gap:.3g}; centre the features."
                )
        return beta, intercept

    def _interpolated(self, C: float) -> tuple[NDArray[np.float64], float | None]:
        """Return beta and the bias on the path's line at C; None where the line leaves the bias open."""
        pieces, lam = self._pieces, 1.0 / C
        piece = int(np.searchsorted(-pieces["start"], -lam, side="right")) - 1
        piece = max(piece, 0)  # 1 / (1 / C_min) may exceed C_min in the last digit
        gamma = np.zeros(self.problem.n)
        settled = np.searchsorted(pieces["settled_from"], piece, side="right")
        gamma[pieces["settled_row"][:settled]] = pieces["settled_gamma"][:settled]  # the last value of a row counts
        moving = slice(pieces["first"][piece], pieces["first"][piece + 1])
        past = lam - pieces["end"][piece]
        gamma[pieces["rows"][moving]] = pieces["gamma"][moving] + past * pieces["rate"][moving]
        # Rows at rest leave the bias open. With the linear kernel the core centres the rows, and its bias with them.
        if moving.start == moving.stop or self.problem.kernel.name == "linear":
            return C * gamma, None
        return C * gamma, float(C * (pieces["bias"][piece] + past * pieces["bias_rate"][piece]))

    def problem_at(self, C: float) -> DualProblem:
        """Return the dual problem at this C."""
        return replace(self.problem, weight=C * self.problem.weight)

    def sets_at(self, C: float) -> NDArray[np.int8]:
        """Return each row's set at this C, as `RowLosses.sets` codes them."""
        return self.problem_at(C).sets(self.at(C)[0], atol=1e-9)


def follow_path(
    problem: DualProblem,
    C_min: float,
    C_max: float,
    *,
    cache_size: float = 500.0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RegularizationPath:
    """Follow the optimum of `problem`, which has the weights of C = 1, from C_min to C_max.

    If `progress` stops it, an error states the C that was reached, because an incomplete path is not returned.
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
        reached = 1.0 / pieces["end"][-1] if len(pieces["end"]) else C_min
        if any(answers):
            raise ValueError(f"the path was stopped by its progress function at C={reached:g} (of C_max={C_max:g}).")
        raise ValueError(
            f"the path could not be followed beyond C={reached:g} (of C_max={C_max:g}): rounding hides the next "
            "breakpoint; scale the features, or pass a smaller C_max."
        )
    inner = 1.0 / pieces["start"][1:][pieces["turned"][1:] > 0]
    breakpoints = np.unique(np.clip(np.concatenate([[C_min], inner, [C_max]]), C_min, C_max))
    return RegularizationPath(problem, float(C_min), float(C_max), breakpoints, pieces, float(cache_size), n_jobs)


def _certified(problem: DualProblem, beta: NDArray[np.float64], bias: float | None) -> tuple[float, float]:
    """Return the relative gap of beta, with what rounding is likely to hide, and the intercept; an open bias is chosen.

    The safety factor of ten in `rounding` is left out: with it, one point in 18 needed an exact fit on noise with a
    small reject cost. Without any allowance for rounding, gaps near 1 went unseen on poly kernels. The error of a score
    far from all knots does not change the gap.
    """
    machine = problem.machine(beta)
    expansion = machine.expansion(problem.X)
    bias = best_bias(problem, expansion) if bias is None else bias
    certificate = certify(problem, beta, bias, expansion)
    error = score_rounding(problem, beta)
    margin = problem.sign * (expansion + bias)
    error[np.abs(margin[:, np.newaxis] - problem.knots).min(axis=1) > NEAR_A_KNOT * error] = 0.0
    hidden = 0.1 * rounding(problem, beta, error) / max(abs(certificate.primal), sys.float_info.min)
    gap = certificate.relative_gap + hidden
    return gap if np.isfinite(gap) else np.inf, replace(machine, bias=bias).intercept
