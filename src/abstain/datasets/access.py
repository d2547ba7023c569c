"""The way to a data set: from the folder that ABSTAIN_DATA names, else from its public source; checked either way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from abstain.datasets.download import fetch
from abstain.datasets.folder import data_folder, read_checked, read_from_folder
from abstain.datasets.sources import Source
from abstain.datasets.table import Table

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
        Which one.
    read_file : callable, default=None
        Reads the folder's file, where that is no text file.
    elsewhere : callable, default=None
        Gives the checked table where no folder is named, for sets whose public source is not one text file.
    """
    folder = data_folder()
    if folder is not None:
        return read_from_folder(source, folder, read_file)
    return elsewhere() if elsewhere is not None else read_public(source)


def read_public(source: Source, name: str | None = None, keep: Callable[[Table], Table] = lambda table: table) -> Table:
    """Download a data set that is one text file, read it, keep what is asked for, and check that under its name."""
    layout = source.layout
    assert layout is not None  # noqa: S101 (sets in another form come with a reader of their own)
    path = fetch(source.name, source.url)
    way_out = f"delete it to download {source.url} again"
    return read_checked(name or source.name, path, lambda path: keep(layout.read(path)), way_out)
