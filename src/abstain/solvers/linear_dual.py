"""The linear kernel with many more rows than features: Newton steps on the weights, then the coefficients of the rows.

The multipliers gamma of `LinearNewton` are the dual coefficients, y_i beta_i = gamma_i. Rows rest on their breakpoints
exactly. Only the rows between two breakpoints, about as many as there are features, make up what is missing in
sum_i beta_i = 0: scaling all rows of a class, as the certificate of `LinearRejectSVC` does, would move the others off
their breakpoints.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.certificate import certify, feasible
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import DualProblem
from abstain.dual.proof import DualSolution, Status
from abstain.solvers.linear import LinearNewton, LocalSums, first_penalty
from abstain.solvers.native import SMO, best_bias, within

FEWEST_ROWS = 1000  # up to which `SMO` finds the exact optimum
ROWS_PER_FEATURE = 5  # with fewer rows for each feature, pair steps may be faster
MOST_FEATURES = 500  # with more, factoring their Hessian takes longer than pair steps on sparse rows
FINER = 0.1  # share of the tolerance that is aimed at: a few Newton steps more
GAPS = (1e-6, 1e-8, 1e-10, 1e-12)  # relative gaps at which the violation is checked
MOST_STEPS = 500  # Newton steps after which pair steps take over
ROUNDING = 1e-12  # between a coefficient and its breakpoint, as a share of the row's largest


@dataclass(frozen=True)
class LinearDual(SMO):
    """SMO, preceded by Newton steps on the weights where the kernel is linear and there are many rows per feature.

    The parameters are those of `SMO`. If the Newton steps do not reach `tol`, pair steps go on from their coefficients.
    """

    def solve(self, problem: DualProblem, start: NDArray[np.float64] | None = None) -> DualSolution:
        """Solve the dual problem, starting from ``start`` (coefficients beta) if it is given."""
        if not suits(problem):
            return super().solve(problem, start)
        began = time.monotonic()
        found = self._newton(problem, start)
        if found.status is not Status.INACCURATE:
            return found
        rest = replace(within(self, began), max_iter=max(0, self.max_iter - found.iterations))
        first = feasible(problem, found.beta)
        again = super(LinearDual, rest).solve(problem, first)
        if again.status is not Status.OPTIMAL:  # on rows of very different lengths pair steps may lead away
            F = problem.scores(first)
            bias = best_bias(problem, F)
            before = certify(problem, first, bias, F)
            if before.relative_gap < certify(problem, again.beta, again.bias).relative_gap:
                again = replace(again, beta=first, bias=bias, expansion=F)
        return replace(again, iterations=found.iterations + again.iterations)

    def solve_many(
        self,
        problems: Sequence[DualProblem],
        scales: NDArray[np.float64] | None = None,
        starts: Sequence[NDArray[np.float64] | None] | None = None,
    ) -> list[list[DualSolution]]:
        """Solve problems over the same rows: as `SMO`, or one after the other."""
        if scales is not None or not problems or not suits(problems[0]):
            return super().solve_many(problems, scales, starts)
        began = time.monotonic()
        starts = [None] * len(problems) if starts is None else starts
        pairs = zip(problems, starts, strict=True)
        return [[within(self, began).solve(problem, start)] for problem, start in pairs]

    def _newton(self, problem: DualProblem, start: NDArray[np.float64] | None) -> DualSolution:
        """Return the coefficients after Newton steps; "inaccurate" if pair steps should go on from them."""
        until = None if self.time_limit is None else time.monotonic() + self.time_limit
        X, n_steps = problem.X, 0
        centre = np.zeros(X.shape[1]) if issparse(X) else X.mean(axis=0)
        linear = LinearProblem(X, centre, problem.sign, problem.weight, problem.loss)
        sums: Any = LocalSums(linear, self.n_jobs)
        sigma, point = first_penalty(linear), None
        if start is not None:
            sums.start(problem.sign * start)
            w = start @ X
            point = np.append(w, best_bias(problem, problem.scores(start)) + centre @ w)
        most = min(self.max_iter, MOST_STEPS)
        best: Any = (np.inf,)
        for gap in GAPS:
            left = None if until is None else max(0.0, until - time.monotonic())
            settings = LinearNewton(gap, most - n_steps, left, self.progress)
            ended = settings.solve(sums, sigma, point)
            n_steps, sigma, point = n_steps + ended.iterations, ended.sigma, ended.point
            beta = problem.sign * balanced(problem, sums.gamma())
            F = problem.scores(beta)
            bias = best_bias(problem, F)
            violation = certify(problem, beta, bias, F).kkt_violation
            best = (violation, beta, bias, F) if violation < best[0] or len(best) == 1 else best
            if violation <= FINER * self.tol or ended.status is not Status.OPTIMAL:
                break
        violation, beta, bias, F = best
        reached = violation <= self.tol
        status = Status.OPTIMAL if reached else ended.status
        stuck = status is Status.ITERATION_LIMIT and MOST_STEPS <= n_steps < self.max_iter
        if stuck or (status is Status.OPTIMAL and not reached):
            status = Status.INACCURATE
        return DualSolution(beta, bias, F, status, n_steps)


def suits(problem: DualProblem) -> bool:
    """Whether Newton steps on the weights are expected to be faster than pair steps."""
    n, d = problem.X.shape
    return problem.kernel.name == "linear" and d <= MOST_FEATURES and n > FEWEST_ROWS and n >= ROWS_PER_FEATURE * d


def balanced(problem: DualProblem, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move the coefficients between breakpoints, in proportion to their room, so that sum_i y_i gamma_i = 0.

    They stay as they are if there is not enough room.
    """
    excess = float(problem.sign @ gamma)
    edges = problem.breakpoints
    gap = edges - gamma[:, np.newaxis]
    near = np.abs(gap) <= ROUNDING * edges[:, -1:]
    down = np.where(gap < 0.0, -gap, np.inf).min(axis=1)
    up = np.where(gap > 0.0, gap, np.inf).min(axis=1)
    room = np.where(near.any(axis=1), 0.0, np.where(problem.sign * excess > 0.0, down, up))
    total = float(room.sum())
    return gamma - problem.sign * (excess / total) * room if abs(excess) < total else gamma
