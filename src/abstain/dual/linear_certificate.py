"""The proof that a linear machine, or a kernel machine on its landmarks, is optimal, independent of any solver.

::

    primal   1/2 |w|^2 + sum_i w_i loss_i(y_i f(x_i))                      f by the machine that predicts
    dual     sum_i phi_i(gamma_i) - 1/2 |sum_i y_i gamma_i (x_i - c)|^2    0 <= gamma_i <= top_i,  sum_i y_i gamma_i = 0

Any gamma within these bounds leads to a lower bound on every primal value, wherever it came from. The centre c changes
nothing, because the coefficients sum to 0. On landmarks, with K = k(landmarks, landmarks) ::

    f(x) = sum_j c_j k(landmark_j, x) + b,  c = A w,  |w|^2 = c' K c
    dual     sum_i phi_i(gamma_i) - 1/2 s' A (A' K A)^-1 A' s,   s = sum_i y_i gamma_i k(landmarks, x_i)

which bounds every machine on these landmarks, and says nothing about machines on other rows: only held-out rows show
how much the landmarks cost. All values are computed again in float64, block by block.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from abstain.arguments import one_blas_thread
from abstain.dual.certificate import Certificate, largest_knot
from abstain.dual.problem import RowLosses
from abstain.kernels import Kernel
from abstain.losses.margin_loss import LossTable, MarginLoss
from abstain.machines.landmark_features import LandmarkFeatures
from abstain.machines.linear_machine import LinearMachine

BLOCK = 2_000_000  # rows, or kernel values, that are summed at a time
NEGLIGIBLE = 1e-9  # relative gap that rounding may hide without being mentioned


@dataclass(frozen=True, eq=False)
class LinearProblem(RowLosses):
    """Signed rows and a weighted loss; no array is copied.

    Several problems over the same rows may be one value: their signs, weights and losses then follow one another.

    Attributes
    ----------
    X : float32 or float64 array (C order) or CSR matrix of shape (n, d)
    centre : float64 array of shape (d,)
        Where the bias is the score; 0 for sparse rows.
    sign : int8 array of shape (n,), or (count n,)
    weight : float64 array of the same shape
        w = C s, finite and >= 0; includes sample and class weights.
    loss : MarginLoss or LossTable
    """

    X: Any
    centre: NDArray[np.float64]
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]
    loss: MarginLoss | LossTable

    @property
    def top(self) -> NDArray[np.float64]:
        """The largest gamma of each row."""
        steepest = -self.loss.tables()[1][:, 0]
        return np.asarray(self.weight * (steepest[0] if (steepest == steepest[0]).all() else steepest[self.kind]))

    @property
    def count(self) -> int:
        """The number of problems."""
        return len(self.sign) // int(self.X.shape[0] or 1) or 1

    def one(self, k: int) -> "LinearProblem":
        """Return the k-th of several problems."""
        return self.some([k])

    def some(self, which: Sequence[int]) -> "LinearProblem":
        """Return some of several problems."""
        n = self.X.shape[0]
        rows = np.concatenate([np.arange(k * n, (k + 1) * n) for k in which])
        return replace(self, sign=self.sign[rows], weight=self.weight[rows], loss=self.loss.take(rows))

    def machine(self, point: NDArray[np.float64]) -> Any:
        """Return the machine of w and, last, b; of several machines if there is a line for each."""
        bias = point[..., -1]
        return LinearMachine(point[..., :-1].copy(), self.centre, bias if bias.ndim else float(bias))

    def row_sums(self, machine: Any, beta: NDArray[np.float64], n_jobs: int | None) -> tuple[Any, Any, Any]:
        """Return the scores of all rows, as the machine predicts them, and its `row_sums`, for each problem."""
        return machine.score(self.X, n_jobs).T.ravel(), *machine.row_sums(self.X, beta, self.weight)

    def certify(self, machine: Any, gamma: NDArray[np.float64], n_jobs: int | None = None) -> Certificate:
        """Certify a machine of this problem, with gamma clipped and balanced where it must be."""
        return self.certificates(machine, gamma, n_jobs)[0]

    def certificates(self, machine: Any, gamma: NDArray[np.float64], n_jobs: int | None = None) -> list[Certificate]:
        """Certify the machines of all problems in one pass over the rows."""
        sums = linear_sums(self, machine, feasible_gamma(self, gamma), n_jobs)
        return [one.certificate(w) for one, w in zip(sums, np.atleast_2d(machine.weights), strict=True)]


@dataclass(frozen=True, eq=False)
class LowRankProblem(LinearProblem):
    """Signed rows, a weighted loss, and the landmarks of the machine; no array is copied.

    Attributes
    ----------
    features : LandmarkFeatures
    several : bool, default=False
        Whether the machine will be one of several, which are scored together.
    """

    features: LandmarkFeatures
    several: bool = False

    def row_sums(self, machine: Any, beta: NDArray[np.float64], n_jobs: int | None) -> tuple[Any, Any, Any]:
        """Return the scores of all rows, and the same sums of their kernel values with the landmarks, in blocks."""
        (n, d), m = self.X.shape, len(self.features.mix)
        step = max(1, BLOCK // max(1, m, d))
        scores, total, reach = np.empty(n), np.zeros(m), 0.0
        for first in range(0, n, step):
            rows = slice(first, first + step)
            X = self.X if step >= n else self.X[rows]  # a slice of sparse rows is a copy
            scores[rows] = machine.score(X, n_jobs).ravel()
            at = self.features.values(X, n_jobs=n_jobs)
            total += beta[rows] @ at
            reach += float(self.weight[rows] ** 2 @ Kernel("linear").diagonal(at))
        return scores, [total], [reach]

    def machine(self, point: NDArray[np.float64]) -> Any:
        """Return the kernel machine of w and, last, b."""
        return self.features.machine(point[:-1], float(point[-1]), several=self.several)

    def certify(self, machine: Any, gamma: NDArray[np.float64], n_jobs: int | None = None) -> Certificate:
        """Certify a machine on the landmarks, with gamma clipped and balanced where it must be."""
        A, gram = self.features.mix, self.features.kernel(self.features.landmarks)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            [found] = linear_sums(self, machine, feasible_gamma(self, gamma), n_jobs)
            # the coefficients of the dual's own machine
            best = A @ cho_solve(cho_factor(A.T @ gram @ A), A.T @ found.expansion, check_finite=False)
            return found.certificate(machine.coef.ravel(), best, gram)


@dataclass(frozen=True, eq=False)
class LinearSums:
    """The sums over rows that a certificate needs; the sums of several blocks are added.

    Attributes
    ----------
    losses, duals : float
        The sums of w_i loss_i and of phi_i.
    reach : float
        The sum of w_i^2 |x_i - c|^2.
    bend : float
        The sum of w_i^2 knot^2, of the largest knot.
    expansion : float64 array of shape (d,)
        The sum of y_i gamma_i (x_i - c).
    steepest : float
        The largest absolute slope of a loss.
    """

    losses: float
    duals: float
    reach: float
    bend: float
    expansion: NDArray[np.float64]
    steepest: float

    def __add__(self, other: "LinearSums") -> "LinearSums":
        names = ("losses", "duals", "reach", "bend", "expansion")
        added = {name: getattr(self, name) + getattr(other, name) for name in names}
        return LinearSums(**added, steepest=max(self.steepest, other.steepest))

    def certificate(
        self, w: NDArray[np.float64], best: NDArray[np.float64] | None = None, gram: NDArray[np.float64] | None = None
    ) -> Certificate:
        """Return the certificate of a machine with these weights, if the sums are over all rows.

        `best` are the weights of the dual's own machine, if they are not the expansion; `gram` measures their lengths.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            best = self.expansion if best is None else best
            primal = 0.5 * _squared(w, gram) + self.losses
            dual = self.duals - 0.5 * float(self.expansion @ best)
            if not 0.0 < dual < np.inf:  # gamma = 0 is better, or there was an overflow
                dual, best = 0.0, np.zeros_like(best)
            # a score is off by about eps (|x - c| |w| + |knot|/10), a loss by its weight and steepest slope times that
            off = self.steepest * (math.sqrt(w @ w) * math.sqrt(self.reach) + 0.1 * math.sqrt(self.bend))
            hidden = 10.0 * sys.float_info.epsilon * (off + self.losses)
            gap = max(0.0, primal - dual) + (hidden if hidden > NEGLIGIBLE * abs(primal) else 0.0)
            relative = gap / max(abs(primal), sys.float_info.min)
            violation = math.sqrt(max(_squared(w - best, gram), 0.0))
        return Certificate(primal, dual, gap, relative if math.isfinite(relative) else sys.float_info.max, violation)


