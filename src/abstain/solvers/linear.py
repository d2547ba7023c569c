"""The linear machine: an augmented Lagrangian with semismooth Newton steps, from sums over blocks of rows.

::

    min_{w, b}  1/2 |w|^2 + sum_i w_i loss_i(m_i),      m_i = y_i (x_i . w + b)

For multipliers lambda and a penalty sigma the inner problem is smooth except for its second derivative (see
``native/core/linear/linear_block.hpp`` for gamma):

    gradient  (w, 0) - sum_i y_i gamma_i (x_i, 1)        Hessian  diag(1, ..., 1, 0) + sigma sum_D (x_i, 1)(x_i, 1)'

D has the rows whose gamma lies between two breakpoints. Newton steps with an exact line search until the gradient is
small, then lambda <- gamma and sigma <- 3 sigma. gamma is dual feasible except for sum_i y_i gamma_i = 0: the heavier
side is scaled down. The duality gap follows, and ends the fit.

Yan & Li (Optimization Methods and Software 35, 2020) have this for the plain hinge without a bias.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from abstain.arguments import one_blas_thread
from abstain.dual.proof import Status
from abstain.solvers.linear_rows import Point, Sums

POLISHED = 1e-15  # relative gap below which nothing can be gained
ROUNDED, STALLS = 1e-10, 3  # relative gap below which this many penalties without halving it mean rounding
GROWTH = 3.0  # of sigma
INNER = 0.1  # share of the change of the multipliers that the error of an inner problem may have
FLAT = 0.1  # share of the first slope at which a line search may end
MOST_DENSE = 2000  # features up to which the Hessian is formed
MOST_INNER = 40  # Newton steps of one inner problem
PENALTIES = 60  # values of sigma
SAMPLED = 30  # least rows for each entry of the point to estimate a Hessian from
PRODUCTS = 4e10  # products that forming a Hessian may take; beyond, it is estimated
CG_STEPS, CG_ACCURACY = 200, 0.1  # of conjugate gradients, where the Hessian is not formed
MOST_POLISHED = 500  # Newton steps after which polishing ends
MOST_TRIALS = 60  # step lengths of one line search, or calls for several
FIRST_STEPS = (0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.3, 2.0, 5.0)  # where several cost as much as one


def most_rows(features: int) -> int:
    """Return the largest number of rows from which a Hessian is formed; with more rows it is estimated."""
    return int(max(SAMPLED * (features + 1), PRODUCTS / (features + 1) ** 2))


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """What the solver found.

    Attributes
    ----------
    point : ndarray of shape (n_features + 1,)
        w and, last, b.
    scale : (float, float)
        The factors on gamma of the two sides, (-1, +1), that make it feasible.
    status : Status
    iterations : int
        Newton steps.
    gap : float
        The relative duality gap by the solver's own sums.
    sigma : float
        The last penalty, for a warm start.
    """

    point: Point
    scale: tuple[float, float]
    status: Status
    iterations: int
    gap: float
    sigma: float


@dataclass(frozen=True)
class LinearNewton:
    """Settings of the solver.

    Attributes
    ----------
    tol : float
        The relative duality gap at which it stops.
    max_iter : int
        Limit on Newton steps.
    polish : bool
        Whether to go on below `tol` while one of three penalties halves the gap: to about the last digits.
    time_limit : float or None
        Seconds.
    progress : callable or None
        Called with the number of steps and the relative gap; a true answer ends the fit.
    """

    tol: float = 1e-4
    max_iter: int = 1000
    time_limit: float | None = None
    progress: Callable[..., bool | None] | None = None
    polish: bool = False

    def solve(self, sums: Sums, sigma: float, start: Point | None = None) -> LinearSolution:
        """Minimise from `start`, with `sigma` as the first penalty."""
        # threads of BLAS wait for each other where the processor has other work: five to ten times as long
        with one_blas_thread(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return _Run(self, sums, sigma, start).solution()


class _Run:
    def __init__(self, settings: LinearNewton, sums: Sums, sigma: float, start: Point | None) -> None:
        self.settings, self.sums = settings, sums
        self.until = np.inf if settings.time_limit is None else time.monotonic() + settings.time_limit
        self.point = np.zeros(sums.features + 1) if start is None else np.array(start, dtype=np.float64)
        self.sigma = sigma
        self.at_once = int(getattr(sums, "at_once", 1))
        self.steps = 0
        self.gap, self.scale = np.inf, (0.0, 0.0)
        self.best = np.inf
        self.kept = (np.inf, self.point)
        sums.score(self.point)

    def solution(self) -> LinearSolution:
        status = self._ended()
        # scores that are computed again differ in the last digit, and gamma by sigma times that
        if self.gap > min(2.0 * self.kept[0], max(self.kept[0], self.settings.tol)):
            self.point = self.kept[1]
            self.sums.score(self.point)
            self._judge(self.sums.gradient(self.sigma, afresh=True).reshape(2, -1))
        return LinearSolution(self.point, self.scale, status, self.steps, self.gap, self.sigma)

    def _ended(self) -> Status:
        before, stalled = np.inf, 0
        for _ in range(PENALTIES):
            if (ended := self._inner()) is not None:
                return ended
            stalled = stalled + 1 if self.best > 0.5 * before else 0
            good, rounded = self.kept[0] <= self.settings.tol, self.best <= ROUNDED
            if (good or rounded) and stalled >= (1 if good and rounded else STALLS):
                break
            before = self.best
            self.sums.accept()
            self.sigma *= GROWTH
            self.kept = (np.inf, self.point)  # the gap of an earlier point was for the multipliers of that time
        return Status.OPTIMAL if self.kept[0] <= self.settings.tol else Status.INACCURATE

    def _inner(self) -> Status | None:
        """Newton steps at one penalty; None if the next one should follow."""
        solve = None
        formed = self.sums.features <= MOST_DENSE  # then a test with the last factor costs next to nothing
        for step in range(MOST_INNER):
            sides = self.sums.gradient(self.sigma, afresh=step == 0).reshape(2, -1)
            self._judge(sides)
            if self.gap <= (POLISHED if self.settings.polish else self.settings.tol):
                return Status.OPTIMAL
            if (ended := self._limit()) is not None:
                return ended
            gradient = -sides.sum(axis=0)
            gradient[:-1] += self.point[:-1]
            enough = INNER**2 / self.sigma * self.sums.shift()
            if solve is not None and formed and gradient @ solve(gradient) <= enough:
                return None
            solve = self._newton()
            direction = -solve(gradient)
            slope = float(gradient @ direction)
            if not np.isfinite(slope) or slope >= 0.0:
                return None
            if step > 0 and not formed and -slope <= enough:
                return None
            self._search(direction, slope)
            self.steps += 1
        return None

    def _judge(self, sides: NDArray[np.float64]) -> None:
        """Set the relative gap at this point, and the factors that make gamma feasible."""
        w = self.point[:-1]
        primal = 0.5 * float(w @ w) + self.sums.loss()
        negative, positive = -float(sides[0, -1]), float(sides[1, -1])
        least = min(negative, positive)
        scale = (least / negative if negative > 0.0 else 0.0, least / positive if positive > 0.0 else 0.0)
        dual_w = scale[0] * sides[0, :-1] + scale[1] * sides[1, :-1]
        dual = self.sums.dual(*scale) - 0.5 * float(dual_w @ dual_w)
        gap = max(0.0, primal - dual) if np.isfinite(primal - dual) else np.inf  # max() would turn nan into 0
        self.gap = gap / max(primal, np.finfo(np.float64).tiny)
        self.scale = scale
        self.best = min(self.best, self.gap)
        if self.gap < self.kept[0]:
            self.kept = (self.gap, self.point)

    def _limit(self) -> Status | None:
        if self.settings.progress is not None and self.settings.progress(self.steps, self.gap):
            return Status.ITERATION_LIMIT
        if self.settings.polish and self.kept[0] <= self.settings.tol and self.steps >= MOST_POLISHED:
            return Status.OPTIMAL
        if self.steps >= self.settings.max_iter:
            return Status.ITERATION_LIMIT
        return Status.TIME_LIMIT if time.monotonic() > self.until else None

    def _newton(self) -> Callable[[Point], Point]:
        """Return a function that solves with the Hessian at this point."""
        d = self.sums.features
        if d > MOST_DENSE:
            return self._conjugate()
        # if no row is between breakpoints the bias has no curvature: the curvature of all rows is an upper bound
        H = self.sums.hessian(most_rows(d), everything=self.sums.between() == 0).reshape(d + 1, d + 1)
        H *= self.sigma
        H[np.arange(d), np.arange(d)] += 1.0
        unit = 1.0 / np.sqrt(np.diag(H))
        H *= unit[:, np.newaxis] * unit
        ridge = 0.0
        while True:
            try:
                factor = scipy.linalg.cho_factor(H + ridge * np.eye(d + 1) if ridge else H, check_finite=False)
                break
            except scipy.linalg.LinAlgError:
                ridge = max(1e-14, 10.0 * ridge)
                if not np.isfinite(ridge):  # H has overflowed: the slope is not a number, which ends these steps
                    return lambda v: np.full_like(v, np.nan)
        return lambda v: unit * scipy.linalg.cho_solve(factor, unit * v, check_finite=False)

    def _conjugate(self) -> Callable[[Point], Point]:
        """Conjugate gradients, with the diagonal as the preconditioner."""
        empty = self.sums.between() == 0
        diagonal = self.sigma * self.sums.hessian_diagonal(empty)
        diagonal[:-1] += 1.0
        inverse, sigma = 1.0 / diagonal, self.sigma
        if empty:
            return lambda v: inverse * v

        def product(v: Point) -> Point:
            out = sigma * self.sums.hessian_times(v)
            out[:-1] += v[:-1]
            return out

        def solve(v: Point) -> Point:
            x, r = np.zeros_like(v), v.copy()
            z = inverse * r
            p, rho = z.copy(), float(r @ z)
            first = rho
            for _ in range(CG_STEPS):
                q = product(p)
                alpha = rho / float(p @ q)
                x += alpha * p
                r -= alpha * q
                z = inverse * r
                new = float(r @ z)
                if new <= CG_ACCURACY**2 * first:
                    break
                p = z + (new / rho) * p
                rho = new
            return x

        return solve

    def _search(self, direction: Point, first: float) -> None:
        """Move along the direction until the slope is at most FLAT times the first one.

        The slope is piecewise linear and rises, so Newton's steps on it, kept inside the bracket, soon find its zero.
        """
        p, w = direction[:-1], self.point[:-1]
        offset, rate = float(w @ p), float(p @ p)
        self.sums.along(direction)
        step = (self._step if self.at_once == 1 else self._steps)(offset, rate, first)
        self.sums.move(step)
        self.point = self.point + step * direction

    def _step(self, offset: float, rate: float, first: float) -> float:
        """Find the step, one length at a time."""
        low, high, step = 0.0, np.inf, 1.0
        for _ in range(MOST_TRIALS):
            slope, bend = self.sums.slopes(self.sigma, np.array([step]))
            slope, bend = offset + step * rate + slope, rate + bend
            if abs(slope) <= FLAT * abs(first):
                break
            low, high = (step, high) if slope < 0.0 else (low, step)
            following = step - slope / bend if bend > 0.0 else np.inf
            if not low < following < high:
                following = 2.0 * step if np.isinf(high) else 0.5 * (low + high)
            step = min(following, 10.0 * step)
        return step

    def _steps(self, offset: float, rate: float, first: float) -> float:
        """Find the step where many lengths cost as much as one: each call narrows the bracket to two neighbours."""
        steps = np.array(FIRST_STEPS)
        low, high, best = 0.0, np.inf, (np.inf, 1.0)
        for _ in range(MOST_TRIALS):
            slopes = offset + steps * rate + self.sums.slopes(self.sigma, steps)[: len(steps)]
            at = int(np.argmin(np.abs(slopes)))
            best = min(best, (abs(float(slopes[at])), float(steps[at])))
            if best[0] <= FLAT * abs(first):
                break
            low = max(low, float(steps[slopes < 0.0].max(initial=0.0)))
            high = min(high, float(steps[slopes >= 0.0].min(initial=np.inf)))
            beyond = low * np.logspace(0.1, 2.0, self.at_once)
            steps = np.linspace(low, high, self.at_once + 2)[1:-1] if np.isfinite(high) else beyond
        return best[1]
