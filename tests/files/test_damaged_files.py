"""A damaged model file is refused with a reason, or the damage is harmless; it is never silently wrong."""

import hashlib
import io
import json
import os
import random
import struct
import timeit
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from abstain import EmbeddedRejectSVC, RejectSVC, load
from abstain.files.format.container import LARGEST, Member, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import _excess, manifest_members
from abstain.files.load import read
from looping import looped


def refused(raw):
    """Whether `load` refuses these bytes as it promises to; anything it takes is returned."""
    try:
        return None, read(io.BytesIO(raw), len(raw), LARGEST)
    except (ModelFileError, OSError) as error:
        reason = str(error)
    assert reason.endswith("."), "the reason is a sentence"
    assert len(reason.splitlines()) == 1
    return reason, None


KINDS = ["machine", "search", "embedded", "embedded_linear", "one_class", "rejector", "pipeline"]
KINDS += ["forest", "boosting", "sigmoids", "curves", "guarded"]


@pytest.fixture(params=KINDS)
def saved(request, contents):
    return contents(request.getfixturevalue(request.param))


def test_a_thousand_random_bit_flips(saved):
    rng = random.Random(0)  # noqa: S311
    for bit in rng.sample(range(8 * len(saved)), 1000):
        raw = bytearray(saved)
        raw[bit // 8] ^= 1 << bit % 8
        assert refused(bytes(raw))[0], f"bit {bit} of {8 * len(saved)}"


@pytest.mark.parametrize("estimator", [RejectSVC(), EmbeddedRejectSVC(0.2)], ids=repr)
def test_every_bit_flipped(estimator, contents):
    saved = contents(estimator.fit([[0.0], [1.0], [2.0]], [0, 0, 1]))
    altered = bytearray(saved)
    for bit in range(8 * len(saved)):
        altered[bit // 8] ^= 1 << bit % 8
        assert refused(altered)[0], f"bit {bit} of {8 * len(saved)}"
        altered[bit // 8] ^= 1 << bit % 8
    assert refused(altered)[0] is None


def test_zipfile_does_not_notice_a_changed_date_and_we_do(machine, contents):
    # why the container is checked by ourselves: a flipped date goes unnoticed elsewhere
    saved = contents(machine)
    altered = saved[:10] + bytes([saved[10] ^ 1]) + saved[11:]
    with zipfile.ZipFile(io.BytesIO(altered)) as archive:
        assert archive.testzip() is None
    assert refused(altered)[0]


def test_every_truncation(saved):
    for length in [*range(0, len(saved), 7), *range(len(saved) - 100, len(saved))]:
        assert refused(saved[:length])[0]


@looped(place=["before", "after", "inside"])
def test_bytes_added(place, saved):
    at = {"before": 0, "after": len(saved), "inside": len(saved) // 2}[place]
    assert refused(saved[:at] + b"\0" + saved[at:])[0]


def test_the_control_is_not_refused(saved):
    assert refused(saved)[0] is None


def rewritten(raw, change, compression=zipfile.ZIP_STORED):
    """The same members, changed, as zipfile writes them."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, value in change(members):
            archive.writestr(name, value)
    return file.getvalue()


def packed_again(raw, change):
    """The same members, changed, in a container like ours."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = change([(name, archive.read(name)) for name in archive.namelist()])
    file = io.BytesIO()
    write_members(file, {name: [memoryview(value)] for name, value in members})
    return file.getvalue()


def swapped(manifest, checksum, first, second, third, *others):
    return [manifest, checksum, (first[0], third[1]), second, (third[0], first[1]), *others]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda members: [*members, ("extra.py", b"print()")], "members are not the arrays that its manifest names"),
        (lambda members: members[:-1], "members are not the arrays"),
        (lambda members: [*members[:2], *members[:1:-1]], "members are not the arrays"),
        (lambda members: [members[1], members[0], *members[2:]], "does not begin with a manifest"),
        (lambda members: swapped(*members), "not the size of its member"),
        (lambda members: [*members[:-1], (members[-1][0], members[-1][1] + b"\0" * 8)], "not the size of its member"),
        (lambda members: [(members[0][0], members[0][1] + b" "), *members[1:]], "'manifest.json' was altered"),
        (lambda _: [], "does not begin with a manifest"),
        (lambda _: [(f"{at}", b"") for at in range(65)], "declares 65 members"),
    ],
    ids=["extra", "missing", "order", "manifest second", "swapped", "longer", "manifest", "empty", "many"],
)
def test_members(change, message, machine, contents):
    assert packed_again(contents(machine), lambda members: members) == contents(machine)
    reason, _ = refused(packed_again(contents(machine), change))
    assert reason
    with pytest.raises(ModelFileError, match=message):
        raise ModelFileError(reason)


def test_a_compressed_copy_is_refused(machine, contents):
    assert refused(rewritten(contents(machine), lambda members: members, zipfile.ZIP_DEFLATED))[0]


def test_a_member_twice(machine, contents):
    with zipfile.ZipFile(io.BytesIO(contents(machine))) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    doubled, offset, body = [], 0, b""
    for name, value in [*members, members[-1]]:
        member = Member(name, zlib.crc32(value), len(value), offset)
        doubled.append(member)
        body += member.local + value
        offset = len(body)
    directory = b"".join(member.central for member in doubled)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(doubled), len(doubled), len(directory), offset, 0)
    assert refused(body + directory + end)[0] == "it has two members with the same name."


