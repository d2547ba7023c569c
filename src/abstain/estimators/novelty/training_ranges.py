"""What the training rows had in each column, to name values of new rows that are outside it, in words and as facts.

Of numbers the smallest and the largest, of categories how often each occurred, of both how many cells were missing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.novelty.column_range import KEPT, CellTable, SeenCategories, SeenColumn, SeenNumbers
from abstain.estimators.novelty.written import PLAIN, Written

SHOWN = 5  # columns and categories in messages


@dataclass(frozen=True)
class OutsideColumn:
    """The cells of one column of new rows, and those of them that are outside the training rows.

    Attributes
    ----------
    seen : SeenNumbers or SeenCategories
        What training had.
    rows : int
        The rows looked at.
    missing : int
        The cells without a value; they are outside if training had none.
    below, above : int
        The numbers below the smallest and above the largest one in training. If training had no number, all of them
        are above.
    smallest, largest : float
        The extremes of these rows, +inf and -inf if no number is present.
    unseen : Counter of str
        The categories that training did not have; of a column of numbers, the texts that are not numbers. Sums keep
        the 1,000 most frequent.
    hidden : int
        The cells of the other unseen categories.
    known : tuple of int
        The cells of each category of training, in its order.
    """

    seen: SeenColumn
    rows: int
    missing: int = 0
    below: int = 0
    above: int = 0
    smallest: float = float("inf")
    largest: float = float("-inf")
    unseen: Counter[str] = field(default_factory=Counter)
    hidden: int = 0
    known: tuple[int, ...] = ()

    @classmethod
    def of(cls, seen: SeenColumn, cells: NDArray[Any]) -> "OutsideColumn":
        """Count the cells of a column; no category is unseen if training had more than are kept."""
        if isinstance(seen, SeenNumbers):
            numbers, texts = seen.read(cells)
            here = SeenNumbers.of(seen.name, numbers)
            below = int((numbers < seen.smallest).sum()) if seen.present else 0
            above = int((numbers > seen.largest).sum())  # all numbers if training had none
            missing = here.missing - len(texts)
            return cls(seen, len(cells), missing, below, above, here.smallest, here.largest, Counter(texts.tolist()))
        counts = Counter(seen.read(cells).tolist())
        missing = counts.pop(None, 0)
        known = tuple(counts.pop(text, 0) for text in seen.counts)
        return cls(seen, len(cells), missing, unseen=Counter() if seen.rest else counts, known=known)

    def __add__(self, other: "OutsideColumn") -> "OutsideColumn":
        """The counts of both."""
        counts = ("rows", "missing", "below", "above", "unseen", "hidden")
        summed: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in counts}
        summed |= {"smallest": min(self.smallest, other.smallest), "largest": max(self.largest, other.largest)}
        return replace(self, known=tuple(map(add, self.known, other.known)), **summed).trimmed()

    def trimmed(self) -> "OutsideColumn":
        """Count all but the most frequent of the unseen categories together, if there are many."""
        if len(self.unseen) <= KEPT:
            return self
        kept = Counter(dict(_ranked(self.unseen)[:KEPT]))
        return replace(self, unseen=kept, hidden=self.hidden + self.unseen.total() - kept.total())

    @property
    def present(self) -> int:
        """The number of cells with a value; in a column of numbers, with a number."""
        return self.rows - self.missing - (self.unseen_rows if isinstance(self.seen, SeenNumbers) else 0)

    @property
    def newly_missing(self) -> int:
        """The cells without a value, where training had one in every row."""
        return self.missing if self.seen.missing == 0 else 0

    @property
    def count(self) -> int:
        """The number of rows outside in any of these ways."""
        return self.below + self.above + self.unseen_rows + self.newly_missing

    @property
    def unseen_rows(self) -> int:
        """The number of rows of unseen categories."""
        return self.unseen.total() + self.hidden

    @property
    def examples(self) -> list[str]:
        """The most frequent of the unseen categories."""
        return [text for text, _ in _ranked(self.unseen)[:SHOWN]]

    def words(self, *, dates: bool = False, written: Written = PLAIN) -> str:
        """One sentence; empty if nothing is outside. With `dates` the numbers are days since 1970-01-01."""
        parts = [*self._range_words(written.day if dates else written.six_digits), *self._category_words()]
        if self.newly_missing:
            parts.append(f"{self._of(self.newly_missing, 'has', 'have')} no value; in training every row had one")
        return f"column {self.seen.name!r}: {'; '.join(parts)}." if parts else ""

    def _range_words(self, shown: Callable[[float], str]) -> list[str]:
        if self.above and self.seen.present == 0:
            return [f"{self._of(self.above, 'has', 'have')} a value; in training none had one"]
        ends = (self.below, "below", "smallest"), (self.above, "above", "largest")
        return [
            f"{self._of(count, 'is', 'are')} {where} the {end} value in training, {shown(getattr(self.seen, end))} "
            f"({end} here: {shown(getattr(self, end))})"
            for count, where, end in ends
            if count
        ]

    def _category_words(self) -> list[str]:
        if not self.unseen:
            return []
        some = ", ".join(repr(text[:60]) for text in self.examples)
        rows = self._of(self.unseen_rows, "has", "have")
        if isinstance(self.seen, SeenNumbers):
            return [f"{rows} text where training had {'numbers' if self.seen.present else 'no value'}, such as {some}"]
        if len(self.unseen) == 1:
            return [f"{rows} a category that did not occur in training: {some}"]
        number = f"more than {KEPT:,}" if self.hidden else f"{len(self.unseen):,}"
        return [f"{rows} {number} categories that did not occur in training, such as {some}"]

    def category_facts(self) -> dict[str, Any]:
        """The unseen categories, with the most frequent ones."""
        counts = {"rows": self.unseen_rows, "categories": len(self.unseen)}
        return {"column": self.seen.name, **counts, "such as": self.examples}

    def range_facts(self) -> dict[str, Any]:
        """The numbers outside the range; None for the extremes if training had no number."""
        known = isinstance(self.seen, SeenNumbers) and self.seen.present
        facts: dict[str, Any] = {"column": self.seen.name, "rows": self.rows, "below": self.below, "above": self.above}
        facts |= {f"{end} in training": getattr(self.seen, end) if known else None for end in ("smallest", "largest")}
        return facts | {"smallest": self.smallest, "largest": self.largest}

    def _of(self, count: int, one: str, several: str) -> str:
        return f"{count:,} of {self.rows:,} rows {one if count == 1 else several}"


@dataclass(frozen=True)
class Outside:
    """The cells of new rows that are outside the training rows; it can be summed over batches.

    Attributes
    ----------
    rows : int
        The rows looked at.
    columns : tuple of OutsideColumn
        One for each column of the training rows.
    """

    rows: int
    columns: "tuple[OutsideColumn, ...]"

    def __add__(self, other: "Outside") -> "Outside":
        """The counts of both batches."""
        columns = (one + two for one, two in zip(self.columns, other.columns, strict=True))
        return Outside(self.rows + other.rows, tuple(columns))

    def __radd__(self, other: int) -> "Outside":
        """The start of a sum."""
        return self if other == 0 else NotImplemented

    def __bool__(self) -> bool:
        return any(column.count for column in self.columns)

    @property
    def found(self) -> "list[OutsideColumn]":
        """The columns with values outside, largest counts first."""
        return sorted(filter(lambda column: column.count, self.columns), key=lambda column: -column.count)

    def words(self, most: int = SHOWN, *, dates: Collection[str | int] = (), written: Written = PLAIN) -> list[str]:
        """One sentence per column, for at most this many columns, then how many more there are.

        The columns named in `dates` contain days since 1970-01-01.
        """
        found = self.found
        sentences = [column.words(dates=column.seen.name in dates, written=written) for column in found[:most]]
        if more := len(found) - len(sentences):
            what = "column has" if more == 1 else "columns have"
            sentences.append(f"and {more} more {what} values that are outside those in training.")
        return sentences

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Records of the columns with unseen categories, with numbers outside the range, and with new missing cells."""
        found = self.found
        missing = ((column.seen.name, column.newly_missing) for column in found if column.newly_missing)
        return {
            "unseen categories": [column.category_facts() for column in found if column.unseen],
            "outside the range": [column.range_facts() for column in found if column.below or column.above],
            "newly missing": [{"column": name, "rows": rows} for name, rows in missing],
        }


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
        if isinstance(table.X, np.ndarray) and table.X.dtype.kind == "f" and table.rows:
            ends = table.X.min(axis=0).astype(np.float64), table.X.max(axis=0).astype(np.float64)
            if np.isfinite(ends).all():  # no cell is missing
                known = zip(table.names, *(each.tolist() for each in ends), strict=True)
                return cls(table.rows, tuple(SeenNumbers(name, table.rows, 0, *both) for name, *both in known))
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

    def outside(self, X: Any) -> "Outside":
        """Count the values of other rows, and those that did not occur in training; batches can be summed."""
        table = CellTable.of(X)
        if table is None:
            raise ValueError("X must be a table with two axes, not sparse, as the training rows were.")
        positions = table.positions([column.name for column in self.columns])
        return Outside(table.rows, tuple(map(OutsideColumn.of, self.columns, table.columns(positions))))


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
