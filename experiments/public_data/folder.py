"""The data folder: the directory named by the environment variable ABSTAIN_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from public_data.checksums import verify
from public_data.size import check_size
from public_data.sources import Source
from public_data.table import UNREADABLE, Table

__all__ = ["VARIABLE", "data_folder", "file_in_folder", "read_checked", "read_from_folder"]

VARIABLE = "ABSTAIN_DATA"


def data_folder() -> Path | None:
    """Return the data folder, or None if the variable is not set; a path that is not a folder is an error."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{VARIABLE}={named!r} is not a folder; set it to the folder of data sets, or unset it to download them."
        )
    return folder


def file_in_folder(folder: Path, source: Source) -> Path:
    """Return the path of a data set's file; a missing file is an error."""
    path = folder / source.file
    if not path.is_file():
        raise FileNotFoundError(
            f"{VARIABLE}={str(folder)!r} has no file {source.file!r}, which contains the data set {source.name!r}; "
            f"put it there, or unset {VARIABLE} to download from {source.url}."
        )
    return path


def read_checked(source: Source, path: Path, read: Callable[[Path], Table], way_out: str) -> Table:
    """Read a file with `read`, and raise an error if it is too large or does not contain the data set."""
    name = source.name
    try:
        check_size(path, source.most_mb)
        table = read(path)
    except (FileNotFoundError, PermissionError):
        raise
    except (*UNREADABLE, OSError) as error:  # a damaged archive may make zipfile seek beyond the file
        raise ValueError(f"{str(path)!r} cannot be read as the data set {name!r} ({error}); {way_out}.") from error
    verify(name, table, repr(str(path)), way_out)
    return table


def read_from_folder(source: Source, folder: Path, read: Callable[[Path], Table] | None = None) -> Table:
    """Read and verify a data set of the folder, using its text layout unless `read` is given."""
    if read is None:
        assert source.file_layout is not None  # noqa: S101 (a source without one has its own reader)
        read = source.file_layout.read
    way_out = f"put the original file there, or unset {VARIABLE} to download it from {source.url}"
    return read_checked(source, file_in_folder(folder, source), read, way_out)
