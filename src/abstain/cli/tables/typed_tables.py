"""Tables whose columns have types: Parquet, a batch at a time, and the first sheet of a workbook.

A workbook is a zip archive of XML, and what reads it makes room for every cell up to the last row and column that is
named: one cell at XFD1048576 is room for 17 thousand million. So all parts are unpacked once, and thrown away, to count
their bytes and cells. What the archive says of its own sizes is not relied on.
"""

import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from abstain.cli.exit_codes import DataError, Note, listed

PARQUET_ROWS = 20_000  # rows of a batch of a Parquet file


def parquet_facts(path: Path) -> tuple[list[str], int]:
    """The names of the columns of a Parquet file, and its number of rows."""
    with readable(f"{path} cannot be read as Parquet", "write it again"):
        lazy = pl.scan_parquet(path)
        return lazy.collect_schema().names(), int(lazy.select(pl.len()).collect().item())


def parquet_rows(path: Path, height: int, names: Sequence[str] | None = None) -> Iterator[tuple[pl.DataFrame, range]]:
    """The rows of a Parquet file with their numbers; all columns, or those named."""
    for first in range(0, height, PARQUET_ROWS):
        last = min(first + PARQUET_ROWS, height)
        with readable(f"{path}: rows {first + 1} to {last} cannot be read", "write the file again"):
            lazy = pl.scan_parquet(path) if names is None else pl.scan_parquet(path).select(names)
            frame = plain_columns(lazy.slice(first, PARQUET_ROWS).collect())
        yield frame, range(first + 1, first + frame.height + 1)


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with categories and truths as text."""
    texts = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum, pl.Boolean)]
    return frame.with_columns(pl.col(texts).cast(pl.String))


@contextmanager
def readable(fault: str, way_out: str) -> Iterator[None]:
    """Turn every failure of polars into a DataError, also its panics, whose messages on stderr are discarded."""
    try:
        with _without_stderr():
            yield
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 (whatever the readers raise)
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if isinstance(error, pl.exceptions.PanicException):
            reason = "it is malformed"
        raise DataError(f"{fault} ({reason}); {way_out}.") from None


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Discard what native code writes to stderr; Python's own stream is not written to meanwhile."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # stderr is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


UNNAMED = "__UNNAMED__"  # what the reader of workbooks calls a column without a name
MOST_PARTS = 10_000
MOST_BYTES = 1 << 30  # of all parts, unpacked
MOST_CELLS, SPARSEST = 10_000_000, 20  # a sheet may have more places for cells than this if one in 20 is taken
PIECE = 1 << 20  # bytes that are unpacked at a time, and of the longest tag
# A tag without content, such as <row r="1048576" ht="15"/>: a place that is formatted and not taken. Its values have
# neither kind of quote, so that no attribute of another tag can look like it.
_EMPTY = re.compile(rb'<(?:\w++:)?+(?:c|row)(?: [\w:]++="[^"\'<>&]*+")*+ ?/>')
# The place of a cell or a row, in whatever tag, r="B7" or r="7", or the number of texts, uniqueCount="7"
_PLACE = re.compile(rb"""(?<![\w:.-])(r|uniqueCount) ?= ?["']([A-Za-z]*+)0*+(\d*+)""")
_SPACES = re.compile(rb"\s++")


