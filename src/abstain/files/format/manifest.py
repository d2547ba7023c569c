"""The manifest: the description of a model file in JSON, with its checksum in a member of its own."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NoReturn

from abstain.files.format.arrays import checked_name, member_of
from abstain.files.format.container import Container
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Fields, whole

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
    manifest = _parsed(text)
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
    expected = [MANIFEST, CHECKSUM, *(member_of(checked_name(name)) for name in declared)]
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


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode("ascii"), object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its manifest is not the JSON of a model ({type(error).__name__}).") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
