"""Tables in the encodings that spreadsheets and old systems write: read, or refused with the option that helps."""

import gzip

import polars as pl
import pytest

from cli.running import FIT, heard, run, said, write_table
from looping import quick

MARKED = {
    "utf-8-sig": "is read as UTF-8, by its byte-order mark",
    "utf-16": "is read as UTF-16 (little-endian), by its byte-order mark",
    "utf-16-be": "is read as UTF-16 (big-endian), by its byte-order mark",
    "utf-32": "is read as UTF-32 (little-endian), by its byte-order mark",
}


def in_umlauts(table, encoding):
    """The table with a city that every encoding writes in its own way; a mark for UTF-16 where Python writes none."""
    text = table.read_text(encoding="utf-8").replace("Ulm", "Köln")
    return ("\ufeff" * (encoding == "utf-16-be") + text).encode(encoding)


@pytest.fixture(scope="module")
def expected(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("utf8")
    (folder / "data.csv").write_bytes(in_umlauts(table, "utf-8"))
    assert heard(run("fit", folder / "data.csv", *FIT, "-o", folder / "model")) == []
    return folder / "model", run("predict", folder / "model", folder / "data.csv").stdout


@pytest.mark.parametrize("encoding", [*MARKED, "windows-1252", "latin-1", "utf-16-le"])
@pytest.mark.parametrize("packed", quick([False, True], False))
def test_every_encoding_gives_the_same_model_and_answers(tmp_path, table, expected, encoding, packed):
    data, options = tmp_path / "data.csv", () if encoding in MARKED else ("--encoding", encoding)
    raw = in_umlauts(table, encoding)
    data.write_bytes(gzip.compress(raw) if packed else raw)  # by its first bytes, whatever its name
    result = run("fit", data, *FIT, *options, "-o", tmp_path / "model")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "model").read_bytes() == expected[0].read_bytes()
    answers = run("predict", tmp_path / "model", data, *options)
    assert answers.stdout == expected[1]
    for said_of in (result, answers, run("evaluate", tmp_path / "model", data, *options)):
        assert heard(said_of) == ([f"abstain: note: {data} {MARKED[encoding]}."] if encoding in MARKED else [])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "windows-1252",
            "line 3 is not UTF-8 (byte 0xf6); save the file as UTF-8, or pass its encoding, as in --encoding",
        ),
        ("utf-16-le", "looks like UTF-16 without a byte-order mark; pass --encoding utf-16-le"),
        ("utf-16-be", "looks like UTF-16 without a byte-order mark; pass --encoding utf-16-be"),
    ],
)
def test_without_a_mark_the_error_names_the_option(tmp_path, model, encoding, text):
    data = tmp_path / "data.csv"
    data.write_bytes("age,city\n30,Ulm\n31,Köln\n".encode(encoding))
    result = run("predict", model, data)
    assert result.exit_code == 3
    assert text in said(result)
    assert "Köln" in run("predict", model, data, "--encoding", encoding).stdout


@pytest.mark.parametrize("name", ["nonsense", "base64", "utf-8\0"])
def test_an_unknown_encoding_is_refused(model, table, name):
    result = run("predict", model, table, "--encoding", name)
    assert result.exit_code == 2
    assert "is unknown; give one such as utf-8" in said(result)


def test_the_wrong_encoding_is_named_with_the_line(tmp_path, model):
    data = tmp_path / "data.csv"
    data.write_bytes(b"age,city\n30,Ulm\n31,K\x81ln\n")  # undefined in Windows-1252
    result = run("predict", model, data, "--encoding", "windows-1252")
    assert result.exit_code == 3
    assert "line 3 cannot be read as cp1252; pass the encoding of the file" in said(result)


def test_a_parquet_file_is_known_by_its_first_bytes(tmp_path, table, model):
    path = tmp_path / "table.csv"
    pl.read_csv(table).write_parquet(path)
    assert run("predict", model, path).stdout.count("\n") == 81


def test_a_large_table_is_decoded_in_pieces(tmp_path, model):
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    write_table(small, rows=9000)
    large.write_bytes(small.read_text(encoding="utf-8").encode("utf-16"))
    assert large.stat().st_size > 3 * (1 << 16)
    assert run("predict", model, large).stdout == run("predict", model, small).stdout
