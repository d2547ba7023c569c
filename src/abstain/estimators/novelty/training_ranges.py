"""What the training rows had in each column, to name values of new rows that are outside it.

Of numbers the smallest and the largest, of categories how often each occurred, of both how many cells were missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from abstain.estimators.novelty.column_range import SeenCategories, SeenColumn, SeenNumbers
from abstain.estimators.novelty.columns import CellTable
from abstain.estimators.novelty.outside_ranges import Outside, OutsideColumn

__all__ = ["SeenColumns"]


@dataclass(frozen=True)
class SeenColumns:
    """What the training rows had in each column.

    Attributes
    ----------
    rows : int
        The number of rows.
    columns : tuple of SeenNumbers and SeenCategories
        One for each column, in the order of the training rows.

    Examples
    --------
    >>> from abstain.estimators.novelty.training_ranges import SeenColumns
    >>> seen = SeenColumns.of([[20.0, 1.0], [70.0, 3.0], [45.0, 2.0]])
    >>> seen[0].smallest, seen[0].largest
    (20.0, 70.0)
    >>> batches = [[[30.0, 2.0], [710.0, 1.0]], [[51.0, float("nan")]]]
    >>> for sentence in sum(seen.outside(X) for X in batches).words():
    ...     print(sentence)
    column 0: 1 of 3 rows is above the largest value in training, 70 (largest here: 710).
    column 1: 1 of 3 rows has no value; in training every row had one.
    """

    rows: int
    columns: tuple[SeenColumn, ...]

    @classmethod
    def of(cls, X: Any) -> Self | None:
        """Count the rows of X: a pandas or polars frame by name, an array by position; None for a sparse matrix."""
        table = CellTable.of(X)
        if table is None:
            return None
        named = zip(table.names, table.columns(range(len(table.names))), strict=True)
        kinds = ((name, its, SeenCategories if its.dtype == object else SeenNumbers) for name, its in named)
        return cls(table.rows, tuple(kind.of(name, its) for name, its, kind in kinds))

    @classmethod
    def of_categories(cls, categories: Mapping[str, Sequence[str]]) -> Self:
        """Make it of the categories alone, where nothing else about the training rows is known."""
        columns = (SeenCategories(name, dict.fromkeys(texts, 0), 0, None) for name, texts in categories.items())
        return cls(0, tuple(columns))

    def __iter__(self) -> Iterator[SeenColumn]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str | int) -> SeenColumn:
        """The column of this name, or at this position if the columns have no names."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def outside(self, X: Any) -> Outside:
        """Count the values of other rows, and those that did not occur in training; batches can be summed."""
        table = CellTable.of(X)
        if table is None:
            raise ValueError("X must be a table with two axes, not sparse, as the training rows were.")
        positions = table.positions([column.name for column in self.columns])
        return Outside(table.rows, tuple(map(OutsideColumn.of, self.columns, table.columns(positions))))
