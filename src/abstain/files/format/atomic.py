"""Files that are written completely or not at all."""

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_COPIED = 1 << 20  # bytes at a time


@contextmanager
def whole_file(path: str | os.PathLike[str], *, replace: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing that becomes `path` only if the block ends without an error.

    It is written beside `path`, flushed to disk and renamed. A failure before that (an exception, a full disk, a killed
    process, a power cut) leaves the old file unchanged. A file that is replaced keeps its permissions. A device or a
    pipe is written to, when everything is known to be right, and never replaced.

    Parameters
    ----------
    path : path-like
    replace : bool, default=True
        Whether an existing file may be replaced. If not, it is a FileExistsError, also where the file appeared while
        the new one was being written.
    """
    old: os.stat_result | None = None
    with suppress(FileNotFoundError):
        old = os.stat(path)  # noqa: PTH116 (it follows links, also those in /dev)
    if old is not None and not stat.S_ISREG(old.st_mode):
        if stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
        with _passed_on(path) as file:
            yield file
        return
    if old is not None and not replace:
        raise FileExistsError(errno.EEXIST, "it exists", os.fspath(path))
    target = Path(os.path.realpath(path))  # a symbolic link keeps pointing to the replaced file
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    # not tempfile: its files are readable by their owner only, and would stay so after the renaming
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:  # names the draft, which the caller does not know
        absent = error.errno == errno.ENOENT and not target.parent.is_dir()
        reason = "its folder does not exist" if absent else error.strerror
        raise OSError(error.errno, reason, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "w+b") as file:
            if old is not None:
                _keep_permissions(draft, old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(target)
        else:
            _put(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(target.parent)


@contextmanager
def _passed_on(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Collect what is written, then write it through to a device or a pipe."""
    with tempfile.TemporaryFile() as collected:
        yield collected
        collected.seek(0)
        with open(path, "wb") as device:  # noqa: PTH123 (a path-like, as it was given)
            while piece := collected.read(_COPIED):
                device.write(piece)


def _keep_permissions(draft: Path, old: os.stat_result) -> None:
    """Set the owner and the permissions of the draft to those of the file that it replaces, as far as possible."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(draft, old.st_uid, old.st_gid)
    draft.chmod(stat.S_IMODE(old.st_mode))


def _put(draft: Path, target: Path) -> None:
    """Rename the draft unless there is a file of that name: the link is made in one step, and fails where there is."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: two steps, of which the first is a check
        if target.exists():
            raise FileExistsError(errno.EEXIST, "it exists", str(target)) from None
        draft.replace(target)
        return
    draft.unlink()


def _sync_folder(folder: Path) -> None:
    """Flush the renaming itself to disk, on systems where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
