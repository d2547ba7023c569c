"""Sums over rows in memory, or in a memory-mapped file, as `LinearNewton` needs them."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.linear_certificate import LinearProblem
from abstain.losses.margin_loss import LossTable, MarginLoss
from abstain.machines.linear_machine import native_data

Point = NDArray[np.float64]  # w and, last, b


class Sums(Protocol):
    """Sums over all rows, wherever they are: see ``native/core/linear/linear_block.hpp``.

    One with an attribute ``at_once`` is asked for the slopes at that many step lengths in one call. Where an attribute
    ``native`` is a block of the native core, none of these methods is called.
    """

    features: int

    # ruff: noqa: D102 (described there)
    def score(self, point: Point) -> None: ...
    def along(self, direction: Point) -> None: ...
    def move(self, step: float) -> None: ...
    def slopes(self, sigma: float, steps: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def gradient(self, sigma: float, *, afresh: bool) -> NDArray[np.float64]: ...
    def between(self) -> int: ...
    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]: ...
    def hessian_times(self, direction: Point) -> Point: ...
    def hessian_diagonal(self, everything: bool) -> Point: ...
    def accept(self) -> None: ...
    def shift(self) -> float: ...
    def loss(self) -> float: ...
    def dual(self, negative: float, positive: float) -> float: ...


class LocalSums:
    """Sums over rows in memory, dense or CSR, of either precision, read in place; dense rows minus `centre`."""

    def __init__(self, problem: LinearProblem, n_jobs: int | None = None) -> None:
        self.rows, self.features = problem.X.shape
        kinds, tables = problem.kind.astype(np.int32), problem.loss.tables()
        data = native_data(problem.X, problem.centre)
        self.block = _native.LinearBlock(data, problem.sign, problem.weight, kinds, *tables, threads(n_jobs))

    @property
    def native(self) -> Any:
        """The block of the native core."""
        return self.block

    def __getattr__(self, name: str) -> Any:
        """Return a method of the native block, which has all methods that are not here."""
        if name == "block":  # not there yet
            raise AttributeError(name)
        return getattr(self.block, name)

    def between(self) -> int:
        """Return the number of rows between breakpoints."""
        return int(self.block.between())

    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]:
        """Return the sum over the rows between breakpoints, or over all; an estimate from about `most` of them."""
        rows = self.rows if everything else self.between()
        stride = max(1, rows // most)
        found = self.block.hessian(everything, stride)
        return found if stride == 1 else found * (rows / -(-rows // stride))


def first_penalty(problem: LinearProblem) -> float:
    """Return a penalty that puts rows of margin 0 on the way to their last knot, where the objective is curved."""
    least = reach_of(problem.loss)
    counted = max(1, int(np.count_nonzero(problem.weight)))  # a row of weight 0 changes nothing
    mean = float(problem.weight.sum()) / counted
    return 0.5 * mean * (least if np.isfinite(least) else problem.loss.steepest)


def reach_of(loss: MarginLoss | LossTable) -> float:
    """Return the least slope at a last knot over that knot; inf if no last knot is above 0."""
    knots, slopes = loss.tables()
    reach = np.where(knots[:, -1] > 0.0, -slopes[:, -1] / np.maximum(knots[:, -1], 1e-300), np.inf)
    return float(reach.min())
