"""One column of the training rows: a column of numbers with its extremes, or one of categories with their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["KEPT", "LONGEST", "SeenCategories", "SeenColumn", "SeenNumbers"]

KEPT, LONGEST = 1000, 200  # categories of a column, and letters of a category: longer ones are prose


@dataclass(frozen=True)
class SeenNumbers:
    """A column of numbers, booleans (0 and 1) or dates (days since 1970-01-01).

    Attributes
    ----------
    name : str or int
        The name of the column, or its position in an array.
    present, missing : int
        The number of cells with and without a value.
    smallest, largest : float
        The extremes, +inf and -inf if no value is present. An infinite cell counts as the largest float64.
    """

    name: str | int
    present: int
    missing: int
    smallest: float
    largest: float

    @classmethod
    def of(cls, name: str | int, numbers: NDArray[np.float64]) -> Self:
        """Count the cells, NaN where missing."""
        least, most, missing = numbers.min(initial=np.inf), numbers.max(initial=-np.inf), 0
        if np.isnan(least):
            missing = int(np.isnan(numbers).sum())
            least, most = np.fmin.reduce(numbers, initial=np.inf), np.fmax.reduce(numbers, initial=-np.inf)
        return cls(name, len(numbers) - missing, missing, float(least), float(most))


@dataclass(frozen=True)
class SeenCategories:
    """A column of categories, each by its text.

    Attributes
    ----------
    name : str or int
        The name of the column, or its position in an array.
    counts : mapping of str to int
        The cells of each category: the 1,000 most frequent ones of up to 200 letters, most frequent first, then by
        text.
    rest : int
        The cells of all other categories together.
    missing : int or None
        The number of cells without a value; None if that is not known.
    """

    name: str | int
    counts: Mapping[str, int]
    rest: int
    missing: int | None

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.counts.items()), self.rest, self.missing))

    @classmethod
    def of(cls, name: str | int, cells: NDArray[Any]) -> Self:
        """Count the cells, None where missing."""
        counts = Counter(cells.tolist())
        missing = counts.pop(None, 0)
        short = ((text, count) for text, count in counts.items() if len(text) <= LONGEST)
        kept = dict(sorted(short, key=lambda one: (-one[1], one[0]))[:KEPT])
        return cls(name, kept, counts.total() - sum(kept.values()), missing)

    @property
    def present(self) -> int:
        """The number of cells with a value."""
        return sum(self.counts.values()) + self.rest


SeenColumn = SeenNumbers | SeenCategories
