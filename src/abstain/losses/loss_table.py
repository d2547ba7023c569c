"""A loss for each row: a table of distinct losses with the same number of knots, and each row's line in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.losses.piecewise import dual_value_of, value_of

__all__ = ["LossTable"]


@dataclass(frozen=True, eq=False)
class LossTable:
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

    @property
    def n_knots(self) -> int:
        """K, the number of knots of every loss."""
        return int(self.knots.shape[1])

    @property
    def steepest(self) -> float:
        """The largest absolute slope."""
        return float(-self.slopes.min())

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

    def value(self, sign: NDArray[np.int8], z: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002 (in kind)
        """Return each row's loss at its margin z."""
        return value_of(*self._lines, z)

    def dual_value(
        self, sign: NDArray[np.int8], g: NDArray[np.float64], weight: NDArray[np.float64]  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Return phi(g) of `weight` times each row's loss: g is clipped to its range."""
        return dual_value_of(*self._lines, g, weight)

    @property
    def _lines(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """The knots and the slopes of all rows, one array for each knot."""
        return tuple([column[self.kind] for column in table.T] for table in (self.knots, self.slopes))  # type: ignore[return-value]
