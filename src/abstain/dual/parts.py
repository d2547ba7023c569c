"""Problems over parts of the same rows, pairs of classes or classes against the rest, certified together."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.dual.certificate import UNBALANCED, Certificate, Measures, magnitudes, rounding_bound
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
    values_first : bool
        Whether all kernel values between the rows of a part are computed before it is solved, for both to read.
    """

    whole: DualProblem
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    sign: NDArray[np.int8]
    loss: MarginLoss | LossTable
    weight: NDArray[np.float64]
    gram: NDArray[np.float64] | None = None
    values_first: bool = False

    @classmethod
    def of(
        cls,
        whole: DualProblem,
        rows: NDArray[np.int64],
        starts: NDArray[np.int64],
        sign: NDArray[np.int8],
        **values: Any,
    ) -> "Parts":
        """Return the parts of a problem whose loss depends on the class only."""
        if not isinstance(whole.loss, MarginLoss):
            raise TypeError("rows with losses of their own cannot be divided into parts; pass one loss for each class.")
        return cls(whole, rows, starts, sign, whole.loss, whole.weight[rows], **values)

    @classmethod
    def of_all(cls, problems: Sequence[DualProblem], **values: Any) -> "Parts":
        """Return problems over the same rows, with as many knots each, as parts that have all rows."""
        first, count = problems[0], len(problems)
        losses = in_sequence([problem.loss for problem in problems], [problem.sign for problem in problems])
        sign, weight = (np.concatenate([getattr(one, name) for one in problems]) for name in ("sign", "weight"))
        rows, starts = np.tile(np.arange(first.n), count), first.n * np.arange(count + 1)
        return cls(first, rows, starts, sign, losses, weight, **values)

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, eq=False)
class PartCertificates:
    """Certificates of all parts, and what else must hold for them to count; arrays with an entry for each part.

    Attributes
    ----------
    bias : ndarray of float64
        The bias with the least primal.
    primal, dual, gap, relative_gap, violation : ndarray of float64
        As in `Certificate`.
    hidden : ndarray of float64
        An upper bound on what rounding in float64 may hide of the gap, as a share of the primal.
    feasible : ndarray of bool
        Whether the coefficients are inside their boxes and sum to 0, up to rounding.
    """

    bias: NDArray[np.float64]
    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    gap: NDArray[np.float64]
    relative_gap: NDArray[np.float64]
    violation: NDArray[np.float64]
    hidden: NDArray[np.float64]
    feasible: NDArray[np.bool_]

    def certificates(self) -> list[Certificate]:
        """Return the certificate of each part."""
        numbers = (self.primal, self.dual, self.gap, self.relative_gap, self.violation)
        return [Certificate(*one) for one in zip(*(number.tolist() for number in numbers), strict=True)]


def certify_parts(parts: "Parts", beta: NDArray[np.float64], F: NDArray[np.float64]) -> PartCertificates:
    """Certify the coefficients of all parts by their sums F, with the best biases; `certify` has the formulas."""
    largest = [float(np.max(of)) for of in magnitudes(parts.whole)]
    beta, F = (np.require(one, np.float64, ["C", "A"]) for one in (beta, F))
    with np.errstate(over="ignore", invalid="ignore"):
        given: dict[str, Any] = {"total": 0.0, "beta": beta, "F": F, "bias": np.full(len(parts), np.nan), "lift": 0.0}
        found = Measures(*_native.measured(parts.starts, **parts.native, **given).T)
        size = np.maximum(np.abs(found.primal), sys.float_info.min)
        relative = np.where(np.isfinite(found.gap / size), found.gap / size, sys.float_info.max)
        infeasible = np.maximum(found.outside, np.abs(found.excess)) / np.maximum(found.top, sys.float_info.min)
        feasible = (found.outside == 0.0) & (np.abs(found.excess) <= 0.5 * UNBALANCED * found.size)
        hidden = rounding_bound(largest, found.length, found.size, found.reach, parts.loss) / size
    violation = np.maximum(found.pairs, infeasible)
    return PartCertificates(found.bias, found.primal, found.dual, found.gap, relative, violation, hidden, feasible)


def runs(lengths: NDArray[np.integer] | Sequence[int], most: int) -> list[tuple[int, int]]:
    """Divide parts of these lengths into runs of about `most` rows: the first and one past the last of each."""
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] < most:
        return [(0, len(ends))]
    cuts = [0, *(np.flatnonzero(np.diff(ends // most)) + 1).tolist(), len(ends)]
    return [(first, last) for first, last in pairwise(cuts) if first < last]
