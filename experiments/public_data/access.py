"""Access to data sets: from the folder named by ABSTAIN_DATA, else from the public source; verified either way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from public_data.download import fetch
from public_data.folder import data_folder, read_checked, read_from_folder
from public_data.sources import Source
from public_data.table import Table

__all__ = ["load_table", "read_public"]


def load_table(
    source: Source,
    *,
    read_file: Callable[[Path], Table] | None = None,
    elsewhere: Callable[[], Table] | None = None,
) -> Table:
    """Load a data set in its canonical form.

    Parameters
    ----------
    source : Source
        The data set.
    read_file : callable, default=None
        Reads the file in the folder if it is not a text file.
    elsewhere : callable, default=None
        Returns the verified table if ABSTAIN_DATA is not set, for sets whose public source is not one text file.
    """
    folder = data_folder()
    if folder is not None:
        return read_from_folder(source, folder, read_file)
    return elsewhere() if elsewhere is not None else read_public(source)


def read_public(source: Source, keep: Callable[[Table], Table] = lambda table: table) -> Table:
    """Download a data set that is one text file, read it, select rows with `keep`, and verify the result."""
    layout = source.layout
    assert layout is not None  # noqa: S101 (sets in other formats have their own reader)
    path = fetch(source.name, source.url, source.most_mb)
    way_out = f"delete it to download {source.url} again"
    return read_checked(source, path, lambda path: keep(layout.read(path)), way_out)
