"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only if the block ends without an error.

    It is written beside `path`, flushed to disk and renamed. A failure before that (an exception, a full disk, a killed
    process, a power cut) leaves the old file unchanged.
    """
    target = Path(os.path.realpath(path))  # a symbolic link keeps pointing to the replaced file
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    # not tempfile: its files are readable by their owner only, and would stay so after the renaming
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
    """Flush the renaming itself to disk, on systems where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
