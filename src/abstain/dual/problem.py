"""The training problem of every machine in this library, primal and dual (docs/theory.md).

    primal   min_{h, bias}  1/2 |h|^2 + sum_i w_i loss_i(y_i f(x_i)) + total bias
    dual     max_beta       sum_i phi_i(y_i beta_i) - 1/2 beta' K beta    sum beta = total,  0 <= y_i beta_i <= top_i

with f = h + bias and h = sum_j beta_j k(x_j, .). The total is 0, except for the machine of one class.

w_i = C s_i: the loss is a sum, C is on the loss, the bias is unpenalised. loss_i is the loss of y_i's class or of row
i, and phi_i(g) = min_z w_i loss_i(z) + g z is concave and piecewise linear in g = y beta: its slopes are the knots of
the loss, its breakpoints w_i times the loss's slopes, up to top_i = w_i |slopes_i[0]|. At the optimum y_i beta_i rests
on a breakpoint, or lies between two while the margin sits on a knot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.kernels import Kernel, Matrix
from abstain.losses.margin_loss import LossTable, MarginLoss
from abstain.machines.kernel_machine import KernelMachine, class_pairs

ROUNDING = 1e-12  # rounding of a sum, as a share of it; also between a coefficient and the breakpoint it rests on


class RowLosses:
    """Signs y, weights w and losses of n rows, as attributes of the classes that inherit from this one."""

    sign: NDArray[np.int8]
    loss: MarginLoss | LossTable
    weight: NDArray[np.float64]

    @property
    def knots(self) -> NDArray[np.float64]:
        """The knots of each row's loss, (n, K), ascending."""
        return np.asarray(self.loss.tables()[0][self.kind])

    @property
    def breakpoints(self) -> NDArray[np.float64]:
        """Where each row's phi begins, bends and ends, (n, K + 1), ascending from 0, in g = y beta."""
        return np.stack([self.breakpoint(k) for k in range(self.loss.n_knots + 1)], axis=1)

    def breakpoint(self, k: int) -> NDArray[np.float64]:
        """Return the k-th breakpoint of every row, (n,); the 0th is 0, the K-th the largest g."""
        if k not in self._weighted:
            slope: Any = self.loss.columns[1][-k] if k else 0.0  # one number if it is the same for all rows
            found = np.asarray(self.weight * -(slope if isinstance(slope, float) else slope[self.kind]))
            found.flags.writeable = False
            self._weighted[k] = found
        return self._weighted[k]

    def losses(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w_i loss_i(y_i f_i) for each row, at the scores f (bias included)."""
        return np.asarray(self.weight * self.loss.value(self.sign, self.sign * scores))

    def dual_values(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return phi_i(y_i beta_i) for each row."""
        return self.loss.dual_value(self.sign, self.sign * beta, self.weight)

    @cached_property
    def kind(self) -> NDArray[np.intp]:
        """The line of each row's loss in the loss's tables."""
        return self.loss.kinds(self.sign)

    @cached_property
    def native(self) -> dict[str, Any]:
        """Signs, weights and losses as keywords of the core."""
        return native_task(self.sign, self.loss, self.weight)

    @cached_property
    def _weighted(self) -> dict[int, NDArray[np.float64]]:
        """The breakpoints of every row that were asked for: a certificate reads the last one five times."""
        return {}

    def sets(self, beta: NDArray[np.float64], atol: float = ROUNDING) -> NDArray[np.int8]:
        """Return each row's set as a code 0..2K by increasing g = y beta; `set_names` has the names.

        Rows with an even code 2k rest on the k-th breakpoint, rows with an odd code 2k + 1 lie between two. A row
        counts as on a breakpoint if it is within `atol` of it, as a share of the row's largest breakpoint.
        """
        K, g = self.loss.n_knots, self.sign * beta
        slack = atol * self.breakpoint(K)
        below: Any = sum(self.breakpoint(k) < g - slack for k in range(1, K))
        up_to: Any = sum(self.breakpoint(k) <= g + slack for k in range(1, K + 1))
        return np.where(g <= slack, 0, np.maximum(below + up_to + 1, 2 * up_to)).astype(np.int8)


def native_task(sign: NDArray[np.int8], loss: MarginLoss | LossTable, weight: NDArray[np.float64]) -> dict[str, Any]:
    """Return signs, weights and losses as keywords; `kind` is each row's index in the tables of knots and slopes."""
    knots, slopes = loss.tables()
    return {
        "sign": sign,
        "weight": np.require(weight, np.float64, ["C", "A"]),
        "kind": loss.kinds(sign).astype(np.int32),
        "knots": knots,
        "slopes": slopes,
    }


def set_names(n_knots: int) -> tuple[str, ...]:
    """Name the codes of `sets`: as in GRKC08 (section 4.2; I_B is its I_C) for two knots, else by breakpoints."""
    names = ("I_0", "I_tau", "I_B", "I_rho", "I_D")
    if n_knots <= 2:
        return names[: 2 * n_knots + 1]
    return tuple(f"I_{k // 2}" if k % 2 == 0 else f"I_{k // 2}_{k // 2 + 1}" for k in range(2 * n_knots + 1))


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
        if self.sign.shape != (n,) or not (np.abs(self.sign) == 1).all():
            raise ValueError(f"sign must be -1 or +1 for each of the {n} rows.")
        if self.weight.shape != (n,) or not (self.weight >= 0).all() or not np.isfinite(self.weight.sum()):
            raise ValueError(f"C times sample_weight must be >= 0 for each of the {n} rows, with a finite sum.")
        if self.total != 0.0:
            tops = self.sign * self.breakpoint(self.loss.n_knots)
            least, most = float(np.minimum(tops, 0.0).sum()), float(np.maximum(tops, 0.0).sum())
            slack = ROUNDING * (most - least)
            if not least - slack <= self.total <= most + slack:
                raise ValueError(f"total must lie between {least:g} and {most:g}, the sums that the weights allow.")
        diagonal = None if self.kernel.formula.stationary else self.diagonal  # of ones
        if diagonal is not None and not np.isfinite(diagonal).all():
            row = int(np.argmin(np.isfinite(diagonal)))
            raise ValueError(
                f"the {self.kernel.name} kernel overflows at row {row}: k(x, x) = {diagonal[row]}; "
                "scale the features, for example with StandardScaler."
            )

    @cached_property
    def diagonal(self) -> NDArray[np.float64]:
        """k(x, x) of each row."""
        return self.kernel.diagonal(self.X)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.sign)

    def on_rows(self, rows: NDArray[np.intp]) -> "DualProblem":
        """Return the problem of some rows, by their indices; their share of the total is their share of the weights."""
        if len(rows) == self.n:
            return self
        X = self.X[np.ix_(rows, rows)] if self.kernel.name == "precomputed" else self.X[rows]
        weight, total = self.weight[rows], self.total
        if total != 0.0:
            total *= float(weight.sum()) / float(self.weight.sum())
        return replace(self, X=X, sign=self.sign[rows], loss=self.loss.take(rows), weight=weight, total=total)

    def gram(self) -> NDArray[np.float64]:
        """Return the full Gram matrix (n, n), for small problems only: it has n^2 numbers."""
        if self.kernel.name != "precomputed":
            return self.kernel(self.X)
        return np.asarray(self.X.toarray() if issparse(self.X) else self.X)

    def machine(self, beta: NDArray[np.float64], bias: float = 0.0) -> KernelMachine:
        """Return the machine with these coefficients, which scores any rows; its support indexes the problem's rows."""
        support = np.flatnonzero(beta)
        vectors = np.empty((0, 0)) if self.kernel.name == "precomputed" else self.X[support]
        return KernelMachine(self.kernel, vectors, beta[support], bias, support, self.n, balanced=self.total == 0.0)

    def scores(self, beta: NDArray[np.float64], rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Return sum_j beta_j k(x_i, x_j), without bias, for all rows i or the given ones, from the machine."""
        machine, X = self.machine(beta), self.X if rows is None else self.X[rows]
        scores = machine.expansion(X) - machine.intercept
        if machine.linear is not None and machine.balanced and (rest := float(beta.sum())) != 0.0:
            scores += rest * (X @ machine.linear.centre)  # the machine centres its rows, which assumes a sum of 0
        return scores


Loss = MarginLoss | LossTable


@dataclass(frozen=True, eq=False)
class Task:
    """One class against another, or against all others.

    It takes the rows by their codes, 0 to K - 1, so that a list of tasks takes no memory per row.

    Attributes
    ----------
    positive : int
        The class whose rows have y = +1.
    negative : int or None
        The class whose rows have y = -1; None for all others.
    loss : MarginLoss or LossTable
        One loss for each sign, or a table with a line for each row.
    stake : float64 array of shape (n,) or None
        Factors on the weights of the rows; None for 1.
    """

    positive: int
    negative: int | None
    loss: Loss
    stake: NDArray[np.float64] | None = None

    def sign(self, code: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return y of rows of these classes."""
        return np.where(code == self.positive, 1, -1).astype(np.int8)

    def weight(self, code: NDArray[np.intp], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of rows of these classes in the task, given their weights in the training."""
        if self.negative is not None:
            weight = np.where((code == self.positive) | (code == self.negative), weight, 0.0)
        return weight if self.stake is None else weight * self.stake

    def take(self, rows: Any) -> "Task":
        """Return the task for some of the rows."""
        stake = None if self.stake is None else self.stake[rows]
        return replace(self, loss=self.loss.take(rows), stake=stake)


def tasks(n_classes: int, losses: Sequence[Loss], stake: NDArray[np.float64] | None = None) -> "list[Task]":
    """List the tasks of a training with these losses: one for two classes, one for each class, or one for all."""
    if n_classes == 2:
        return [Task(1, None, losses[0], stake)]
    if len(losses) == n_classes:
        return [Task(k, None, loss, stake) for k, loss in enumerate(losses)]
    return [Task(first, second, losses[0], stake) for first, second in class_pairs(n_classes)]
