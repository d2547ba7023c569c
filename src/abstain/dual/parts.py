"""Problems over parts of the same rows, pairs of classes or classes against the rest, certified together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import UNBALANCED, Certificate, magnitudes, rounding_bound
from abstain.dual.problem import DualProblem, RowLosses
from abstain.losses.margin_loss import LossTable, MarginLoss, in_sequence


@dataclass(frozen=True, eq=False)
class Parts(RowLosses):
    """The rows of several problems, one problem after another.

    Attributes
    ----------
    whole : DualProblem
        The kernel, all rows, and their weights.
    rows : int64 array
        Indices among the rows of `whole`.
    starts : int64 array of shape (n_parts + 1,)
        Where each part begins among `rows`, and the end of the last one.
    sign : int8 array
        y of each of the rows, in its part.
    loss : MarginLoss or LossTable
    weight : float64 array
        The weight of each of the rows.
    gram : float64 array or None
        All kernel values between the rows of `whole`, which solver and certificate read; perhaps with longer rows.
    """

    whole: DualProblem
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    sign: NDArray[np.int8]
    loss: MarginLoss | LossTable
    weight: NDArray[np.float64]
    gram: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        whole: DualProblem,
        rows: NDArray[np.int64],
        starts: NDArray[np.int64],
        sign: NDArray[np.int8],
        gram: NDArray[np.float64] | None = None,
    ) -> Parts:
        """Return the parts of a problem whose loss depends on the class only."""
        if not isinstance(whole.loss, MarginLoss):
            raise TypeError("rows with losses of their own cannot be divided into parts; pass one loss for each class.")
        return cls(whole, rows, starts, sign, whole.loss, whole.weight[rows], gram)

    @classmethod
    def of_all(cls, problems: Sequence[DualProblem], gram: NDArray[np.float64] | None = None) -> Parts:
        """Return problems over the same rows, with as many knots each, as parts that have all rows."""
        first, count = problems[0], len(problems)
        losses = in_sequence([problem.loss for problem in problems], [problem.sign for problem in problems])
        sign, weight = (np.concatenate([getattr(one, name) for one in problems]) for name in ("sign", "weight"))
        rows, starts = np.tile(np.arange(first.n), count), first.n * np.arange(count + 1)
        return cls(first, rows, starts, sign, losses, weight, gram)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def some(self, first: int, last: int) -> Parts:
        """Return the parts from `first` to before `last`."""
        ends = self.starts[first : last + 1]
        rows = slice(ends[0], ends[-1])
        sign, weight = self.sign[rows], self.weight[rows]
        loss = self.loss.take(rows)
        return replace(self, rows=self.rows[rows], starts=ends - ends[0], sign=sign, loss=loss, weight=weight)


@dataclass(frozen=True, eq=False)
class PartCertificates:
    """Certificates of all parts, and what else must hold for them to count; arrays with an entry for each part.

    Attributes
    ----------
    primal, dual, gap, relative_gap, violation : ndarray of float64
        As in `Certificate`.
    feasible : ndarray of bool
        Whether the coefficients are inside their boxes and sum to 0, up to rounding.
    hidden : ndarray of float64
        An upper bound on what rounding in float64 may hide of the gap, as a share of the primal.
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    gap: NDArray[np.float64]
    relative_gap: NDArray[np.float64]
    violation: NDArray[np.float64]
    feasible: NDArray[np.bool_]
    hidden: NDArray[np.float64]

    def certificates(self) -> list[Certificate]:
        """Return the certificate of each part."""
        numbers = (self.primal, self.dual, self.gap, self.relative_gap, self.violation)
        return [Certificate(*one) for one in zip(*(number.tolist() for number in numbers), strict=True)]


def certify_parts(
    parts: Parts, beta: NDArray[np.float64], bias: NDArray[np.float64], F: NDArray[np.float64]
) -> PartCertificates:
    """Certify the coefficients and biases of all parts by their sums F; `certify` has the formulas."""
    largest = [float(np.max(of)) for of in magnitudes(parts.whole)]
    if len(parts.rows) <= _ROWS:
        return PartCertificates(*_certified(parts, beta, bias, F, largest))
    found = []
    for first, last in runs(np.diff(parts.starts), _ROWS):
        rows = slice(parts.starts[first], parts.starts[last])
        found.append(_certified(parts.some(first, last), beta[rows], bias[first:last], F[rows], largest))
    return PartCertificates(*(np.concatenate(of) for of in zip(*found, strict=True)))


def runs(lengths: NDArray[np.integer] | Sequence[int], most: int) -> list[tuple[int, int]]:
    """Divide parts of these lengths into runs of about `most` rows: the first and one past the last of each."""
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] < most:
        return [(0, len(ends))]
    cuts = [0, *(np.flatnonzero(np.diff(ends // most)) + 1).tolist(), len(ends)]
    return [(first, last) for first, last in pairwise(cuts) if first < last]


_ROWS = 32_768  # rows certified at a time: their arrays fit the processor's cache


def _certified(
    parts: Parts, beta: NDArray[np.float64], bias: NDArray[np.float64], F: NDArray[np.float64], largest: list[float]
) -> tuple[NDArray[Any], ...]:
    starts = parts.starts[:-1]

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.add.reduceat(values, starts))

    with np.errstate(over="ignore", invalid="ignore"):
        f = F + np.repeat(bias, np.diff(parts.starts))
        losses, duals, g = parts.losses(f), parts.dual_values(beta), parts.sign * beta
        half_norm, excess = 0.5 * total(beta * F), total(beta)
        primal, dual = half_norm + total(losses), total(duals) - half_norm
        gap = total(np.abs(losses + beta * f - duals)) + np.abs(bias * excess)
        relative = gap / np.maximum(np.abs(primal), sys.float_info.min)
        relative[~np.isfinite(relative)] = sys.float_info.max
        up, down = parts.gains(beta, F)
        top = parts.breakpoint(parts.loss.n_knots)
        outside = np.maximum(np.maximum.reduceat(np.maximum(-g, g - top), starts), 0.0)
        infeasible = np.maximum(outside, np.abs(excess)) / np.maximum(
            np.maximum.reduceat(top, starts), sys.float_info.min
        )
        pairs = np.maximum.reduceat(up, starts) - np.minimum.reduceat(down, starts)
        feasible = (outside == 0.0) & (np.abs(excess) <= 0.5 * UNBALANCED * total(g))
        size, reach = np.abs(beta), top + np.abs(beta)
        lengths = (np.sqrt(total(beta * beta)), total(size), np.sqrt(total(reach * reach)))
        hidden = rounding_bound(largest, *lengths, parts.loss) / np.maximum(np.abs(primal), sys.float_info.min)
    return primal, dual, gap, relative, np.maximum(pairs, infeasible), feasible, hidden
