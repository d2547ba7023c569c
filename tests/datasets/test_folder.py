"""ABSTAIN_DATA that names no folder, a folder without the file, and files that hold something else."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from public_data import load_covtype, load_pima, load_wdbc


@pytest.mark.usefixtures("wdbc_folder")
def test_the_folder_is_read_where_it_is_named(monkeypatch):
    monkeypatch.setattr("public_data.medical._wdbc_of_scikit_learn", lambda: pytest.fail("not from the folder"))
    assert load_wdbc().data.shape == (569, 30)


def altered(text):
    """One digit of one value, in the middle of the file."""
    lines = text.splitlines(keepends=True)
    old = lines[300]
    lines[300] = old.replace("1", "2", 1)
    assert lines[300] != old
    return "".join(lines)


def swapped(text):
    header, first, second, *rest = text.splitlines(keepends=True)
    return "".join([header, second, first, *rest])


@pytest.mark.parametrize(
    "change",
    [altered, swapped, lambda text: text[: text.rindex("\n", 0, -1) + 1], lambda text: text + text.splitlines()[-1]],
    ids=["one digit", "two rows swapped", "a row less", "a row more"],
)
def test_other_numbers_are_refused(change, wdbc_folder):
    path = wdbc_folder / "wdbc.csv.gz"
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()).decode()).encode()))
    with pytest.raises(
        ValueError, match=r"wdbc.csv.gz' does not hold the data set 'wdbc': its 5\d\d x 30 table has the"
    ) as caught:
        load_wdbc()
    assert "put the original file there, or unset ABSTAIN_DATA to download it from https://" in str(caught.value)


def test_other_bytes_of_the_same_numbers_are_welcome(wdbc_folder):
    path = wdbc_folder / "wdbc.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(text.replace("\n", "\r\n").replace(",", " , ").encode(), compresslevel=1))
    assert load_wdbc().target.sum() == 212


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"a,b\n1,x\n"), gzip.compress(b"a,b\n1,2\n3\n"), gzip.compress(b"a,b\n1,.5\n")],
    ids=["empty", "no gzip", "text", "ragged", "broken class"],
)
@pytest.mark.filterwarnings("ignore:loadtxt:UserWarning")
def test_files_that_are_not_tables_are_refused(content, wdbc_folder):
    (wdbc_folder / "wdbc.csv.gz").write_bytes(content)
    with pytest.raises(
        ValueError, match=r"wdbc.csv.gz' cannot be read as the data set 'wdbc' \(.*\); put the original"
    ):
        load_wdbc()


def test_a_file_cut_short_is_refused(wdbc_folder):
    path = wdbc_folder / "wdbc.csv.gz"
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match=r"cannot be read as the data set 'wdbc'"):
        load_wdbc()


def test_arrays_of_another_kind_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    np.savez(tmp_path / "covtype_4v6.npz", X=np.zeros((2, 54)), other=np.zeros(2))
    with pytest.raises(ValueError, match=r"cannot be read as the data set 'covtype_4v6' \(.*y is not a file"):
        load_covtype()
    np.savez(tmp_path / "covtype_4v6.npz", X=np.array([object()]), y=np.zeros(2))
    with pytest.raises(
        ValueError, match=r"cannot be read as the data set 'covtype_4v6' \(Object arrays cannot be loaded"
    ):
        load_covtype()
    (tmp_path / "covtype_4v6.npz").write_bytes(b"PK no zip")
    with pytest.raises(ValueError, match=r"cannot be read as the data set 'covtype_4v6'"):
        load_covtype()


def test_a_missing_file_is_named_with_both_ways_out(tmp_path, monkeypatch):
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"has no file 'pima.csv', which contains the data set 'pima'; put it there, or"
    ) as caught:
        load_pima()
    assert "unset ABSTAIN_DATA to download from https://raw.githubusercontent.com/" in str(caught.value)


def test_a_missing_folder_is_named_with_both_ways_out(tmp_path, monkeypatch):
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path / "absent"))
    with pytest.raises(
        FileNotFoundError, match=r"ABSTAIN_DATA='.*absent' is not a folder; set it to .*, or unset it to"
    ):
        load_wdbc()


@pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
def test_a_damaged_archive_is_refused_in_words_or_harmless(tmp_path, monkeypatch):
    whole = (Path(os.environ["ABSTAIN_DATA"]) / "covtype_4v6.npz").read_bytes()
    truth = load_covtype().data
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    refused = 0
    for place in np.random.default_rng(0).integers(len(whole) - 260, len(whole), 40):  # the archive's directory
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(place % 8)
        (tmp_path / "covtype_4v6.npz").write_bytes(damaged)
        try:
            found = load_covtype().data
        except ValueError as error:
            assert "put the original file there" in str(error)  # noqa: PT017 (either ending is right)
            refused += 1
        else:
            np.testing.assert_array_equal(found, truth)
    assert refused > 5


def test_archives_are_refused_by_their_declared_size(tmp_path, monkeypatch):
    """A few kB that unpack to 200 MB."""
    np.savez_compressed(tmp_path / "covtype_4v6.npz", X=np.zeros(200 << 20, np.int8), y=np.zeros(1))
    assert (tmp_path / "covtype_4v6.npz").stat().st_size < 1 << 20
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    monkeypatch.setattr("public_data.covtype.np.load", lambda *_, **__: pytest.fail("read before it was checked"))
    with pytest.raises(ValueError, match=r"it is larger than the 160 MB, unpacked, that this data set may have"):
        load_covtype()