def _squared(w: NDArray[np.float64], gram: NDArray[np.float64] | None) -> float:
    return float(w @ w if gram is None else w @ gram @ w)


def linear_sums(
    problem: "LinearProblem", machine: Any, gamma: NDArray[np.float64], n_jobs: int | None = None
) -> "list[LinearSums]":
    """Sum over the rows of each problem, or of one of its blocks; gamma must be feasible."""
    count, losses = problem.count, np.zeros(problem.count)
    step = BLOCK if count == 1 else len(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        scores, totals, reach = problem.row_sums(machine, problem.sign * gamma, n_jobs)
        for first in range(0, len(gamma), step):
            rows = slice(first, first + step)
            sign = problem.sign[rows]
            of_rows = problem.weight[rows] * problem.loss.take(rows).value(sign, sign * scores[rows])
            losses += of_rows.reshape(count, -1).sum(axis=1)
        duals = problem.loss.dual_value(problem.sign, gamma, problem.weight).reshape(count, -1).sum(axis=1)
        squares = np.square(problem.weight * largest_knot(problem.loss)).reshape(count, -1).sum(axis=1)
    numbers = zip(losses.tolist(), duals.tolist(), reach, squares.tolist(), totals, strict=True)
    return [LinearSums(*each, problem.loss.steepest) for each in numbers]


def feasible_gamma(problem: "LinearProblem", gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip gamma to its bounds and scale down the heavier class, so that the coefficients sum to 0."""
    gamma = bounded_gamma(problem, gamma)
    return balanced_gamma(problem, gamma, side_sums(problem, gamma))


def bounded_gamma(problem: "LinearProblem", gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip gamma to its bounds."""
    return np.asarray(np.minimum(np.maximum(gamma, 0.0), problem.top))


def side_sums(problem: "LinearProblem", gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of gamma over the rows with y = -1 and with y = +1, a line for each problem."""
    of_sides = np.where(problem.sign == np.array([[-1], [1]], dtype=np.int8), gamma, 0.0)
    return np.asarray(of_sides.reshape(2, problem.count, -1).sum(axis=2).T)


def balanced_gamma(
    problem: "LinearProblem", gamma: NDArray[np.float64], sides: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scale down the heavier side, given the sums of both over all rows, so that the coefficients sum to 0."""
    if (sides[:, 0] == sides[:, 1]).all():
        return gamma
    shrink = sides.min(axis=1, keepdims=True) / np.where(sides > 0.0, sides, 1.0)
    factor = np.where(problem.sign.reshape(problem.count, -1) > 0, shrink[:, 1:], shrink[:, :1])
    return np.asarray(gamma * factor.ravel())
