"""A convex piecewise-linear loss of the margin, given by knots and slopes, with its dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["PiecewiseLinear"]


@dataclass(frozen=True)
class PiecewiseLinear:
    """A convex loss of the margin z that decreases to 0 at its last knot.

    ::

        loss(z) = sum_k (slopes[k+1] - slopes[k]) |knots[k] - z|_+        slopes[K] = 0

    Its dual is the concave ``phi(g) = min_z loss(z) + g z`` on ``0 <= g <= |slopes[0]|``. The slopes of the loss
    are the breakpoints of phi, and the knots of the loss are the slopes of phi.

    Parameters
    ----------
    knots : tuple of float
        Where the loss bends, strictly increasing, at least one.
    slopes : tuple of float
        Of the same length, negative and strictly increasing: ``slopes[0]`` holds left of ``knots[0]``, ``slopes[k]``
        between ``knots[k-1]`` and ``knots[k]``; right of the last knot the loss is 0.

    Examples
    --------
    >>> from abstain.losses.piecewise import PiecewiseLinear
    >>> PiecewiseLinear(knots=(0.0, 1.0), slopes=(-3.0, -1.0)).value([-1.0, 0.5, 2.0])
    array([4. , 0.5, 0. ])
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", tuple(float(knot) for knot in self.knots))
        object.__setattr__(self, "slopes", tuple(float(slope) for slope in self.slopes))
        if not self.knots or len(self.knots) != len(self.slopes):
            raise ValueError(f"knots and slopes must have equal length >= 1; got {self.knots} and {self.slopes}.")
        if not np.isfinite(self.knots).all() or (np.diff(self.knots) <= 0).any():
            raise ValueError(f"knots={self.knots} must be finite and strictly increasing.")
        if not np.isfinite(self.slopes).all() or (np.diff([*self.slopes, 0.0]) <= 0).any():
            raise ValueError(f"slopes={self.slopes} must be finite, negative and strictly increasing.")

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where phi bends, ascending and without 0: the absolute slopes in reverse order."""
        return tuple(-slope for slope in reversed(self.slopes))

    @property
    def dual_slopes(self) -> tuple[float, ...]:
        """The slopes of phi, descending: the knots in reverse order."""
        return tuple(reversed(self.knots))

    def value(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return the loss at each margin z."""
        z = np.asarray(z, dtype=np.float64)
        total = np.zeros_like(z)
        for knot, bend in zip(self.knots, np.diff([*self.slopes, 0.0]), strict=True):
            total += bend * np.maximum(knot - z, 0.0)
        return total

    def slopes_at(self, z: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the slopes to the left and to the right of each margin z; they differ at a knot."""
        slopes = np.array([*self.slopes, 0.0])
        left, right = (np.searchsorted(self.knots, z, side=side) for side in ("left", "right"))
        return slopes[left], slopes[right]

    def dual_value(self, g: ArrayLike, weight: ArrayLike = 1.0) -> NDArray[np.float64]:
        """Return phi(g) for `weight` times the loss: g is clipped to [0, ``weight |slopes[0]|``]."""
        g, weight = np.asarray(g, dtype=np.float64), np.asarray(weight, dtype=np.float64)
        total = np.zeros(np.broadcast_shapes(g.shape, weight.shape))
        start = 0.0
        for slope, end in zip(self.dual_slopes, self.breakpoints, strict=True):
            total += slope * np.clip(g - weight * start, 0.0, weight * (end - start))
            start = end
        return total

    def scaled(self, factor: float) -> PiecewiseLinear:
        """Return `factor` times this loss: the same knots, the slopes multiplied."""
        return PiecewiseLinear(self.knots, tuple(factor * slope for slope in self.slopes))
