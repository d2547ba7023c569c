"""The training problem of every machine in this library, primal and dual (docs/theory.md).

    primal   min_{h, bias}  1/2 |h|^2 + sum_i w_i loss_i(y_i f(x_i)) + total bias
    dual     max_beta       sum_i phi_i(y_i beta_i) - 1/2 beta' K beta    sum beta = total,  0 <= y_i beta_i <= top_i

with f = h + bias and h = sum_j beta_j k(x_j, .). The total is 0, but for the machine of one class.

w_i = C s_i: the loss is a sum, C is on the loss, the bias is unpenalised. loss_i is that of y_i's class or of row i,
and phi_i(g) = min_z w_i loss_i(z) + g z is concave and piecewise linear in g = y beta: its slopes are the knots of the
loss, its breakpoints w_i times the loss's slopes, up to top_i = w_i |slopes_i[0]|. At the optimum y_i beta_i rests on a
breakpoint, or lies between two while the margin sits on a knot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.row_losses import RowLosses
from abstain.kernels import Kernel, Matrix
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss
from abstain.machines.kernel_machine import KernelMachine

__all__ = ["DualProblem"]

ROUNDING = 1e-12  # of a sum, as a share of it


@dataclass(frozen=True, eq=False)
class DualProblem(RowLosses):
    """A kernel, signed rows and a weighted loss; no array is copied.

    Parameters
    ----------
    kernel : Kernel
    X : float64 array (C order) or CSR matrix of shape (n, d); for the precomputed kernel the Gram matrix (n, n)
    sign : int8 array of shape (n,)
        y, each -1 or +1.
    loss : MarginLoss or LossTable
        One loss per class, or a table with each row's own.
    weight : float64 array of shape (n,)
        w = C s, finite and >= 0; includes sample and class weights.
    total : float, default=0.0
        What the coefficients add up to.
    """

    kernel: Kernel
    X: Matrix
    sign: NDArray[np.int8]
    loss: MarginLoss | LossTable
    weight: NDArray[np.float64]
    total: float = 0.0

    def __post_init__(self) -> None:
        n = self.X.shape[0]
        if self.kernel.name == "precomputed" and self.X.shape != (n, n):
            raise ValueError(f'X must be a square Gram matrix for kernel="precomputed"; its shape is {self.X.shape}.')
        if self.sign.shape != (n,) or not np.isin(self.sign, (-1, 1)).all():
            raise ValueError(f"sign must be -1 or +1 for each of the {n} rows.")
        if self.weight.shape != (n,) or not (self.weight >= 0).all() or not np.isfinite(self.weight.sum()):
            raise ValueError(f"C times sample_weight must be >= 0 for each of the {n} rows, with a finite sum.")
        if self.total != 0.0:
            self._check_total()
        diagonal = self.kernel.diagonal(self.X)
        if not np.isfinite(diagonal).all():
            row = int(np.argmin(np.isfinite(diagonal)))
            raise ValueError(
                f"the {self.kernel.name} kernel overflows at row {row}: k(x, x) = {diagonal[row]}; "
                "scale the features, for example with StandardScaler."
            )

    def _check_total(self) -> None:
        top = self.breakpoint(self.loss.n_knots)
        least, most = (float(y * top[self.sign == y].sum()) for y in (-1, 1))
        slack = ROUNDING * (most - least)
        if not least - slack <= self.total <= most + slack:
            raise ValueError(f"total must lie between {least:g} and {most:g}, the sums that the weights allow.")

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.sign)

    def on_rows(self, rows: NDArray[np.intp]) -> DualProblem:
        """Give the problem of some of the rows, by their indices; their share of the total is that of the weights."""
        if len(rows) == self.n:
            return self
        X = self.X[np.ix_(rows, rows)] if self.kernel.name == "precomputed" else self.X[rows]
        weight, total = self.weight[rows], self.total
        if total != 0.0:
            total *= float(weight.sum()) / float(self.weight.sum())
        return replace(self, X=X, sign=self.sign[rows], loss=self.loss.take(rows), weight=weight, total=total)

    def gram(self) -> NDArray[np.float64]:
        """Give the full Gram matrix (n, n), for small problems only: it has n^2 numbers."""
        if self.kernel.name != "precomputed":
            return self.kernel(self.X)
        return np.asarray(self.X.toarray() if issparse(self.X) else self.X)

    def machine(self, beta: NDArray[np.float64], bias: float = 0.0) -> KernelMachine:
        """Give the machine with these coefficients, which scores any rows; its support indexes the problem's rows."""
        support = np.flatnonzero(beta)
        vectors = np.empty((0, 0)) if self.kernel.name == "precomputed" else self.X[support]
        return KernelMachine(self.kernel, vectors, beta[support], bias, support, self.n, balanced=self.total == 0.0)

    def scores(self, beta: NDArray[np.float64], rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Give sum_j beta_j k(x_i, x_j), without bias, for all rows i or the given ones, from the machine."""
        machine, X = self.machine(beta), self.X if rows is None else self.X[rows]
        scores = machine.expansion(X) - machine.intercept
        if machine.linear is not None and machine.balanced and (rest := float(beta.sum())) != 0.0:
            scores += rest * (X @ machine.linear.centre)  # the machine centres its rows, which assumes a sum of 0
        return scores