def excel_table(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """The first sheet of an Excel workbook, or of several the one with this name.

    It is an error if the package that reads it is missing.
    """
    if find_spec("fastexcel") is None:
        way = "save it as CSV UTF-8 in the spreadsheet program, or install what reads it: pip install 'abstain[excel]'"
        raise DataError(f"{path} is an Excel workbook; {way}.")

    fault, way_out = f"{path} cannot be read as an Excel workbook", "save it as CSV UTF-8 in the spreadsheet program"
    try:
        reason = _excess(path)
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, RuntimeError, OverflowError) as error:
        raise DataError(f"{fault} ({error}); {way_out}.") from error
    if reason:
        raise DataError(f"{path} {reason}, or {way_out}." if ";" in reason else f"{path} {reason}; {way_out}.")
    with readable(fault, way_out):
        from fastexcel import read_excel

        names = read_excel(path).sheet_names
        at = 0 if sheet is None or len(names) == 1 else names.index(sheet) if sheet in names else None
        number = (at or 0) + 1
        frame = plain_columns(pl.read_excel(path, sheet_id=number, infer_schema_length=None, raise_if_empty=False))
    if sheet is None and len(names) > 1:
        warnings.warn(f"{path} has the sheets {listed(names)}, and the first one is read.", Note, stacklevel=2)
    if at is None:
        raise DataError(f"{path} has the sheets {listed(names)}, and none is called {sheet!r}; name it so.")
    if frame.width == 0:
        raise DataError(f"{path}: the first sheet is empty; move the table there, with the names of columns in row 1.")
    for at, name in enumerate(frame.columns, start=1):
        if name.startswith(UNNAMED):
            advice = "name it, or remove the rows above the names of the columns, such as a title"
            raise DataError(f"{path}: row 1 gives column {at} no name; {advice}.")
    return frame


def _excess(path: Path) -> str:
    """Say what a workbook has too much of; "" if it can be read."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        names = {part.filename.lower() for part in parts}
        if len(parts) > MOST_PARTS:
            return f"has {len(parts):,} parts, more than {MOST_PARTS:,}"
        if "xl/workbook.xml" not in names or names & {"xl/workbook.bin", "content.xml"}:
            return "is a packed file, perhaps a model, but not an Excel workbook of the kind .xlsx"
        room = MOST_BYTES
        for part in parts:
            extent = Extent()
            for piece in _unpacked(archive, part):
                room -= len(piece)
                if room < 0:
                    return f"has more than {MOST_BYTES >> 20:,} MB when it is unpacked"
                extent.add(piece, last=False)
            extent.add(b"", last=True)
            if extent.texts > extent.size:
                return f"states {extent.texts:,} texts in its part {part.filename!r}, which has {extent.size:,} bytes"
            if extent.places > max(MOST_CELLS, SPARSEST * extent.cells):
                found = f"cells up to row {extent.row:,} and column {extent.column:,} in its part {part.filename!r}"
                return f"has {found}, and only {extent.cells:,} of them with content; delete what is beyond the table"
    return ""


@dataclass
class Extent:
    """The largest row and column that a part names, how many places it names, how many texts it states, its bytes."""

    row: int = 0
    column: int = 0
    cells: int = 0
    texts: int = 0
    size: int = 0
    rest: bytes = b""

    @property
    def places(self) -> int:
        """The number of cells up to the last row and column."""
        return self.row * max(1, self.column)

    def add(self, piece: bytes, *, last: bool) -> None:
        """Count another piece. What may go on in the next one is kept for it: the last tag, or an unfinished place."""
        self.size += len(piece)
        text = _EMPTY.sub(b"", _SPACES.sub(b" ", self.rest + piece))
        end = len(text) if last else text.rfind(b"<", max(0, len(text) - PIECE))
        end = len(text) if end < 0 else end
        for found in _PLACE.finditer(text, 0, end):
            if found.end() == len(text) and not last:
                end = found.start()
                break
            number = int(found[3][:20] or b"0")
            if found[1] != b"r":
                self.texts = max(self.texts, number)
                continue
            self.cells += 1
            self.row, self.column = max(self.row, number), max(self.column, _number(found[2][:8]))
        self.rest = text[end:]
        if len(self.rest) > PIECE:
            raise ValueError("it has a tag that does not end")


def _number(letters: bytes) -> int:
    """The number of a column: A is 1, Z 26, AA 27."""
    total = 0
    for letter in letters.upper():
        total = 26 * total + letter - 64
    return total


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a part, a piece at a time, to its true end, whatever size and checksum it states."""
    if part.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        raise ValueError(f"its part {part.filename!r} is packed in an unusual way")
    part.file_size, part.CRC = MOST_BYTES + 1, None  # type: ignore[assignment]
    with archive.open(part) as content:
        while piece := content.read(PIECE):
            yield piece
