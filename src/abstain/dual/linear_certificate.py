"""The proof that a linear machine is optimal, computed independently of any solver, block by block.

::

    primal   1/2 |w|^2 + sum_i w_i loss_i(y_i f(x_i))                      f by the machine that predicts
    dual     sum_i phi_i(gamma_i) - 1/2 |sum_i y_i gamma_i (x_i - c)|^2    0 <= gamma_i <= top_i,  sum_i y_i gamma_i = 0

Any gamma within these bounds gives a lower bound on every primal value, wherever it came from; the centre c changes
nothing, since the coefficients sum to 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.certificate import Certificate
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss

__all__ = ["LinearProblem", "LinearSums", "certify_linear", "linear_sums"]

BLOCK = 2_000_000  # entries of X that are made float64 at a time
NEGLIGIBLE = 1e-9  # relative gap that rounding may hide without being mentioned


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Signed rows and a weighted loss; no array is copied.

    Attributes
    ----------
    X : float32 or float64 array (C order) or CSR matrix of shape (n, d)
    centre : float64 array of shape (d,)
        Where the bias is the score; 0 for sparse rows.
    sign : int8 array of shape (n,)
    weight : float64 array of shape (n,)
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
        slopes = self.loss.tables()[1]
        return np.asarray(self.weight * -slopes[self.loss.kinds(self.sign), 0])

    def blocks(self) -> Iterator[slice]:
        """Slices of rows that fit into memory as float64."""
        step = max(1, BLOCK // max(1, self.X.shape[1]))
        for first in range(0, self.X.shape[0], step):
            yield slice(first, first + step)


@dataclass(frozen=True, eq=False)
class LinearSums:
    """Sums over rows that a certificate is made of; those of several blocks are added.

    Attributes
    ----------
    losses, duals : float
        The sums of w_i loss_i and of phi_i.
    reach : float
        The sum of w_i^2 |x_i - c|^2.
    expansion : float64 array of shape (d,)
        The sum of y_i gamma_i (x_i - c).
    steepest : float
        The largest absolute slope of a loss.
    """

    losses: float
    duals: float
    reach: float
    expansion: NDArray[np.float64]
    steepest: float

    def __add__(self, other: LinearSums) -> LinearSums:
        return LinearSums(
            self.losses + other.losses,
            self.duals + other.duals,
            self.reach + other.reach,
            self.expansion + other.expansion,
            max(self.steepest, other.steepest),
        )

    def certificate(self, w: NDArray[np.float64]) -> Certificate:
        """Return the certificate of a machine with these weights, if the sums are over all rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            primal = 0.5 * float(w @ w) + self.losses
            dual, expansion = lower_bound(self.duals - 0.5 * float(self.expansion @ self.expansion), self.expansion)
            # a score is off by about eps |x - c| |w|, and a loss by its weight and steepest slope times that
            off = float(np.linalg.norm(w)) * self.steepest * np.sqrt(self.reach)
            return judged(primal, dual, off + self.losses, float(np.linalg.norm(w - expansion)))


def judged(primal: float, dual: float, rounded: float, violation: float) -> Certificate:
    """Return the certificate of these values, if sums of the size `rounded` were rounded on the way to them."""
    hidden = 10.0 * sys.float_info.epsilon * rounded
    gap = max(0.0, primal - dual) + (hidden if hidden > NEGLIGIBLE * abs(primal) else 0.0)
    relative = gap / max(abs(primal), sys.float_info.min)
    return Certificate(primal, dual, gap, relative if np.isfinite(relative) else sys.float_info.max, violation)


def lower_bound(dual: float, expansion: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return a dual value and its expansion; those of gamma = 0 if it is below 0, or not a number after an overflow."""
    return (dual, expansion) if 0.0 < dual < np.inf else (0.0, np.zeros_like(expansion))


def certify_linear(problem: LinearProblem, machine: Any, gamma: NDArray[np.float64]) -> Certificate:
    """Certify a machine with `weights`, `centre` and `score`, with gamma clipped and balanced where it must be."""
    return linear_sums(problem, machine, feasible_gamma(problem, gamma)).certificate(machine.weights)


def feasible_gamma(problem: LinearProblem, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip gamma to its bounds and scale down the heavier class, so that the coefficients sum to 0."""
    gamma = bounded_gamma(problem, gamma)
    return balanced_gamma(problem, gamma, side_sums(problem, gamma))


def linear_sums(problem: LinearProblem, machine: Any, gamma: NDArray[np.float64]) -> LinearSums:
    """Sum over the rows of a problem, or of one of its blocks; gamma must be feasible."""
    beta = problem.sign * gamma
    sums, losses, reach = np.zeros(problem.X.shape[1]), 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in problem.blocks():
            X, sign = problem.X[rows], problem.sign[rows]
            loss = problem.loss.take(rows)
            losses += float(problem.weight[rows] @ loss.value(sign, sign * machine.score(X)))
            at = X if issparse(X) else X.astype(np.float64, copy=False) - problem.centre
            sums += beta[rows] @ at
            squares = np.asarray(at.multiply(at).sum(axis=1)).ravel() if issparse(at) else np.einsum("ij,ij->i", at, at)
            reach += float(problem.weight[rows] ** 2 @ squares)
        duals = float(problem.loss.dual_value(problem.sign, gamma, problem.weight).sum())
    return LinearSums(losses, duals, reach, sums, problem.loss.steepest)


def bounded_gamma(problem: LinearProblem, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip gamma to its bounds."""
    return np.asarray(np.clip(gamma, 0.0, problem.top))


def side_sums(problem: LinearProblem, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of gamma over the rows with y = -1 and with y = +1."""
    return np.array([gamma[problem.sign == y].sum() for y in (-1, 1)])


def balanced_gamma(
    problem: LinearProblem, gamma: NDArray[np.float64], sides: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scale down the heavier side, given the sums of both over all rows, so that the coefficients sum to 0."""
    negative, positive = sides.tolist()
    least = min(negative, positive)
    shrink = np.where(problem.sign > 0, least / (positive or 1.0), least / (negative or 1.0))
    return np.asarray(gamma * shrink)
