"""CSV as rows of text with their line numbers; every error gives the line.

A file is given as UTF-8 (a byte-order mark is allowed), and lines end in LF or CRLF. The first line names the columns.
The separator is the one of `,` `;` tab `|` that occurs most often in the header, or is stated by a line such as `sep=;`
above it, as spreadsheets write. A cell that contains a separator, a quote or a line break must be quoted as a whole,
with quotes inside it doubled. Empty lines are skipped.

The file is read in blocks of whole records, and each block is parsed once. polars parses the blocks without quotes: if
the number of separators is right for the number of lines, and no line has more cells than the header, then every line
is valid and is one row. All other blocks go to Python's csv module, which takes two to three times as long but gives
the line of each record. polars alone would fill up short rows and accept a quote inside a cell.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import polars as pl

from abstain.cli.exit_codes import DataError
from abstain.cli.tables.encoding import GZIP, PEEKED

CHUNK = 1 << 20  # bytes of a block; the csv module is slower on larger ones
MARK = b"\xef\xbb\xbf"  # the byte-order mark
LONGEST = 16 << 20  # bytes of one record; a longer one means that the file is not a table


class Records:
    """The rows of an open CSV file; the header is read immediately, the rest by `batches`.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    separator : str
        What stands between cells.
    """

    def __init__(self, file: BinaryIO | gzip.GzipFile, path: Path) -> None:
        self._file, self._path, self._line = file, path, 1  # the line on which the next block begins
        csv.field_size_limit(2 * LONGEST)  # for the whole process; the default is 128 kB
        header, at = self._block(0).removeprefix(MARK), 1
        stated = re.fullmatch(rb'(?i)"?sep=([,;\t|])"?\s*', header)
        if stated:
            header, at = self._block(0), 2
        if not header.strip():
            raise self._fault(at, "is empty; the first line must name the columns")
        unquoted = b"".join(header.split(b'"')[::2])
        most = max(",;\t|", key=lambda separator: unquoted.count(separator.encode()))
        self.separator = stated[1].decode() if stated else most
        self.columns = list[str]()
        (self.columns,), _ = self._records(header, at)
        self._check_names(at)

    def batches(self) -> Iterator[tuple[pl.DataFrame, Sequence[int]]]:
        """All rows, one block at a time: their cells, None if empty, and the line on which each begins."""
        first, size = self._line, CHUNK * min(4, 1 + len(self.columns) // 1000)  # wide tables: fewer batches
        while block := self._block(size):
            places: Sequence[int] = range(first, self._line)
            if (frame := self._without_quotes(block, len(places))) is None:
                rows, places = self._records(block, first)
                frame = self._frame(rows)
            if places:
                yield frame, places
            first = self._line

    def _without_quotes(self, block: bytes, lines: int) -> pl.DataFrame | None:
        """The cells of a block; None if it has a quote, an empty line, a bare CR or a row of the wrong length."""
        width, separator = len(self.columns), self.separator
        plain = b'"' not in block and block.count(b"\r") == block.count(b"\r\n") and not block.startswith(MARK)
        if width == 1 or not plain or block.count(separator.encode()) != lines * (width - 1):
            return None
        schema = dict.fromkeys(self.columns, pl.String)
        if not block.endswith(b"\n"):
            block += b"\n"  # polars overlooks a cell too many, if empty, at the very end of a file
        try:
            frame = pl.read_csv(block, has_header=False, separator=separator, quote_char=None, schema=schema)
        except pl.exceptions.PolarsError:  # a row has too many cells
            return None
        return frame if frame.height == lines else None

    def _frame(self, rows: list[list[str]]) -> pl.DataFrame:

        columns = zip(self.columns, zip(*rows, strict=True), strict=False)  # without rows, no columns
        return pl.DataFrame([
            pl.Series(name, [cell or None for cell in cells] if "" in cells else cells, pl.String)
            for name, cells in columns
        ])  # fmt: skip

    def _records(self, block: bytes, first: int) -> tuple[list[list[str]], list[int]]:
        """The records of a block that begins on line `first`, and the line on which each begins."""
        text, rows, places = block.decode(), list[list[str]](), list[int]()
        lines = io.StringIO(text)
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        place, at = first, 0
        try:
            for cells in reader:
                if '"' in "".join(cells):
                    _check_quoted(cells, text, at)
                if cells:
                    self._check_width(cells, place)
                    rows.append(cells)
                    places.append(place)
                place, at = first + reader.line_num, lines.tell()
        except csv.Error as error:
            if "new-line character" in str(error):
                place, why = first + reader.line_num - 1, "ends in a bare CR; save with LF or CRLF line ends"
            elif "expected after" in str(error):
                why = "has a quote inside a cell; quote the whole cell and double quotes in it"
            else:
                why = "opens a quote that is never closed; close or remove it"
            raise self._fault(place, why) from error
        return rows, places

    def _block(self, size: int) -> bytes:
        """The next `size` bytes, and the rest of the last record."""
        more = True
        try:
            block = bytearray(self._file.read(size))
            first, quotes = block.rfind(b"\n") + 1, block.count(b'"')  # where the last line begins
            while more:  # with an odd number of quotes so far, a quoted cell is open
                line = self._file.readline(max(0, LONGEST + 1 - (len(block) - first)))
                block += line
                if len(block) - first > LONGEST:
                    place = self._line + block.count(b"\n", 0, first)
                    raise self._fault(place, f"is longer than {LONGEST >> 20} MB; this is not a table")
                first = len(block)
                quotes += line.count(b'"')
                more = bool(line) and quotes % 2 == 1 and len(block) <= size + LONGEST
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self._fault(self._line, f"or a later one cannot be unpacked ({error}); pack it again") from error
        self._check_text(block)
        self._line += block.count(b"\n") + (len(block) > 0 and not block.endswith(b"\n"))
        return bytes(block)

    def _check_text(self, block: bytearray) -> None:
        if (at := block.find(b"\0")) >= 0:
            raise self._fault(self._line + block.count(b"\n", 0, at), "contains a NUL byte; remove it")
        try:
            block.decode()
        except UnicodeDecodeError as error:
            place, byte = self._line + block.count(b"\n", 0, error.start), block[error.start]
            raise self._fault(
                place,
                f"is not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8, or pass its encoding, as in "
                "--encoding windows-1252",
            ) from error

    def _check_width(self, cells: list[str], line: int) -> None:
        width = len(self.columns)
        if len(cells) != width and width > 0:  # the header itself may have any width
            raise self._fault(
                line,
                f"has {len(cells)} cells where the header has {width}; "
                "add or remove cells, and quote a cell that contains the separator or a decimal comma",
            )

    def _check_names(self, line: int) -> None:
        first = dict[str, int]()
        for at, name in enumerate(self.columns, start=1):
            if not name.strip():
                raise self._fault(line, f"gives column {at} no name; name it or remove the column")
            if first.setdefault(name, at) < at:
                raise self._fault(line, f"names columns {first[name]} and {at} both {name!r}; give each its own name")

    def _fault(self, line: int, text: str) -> DataError:
        return DataError(f"{self._path}: line {line} {text}.")


def _check_quoted(cells: list[str], text: str, at: int) -> None:
    """Raise an error for an unquoted cell with quotes in the record at `at`; the csv module accepts them as text."""
    for cell in cells:
        quoted, quotes = text.startswith('"', at), cell.count('"')
        if quotes and not quoted:
            raise csv.Error("a quote was not expected after text")
        at += len(cell) + 1 + (quotes + 2 if quoted else 0)


def open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file for reading, unpacked if its name or its first bytes say that it is compressed."""
    try:
        file = path.open("rb")
        if path.suffix != ".gz" and not file.peek(2).startswith(GZIP):
            return file
        file.close()
        return gzip.open(path, "rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path.") from error


def peeked(file: BinaryIO | gzip.GzipFile, path: Path) -> bytes:
    """The first bytes of a file, which are not yet read."""
    try:
        return file.peek(PEEKED)[:PEEKED]  # type: ignore[union-attr]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: line 1 or a later one cannot be unpacked ({error}); pack it again.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path.") from error
