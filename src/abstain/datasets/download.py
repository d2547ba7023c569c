"""Download of public files into a cache, by pooch.

The cache is pooch's folder for this library (``~/.cache/abstain`` on Linux), or the folder named by the environment
variable ABSTAIN_CACHE.
"""

from __future__ import annotations

from pathlib import Path

from abstain.datasets.folder import VARIABLE

__all__ = ["CACHE_VARIABLE", "fetch"]

CACHE_VARIABLE = "ABSTAIN_CACHE"


def fetch(name: str, url: str, file: str | None = None) -> Path:
    """Return the path of a public file in the cache, downloading it if needed; `file` is its name in the cache."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"the data set {name!r} is not available: {VARIABLE} is not set, and downloading it from {url} needs "
            f"pooch. Set {VARIABLE} to a folder that contains it, or install pooch with: pip install 'abstain[data]'."
        ) from error
    file = file or url.rsplit("/", 1)[-1]
    # The file is not hashed: the arrays read from it are verified, so line endings do not matter.
    cache = pooch.create(
        pooch.os_cache("abstain"), base_url="", registry={file: None}, urls={file: url}, env=CACHE_VARIABLE
    )
    try:
        return Path(cache.fetch(file))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; ValueError: unsupported address
        raise ConnectionError(
            f"the data set {name!r} is not available: {VARIABLE} is not set, and {url} could not be downloaded "
            f"({error}). Set {VARIABLE} to a folder that contains it, or try again with a network connection."
        ) from error