def test_zip_bombs_take_no_memory(machine, contents, tmp_path):
    # a gigabyte of zeros in a megabyte, and headers that promise a terabyte
    bomb = rewritten(contents(machine), lambda members: [*members, ("zeros", bytes(2**27))], zipfile.ZIP_DEFLATED)
    assert len(bomb) < 2**20
    sparse_file = tmp_path / "sparse"
    with sparse_file.open("wb") as file:
        file.truncate(2**40)
    tracemalloc.start()
    try:
        assert refused(bomb)[0]
        with pytest.raises(ModelFileError, match=r"sparse cannot be loaded: its 1,099,511,627,776 bytes are more than"):
            load(sparse_file)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("zip64", [False, True])
def test_a_directory_of_many_entries_takes_no_memory(zip64):
    # zipfile would make 200,000 objects of it
    directory = Member("", 0, 0, 0).central * 200_000
    here, there = len(directory), 0
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 9, 9, here, there, 0)
    if zip64:
        end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 200_000, 200_000, here, there) + struct.pack(
            "<4sLQL", b"PK\6\7", 0, here, 1
        ) + end  # fmt: skip
    raw = directory + end
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert len(archive.infolist()) == 200_000
    tracemalloc.start()
    try:
        assert refused(raw)[0]
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


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
        (b'{"format": 1e999}', "the field 'format' of the model has the wrong type"),
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


@pytest.mark.parametrize(
    "piece",
    [b'"\\', b'"', b'\\"', b'"\\"', b'"a\\', b'\\\\"', b'"[', b'\\[{"'],
    ids=lambda piece: piece.decode(),
)
@pytest.mark.parametrize("end", [b"", b"\\", b'"'], ids=["", "escape", "quote"])
def test_a_manifest_is_bounded_in_time_that_grows_with_its_length(piece, end):
    """Where a string has no end, every quote was the start of a search to the end: 60 KB took 15 seconds."""

    def seconds(length):
        text = piece * (length // len(piece)) + end
        return min(timeit.repeat(lambda: _excess(text), number=1, repeat=3))

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


def test_paths_that_are_not_files_are_refused(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        load(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="it is not a regular file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="it is not a regular file"):
        load(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    with pytest.raises(ModelFileError, match="empty cannot be loaded: its 0 bytes are too few"):
        load(tmp_path / "empty")


def test_the_limit_is_the_readers_to_set(machine, contents, tmp_path):
    raw = contents(machine)
    (tmp_path / "model").write_bytes(raw)
    assert load(tmp_path / "model", max_bytes=len(raw)).status_ == machine.status_
    with pytest.raises(ModelFileError, match=f"bytes are more than max_bytes={len(raw) - 1:,}"):
        load(tmp_path / "model", max_bytes=len(raw) - 1)


def test_a_pickle_is_not_run(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"cposix\nsystem\n(S'touch " + os.fsencode(tmp_path / "ran") + b"'\ntR.")
    with pytest.raises(ModelFileError, match="not a model file"):
        load(path)
    assert not (tmp_path / "ran").exists()


def test_arrays_stay_what_they_were(machine, contents):
    # the judge of the forged files: unchanged contents are taken, so a refusal is the change's own
    raw = declared(contents(machine), lambda _: None)
    loaded = refused(raw)[1]
    np.testing.assert_array_equal(loaded.dual_coef_, machine.dual_coef_)
