"""The container of a model file: a zip of stored members that has exactly one form for its contents.

::

    file = { local(name, crc, size) data }*  { central(name, crc, size, offset) }*  end(count, central size, offset)

Any zip program reads it. The reader takes nothing but the names, checksums and sizes from the central directory, makes
from these what the writer would have written, and refuses a file that differs in a single bit. So there are no hidden,
overlapping, compressed or encrypted members, nothing before, between or after them, and no member is larger than the
file: what is in memory after reading was on disk before. (``zipfile`` reads all of these, for good reasons.)
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Self

from abstain.files.errors import ModelFileError

LARGEST = 2**31 - 1  # bytes; beyond it zip needs other headers
MOST_MEMBERS = 64
LONGEST_NAME = 64

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
VERSION = 20  # of the zip format
DATE = 0x0021  # 1 January 1980, the earliest there is: one model, one file
CENTRAL_SIZE, END_SIZE = 46, 22
CHUNK = 1 << 20


@dataclass(frozen=True)
class Member:
    """One member: its name, its bytes' checksum and number, and where its local header begins."""

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
        """Where the data begin."""
        return self.offset + len(self.local)


def _end(members: list[Member], offset: int) -> bytes:
    size = sum(len(member.central) for member in members)
    return struct.pack("<4s4H2IH", END, 0, 0, len(members), len(members), size, offset, 0)


def write_members(file: BinaryIO, contents: Mapping[str, list[memoryview]]) -> None:
    """Write the members in their order, each given as pieces of bytes."""
    members, offset = [], 0
    for name, pieces in contents.items():
        crc = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        member = Member(name, crc, sum(piece.nbytes for piece in pieces), offset)
        offset = member.start + member.size
        members.append(member)
    if offset + sum(len(member.central) for member in members) + END_SIZE > LARGEST:
        raise ModelFileError(f"the model takes {offset:,} bytes, more than the {LARGEST:,} that a model file can hold.")
    for member, pieces in zip(members, contents.values(), strict=True):
        file.write(member.local)
        for piece in pieces:
            file.write(piece)
    file.writelines(member.central for member in members)
    file.write(_end(members, offset))


@dataclass(frozen=True)
class Container:
    """A file whose layout has been checked, and its members by name, in their order."""

    file: BinaryIO
    members: dict[str, Member]

    @classmethod
    def of(cls, file: BinaryIO, size: int) -> Self:
        """Check the layout of a file of `size` bytes; data are not read yet."""
        if size < END_SIZE:
            raise ModelFileError(f"its {size} bytes are too few for a model file.")
        end = _bytes_at(file, size - END_SIZE, END_SIZE)
        signature, _, _, _, count, central_size, offset, _ = struct.unpack("<4s4H2IH", end)
        if signature != END:
            raise ModelFileError("it is no model file, or its end is missing.")
        if count > MOST_MEMBERS or central_size > MOST_MEMBERS * (CENTRAL_SIZE + LONGEST_NAME):
            raise ModelFileError(f"it declares {count} members in {central_size:,} bytes, more than any model has.")
        if offset + central_size + END_SIZE != size:
            raise ModelFileError("its directory is not where its end says, so bytes are missing or were added.")
        members = _directory(_bytes_at(file, offset, central_size), count)
        following = 0
        for member in members:
            if member.offset != following or _bytes_at(file, member.offset, len(member.local)) != member.local:
                raise ModelFileError(f"the header of its member {member.name!r} does not agree with its directory.")
            following = member.start + member.size
        if following != offset or _end(members, offset) != end:
            raise ModelFileError("its members do not fill the space before its directory.")
        by_name = {member.name: member for member in members}
        if len(by_name) < len(members):
            raise ModelFileError("it has two members of one name.")
        return cls(file, by_name)

    def read(self, name: str, at: int = 0, size: int | None = None) -> bytes:
        """Read a member's bytes from `at` on, all that follow or `size` of them."""
        member = self.members[name]
        return _bytes_at(self.file, member.start + at, member.size - at if size is None else size)

    def read_into(self, name: str, at: int, buffer: memoryview) -> None:
        """Fill the buffer with a member's bytes from `at` on."""
        self.file.seek(self.members[name].start + at)
        filled = 0
        while filled < buffer.nbytes:
            got = self.file.readinto(buffer[filled:])  # type: ignore[attr-defined]
            if not got:
                raise ModelFileError("it became shorter while it was read.")
            filled += got

    def check(self, name: str, sha256: str) -> None:
        """Compare a member with its checksums, without holding more than a piece of it."""
        member = self.members[name]
        digest, crc, at = hashlib.sha256(), 0, 0
        while at < member.size:
            piece = self.read(name, at, min(CHUNK, member.size - at))
            digest.update(piece)
            crc = zlib.crc32(piece, crc)
            at += len(piece)
        if digest.hexdigest() != sha256 or crc != member.crc:
            raise ModelFileError(f"its member {name!r} was altered: the checksum does not fit.")


def _directory(raw: bytes, count: int) -> list[Member]:
    members, at = [], 0
    for _ in range(count):
        entry = raw[at : at + CENTRAL_SIZE]
        if len(entry) < CENTRAL_SIZE:
            raise ModelFileError("its directory is shorter than its end says.")
        crc, _, size, length = struct.unpack_from("<3IH", entry, 16)
        name = raw[at + CENTRAL_SIZE : at + CENTRAL_SIZE + length]
        if not name.isascii() or length > LONGEST_NAME:
            raise ModelFileError("its directory holds a name that no model file has.")
        member = Member(name.decode("ascii"), crc, size, struct.unpack_from("<I", entry, 42)[0])
        at += CENTRAL_SIZE + length
        if member.central != entry + name:
            raise ModelFileError(f"the directory's entry of {member.name!r} is not as the library writes it.")
        members.append(member)
    if at != len(raw):
        raise ModelFileError("its directory is longer than its end says.")
    return members


def _bytes_at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    piece = file.read(size)
    if len(piece) != size:
        raise ModelFileError("it became shorter while it was read, or a size in it is wrong.")
    return piece
