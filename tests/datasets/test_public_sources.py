"""The public files, made again from the data folder in their own formats and served from this machine."""

import csv
import gzip
import socket
import sys
from dataclasses import replace

import numpy as np
import pytest
import requests
from public_data import (
    covtype,
    load_covtype,
    load_german,
    load_heart,
    load_letter,
    load_liver,
    load_mitbih,
    load_pima,
    load_thyroid,
)
from public_data.sources import SOURCES

# The data set, its loader, the public file, and how one row of it is written from a row of the folder's.
FORMATS = {
    "letter": (load_letter, {}, lambda row: ",".join([chr(64 + int(row[-1])), *row[:-1]])),
    "pima": (load_pima, {}, ",".join),
    "liver": (load_liver, {}, ",".join),
    "thyroid": (load_thyroid, {}, lambda row: ",".join([row[-1], *row[:-1]])),
    "german": (load_german, {"symbolic": True}, " ".join),
    "german_numeric": (load_german, {}, lambda row: "".join(f"{value:>4} " for value in row)),
    "heart": (load_heart, {}, lambda row: " ".join(f"{float(value):.1f}" for value in row[:-1]) + f" {row[-1]}"),
}


def publish(name, folder, data, alter=lambda line: line):
    """Write the public file of a data set, its tenth line altered."""
    source = SOURCES[name]
    path = data / source.file
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        rows = list(csv.reader(lines))[1:]
    written = [FORMATS[name][2](row) for row in rows]
    written[9] = alter(written[9])
    file = source.url.rsplit("/", 1)[-1]
    (folder / file).write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", FORMATS)
def test_a_download_gives_what_the_folder_gives(name, public, data, monkeypatch):
    folder, address, cache = public
    loader, keywords, _ = FORMATS[name]
    expected = loader(**keywords)
    monkeypatch.delenv("ABSTAIN_DATA")
    file = publish(name, folder, data)
    monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], url=f"{address}/{file}"))
    loaded = loader(**keywords)
    np.testing.assert_array_equal(loaded.data, expected.data)
    np.testing.assert_array_equal(loaded.target, expected.target)
    assert [path.name for path in cache.iterdir()] == [file]
    (folder / file).unlink()  # from now on the cache has to serve
    np.testing.assert_array_equal(loader(**keywords).data, expected.data)


@pytest.mark.parametrize("name", FORMATS)
def test_an_altered_download_is_refused(name, public, no_folder, monkeypatch):
    folder, address, _ = public
    loader, keywords, _ = FORMATS[name]

    def alter(line):  # the last digit of all
        digit = line.rstrip()[-1]
        return line.rstrip()[:-1] + ("2" if digit == "1" else "1")

    file = publish(name, folder, no_folder, alter)
    monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], url=f"{address}/{file}"))
    with pytest.raises(
        ValueError, match=rf"does not hold the data set '{name}'.*; delete it to download {address}/{file} again"
    ):
        loader(**keywords)
    publish(name, folder, no_folder)
    with pytest.raises(ValueError, match="does not hold"):  # the cache still has the altered file
        loader(**keywords)


def test_a_page_instead_of_the_file_is_refused(public, monkeypatch):
    folder, address, _ = public
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    (folder / "pima.csv").write_text("<html>Sign in, please.</html>\n", encoding="utf-8")
    monkeypatch.setitem(SOURCES, "pima", replace(SOURCES["pima"], url=f"{address}/pima.csv"))
    with pytest.raises(ValueError, match=r"cannot be read as the data set 'pima' \(.*\); delete it to download"):
        load_pima()


@pytest.fixture
def unparsed(monkeypatch):
    """A parser that must not be reached."""
    monkeypatch.setattr("public_data.table.np.loadtxt", lambda *_, **__: pytest.fail("parsed unchecked"))


