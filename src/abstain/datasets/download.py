"""The public sources: files fetched by pooch into a cache, once.

The cache is pooch's folder for this library (on Linux ``~/.cache/abstain``), or the one that the environment variable
ABSTAIN_CACHE names.
"""

from __future__ import annotations

from pathlib import Path

from abstain.datasets.folder import VARIABLE

__all__ = ["CACHE_VARIABLE", "fetch"]

CACHE_VARIABLE = "ABSTAIN_CACHE"


def fetch(name: str, url: str, file: str | None = None) -> Path:
    """Give the cached copy of a public file, downloaded first where there is none; `file` names it in the cache."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"the data set {name!r} is not at hand: {VARIABLE} names no folder, and downloading it from {url} needs "
            f"pooch. Set {VARIABLE} to a folder that holds it, or install pooch with: pip install 'abstain[data]'."
        ) from error
    file = file or url.rsplit("/", 1)[-1]
    # No hash of the file: what is checked is the arrays in it, whatever the line ends.
    cache = pooch.create(
        pooch.os_cache("abstain"), base_url="", registry={file: None}, urls={file: url}, env=CACHE_VARIABLE
    )
    try:
        return Path(cache.fetch(file))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; ValueError: an address of no known kind
        raise ConnectionError(
            f"the data set {name!r} is not at hand: {VARIABLE} names no folder, and {url} could not be downloaded "
            f"({error}). Set {VARIABLE} to a folder that holds it, or try again with a network."
        ) from error
