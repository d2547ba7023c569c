"""Manifests and declarations of arrays that were altered, with right checksums: refused before they do any harm."""

import hashlib
import io
import json
import struct
import time
import timeit
import tracemalloc
import zipfile

import numpy as np
import pytest

from abstain.files.format.container import LARGEST, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import _excess, manifest_members
from abstain.files.model_file import read
from files.damaging import packed_again, refused
from looping import looped


def declared(raw, change):
    """The file with another declaration of its arrays, all checksums right."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: [memoryview(archive.read(name))] for name in archive.namelist()}
        manifest = json.loads(archive.read("manifest.json"))
    change(manifest)
    file = io.BytesIO()
    write_members(file, members | manifest_members(manifest))
    return file.getvalue()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("dtype", "|O", "declared with a dtype"),
        ("dtype", "<U9", "declared with a dtype"),
        ("dtype", [["a", "<f8"]], "declared with a dtype"),
        ("dtype", "<f4", "not the size of its member"),
        ("dtype", "<i8", "header of the array 'machine.coef' does not match the manifest"),
        ("shape", [2**39], "not the size of its member"),
        ("shape", [2**62, 2**62], "a shape that is not allowed in a model"),
        ("shape", [-1, -4], "a shape that is not allowed in a model"),
        ("shape", [1, 1, 1, 2], "a shape that is not allowed in a model"),
        ("shape", [True, 2], "a shape that is not allowed in a model"),
        ("shape", "12", "a shape that is not allowed in a model"),
        ("sha256", "0" * 64, "'arrays/machine.coef.npy' was altered"),
        ("sha256", None, "without a SHA-256"),
        ("more", 1, "does not give dtype, shape and sha256"),
    ],
)
def test_declarations_of_arrays(field, value, message, machine, contents):
    raw = declared(contents(machine), lambda manifest: manifest["arrays"]["machine.coef"].update({field: value}))
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


@pytest.mark.parametrize("name", ["../../x", "A", "", "a" * 65, "x.npy\n"])
def test_names_of_arrays(name, machine, contents):
    raw = declared(contents(machine), lambda manifest: manifest["arrays"].update({name: {}}))
    with pytest.raises(ModelFileError, match="which is not allowed in a model"):
        read(io.BytesIO(raw), len(raw), LARGEST)


@pytest.mark.parametrize("header", ["longer", "pickle", "huge"])
def test_headers_of_arrays(header, machine, contents):
    """Headers that NumPy would read, or choke on, with all checksums right: ours is the only form."""
    raw = contents(machine)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        name = "arrays/machine.coef.npy"
        value = archive.read(name)
    text, body = {
        "longer": (value[10:127] + b" " * 64 + b"\n", value[128:]),
        "pickle": (value[10:128].replace(b"'<f8'", b"'|O' "), value[128:]),
        "huge": (b"(" * 65535, b""),
    }[header]
    altered = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body
    assert altered != value

    def with_header(members):
        return [(one, altered if one == name else data) for one, data in members]

    def digest_of(manifest):
        manifest["arrays"]["machine.coef"]["sha256"] = hashlib.sha256(altered).hexdigest()

    reason = refused(declared(packed_again(raw, with_header), digest_of))[0]
    assert reason
    assert "array 'machine.coef'" in reason


@pytest.mark.parametrize("format", [0, -1, True, 2.0, "2", None, [2]], ids=repr)
def test_formats_that_do_not_exist(format, machine, contents):  # noqa: A002 (the field's name)
    assert "'format'" in refused(declared(contents(machine), lambda manifest: manifest.update(format=format)))[0]


def test_one_format_is_not_read_as_the_other(machine, contents):
    assert refused(declared(contents(machine), lambda manifest: manifest.update(format=1)))[0]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps,
        lambda manifest: json.dumps(manifest, indent=1) + "\n",
        lambda manifest: json.dumps(manifest, indent=1).replace("0.3", "3e-1", 1),
    ],
    ids=["indent", "newline", "number"],
)
def test_other_json_of_the_same_model(text, machine, contents):
    raw = contents(machine)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        written = archive.read("manifest.json").decode()
    altered = text(json.loads(written)).encode()
    assert altered.decode() != written
    digest = hashlib.sha256(altered).hexdigest().encode()
    pair = [("manifest.json", altered), ("manifest.sha256", digest)]
    assert refused(packed_again(raw, lambda members: [*pair, *members[2:]]))[0]


def test_fields_and_arrays_in_another_order(machine, contents):
    def turned(manifest):
        manifest["model"] = dict(reversed(manifest["model"].items()))

    assert "differs from what the library writes" in refused(declared(contents(machine), turned))[0]
    raw = packed_again(contents(machine), lambda members: [*members[:2], *members[:1:-1]])

    def listed(manifest):
        manifest["arrays"] = dict(reversed(manifest["arrays"].items()))

    assert "not in the order" in refused(declared(raw, listed))[0]


def test_a_later_format_asks_for_an_upgrade(machine, contents):
    raw = declared(contents(machine), lambda manifest: manifest.update(format=3))
    assert "written by a later version of abstain" in refused(raw)[0]


NO_JSON = "its manifest is not the JSON of a model"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[" * 64, NO_JSON),
        (b'{"format": 1, "format": 1}', NO_JSON),
        (b'{"format": NaN}', NO_JSON),
        (b'{"format": ' + b"9" * 5000 + b"}", NO_JSON),
        (b'{"format": 1e999}', "the field 'format' of the model must be an integer >= 1"),
        (b"\xff", NO_JSON),
        (b"null", "its manifest does not describe the model with named fields"),
        (b"", NO_JSON),
    ],
    ids=["deep", "twice", "nan", "digits", "infinite", "bytes", "null", "nothing"],
)
def test_manifests_that_do_not_describe_a_model_are_refused(text, reason, machine, contents):
    digest = hashlib.sha256(text).hexdigest().encode()
    manifest, checksum = ("manifest.json", text), ("manifest.sha256", digest)
    raw = packed_again(contents(machine), lambda members: [manifest, checksum, *members[2:]])
    assert reason in refused(raw)[0]


MUCH = "more names and values, or more letters outside ASCII, than the 524,288 allowed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[" + b"[]," * (2**24 // 3 - 2) + b"[]]", MUCH),
        (b"[" + b"9," * (2**23 - 2) + b"9]", MUCH),
        (b'"' + b"\\n" * (2**23 - 1) + b'"', MUCH),
        (b"]" * 2**24, MUCH),
        (b"[" * 65 + b"]" * 65, "nested more than 64 deep"),
        (b'{"' + b"[" * 65 + b'": 0}', "lacks the field 'format'"),
        (b'{"\\"' + b"[" * 65 + b'": 0}', "lacks the field 'format'"),
    ],
    ids=["lists", "numbers", "escapes", "closed", "deep", "brackets in text", "brackets after a quote"],
)
def test_a_manifest_is_bounded_before_it_is_parsed(text, reason, machine, contents):
    """Sixteen megabytes of empty lists took 849 MB."""
    digest = hashlib.sha256(text).hexdigest().encode()
    manifest, checksum = ("manifest.json", text), ("manifest.sha256", digest)
    raw = packed_again(contents(machine), lambda members: [manifest, checksum, *members[2:]])
    tracemalloc.start()
    try:
        assert reason in refused(raw)[0]
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


@pytest.mark.long
@looped(piece=[b'"\\', b'"', b'\\"', b'"\\"', b'"a\\', b'\\\\"', b'"[', b'\\[{"'], end=[b"", b"\\", b'"'])
def test_a_manifest_is_bounded_in_time_that_grows_with_its_length(piece, end):
    """Where a string has no end, every quote was the start of a search to the end: 60 KB took 15 seconds."""

    def seconds(length):
        text = piece * (length // len(piece)) + end
        return min(timeit.repeat(lambda: _excess(text), number=1, repeat=3, timer=time.process_time))

    assert seconds(400_000) < 40 * max(seconds(50_000), 1e-3), "eight times the length; the square would be 64 times"


def test_brackets_of_strings_without_an_end_do_not_count():
    assert _excess(b"[" * 65) != ""
    for quoted in (b'"' + b"[" * 65, b'"\\"' + b"[" * 65 + b"\\", b'"\\\\\\"' + b"[" * 65 + b'"'):
        assert _excess(quoted) == ""
    assert _excess(b'"\\\\"' + b"[" * 65) != ""


def test_save_keeps_within_the_bounds_of_load():
    with pytest.raises(ValueError, match="the model has more names and values"):
        manifest_members({"names": ["a"] * 2**19})
    with pytest.raises(ValueError, match="the model has steps or values nested more than 64 deep"):
        manifest_members(json.loads('{"a":' * 65 + "1" + "}" * 65))


def test_arrays_stay_what_they_were(machine, contents):
    # the judge of the forged files: unchanged contents are taken, so a refusal is the change's own
    raw = declared(contents(machine), lambda _: None)
    loaded = refused(raw)[1]
    np.testing.assert_array_equal(loaded.dual_coef_, machine.dual_coef_)
