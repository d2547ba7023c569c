"""CSV as bytes: whole records with their line numbers, and every fault found before a parser can paper over it.

A file is UTF-8 (a byte-order mark is allowed), lines end in LF or CRLF, the first line names the columns, cells are
separated by the one of `,` `;` tab that the header has most of, and a cell that holds a separator, a quote or a line
break is quoted as a whole, quotes inside it doubled. Empty lines are skipped.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from abstain.cli.exit_codes import DataError

CHUNK = 4 << 20  # bytes of records handed on at a time
LONGEST = 16 << 20  # bytes of one record: whatever is longer is no table
_MARK = b"\xef\xbb\xbf"
_QUOTED = re.compile(rb'"(?:[^"]|"")*+"')


@dataclass(frozen=True, eq=False)
class Chunk:
    """Records in a row.

    Attributes
    ----------
    text : bytes
        The records, each ended by a line feed, without the header; valid UTF-8.
    lines : array of int
        The line on which each record begins, the header's being 1.
    """

    text: bytes
    lines: array[int]


class Records:
    """The records of an open CSV file; the header is read at once, the rest by `chunks`.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    separator : str
        What separates cells.
    """

    def __init__(self, file: BinaryIO | gzip.GzipFile, path: Path) -> None:
        self._file, self._path, self._line = file, path, 1
        header = self._joined(self._read().removeprefix(_MARK))
        if not header.strip():
            raise DataError(f"{path}: line 1 is empty; the first line must name the columns.")
        counted = {separator: _QUOTED.sub(b"", header).count(separator.encode()) for separator in ",;\t"}
        self.separator = max(counted, key=lambda separator: counted[separator])
        self._width = counted[self.separator] + 1
        self._shape = _well_formed(self.separator.encode())
        self._check_quotes(header, 1)
        self._check_text(header, [header], array("q", [1]))
        try:
            self.columns = next(csv.reader([header.decode().rstrip("\r\n")], delimiter=self.separator))
        except csv.Error as error:
            raise DataError(f"{path}: line 1 is no header ({error}); the first line must name the columns.") from error
        self._check_names()
        self._line += 1

    def chunks(self) -> Iterator[Chunk]:
        """Read all records, a few megabytes at a time."""
        size, kept, lines = 0, list[bytes](), array("q")
        while line := self._read():
            if line.strip(b"\r\n"):
                lines.append(self._line)
                kept.append(self._joined(line))
                self._check_quotes(kept[-1], lines[-1])
                self._check_width(kept[-1], lines[-1])
                size += len(kept[-1])
            self._line += 1
            if size >= CHUNK:
                yield self._chunk(kept, lines)
                size, kept, lines = 0, [], array("q")
        if kept:
            yield self._chunk(kept, lines)

    def _read(self) -> bytes:
        try:
            line = self._file.readline(LONGEST)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(f"{self._path}: line {self._line} cannot be unpacked ({error}); pack it again.") from error
        if len(line) >= LONGEST:
            raise DataError(f"{self._path}: line {self._line} is longer than {LONGEST >> 20} MB; this is no table.")
        return line

    def _joined(self, line: bytes) -> bytes:
        """The line, with those that follow as long as a quoted cell is open, ended by a line feed."""
        if b'"' not in line:
            if b"\r" in line[:-2]:
                raise DataError(f"{self._path}: line {self._line} ends in a bare CR; save with LF or CRLF line ends.")
            return line if line.endswith(b"\n") else line + b"\n"
        began, parts, quotes, size = self._line, [line], line.count(b'"'), len(line)
        while quotes % 2 == 1:  # an odd number of quotes so far: a quoted cell is open
            line = self._read()
            size += len(line)
            if not line or size > LONGEST:
                raise DataError(f"{self._path}: line {began} opens a quote that is never closed; close or remove it.")
            parts.append(line)
            quotes += line.count(b'"')
            self._line += 1
        record = b"".join(parts)
        return record if record.endswith(b"\n") else record + b"\n"

    def _check_quotes(self, record: bytes, line: int) -> None:
        if b'"' in record and not self._shape.fullmatch(record):
            raise DataError(
                f"{self._path}: line {line} has a quote inside a cell; quote the whole cell and double quotes in it."
            )

    def _check_width(self, record: bytes, line: int) -> None:
        plain = _QUOTED.sub(b"", record) if b'"' in record else record
        width = plain.count(self.separator.encode()) + 1
        if width != self._width:
            raise DataError(
                f"{self._path}: line {line} has {width} cells where the header has {self._width}; "
                "add or remove cells, and quote a cell that contains the separator or a decimal comma."
            )

    def _check_names(self) -> None:
        for at, name in enumerate(self.columns, start=1):
            if not name.strip():
                raise DataError(f"{self._path}: line 1 gives column {at} no name; name it or remove the column.")
            if (first := self.columns.index(name) + 1) < at:
                raise DataError(
                    f"{self._path}: line 1 names columns {first} and {at} both {name!r}; give each its own name."
                )

    def _chunk(self, records: list[bytes], lines: array[int]) -> Chunk:
        text = b"".join(records)
        self._check_text(text, records, lines)
        return Chunk(text, lines)

    def _check_text(self, text: bytes, records: list[bytes], lines: array[int]) -> None:
        def line_of(byte: int) -> int:
            ends = accumulate(len(record) for record in records)
            return next(line for end, line in zip(ends, lines, strict=True) if byte < end)

        if (at := text.find(b"\0")) >= 0:
            raise DataError(f"{self._path}: line {line_of(at)} holds a NUL byte; remove it.")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self._path}: line {line_of(error.start)} is not UTF-8 (byte 0x{text[error.start]:02x}); "
                "save the file as UTF-8."
            ) from error


def open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file for reading, unpacked if its name ends in .gz."""
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path.") from error


def _well_formed(separator: bytes) -> re.Pattern[bytes]:
    """A record: quoted cells are quoted as a whole. Nothing is tried twice, so the time is linear."""
    cell = rb'(?:"(?:[^"]|"")*+"|[^"\r\n%b]*+)' % re.escape(separator)
    return re.compile(rb"%b(?:%b%b)*+\r?\n?" % (cell, re.escape(separator), cell))
