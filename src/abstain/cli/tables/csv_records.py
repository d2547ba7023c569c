"""What a file is by its first bytes, and CSV in any encoding as rows of text; every error gives the line.

Lines end in LF or CRLF. The first line names the columns. The separator is the one of `,` `;` tab `|` that occurs most
often in the header, or is stated by a line such as `sep=;` above it, as spreadsheets write. A cell that contains a
separator, a quote or a line break must be quoted as a whole, with quotes inside it doubled. Empty lines are skipped.

The file is read in blocks of whole records, and each block is parsed once. polars parses the blocks without quotes: if
the number of separators is right for the number of lines, and no line has more cells than the header, then every line
is valid and is one row. All other blocks go to Python's csv module, which takes two to three times as long but gives
the line of each record. polars alone would fill up short rows and accept a quote inside a cell.
"""

import codecs
import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from abstain.cli.exit_codes import DataError, Note, UsageError

PIECE = 1 << 16
PEEKED = 4096
# the mark of UTF-32 begins with that of UTF-16
MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 (little-endian)"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 (big-endian)"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 (little-endian)"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 (big-endian)"),
)
OTHERS = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"<!DOCTYPE": "a web page"}
PARQUET, ZIP, OLD_EXCEL, GZIP = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b"


def checked_encoding(name: str | None) -> str | None:
    """The name of an encoding as Python writes it; an unknown one is an error."""
    if name is None:
        return None
    try:
        "a".encode(name)  # an error for codecs of bytes, such as base64
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise UsageError(f"--encoding {name!r} is unknown; give one such as utf-8 or windows-1252.") from None


def as_utf8(file: BinaryIO | gzip.GzipFile, start: bytes, path: Path, encoding: str | None) -> BinaryIO | gzip.GzipFile:
    """The file with its text in UTF-8: decoded as `encoding` says, or else as its byte-order mark says.

    Parameters
    ----------
    file : binary file
        At its beginning.
    start : bytes
        Its first bytes, which are not yet read.
    path : Path
        Its name, for errors and notes.
    encoding : str or None
        The option ``--encoding``.
    """
    if encoding is None:
        mark, encoding, words = next((one for one in MARKS if start.startswith(one[0])), (b"", "utf-8", ""))
        if mark:
            warnings.warn(f"{path} is read as {words}, by its byte-order mark.", Note, stacklevel=2)
        elif wide := _without_mark(start):
            raise DataError(f"{path} looks like UTF-16 without a byte-order mark; pass --encoding {wide}.")
    if encoding == "utf-8":
        return file
    return io.BufferedReader(_Recoded(file, path, encoding), PIECE)


def _without_mark(start: bytes) -> str | None:
    """The UTF-16 that would explain a NUL in most characters."""
    pairs = len(start) // 2
    for name, high in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if pairs >= 4 and high.count(0) > 0.7 * pairs and start.count(0) < 1.3 * pairs:
            return name
    return None


class _Recoded(io.RawIOBase):
    """A file decoded and encoded again as UTF-8."""

    def __init__(self, file: BinaryIO | gzip.GzipFile, path: Path, encoding: str) -> None:
        self._file, self._path, self._encoding = file, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._left, self._line = b"", 1

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        view, more = memoryview(into).cast("B"), True
        while not self._left and more:
            data = self._file.read(PIECE)
            more = bool(data)
            self._left = self._utf8(data)
            self._line += self._left.count(b"\n")
        count = min(len(view), len(self._left))
        view[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _utf8(self, data: bytes) -> bytes:
        try:
            return self._decoder.decode(data, final=not data).encode()
        except UnicodeError as error:
            at = data[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line = self._line + at.decode(self._encoding, errors="ignore").count("\n")
            way = "pass the encoding of the file with --encoding, or save it as UTF-8"
            raise DataError(f"{self._path}: line {line} cannot be read as {self._encoding}; {way}.") from error


MARK = codecs.BOM_UTF8
CHUNK = 1 << 20  # bytes of a block; the csv module is slower on larger ones
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
        first = dict[str, int]()
        for number, name in enumerate(self.columns, start=1):
            if not name.strip():
                raise self._fault(at, f"gives column {number} no name; name it or remove the column")
            if (other := first.setdefault(name, number)) < number:
                raise self._fault(at, f"names columns {other} and {number} both {name!r}; give each its own name")

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
        cells = {name: [cell or None for cell in column] if "" in column else column for name, column in columns}
        return pl.DataFrame(cells, dict.fromkeys(self.columns, pl.String))

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
                if cells and len(cells) != (len(self.columns) or len(cells)):  # the header itself may have any width
                    way = "add or remove cells, and quote a cell that contains the separator or a decimal comma"
                    what = f"has {len(cells)} cells where the header has {len(self.columns)}; {way}"
                    raise self._fault(place, what)
                if cells:
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
        with _unpacked(self._path, self._line):
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
        self._check_text(block)
        self._line += block.count(b"\n") + (len(block) > 0 and not block.endswith(b"\n"))
        return bytes(block)

    def _check_text(self, block: bytearray) -> None:
        try:
            at, what = block.find(b"\0"), "contains a NUL byte; remove it"
            if at < 0:
                block.decode()
        except UnicodeDecodeError as error:
            at, way = error.start, "save the file as UTF-8, or pass its encoding, as in --encoding windows-1252"
            what = f"is not UTF-8 (byte 0x{block[at]:02x}); {way}"
        if at >= 0:
            raise self._fault(self._line + block.count(b"\n", 0, at), what)

    def _fault(self, line: int, text: str) -> DataError:
        return DataError(f"{self._path}: line {line} {text}.")


def _check_quoted(cells: list[str], text: str, at: int) -> None:
    """Raise an error for an unquoted cell with quotes in the record at `at`; the csv module accepts them as text."""
    for cell in cells:
        quoted, quotes = text.startswith('"', at), cell.count('"')
        if quotes and not quoted:
            raise csv.Error("a quote was not expected after text")
        at += len(cell) + 1 + (quotes + 2 if quoted else 0)


@contextmanager
def _unpacked(path: Path, line: int = 1) -> Iterator[None]:
    """Turn the errors of opening, reading and unpacking a file from this line on into a DataError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: line {line} or a later one cannot be unpacked ({error}); pack it again.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path.") from error


def open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file for reading, unpacked if its name or its first bytes say that it is compressed."""
    with _unpacked(path):
        file = path.open("rb")
        if path.suffix != ".gz" and not file.peek(2).startswith(GZIP):
            return file
        file.close()
        return gzip.open(path, "rb")


def peeked(file: BinaryIO | gzip.GzipFile, path: Path) -> bytes:
    """The first bytes of a file, which are not yet read."""
    with _unpacked(path):
        return file.peek(PEEKED)[:PEEKED]  # type: ignore[union-attr]
