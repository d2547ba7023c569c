"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `path` only when the block has ended without an error.

    It is written beside `path`, forced to disk and renamed: whatever happens before that (an exception, a full disk,
    the end of the process, a power cut) leaves the old file as it was.
    """
    target = Path(os.path.realpath(path))  # a symbolic link goes on pointing to the file that is replaced
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    # not tempfile: its files are for their owner alone, and would stay so after the renaming
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Force the renaming itself to disk, where folders can be opened for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
