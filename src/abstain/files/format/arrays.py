"""Arrays as .npy members, declared in the manifest and checked before they are used."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.container import Container
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Arrays

# The types allowed in an array of a model file: numbers of fixed size in little-endian order. No text, no objects.
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|i1")
MOST_AXES = 2
# nan where a search ran out of time, where a column has no value to impute, or as a category
MAY_BE_NAN = ("search_costs", "search_tuned", "double", "single")
# thresholds of a tree, where only missing values go to the right; how unusual a row is that cannot be scored
MAY_BE_INFINITE = ("threshold", "unusual")
LONGEST = 64  # letters in the name of an array

_NAME = re.compile(r"[a-z][a-z_]*(\.[a-z][a-z_]*)*")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def member_of(name: str) -> str:
    """The name of the member with this array."""
    return f"arrays/{name}.npy"


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The .npy header, format 1.0, padded to 64 bytes, so that an array has exactly one header.

    ``numpy.lib.format`` is not used because its padding has changed between versions of NumPy (16 bytes, 64 bytes, room
    for a longer axis): with a new NumPy, older files would be refused and new ones would differ.
    """
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    length = -(-(10 + len(text) + 1) // 64) * 64 - 10
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + f"{text:<{length - 1}}\n".encode("ascii")


def packed(arrays: Arrays) -> tuple[dict[str, Any], dict[str, list[memoryview]]]:
    """The manifest entries of the arrays, and their members as pieces of bytes."""
    declared, members = {}, {}
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        stored = np.ascontiguousarray(array, dtype=dtype)
        content = memoryview(stored.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # Buffer is Python 3.12's
        pieces = [memoryview(npy_header(dtype, stored.shape)), content]
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
        declared[name] = {"dtype": dtype, "shape": list(stored.shape), "sha256": digest.hexdigest()}
        members[member_of(name)] = pieces
    return declared, members


def read_arrays(container: Container, declared: Mapping[str, Any]) -> Arrays:
    """Read the declared arrays, checking sizes, checksums, headers and finiteness, in this order."""
    return {name: _read(container, name, entry) for name, entry in declared.items()}


def checked_name(name: str) -> str:
    """The name of an array, if a model file could contain it."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise ModelFileError(f"its manifest names an array {name[:60]!r}, which is not allowed in a model.")
    return name


def _read(container: Container, name: str, entry: Any) -> NDArray[Any]:
    dtype, shape, digest = _checked_entry(name, entry)
    member = member_of(name)
    header = npy_header(dtype, shape)
    size = math.prod(shape) * np.dtype(dtype).itemsize  # Python integers do not overflow
    if len(header) + size != container.members[member].size:
        raise ModelFileError(
            f"the array {name!r} is declared as {dtype} of shape {shape}, which is not the size of its member."
        )
    data = container.read(member, digest)
    refuse(not data.startswith(header), f"the header of the array {name!r} does not match the manifest.")
    array: NDArray[Any] = np.ndarray(shape, dtype, data, len(header))
    last = name.rpartition(".")[2]
    allowed = np.isfinite(array)
    allowed |= np.isnan(array) if last in MAY_BE_NAN else np.isposinf(array) if last in MAY_BE_INFINITE else False
    refuse(not allowed.all(), f"the array {name!r} contains NaN or infinity.")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _checked_entry(name: str, entry: Any) -> tuple[str, tuple[int, ...], str]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "sha256"}:
        raise ModelFileError(f"its manifest does not give dtype, shape and sha256 of the array {name!r}.")
    dtype, shape, digest = entry["dtype"], entry["shape"], entry["sha256"]
    refuse(dtype not in DTYPES, f"the array {name!r} is declared with a dtype that is not one of {', '.join(DTYPES)}.")
    whole = isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(length) is int for length in shape)
    if not whole or any(not 0 <= length <= 2**40 for length in shape):
        raise ModelFileError(f"the array {name!r} is declared with a shape that is not allowed in a model.")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ModelFileError(f"the array {name!r} is declared without a SHA-256 checksum.")
    return dtype, tuple(shape), digest
