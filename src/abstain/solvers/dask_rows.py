"""Sums over the chunks of a dask array, as `LinearNewton` needs them: two rounds of the cluster per Newton step.

::

    step     margins of w, gamma, gradient, Hessian, loss, dual parts     gamma stays with its block
    slopes   margins of w, A p, then the slope at a dozen step lengths

A block's state is its multipliers lambda, the gamma of an earlier step: a chain of tasks, one for each penalty, that
the scheduler can run again after a worker is lost. Partial sums are added in the order of the blocks, so the result
does not depend on the scheduler or on the number of workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.dual.linear_certificate import (
    LinearProblem,
    LinearSums,
    balanced_gamma,
    bounded_gamma,
    linear_sums,
    side_sums,
)
from abstain.dual.problem import Loss, Task
from abstain.losses.margin_loss import LossTable
from abstain.solvers import linear
from abstain.solvers.dask_rounds import kept, summed, tasks
from abstain.solvers.linear import LocalSums, Point, reach_of


@dataclass(frozen=True, eq=False)
class BlockRows:
    """What a block has besides the features of its rows.

    Attributes
    ----------
    code : intp array of shape (n,)
        The classes, from 0.
    weight : float64 array of shape (n,)
    tables : tuple of LossTable or None
        The losses of rows with their own costs, one table for each task.
    """

    code: NDArray[np.intp]
    weight: NDArray[np.float64]
    tables: tuple[LossTable, ...] | None


@dataclass(frozen=True, eq=False)
class Pose:
    """How the blocks pose the problem of one machine.

    Attributes
    ----------
    centre : float64 array of shape (d,)
    task : Task
        Its loss is for rows without their own costs.
    dense : bool
        Whether sparse chunks are made dense.
    """

    centre: NDArray[np.float64]
    task: Task
    dense: bool

    def problem(self, chunk: Any, rows: BlockRows) -> LinearProblem:
        """Return the part of the problem that a block has."""
        sign, loss = self.task.sign(rows.code), self.loss_of(rows)
        weight = np.require(rows.weight, None, ["C", "A"])
        return LinearProblem(as_rows(chunk, dense=self.dense), self.centre, sign, weight, loss)

    def loss_of(self, rows: BlockRows) -> Loss:
        """Return the loss of a block's rows."""
        if rows.tables is None:
            return self.task.loss
        return rows.tables[0 if len(rows.tables) == 1 else self.task.positive]


@dataclass(frozen=True, eq=False)
class At:
    """The state that all blocks share: how they pose the problem, the point, and the penalty."""

    pose: Pose
    point: Point
    sigma: float

    def sums(self, chunk: Any, rows: BlockRows, multipliers: Any) -> Any:
        """Return the sums over a block, with its margins at the point."""
        sums: Any = LocalSums(self.pose.problem(chunk, rows))
        if multipliers is not None:
            sums.start(np.require(multipliers, None, ["C", "A"]))
        sums.score(self.point)
        return sums


def as_rows(chunk: Any, *, dense: bool = False) -> Any:
    """Return a chunk as the native core reads it: aligned, in C order, or CSR with sorted indices."""
    if not issparse(chunk):
        kind = np.float32 if chunk.dtype == np.float32 else np.float64
        return np.require(chunk, kind, ["C", "A"])  # chunks may be misaligned after a transfer
    rows = chunk.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return np.ascontiguousarray(rows.toarray()) if dense else rows


