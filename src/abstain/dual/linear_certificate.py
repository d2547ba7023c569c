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

__all__ = ["LinearProblem", "certify_linear"]

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


def certify_linear(problem: LinearProblem, machine: Any, gamma: NDArray[np.float64]) -> Certificate:
    """Certify a machine with `weights`, `centre` and `score`, with gamma clipped and balanced where it must be."""
    gamma = feasible_gamma(problem, gamma)
    beta, w = problem.sign * gamma, machine.weights
    sums, losses, reach = np.zeros(len(w)), 0.0, 0.0
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
        primal, dual = 0.5 * float(w @ w) + losses, duals - 0.5 * float(sums @ sums)
        # a score is off by about eps |x - c| |w|, and a loss by its weight and steepest slope times that
        hidden = 10.0 * sys.float_info.epsilon * (float(np.linalg.norm(w)) * problem.loss.steepest * np.sqrt(reach) + losses)
        gap = max(0.0, primal - dual) + (hidden if hidden > NEGLIGIBLE * abs(primal) else 0.0)
        relative = gap / max(abs(primal), sys.float_info.min)
        violation = float(np.linalg.norm(w - sums))
    proven = np.isfinite(relative)
    return Certificate(primal, dual, gap, relative if proven else sys.float_info.max, violation)


def feasible_gamma(problem: LinearProblem, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip gamma to its bounds and scale down the heavier class, so that the coefficients sum to 0."""
    gamma = np.clip(gamma, 0.0, problem.top)
    negative, positive = (float(gamma[problem.sign == y].sum()) for y in (-1, 1))
    least = min(negative, positive)
    shrink = np.where(problem.sign > 0, least / (positive or 1.0), least / (negative or 1.0))
    return np.asarray(gamma * shrink)
