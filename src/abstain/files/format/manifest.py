"""The manifest, a description of a model file in JSON with its checksum, and the arrays that it declares, as .npy.

The arrays of a Pipeline's steps are joined into three: a file has few members, however many steps there are.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.container import Container
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Arrays, Fields, Spec, fitting, spec, whole

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


# The name of the joined array of each dtype.
JOINED = {"<f8": "double", "<f4": "single", "<i8": "whole"}
FLOAT = ("<f8", "<f4")
# Of all Pipelines and ColumnTransformers of a model. Reading takes scikit-learn about a millisecond for a step, up to
# ten microseconds for a column, and a quarter of a millisecond for a column that is encoded.
MOST_STEPS, MOST_COLUMNS, MOST_ENCODED = 1000, 2**20, 10_000


class _Work:
    """What the steps of a model read in all: reading a file takes no longer than these bounds allow."""

    def __init__(self) -> None:
        self._steps = self._columns = self._encoded = 0

    def count(self, columns: int, *, encoded: bool = False) -> None:
        """Count one more step that reads so many columns; an error if the model has too many in all."""
        self._steps += 1
        self._columns += columns
        self._encoded += columns if encoded else 0
        for what, count, most in (
            ("steps", self._steps, MOST_STEPS),
            ("columns over all its steps", self._columns, MOST_COLUMNS),
            ("encoded columns", self._encoded, MOST_ENCODED),
        ):
            if count > most:
                raise self._excess(f"it has more than {most:,} {what}.")

    def _excess(self, reason: str) -> ValueError:
        return ModelFileError(reason)


class PoolWriter(_Work):
    """Takes the arrays of the steps in the order in which they will be read."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: dict[str, list[NDArray[Any]]] = {dtype: [] for dtype in JOINED}

    def _excess(self, reason: str) -> ValueError:
        return ValueError(f"estimator cannot be saved: {reason} Use fewer, or skops.")

    def put(self, values: Any) -> list[Any]:
        """Add an array; the result describes it in the manifest: its dtype, then its shape."""
        array = np.asarray(values)
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in JOINED:
            raise unsupported(f"has a step with an array of dtype {array.dtype}", "fit it to float64")
        self._taken[dtype].append(array.ravel())
        return [dtype, *array.shape]

    @property
    def arrays(self) -> Arrays:
        """The joined arrays."""
        each = {name: [np.empty(0, dtype), *self._taken[dtype]] for dtype, name in JOINED.items()}
        return {name: np.concatenate(parts, dtype=parts[0].dtype) for name, parts in each.items()}


class PoolReader(_Work):
    """Returns the arrays of the steps, in order."""

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        fitting(arrays, {name: ((dtype,), (name,)) for dtype, name in JOINED.items()}, "preprocessing", {})
        self._left = {dtype: arrays[name] for dtype, name in JOINED.items()}

    def take(self, name: str, entry: Any, form: str, n: int = 0, *, finite: bool = True) -> NDArray[Any]:
        """Take the array that an entry of the manifest describes.

        Parameters
        ----------
        name : str
            For errors.
        entry : object
            The dtype and the shape, as in the manifest.
        form : str
            The dtypes and the axes that it may have, as in `layout`, in several ways after commas; n is the number of
            columns, any other letter any number.
        n : int
        finite : bool, default=True
            Whether NaN is refused too; infinity always is.
        """
        listed = isinstance(entry, list) and len(entry) > 0
        if not listed or not any(_fits(entry, spec(one), n) for one in form.split(",")):
            raise ModelFileError(f"the array {name!r} of its preprocessing has the wrong dtype or shape.")
        dtype, *shape = entry
        size, left = int(np.prod(np.array(shape, dtype=object))), self._left[dtype]
        refuse(size > len(left), f"the array {name!r} of its preprocessing is longer than the file's.")
        self._left[dtype] = left[size:]
        array = left[:size].reshape(shape).copy()
        if not (np.isfinite(array) if finite else ~np.isinf(array)).all():
            what = "NaN or infinity" if finite else "infinity"
            raise ModelFileError(f"the array {name!r} of its preprocessing contains {what}.")
        return array

    def end(self) -> None:
        """Raise an error if numbers are left."""
        refuse(any(len(left) for left in self._left.values()), "its preprocessing has numbers that no step uses.")


def _fits(entry: list[Any], spec: Spec, n: int) -> bool:
    """Return whether an entry has one of these dtypes, and this shape."""
    (dtypes, shape), lengths = spec, entry[1:]
    whole = all(type(length) is int and 0 <= length < 2**40 for length in lengths)
    right = whole and entry[0] in dtypes and len(lengths) == len(shape)
    return right and all(wanted != "n" or length == n for length, wanted in zip(lengths, shape, strict=True))
