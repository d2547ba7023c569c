"""The size of a data set's file after unpacking, checked before the file is parsed.

Parsing needs several times the memory of the text, so a file that is too large is refused by its size alone.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

__all__ = ["MB", "check_size"]

MB = 1 << 20
CHUNK = 1 << 18


def check_size(path: Path, most_mb: int) -> None:
    """Raise a ValueError if the file, unpacked, has more than `most_mb` MB."""
    if _unpacked(path, most_mb * MB) > most_mb * MB:
        raise ValueError(f"it is larger than the {most_mb} MB, unpacked, that this data set may have")


def _unpacked(path: Path, most: int) -> int:
    """The size in bytes; counting ends above `most`."""
    size = path.stat().st_size
    if size > most or path.suffix not in (".gz", ".npz"):
        return size
    if path.suffix == ".npz":
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:  # a member never gives more than is declared
            return sum(member.file_size for member in archive.infolist())
    count = 0
    with gzip.open(path) as unpacked:
        while count <= most and (piece := unpacked.read(CHUNK)):
            count += len(piece)
    return count
