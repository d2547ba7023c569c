"""SMO in plain NumPy on the full Gram matrix: slow but readable, the reference for the tests.

As a function of beta_i, row i's part of the dual is concave and piecewise linear on edges_0 < ... < edges_K (the
breakpoints for y = +1, minus the breakpoints in reverse for y = -1), with slopes descending from piece to piece.
With F = K beta, increasing beta_i initially gains (slope right of beta_i) - F_i, and decreasing beta_j costs (slope
left of beta_j) - F_j. The i with the largest gain is paired with the j that gives the largest estimated increase of the
dual, and the pair moves along beta_i + t, beta_j - t, from piece to piece while the dual increases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import feasible
from abstain.dual.problem import ROUNDING, DualProblem
from abstain.dual.proof import DualSolution, Status
from abstain.losses.margin_loss import MarginLoss

__all__ = ["Reference", "best_bias"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Reference:
    """The optimum to nearly full precision, for small problems.

    Parameters
    ----------
    tol : float, default=1e-10
        Stop when the gain of the best pair is at most this.
    max_iter : int, default=1_000_000
    """

    tol: float = 1e-10
    max_iter: int = 1_000_000

    def solve(self, problem: DualProblem, start: Vector | None = None) -> DualSolution:
        """Solve `problem`, starting from `start`, a feasible beta, or from the one nearest to 0."""
        K, rows = problem.gram(), _Rows(problem)
        beta = feasible(problem, np.zeros(problem.n)) if start is None else np.array(start, dtype=np.float64)
        F = K @ beta
        status, iterations = Status.ITERATION_LIMIT, 0
        while iterations < self.max_iter:
            i, j, violation = rows.pair(K, beta, F)
            if violation <= max(self.tol, rows.noise):
                F = K @ beta  # the running sums drift, so recompute them before stopping
                i, j, violation = rows.pair(K, beta, F)
                if violation <= max(self.tol, rows.noise):
                    status = Status.OPTIMAL if violation <= self.tol else Status.INACCURATE
                    break
            before = beta[i], beta[j]
            rows.step(K, beta, F, i, j)
            iterations += 1
            if (beta[i], beta[j]) == before:
                status = Status.INACCURATE
                break
        F = K @ beta
        return DualSolution(beta, best_bias(problem, F), F, status, iterations)


class _Rows:
    """Edges and slopes of every row, in beta."""

    def __init__(self, problem: DualProblem) -> None:
        positive = (problem.sign > 0)[:, np.newaxis]
        breakpoints, slopes = problem.breakpoints, problem.knots[:, ::-1]
        self.edges = np.where(positive, breakpoints, -breakpoints[:, ::-1])
        self.slopes = np.where(positive, slopes, -slopes[:, ::-1])
        self.diagonal = problem.kernel.diagonal(problem.X)
        # A violation below this is rounding.
        self.noise = 16.0 * float(np.spacing(np.abs(slopes).max()))

    def pair(self, K: Vector, beta: Vector, F: Vector) -> tuple[int, int, float]:
        """Give the pair to step along, and the largest violation max(up) - min(down)."""
        at, every = beta[:, np.newaxis], np.arange(len(beta))
        walled = np.pad(self.slopes, ((0, 0), (1, 1)))
        walled[:, 0], walled[:, -1] = np.inf, -np.inf
        up = walled[every, 1 + (self.edges[:, 1:] <= at).sum(axis=1)] - F
        down = walled[every, (self.edges[:, :-1] < at).sum(axis=1)] - F
        i = int(np.argmax(up))
        gain = up[i] - down
        # Without edges the dual would increase by gain^2 / (2 curvature); for two equal rows both are 0.
        curvature = np.maximum(self.diagonal[i] + self.diagonal - 2.0 * K[i], 1e-12 * self.diagonal.max())
        j = int(np.argmax(np.where(gain > self.noise, gain**2 / curvature, 0.0)))
        return i, j, float(gain.max())

    def step(self, K: Vector, beta: Vector, F: Vector, i: int, j: int) -> None:
        """Maximise the dual exactly along beta_i + t, beta_j - t; beta and F change in place."""
        curvature = K[i, i] + K[j, j] - 2.0 * K[i, j]
        at_i, at_j, moved, inside = beta[i], beta[j], 0.0, False
        while not inside:
            slope_i, edge_i = self._above(i, at_i)
            slope_j, edge_j = self._below(j, at_j)
            gain = (slope_i - F[i]) - (slope_j - F[j]) - curvature * moved
            if gain <= 0.0:
                break
            room = min(edge_i - at_i, at_j - edge_j)
            t = gain / curvature if curvature * room > gain else room
            inside = t < room
            # Land exactly on an edge: whether beta rests on it is tested by comparison.
            at_i = edge_i if t == edge_i - at_i else at_i + t
            at_j = edge_j if t == at_j - edge_j else at_j - t
            moved += t
        F += (at_i - beta[i]) * K[i] + (at_j - beta[j]) * K[j]
        beta[i], beta[j] = at_i, at_j

    def _above(self, i: int, at: float) -> tuple[float, float]:
        """Give the slope of row i right of `at`, and where its piece ends."""
        piece = int(np.searchsorted(self.edges[i, 1:], at, side="right"))
        return (self.slopes[i, piece], self.edges[i, piece + 1]) if piece < self.slopes.shape[1] else (-np.inf, at)

    def _below(self, j: int, at: float) -> tuple[float, float]:
        """Give the slope of row j left of `at`, and where its piece begins."""
        piece = int(np.searchsorted(self.edges[j, :-1], at, side="left")) - 1
        return (self.slopes[j, piece], self.edges[j, piece]) if piece >= 0 else (np.inf, at)


def best_bias(problem: DualProblem, expansion: Vector) -> float:
    """Return the bias that minimises the primal for a fixed expansion F; the midpoint if a whole interval does.

    ::

        sum_i w_i loss_i(y_i (F_i + bias)) + total bias is convex and piecewise linear in the bias; far to the left
        its slope is sum_{y_i = +1} w_i slopes_i[0] + total; it grows by w_i times the bend at y_i knot - F_i

    So the minimum is where the running sum of sorted bends crosses 0. If one class has no weight, every bias far enough
    towards the other is optimal: the result is the finite end of that ray, and 0 if neither class has any weight.
    """
    bends_at, bends, slope = [], [], 0.0
    knots, slopes_of = problem.loss.tables()
    bends_of = -slopes_of
    bends_of[:, :-1] += slopes_of[:, 1:]
    by_class = isinstance(problem.loss, MarginLoss)
    for y in (-1, 1):
        rows = ((problem.sign == y) & (problem.weight > 0)).nonzero()[0]
        weight: Vector = problem.weight[rows]
        kind: Any = int(y > 0) if by_class else problem.kind[rows]
        if not by_class and len(kind) and (kind == kind[0]).all():
            kind = int(kind[0])  # one loss for the whole class need not be gathered
        for k in range(problem.loss.n_knots):
            bends_at.append(y * knots[kind, k] - expansion[rows])
            bends.append(bends_of[kind, k] * weight)
        if y > 0 and len(rows):
            first = slopes_of[kind, 0]
            slope = float(first * weight.sum()) if first.ndim == 0 else float(first @ weight)
    slope += problem.total
    at, bend = np.concatenate(bends_at), np.concatenate(bends)
    order = np.argsort(at, kind="stable")
    at, slopes = at[order], slope + np.cumsum(bend[order])
    flat = ROUNDING * float(bend.sum())  # a sum this close to 0 is 0 up to rounding
    ends = [float(at[i]) for i in (slopes.searchsorted(-flat), slopes.searchsorted(flat, "right")) if i < len(at)]
    if slope >= -flat:
        ends = ends[1:]
    return float(sum(ends) / len(ends)) if ends else 0.0
