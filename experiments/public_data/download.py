"""Download of public files into a cache, by pooch.

The cache is pooch's folder for this library (``~/.cache/abstain`` on Linux), or the folder named by the environment
variable ABSTAIN_CACHE.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from public_data.folder import VARIABLE
from public_data.size import MB

__all__ = ["CACHE_VARIABLE", "fetch"]

CACHE_VARIABLE = "ABSTAIN_CACHE"


class _Bounded:
    """An open file that takes at most `most` bytes; as pooch's downloader writes to it."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file, self._left = file, most

    def write(self, piece: bytes) -> int:
        self._left -= len(piece)
        if self._left < 0:
            raise ValueError("it is larger than the data set may be")
        return self._file.write(piece)

    def flush(self) -> None:
        self._file.flush()


def fetch(name: str, url: str, most_mb: int, file: str | None = None) -> Path:
    """Return the path of a public file in the cache, downloading it if needed.

    Parameters
    ----------
    name : str
        The data set, for errors.
    url : str
        The public file.
    most_mb : int
        Above this size in MB the download ends with an error, and nothing is kept.
    file : str or None
        Its name in the cache; the last part of `url` if None.
    """
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"the data set {name!r} is not available: {VARIABLE} is not set, and downloading it from {url} needs "
            f"pooch. Set {VARIABLE} to a folder that contains it, or install pooch with: pip install 'abstain[data]'."
        ) from error
    file = file or url.rsplit("/", 1)[-1]

    def download(url: str, path: str, cache: Any) -> None:
        with Path(path).open("wb") as target:
            pooch.HTTPDownloader()(url, _Bounded(target, most_mb * MB), cache)

    # The file is not hashed, since line endings differ between copies: its size is bounded here, and the arrays read
    # from it are verified.
    cache = pooch.create(
        pooch.os_cache("abstain"), base_url="", registry={file: None}, urls={file: url}, env=CACHE_VARIABLE
    )
    try:
        return Path(cache.fetch(file, downloader=download))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; ValueError: unsupported address
        raise ConnectionError(
            f"the data set {name!r} is not available: {VARIABLE} is not set, and {url} could not be downloaded "
            f"({error}). Set {VARIABLE} to a folder that contains it, or try again with a network connection."
        ) from error
