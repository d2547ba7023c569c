"""A damaged model file is refused with a reason, or the damage is harmless; it is never silently wrong."""

import io
import os
import random
import struct
import tracemalloc
import zipfile
import zlib

import pytest

from abstain import EmbeddedRejectSVC, load
from abstain.files.format.container import Member
from abstain.files.format.errors import ModelFileError
from files.damaging import packed_again, refused
from looping import looped

KINDS = ["machine", "search", "embedded", "embedded_linear", "one_class", "rejector", "pipeline"]
KINDS += ["forest", "boosting", "sigmoids", "curves", "guarded"]


@pytest.fixture(params=KINDS)
def saved(request, contents):
    return contents(request.getfixturevalue(request.param))


def test_random_bit_flips(saved):
    rng = random.Random(0)  # noqa: S311
    for bit in rng.sample(range(8 * len(saved)), 300):
        raw = bytearray(saved)
        raw[bit // 8] ^= 1 << bit % 8
        assert refused(bytes(raw))[0], f"bit {bit} of {8 * len(saved)}"


def test_every_bit_flipped(contents):
    saved = contents(EmbeddedRejectSVC(0.2).fit([[0.0], [1.0], [2.0]], [0, 0, 1]))
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
    for length in [*range(0, len(saved), 29), *range(len(saved) - 100, len(saved))]:
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
        (lambda _: [(f"{at}", b"") for at in range(513)], "declares 513 members"),
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