class DaskSums:
    """Sums over blocks of rows: `blocks` and `rows` have, block by block, delayed chunks and delayed `BlockRows`."""

    at_once = 12

    def __init__(self, blocks: Sequence[Any], rows: Sequence[Any], pose: Pose, count: int) -> None:
        self.blocks, self.rows, self.pose, self.count = blocks, rows, pose, count
        self.features = len(pose.centre)
        self.multipliers: Sequence[Any] = [None] * len(blocks)
        self.now: Sequence[Any] = []  # the result of the last step, kept by the blocks
        self.point = self.direction = np.zeros(self.features + 1)
        self.sigma = 1.0
        self.held = count  # rows between breakpoints at the last step; the next Hessian is sampled from them
        self.sums: dict[str, NDArray[np.float64]] = {}

    def _tasks(self, work: Callable[..., Any], *settings: Any) -> list[Any]:
        here = partial(work, At(self.pose, self.point, self.sigma), *settings)
        return tasks(here, zip(self.blocks, self.rows, self.multipliers, strict=True))

    def score(self, point: Point) -> None:
        """Set the point; the margins are computed with the sums."""
        self.point = point

    def along(self, direction: Point) -> None:
        """Set the direction."""
        self.direction = direction

    def move(self, step: float) -> None:
        """Move along the direction."""
        self.point = self.point + step * self.direction

    def slopes(self, sigma: float, steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the slopes at all steps, then their derivatives: one round."""
        self.sigma = sigma
        return np.asarray(summed(self._tasks(_slopes, self.direction, steps)))

    def gradient(self, sigma: float, *, afresh: bool) -> NDArray[np.float64]:  # noqa: ARG002 (always afresh)
        """Sum everything at the point: one round."""
        self.sigma = sigma
        stride = max(1, self.held // linear.most_rows(self.features))
        self.now = kept(self._tasks(_step, stride if self.features <= linear.MOST_DENSE else 0))
        self.sums = summed(self.now, of=partial(_part, 0))
        self.held = int(self.sums["between"][0])
        return self.sums["sides"]

    def between(self) -> int:
        """Return the number of rows between breakpoints."""
        return self.held

    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]:
        """Return the Hessian of the last step, or of about `most` of all rows: one round."""
        if everything:
            return np.asarray(summed(self._tasks(_hessian, max(1, self.count // most))))
        return self.sums["hessian"]

    def hessian_times(self, direction: Point) -> Point:
        """Return the Hessian times a direction: one round."""
        return np.asarray(summed(self._tasks(_after_gradient, "hessian_times", direction)))

    def hessian_diagonal(self, everything: bool) -> Point:
        """Return the diagonal of the Hessian: one round."""
        return np.asarray(summed(self._tasks(_after_gradient, "hessian_diagonal", everything)))

    def accept(self) -> None:
        """Make the gamma of the last step the multipliers."""
        self.multipliers = kept(tasks(partial(_part, 1), zip(self.now, strict=True)))

    def shift(self) -> float:
        """Return the squared change of the multipliers."""
        return float(self.sums["shift"][0])

    def loss(self) -> float:
        """Return the sum of the losses."""
        return float(self.sums["loss"][0])

    def dual(self, negative: float, positive: float) -> float:
        """Return a lower bound on the sum of phi_i(scale gamma_i), without a round: phi is concave, and 0 at 0."""
        return float(self.sums["duals"] @ (negative, positive))

    def first_penalty(self) -> float:
        """Return the first sigma: see `first_penalty` for rows in memory."""
        parts = tasks(partial(_reach, self.pose), zip(self.rows, strict=True))
        least, steepest, weight = summed(parts, plus=_with_reach)
        return 0.5 * weight / self.count * (least if np.isfinite(least) else steepest)

    def certificate_sums(self, machine: Any) -> LinearSums:
        """Sum what a certificate of this machine needs, with the gamma of the last step: two rounds."""
        sides = summed(tasks(partial(_sides, self.pose), zip(self.rows, self.now, strict=True)))
        blocks = zip(self.blocks, self.rows, self.now, strict=True)
        found: LinearSums = summed(tasks(partial(_certified, self.pose, (machine, sides)), blocks))
        return found


# What a task does with one block: its chunk, its rows, and its multipliers or the result of its last step.


def _step(at: At, stride: int, *block: Any) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    sums = at.sums(*block)
    found = {"sides": sums.gradient(at.sigma, afresh=True), "between": np.array([float(sums.between())])}
    found |= {"loss": np.array([sums.loss()]), "shift": np.array([sums.shift()])}
    found["duals"] = np.array([sums.dual(1.0, 0.0), sums.dual(0.0, 1.0)])
    if stride:
        found["hessian"] = _strided(sums, stride, everything=False)
    return found, sums.gamma()


def _slopes(at: At, direction: Point, steps: NDArray[np.float64], *block: Any) -> NDArray[np.float64]:
    sums = at.sums(*block)
    sums.along(direction)
    return np.asarray(sums.slopes(at.sigma, steps))


def _hessian(at: At, stride: int, *block: Any) -> NDArray[np.float64]:
    return _strided(at.sums(*block), stride, everything=True)


def _strided(sums: Any, stride: int, *, everything: bool) -> NDArray[np.float64]:
    """Return the Hessian of about every stride-th row."""
    rows = sums.rows if everything else sums.between()
    return np.asarray(sums.hessian(max(1, rows // stride), everything=everything))


def _after_gradient(at: At, name: str, given: Any, *block: Any) -> Point:
    sums = at.sums(*block)
    sums.gradient(at.sigma, afresh=True)
    return np.asarray(getattr(sums, name)(given))


def _part(which: int, step: tuple[Any, Any]) -> Any:
    return step[which]


def _reach(pose: Pose, rows: BlockRows) -> tuple[float, float, float]:
    loss = pose.loss_of(rows)
    return reach_of(loss), loss.steepest, float(rows.weight.sum())


def _with_reach(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    return min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]


def _sides(pose: Pose, rows: BlockRows, step: tuple[Any, Any]) -> NDArray[np.float64]:
    problem = pose.problem(np.empty((len(rows.code), 0)), rows)
    return side_sums(problem, bounded_gamma(problem, step[1]))


def _certified(
    pose: Pose, judged: tuple[Any, NDArray[np.float64]], chunk: Any, rows: BlockRows, step: tuple[Any, Any]
) -> LinearSums:
    problem = pose.problem(chunk, rows)
    machine, sides = judged
    [found] = linear_sums(problem, machine, balanced_gamma(problem, bounded_gamma(problem, step[1]), sides))
    return found
