"""What a file is by its first bytes, and text in any encoding as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from abstain.cli.exit_codes import DataError, Note, UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 16
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
    return io.BufferedReader(_Recoded(file, path, encoding), CHUNK)


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

    def readinto(self, into: WriteableBuffer) -> int:
        view, more = memoryview(into).cast("B"), True
        while not self._left and more:
            data = self._file.read(CHUNK)
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
            raise DataError(
                f"{self._path}: line {line} cannot be read as {self._encoding}; pass the encoding of the file with "
                "--encoding, or save it as UTF-8."
            ) from error
