"""Two thresholds on a score, and the rule that turns scores into choices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import real_number

__all__ = ["Thresholds", "distances"]


@dataclass(frozen=True)
class Thresholds:
    """Two thresholds on a score: -1 below the lower, +1 above the upper, reject in between.

    ::

        choice(s) = +1  if s > upper
                    -1  otherwise, if s < lower or lower == upper
                     0  otherwise (reject)

    A score exactly on a threshold is rejected, unless ``lower == upper``, where nothing is rejected.

    Parameters
    ----------
    lower, upper : float
        ``lower <= upper``, on any score: a probability, log-odds, a distance. Infinities are allowed:
        ``Thresholds(-inf, inf)`` rejects everything.

    Examples
    --------
    >>> from abstain import Thresholds
    >>> Thresholds(-0.5, 1.0).decide([-2.0, 0.3, 1.0, 1.5])
    array([-1,  0,  0,  1], dtype=int8)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", real_number("lower", self.lower))
        object.__setattr__(self, "upper", real_number("upper", self.upper))
        if self.lower > self.upper:
            raise ValueError(f"lower={self.lower:g} must not exceed upper={self.upper:g}; swap the two.")

    @property
    def rejects(self) -> bool:
        """Whether any score would be rejected: ``lower < upper``."""
        return self.lower < self.upper

    def decide(self, scores: ArrayLike) -> NDArray[np.int8]:
        """Return the choice for each score: -1, 0 (reject) or +1, with the shape of `scores`."""
        s = np.asarray(scores, dtype=np.float64)
        positive = (s > self.upper).astype(np.int8)
        if not self.rejects:
            return 2 * positive - np.int8(1)
        return positive - (s < self.lower).astype(np.int8)


def distances(scores: NDArray[np.float64], cut: float) -> NDArray[np.float64]:
    """Return the distance of each score from the cut, where distances that differ only by rounding are one distance.

    In floating point |0.2 - 0.5| and |0.8 - 0.5| differ, and a symmetric threshold between them would treat the two
    sides differently. Of such a group the smallest distance counts for all. From a cut at 0 distances are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.costs.thresholds import distances
    >>> distances(np.array([0.2, 0.8]), 0.5)
    array([0.3, 0.3])
    """
    distance = np.abs(scores - cut)
    order = np.argsort(distance, kind="stable")
    size = np.maximum(np.abs(scores[order]), abs(cut))
    slack = 8.0 * np.finfo(np.float64).eps * np.where(np.isfinite(size) & (cut != 0.0), size, 0.0)
    ascending = distance[order]
    with np.errstate(invalid="ignore"):  # inf - inf is nan
        begins = np.append(True, np.diff(ascending) > np.maximum(slack[1:], slack[:-1]))
    distance[order] = ascending[np.flatnonzero(begins)[np.cumsum(begins) - 1]] if len(order) else ascending
    return distance

