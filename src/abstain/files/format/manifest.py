"""The manifest, a description of a model file in JSON with its checksum, and the arrays that it declares, as .npy."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.container import Container
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Arrays, Fields, whole

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
    """The name of the member with this array; an error if a model file could not contain it."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise ModelFileError(f"its manifest names an array {name[:60]!r}, which is not allowed in a model.")
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


FORMAT = 2  # increased when older versions could not read new files
MANIFEST, CHECKSUM = "manifest.json", "manifest.sha256"
LARGEST = 2**24  # bytes of JSON; it contains the names of columns and categories, but no arrays
# Values of JSON, escaped letters, and how deep values may be nested. They are counted before parsing, where a byte of
# JSON can cost 70 bytes of memory, as in empty lists and escaped letters.
MOST_VALUES, DEEPEST = 2**19, 64
# Possessive, and also right for a string without an end: a match that failed would be tried again at every later quote.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")


def manifest_members(manifest: dict[str, Any]) -> dict[str, list[memoryview]]:
    """The manifest's two members, which come first in the file."""
    text = json.dumps(manifest, indent=1, allow_nan=False).encode("ascii")
    if len(text) > LARGEST:
        raise ValueError(f"the names of columns and classes take {len(text):,} bytes, more than {LARGEST:,}.")
    if reason := _excess(text):
        raise ValueError(f"the model has {reason}.")
    digest = hashlib.sha256(text).hexdigest().encode("ascii")
    return {MANIFEST: [memoryview(text)], CHECKSUM: [memoryview(digest)]}


def read_manifest(container: Container) -> Fields:
    """Return the manifest's fields; checksum, version and the list of members are checked."""
    members = container.members
    if [*members][:2] != [MANIFEST, CHECKSUM]:
        raise ModelFileError("it does not begin with a manifest and its checksum, so it is not a model file.")
    if members[MANIFEST].size > LARGEST or members[CHECKSUM].size != 64:
        raise ModelFileError("its manifest or the manifest's checksum is too large.")
    text = bytes(container.read(MANIFEST, container.read(CHECKSUM).decode("latin-1")))
    if reason := _excess(text):
        raise ModelFileError(f"its manifest has {reason}.")
    try:
        # int raises an error for NaN and Infinity
        manifest = json.loads(text.decode("ascii"), object_pairs_hook=_object, parse_constant=int)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its manifest is not the JSON of a model ({type(error).__name__}).") from error
    fields = Fields(manifest, "model")
    version = fields.take("format", whole(1))
    if version != FORMAT:
        later = f"a later version of abstain; this version reads up to {FORMAT}, so upgrade abstain"
        earlier = "abstain 0.1, which is no longer read; load it with abstain 0.2 and save it again"
        raise ModelFileError(f"it has format {version}, written by {later if version > FORMAT else earlier}.")
    if json.dumps(manifest, indent=1).encode("ascii") != text:
        raise ModelFileError("its manifest is not formatted as the library writes JSON.")
    return fields


def declared_arrays(fields: Fields, container: Container) -> dict[str, Any]:
    """The manifest's entries for the arrays; the other members of the file must be these, in this order."""
    declared: dict[str, Any] = fields.take("arrays", dict)
    expected = [MANIFEST, CHECKSUM, *(member_of(name) for name in declared)]
    refuse(expected != [*container.members], "its members are not the arrays that its manifest names, in that order.")
    return declared


def _excess(text: bytes) -> str:
    """Name what JSON has too much of, without parsing it; "" if it is within the limits."""
    values = sum(map(text.count, (b",", b"[", b"{")))  # at least the number of values, less one
    if max(values, text.count(b"\\"), text.count(b"]"), text.count(b"}")) >= MOST_VALUES:
        return f"more names and values, or more letters outside ASCII, than the {MOST_VALUES:,} allowed"
    depth = deepest = 0
    for bracket in _BRACKET.finditer(_STRING.sub(b"", text)):
        depth += 1 if bracket[0] in b"[{" else -1
        deepest = max(deepest, depth)
    return f"steps or values nested more than {DEEPEST} deep" if deepest > DEEPEST else ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice in one object")
    return found