@pytest.mark.usefixtures("unparsed")
def test_an_endless_download_is_cut_off(public, monkeypatch):
    folder, address, cache = public
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    with (folder / "pima.csv").open("wb") as file:
        file.truncate(400 << 20)
    monkeypatch.setitem(SOURCES, "pima", replace(SOURCES["pima"], url=f"{address}/pima.csv"))
    with pytest.raises(ConnectionError, match=r"could not be downloaded \(it is larger than the data set may be\)"):
        load_pima()
    assert not [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("unparsed")
def test_a_compressed_file_that_grows_is_not_parsed(public, monkeypatch):
    folder, address, _ = public
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    (folder / "covtype.data.gz").write_bytes(gzip.compress(b"1" * (161 << 20), compresslevel=1))
    monkeypatch.setattr(covtype, "PAIR", replace(covtype.PAIR, url=f"{address}/covtype.data.gz"))
    with pytest.raises(ValueError, match=r"\(it is larger than the 160 MB, unpacked, .* may have\); delete it"):
        load_covtype()


def test_a_file_that_was_in_the_cache_is_bounded_too(public, monkeypatch):
    _, address, cache = public
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    cache.mkdir()
    (cache / "mitdb-105.hea").write_bytes(b"\0" * (5 << 20))
    for kind in ("dat", "atr"):
        (cache / f"mitdb-105.{kind}").write_bytes(b"\0\0")
    monkeypatch.setitem(SOURCES, "mitbih_beats", replace(SOURCES["mitbih_beats"], url=address))
    with pytest.raises(ValueError, match=r"cannot be read \(it is larger than the 4 MB, unpacked"):
        load_mitbih(features=False)


def test_cover_types_from_the_public_file(public, data, monkeypatch):
    folder, address, _ = public
    expected = load_covtype(classes=(6, 4))
    monkeypatch.delenv("ABSTAIN_DATA")
    with np.load(data / "covtype_4v6.npz") as arrays:
        table = np.column_stack([arrays["X"], arrays["y"]])
    other = table[:3].copy()
    other[:, -1] = 2  # rows of another type, to be left out
    lines = [",".join(map(str, row)) for row in np.vstack([other, table]).tolist()]
    (folder / "covtype.data.gz").write_bytes(gzip.compress("\n".join(lines).encode(), compresslevel=1))
    monkeypatch.setattr(covtype, "PAIR", replace(covtype.PAIR, url=f"{address}/covtype.data.gz"))
    monkeypatch.setattr(covtype, "WHOLE", replace(covtype.WHOLE, url=f"{address}/covtype.data.gz"))
    loaded = load_covtype(classes=(6, 4))
    np.testing.assert_array_equal(loaded.data, expected.data)
    np.testing.assert_array_equal(loaded.target, expected.target)
    with pytest.raises(ValueError, match=r"does not hold the data set 'covtype': its 20117 x 54 table"):
        load_covtype(classes=(2, 4))  # for other types the whole file has to be right


@pytest.fixture
def nobody(monkeypatch):
    """An address of this machine at which nobody answers, given to every source."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/some.data"
    for name, source in SOURCES.items():
        monkeypatch.setitem(SOURCES, name, replace(source, url=url))
    for name in ("PAIR", "WHOLE"):
        monkeypatch.setattr(covtype, name, replace(getattr(covtype, name), url=url))
    return url


BOTH_WAYS = "Set ABSTAIN_DATA to a folder that contains it, or try again with a network connection."


@pytest.mark.parametrize("loader", [load_letter, load_pima, load_german, load_covtype])
def test_without_network_both_ways_are_named(loader, public, nobody):
    with pytest.raises(ConnectionError, match=rf"ABSTAIN_DATA is not set, and {nobody} could not be") as caught:
        loader()
    assert BOTH_WAYS in str(caught.value)
    assert not list(public[2].glob("*.data"))


@pytest.mark.usefixtures("public")
def test_without_network_beats_name_both_ways(nobody):
    with pytest.raises(ConnectionError, match=rf"and {nobody}/105.hea could not be downloaded") as caught:
        load_mitbih(features=False)
    assert BOTH_WAYS in str(caught.value)


@pytest.mark.usefixtures("public")
def test_a_file_that_has_gone_names_both_ways(monkeypatch):
    def gone(*_, **__):
        raise requests.HTTPError("404 Client Error: Not Found")

    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setattr("pooch.Pooch.fetch", gone)
    with pytest.raises(
        ConnectionError, match=r"pima-indians\S+ could not be downloaded \(404 .* Not Found\)\. "
    ) as caught:
        load_pima()
    assert BOTH_WAYS in str(caught.value)


def test_without_pooch_both_ways_are_named(monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        ImportError, match=r"downloading it from https://\S+ needs pooch. Set ABSTAIN_DATA to .*abstain\[data\]"
    ):
        load_pima()


def test_features_of_beats_have_no_public_source(monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=r"were derived for this library, and no public source has them; set ABSTAIN_DATA"
    ) as caught:
        load_mitbih()
    assert "load_mitbih(features=False)" in str(caught.value)
