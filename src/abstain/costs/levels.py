"""Any number of increasing cuts on a score, and the choice between each two of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Levels"]


@dataclass(frozen=True)
class Levels:
    """K increasing cuts on a score, and K + 1 choices: the first below all cuts, the last above all.

    ::

        choice(s) = choices[k],   k = the number of cuts below s; a cut that is equal to s counts if it is closed

    Parameters
    ----------
    cuts : tuple of float
        Not decreasing; K = 0 gives the same choice for every score.
    choices : tuple of int
        K + 1 codes, such as the positions of actions in a table.
    closed : tuple of bool
        For each cut, whether a score exactly on it counts as above it.

    Examples
    --------
    >>> from abstain.costs.levels import Levels
    >>> Levels((-1.0, 0.5), (0, 2, 1), (True, False)).decide([-2.0, -1.0, 0.5, 3.0])
    array([0, 2, 2, 1], dtype=int8)
    """

    cuts: tuple[float, ...]
    choices: tuple[int, ...]
    closed: tuple[bool, ...]

    def __post_init__(self) -> None:
        if not len(self.cuts) == len(self.closed) == len(self.choices) - 1:
            raise ValueError(f"{len(self.cuts)} cuts need as many values of closed, and one choice more.")
        if not all(a <= b for a, b in pairwise(self.cuts)):
            raise ValueError(f"cuts={self.cuts} must not decrease; sort them.")

    @property
    def lower(self) -> float:
        """The lowest cut."""
        return self.cuts[0]

    @property
    def upper(self) -> float:
        """The highest cut."""
        return self.cuts[-1]

    def decide(self, scores: ArrayLike) -> NDArray[np.int8]:
        """Return the choice for each score, with the shape of `scores`."""
        s = np.asarray(scores, dtype=np.float64)
        level = np.zeros(s.shape, dtype=np.int8)
        for cut, closed in zip(self.cuts, self.closed, strict=True):
            level += s >= cut if closed else s > cut
        return np.array(self.choices, dtype=np.int8)[level]
