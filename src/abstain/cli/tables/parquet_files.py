"""Several Parquet files with the same columns as one table, of which a column or a block of rows is read at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Self

import polars as pl

from abstain.cli.exit_codes import DataError
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, Batch, InputTable
from abstain.cli.tables.typed_tables import parquet_facts, parquet_rows, plain_columns, readable


@dataclass(frozen=True, eq=False)
class ParquetFiles(InputTable):
    """An open table whose rows are those of all files, one after the other.

    Attributes
    ----------
    files : tuple of Path
        In the order of their names.
    ends : tuple of int
        The number of rows up to the end of each file.
    """

    files: tuple[Path, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, paths: Sequence[str | Path], notation: Notation = PLAIN) -> Self:
        """Open files; those with other columns are an error."""
        if not paths:
            raise DataError("no file is given; name at least one Parquet file.")
        files = tuple(sorted(map(Path, paths)))
        if twice := [one for one, other in pairwise(files) if one == other]:
            raise DataError(f"{twice[0]} is given twice; give each file once.")
        facts = [parquet_facts(path) for path in files]
        names = facts[0][0]
        for path, (others, _) in zip(files, facts, strict=True):
            if set(others) != set(names):
                odd = min(set(others) ^ set(names))
                raise DataError(
                    f"{path}: column {odd!r} is not in all files; give files with the same columns as {files[0]}."
                )
        ends = tuple(accumulate(height for _, height in facts))
        if not ends[-1]:
            raise DataError(f"{files[0]}: the table has no rows; add some.")
        shown = files[0] if len(files) == 1 else Path(f"{files[0]} and {len(files) - 1} more")
        return cls(shown, "row", names, iter(()), lambda: 0, notation, files=files, ends=ends)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    def place(self, number: int) -> str:
        """The place of a row, by its number among those of all files."""
        at = bisect_left(self.ends, number)
        return f"{self.files[at]}: row {number - (self.ends[at - 1] if at else 0)}"

    def whole(self, names: Sequence[str]) -> Batch:
        """All rows of a few columns."""
        some = ", ".join(map(repr, names[:3]))
        with readable(f"column {some} cannot be read", "write the files again, with the same type of column in each"):
            frame = plain_columns(pl.scan_parquet(list(self.files)).select(names).collect())
        return Batch(frame, range(1, self.height + 1))

    def blocks(self, names: Sequence[str]) -> Iterator[Batch]:
        """A few columns, at most 20,000 rows at a time."""
        for path, first, last in zip(self.files, (0, *self.ends), self.ends, strict=False):
            for cells, places in parquet_rows(path, last - first, names):
                yield Batch(cells, range(first + places.start, first + places.stop))
