"""The losses of costs that differ by row: tangents at the cuts of each row (GRKC08), as lines of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.losses.margin_loss import Losses, MarginLoss
from abstain.losses.tangent_hinge import LARGEST_LOG_ODDS, crossings, last_knots, new_slopes

# All rows of a table have the same number of knots. A row that is never rejected has one tangent: if others have two,
# this share of its slope becomes a second bend. It is below the share that certificates count as rounding (1e-12).
_SLIVER = 2.0**-41


@dataclass(frozen=True, eq=False)
class LossTable(Losses):
    """The training losses of n rows, each a convex, piecewise-linear function of its margin.

    Attributes
    ----------
    knots, slopes : float64 arrays of shape (L, K)
        The distinct losses, as in `PiecewiseLinear`.
    kind : intp array of shape (n,)
        The line with each row's loss.
    """

    knots: NDArray[np.float64]
    slopes: NDArray[np.float64]
    kind: NDArray[np.intp]

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the knots and the slopes of the distinct losses."""
        return self.knots, self.slopes

    def kinds(self, sign: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return each row's line; `sign` is part of it already."""
        if sign.shape != self.kind.shape:
            raise ValueError(f"the table has losses for {len(self.kind)} rows, not for {len(sign)}.")
        return self.kind

    def take(self, rows: Any) -> LossTable:
        """Return the losses of these rows."""
        return replace(self, kind=self.kind[rows])


def in_sequence(losses: Sequence[MarginLoss | LossTable], signs: Sequence[NDArray[np.int8]]) -> MarginLoss | LossTable:
    """Return the losses of several sets of rows, one after another; all with as many knots."""
    if isinstance(losses[0], MarginLoss) and all(loss is losses[0] for loss in losses):
        return losses[0]
    tables = [loss.tables() for loss in losses]
    before = np.cumsum([0, *(len(knots) for knots, _ in tables)])
    kinds = [start + loss.kinds(sign) for start, loss, sign in zip(before, losses, signs, strict=False)]
    knots, slopes = (np.concatenate(each) for each in zip(*tables, strict=True))
    return LossTable(knots, slopes, np.concatenate(kinds))


def row_losses(tangents: NDArray[np.float64], sign: NDArray[np.int8]) -> LossTable:
    """Return the loss of each row; rows with equal tangents share one.

    ::

        loss(z) = b |tau - z|_+ + d |y rho - z|_+      as in `double_hinge`, with p_low and p_high of the row

    How large the costs are does not matter here: that is in the weights of the rows.

    Parameters
    ----------
    tangents : ndarray of shape (n, L)
        The log-odds of the class with sign +1 at each row's tangents, in any order; infinity where it has fewer.
    sign : ndarray of int8, shape (n,)
    """
    at = np.where(np.isinf(tangents), np.nan, tangents)
    at = np.sort(np.where(sign[:, np.newaxis] > 0, at, -at), axis=1)  # exchanging the classes negates the log-odds
    beyond = np.nanmax(np.abs(at), axis=1) > LARGEST_LOG_ODDS
    if beyond.any():
        raise ValueError(
            f"row_costs has costs too far apart at row {int(np.argmax(beyond))}: the log of their ratios must lie "
            "within +-700; state the costs in one currency."
        )
    lines, kind = np.unique(np.where(np.isfinite(at) & new_slopes(at), at, np.inf), axis=0, return_inverse=True)
    lines = np.sort(lines, axis=1)
    count = np.isfinite(lines).sum(axis=1)
    most, rows = int(count.max()), np.arange(len(lines))
    lines = lines[:, :most]
    slopes, knots = -expit(-lines), np.empty(lines.shape)
    knots[:, -1] = last_knots(lines[rows, count - 1])
    for j in range(most - 1):
        real = j + 1 < count
        knots[real, j] = crossings(lines[real, j], lines[real, j + 1])
        # halfway between the bend before and the last knot
        spare = ~real
        before = knots[spare, j - 1] if j else 0.0
        knots[spare, j] = knots[spare, -1] - (knots[spare, -1] - before) * 0.5
        slopes[spare, j + 1] = slopes[spare, j] * (1.0 - _SLIVER)
    return LossTable(np.ascontiguousarray(knots), np.ascontiguousarray(slopes), kind.ravel().astype(np.intp))
