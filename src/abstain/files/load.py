"""`load`: read a model file, check it completely, and restore the estimator."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np

from abstain.estimators.fitting.bases import Model
from abstain.files.format.arrays import read_arrays
from abstain.files.format.container import LARGEST, Container
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.manifest import declared_arrays, read_manifest
from abstain.files.registry import restored


def load(path: str | os.PathLike[str], *, max_bytes: int = LARGEST) -> Model:
    """Read a model file that :func:`abstain.save` wrote.

    Loading never runs code from the file, never crashes the process, and never takes more memory than a small multiple
    of the file's size, however the file was altered. A damaged file is refused, even by one bit, and so is one whose
    parts contradict each other or that `save` would write differently. What only the training rows could confirm, such
    as the objectives of a proof, is not known to be true.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=2**31 - 1
        Files larger than this are refused before they are read.

    Returns
    -------
    estimator
        As it was saved, with the same scores and decisions, bit for bit.

    Raises
    ------
    ModelFileError
        A ValueError: the file is damaged, altered, too large, from a later version, or not a model file.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import abstain
    >>> try:
    ...     abstain.load(abstain.__file__)
    ... except ValueError as error:
    ...     print(str(error).rpartition(": ")[2])
    it is not a model file, or its end is missing.
    """
    if not stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe would block until something writes to it
        raise ModelFileError(f"{path} cannot be loaded: it is not a regular file.")
    with Path(path).open("rb", buffering=0) as raw:
        try:
            return read(raw, os.fstat(raw.fileno()).st_size, max_bytes)
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be loaded: {error}") from error


def read(file: IO[bytes], size: int, max_bytes: int) -> Any:
    """The estimator in an open file of `size` bytes."""
    refuse(size > max_bytes, f"its {size:,} bytes are more than max_bytes={max_bytes:,}.")
    container = Container.of(file, size)
    fields = read_manifest(container)
    fields.only("format", "library", "model", "arrays")
    fields.take("library", str)
    state = fields.take("model", dict)
    declared = declared_arrays(fields, container)
    arrays = read_arrays(container, declared)
    try:
        with np.errstate(all="ignore"):  # numbers that overflow contradict others and are then refused
            return restored(state, arrays)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # the constructors of costs, kernels, labels and estimators raise their own errors
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFileError(f"its contents are not a model: {reason.rstrip('.')}.") from error
