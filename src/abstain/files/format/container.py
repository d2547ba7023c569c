"""The container of a model file: a zip of uncompressed members, of which the same contents always give the same bytes.

::

    file = { local(name, crc, size) data }*  { central(name, crc, size, offset) }*  end(count, central size, offset)

Any zip program can read it. The reader uses only the names, checksums and sizes in the central directory, rebuilds from
these what the writer would have written, and refuses a file that differs in a single bit. So there are no hidden,
overlapping, compressed or encrypted members, nothing before, between or after them, and no member is larger than the
file: reading takes no more memory than the file has bytes.

``zipfile`` parses the directory. It is given only the end of the file, as long as the longest directory of a model,
because it makes an object of several hundred bytes from every entry of 46. The headers are packed here and not by
``zipfile``: it fills them in while writing a member's data, so comparing a file with what the writer would have written
would take a second copy of the file in memory. Its output also differs between versions of Python (as in 3.11.4), so an
older file could be refused.
"""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Self

from abstain.files.format.errors import ModelFileError, refuse

LARGEST = 2**31 - 1  # bytes; beyond it zip needs other headers
MOST_MEMBERS = 512  # an average of three machines of ten classes has 65
LONGEST_NAME = 64

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
VERSION = 20  # of the zip format
DATE = 0x0021  # 1 January 1980, the earliest possible: the same model always gives the same file
END_SIZE = 22
LONGEST_END = MOST_MEMBERS * (46 + LONGEST_NAME) + END_SIZE  # of the directory and the record after it


@dataclass(frozen=True)
class Member:
    """One member: its name, its checksum, its size in bytes, and where its local header begins."""

    name: str
    crc: int
    size: int
    offset: int

    @property
    def local(self) -> bytes:
        """The header before the data."""
        fields = (VERSION, 0, 0, 0, DATE, self.crc, self.size, self.size, len(self.name), 0)
        return struct.pack("<4s5H3I2H", LOCAL, *fields) + self.name.encode("ascii")

    @property
    def central(self) -> bytes:
        """The entry in the directory at the end of the file."""
        fields = (VERSION, VERSION, 0, 0, 0, DATE, self.crc, self.size, self.size, len(self.name), 0, 0, 0, 0, 0)
        return struct.pack("<4s6H3I5H2I", CENTRAL, *fields, self.offset) + self.name.encode("ascii")

    @property
    def start(self) -> int:
        """Where the data begins."""
        return self.offset + len(self.local)


def _end(members: list[Member], offset: int) -> bytes:
    """The directory, which begins at `offset`, and the record after it."""
    directory = b"".join(member.central for member in members)
    return directory + struct.pack("<4s4H2IH", END, 0, 0, len(members), len(members), len(directory), offset, 0)


def write_members(file: IO[bytes], contents: Mapping[str, list[memoryview]]) -> None:
    """Write the members in order, each given as pieces of bytes."""
    members, offset = [], 0
    for name, pieces in contents.items():
        crc = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        member = Member(name, crc, sum(piece.nbytes for piece in pieces), offset)
        offset = member.start + member.size
        members.append(member)
    if offset > LARGEST - LONGEST_END:
        raise ModelFileError(f"the model takes {offset:,} bytes, more than the {LARGEST:,} allowed in a model file.")
    for member, pieces in zip(members, contents.values(), strict=True):
        file.write(member.local)
        for piece in pieces:
            file.write(piece)
    file.write(_end(members, offset))


@dataclass(frozen=True)
class Container:
    """A file whose layout has been checked, and its members by name, in order."""

    file: IO[bytes]
    members: dict[str, Member]

    @classmethod
    def of(cls, file: IO[bytes], size: int) -> Self:
        """Check the layout of a file of `size` bytes; the data is not read yet."""
        refuse(size < END_SIZE, f"its {size} bytes are too few for a model file.")
        end = _bytes_at(file, max(0, size - LONGEST_END), min(size, LONGEST_END))
        members, offset = [], 0
        for entry in _directory(end):
            if not entry.filename.isascii() or len(entry.filename) > LONGEST_NAME:
                raise ModelFileError("its directory contains a name that is not allowed in a model file.")
            if entry.file_size > min(size, LARGEST) - offset:
                raise ModelFileError(f"its member {entry.filename!r} is declared larger than the file.")
            member = Member(entry.filename, entry.CRC, entry.file_size, offset)
            if _bytes_at(file, offset, len(member.local)) != member.local:
                raise ModelFileError(f"the header of its member {member.name!r} does not match the directory.")
            offset = member.start + member.size
            members.append(member)
        expected = _end(members, offset)
        if offset + len(expected) != size or not end.endswith(expected):
            raise ModelFileError("its directory is not what the library writes, or bytes are missing or were added.")
        by_name = {member.name: member for member in members}
        refuse(len(by_name) < len(members), "it has two members with the same name.")
        return cls(file, by_name)

    def read(self, name: str, sha256: str | None = None) -> bytearray:
        """Read a member, and compare it with its checksums; the manifest's own has no SHA-256."""
        member = self.members[name]
        data = bytearray(member.size)
        self.file.seek(member.start)
        filled = 0
        while filled < member.size:
            got = self.file.readinto(memoryview(data)[filled:])  # type: ignore[attr-defined]
            refuse(not got, "it became shorter while it was read.")
            filled += got
        if zlib.crc32(data) != member.crc or sha256 not in (None, hashlib.sha256(data).hexdigest()):
            raise ModelFileError(f"its member {name!r} was altered: the checksum does not match.")
        return data


def _directory(end: bytes) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(io.BytesIO(end)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise ModelFileError("it is not a model file, or its end is missing.") from error
    refuse(len(entries) > MOST_MEMBERS, f"it declares {len(entries)} members, more than any model has.")
    return entries


def _bytes_at(file: IO[bytes], offset: int, size: int) -> bytes:
    file.seek(offset)
    piece = file.read(size)
    refuse(len(piece) != size, "it became shorter while it was read, or a size in it is wrong.")
    return piece
