"""Every way a CSV can be wrong (FAULTS.md, Files): one sentence with the line or column, and exit code 3."""

import gzip
import re

import pytest

from abstain.cli.input.training_table import TableOptions, read_training
from abstain.cli.options import Given
from cli.running import FIT, run, said

CITIES, ANSWERS = (b"Ulm", b"Bonn"), (b"no", b"yes")
GOOD = [b"age,city,answer", *(b"%d,%s,%s" % (20 + at, CITIES[at % 2], ANSWERS[at // 2 % 2]) for at in range(12))]


def lines(*, at=None, put=None, end=b"\n"):
    """The good table with one of its lines replaced."""
    return end.join(put if number == at else line for number, line in enumerate(GOOD, start=1)) + end


FAULTS = {
    "long row": (lines(at=4, put=b"22,Ulm,yes,7"), "line 4 has 4 cells where the header has 3"),
    "short row": (lines(at=5, put=b"22,Ulm"), "line 5 has 2 cells where the header has 3"),
    "short last row without line end": (lines() + b"22", "line 14 has 1 cells where the header has 3"),
    "short row, and an empty cell too many at the end": (
        lines(at=5, put=b"22,Ulm") + b"22,Ulm,yes,",
        "line 5 has 2 cells where the header has 3",
    ),
    "decimal comma": (lines(at=3, put=b"21,5,Bonn,no"), "line 3 has 4 cells .* decimal comma"),
    "decimal comma, quoted": (lines(at=3, put=b'"21,5",Bonn,no'), "line 3, column 'age': '21,5' has a decimal comma"),
    "decimal comma between semicolons": (
        lines(at=3, put=b"21%5,Bonn,no").replace(b",", b";").replace(b"%", b","),
        "line 3, column 'age': '21,5' has a decimal comma; pass --decimal ','",
    ),
    "NUL": (lines(at=6, put=b"2\x004,Bonn,yes"), "line 6 contains a NUL byte"),
    "NUL in the header": (lines(at=1, put=b"age,ci\x00ty,answer"), "line 1 contains a NUL byte"),
    "bad UTF-8": (lines(at=7, put=b"25,K\xf6ln,no"), "line 7 is not UTF-8 .byte 0xf6.; save the file as UTF-8"),
    "duplicate names": (lines(at=1, put=b"age,age,answer"), "line 1 names columns 1 and 2 both 'age'"),
    "a column without a name": (lines(at=1, put=b"age,,answer"), "line 1 gives column 2 no name"),
    "header only": (GOOD[0] + b"\n", "line 1, the header, is not followed by any rows"),
    "0 bytes": (b"", "line 1 is empty; the first line must name the columns"),
    "blank first line": (b"\n" + lines(), "line 1 is empty"),
    "1e400": (lines(at=8, put=b"1e400,Ulm,no"), "line 8, column 'age': '1e400' is too large to compute with"),
    "inf": (lines(at=8, put=b"-inf,Ulm,no"), "line 8, column 'age': '-inf' is too large to compute with"),
    "text among numbers": (lines(at=9, put=b"?,Ulm,no"), "line 9, column 'age': '.' is not a number"),
    "an open quote": (lines(at=10, put=b'28,"Ulm,yes'), "line 10 opens a quote that is never closed"),
    "a quote inside a cell": (lines(at=10, put=b'28,Ulm"s "city",yes'), "line 10 (has a quote inside|opens a quote)"),
    "two quotes inside a cell": (lines(at=10, put=b'28,the "city",yes'), "line 10 has a quote inside a cell"),
    "CR alone": (lines(end=b"\r"), "line 1 ends in a bare CR"),
}


@pytest.mark.parametrize(("content", "text"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("command", ["fit", "evaluate", "predict"])
def test_a_fault_is_named_with_its_place(tmp_path, model, content, text, command):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_bytes(content)
    arguments = {"fit": (data, *FIT, "-o", out), "evaluate": (model, data), "predict": (model, data, "-o", out)}
    result = run(command, *arguments[command])
    assert result.exit_code == 3, result.output
    assert said(result).startswith(f"abstain: {data}: line ")
    assert re.search(text, said(result)), said(result)
    assert result.stdout == ""
    assert not out.exists()


HARMLESS = {
    "as it is": lines(),
    "byte-order mark": b"\xef\xbb\xbf" + lines(),
    "UTF-16 with a mark": lines().decode().encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + lines().decode().encode("utf-16-be"),
    "UTF-32": lines().decode().encode("utf-32"),
    "CRLF": lines(end=b"\r\n"),
    "semicolons": lines().replace(b",", b";"),
    "tabs": lines().replace(b",", b"\t"),
    "quotes": lines().replace(b"Ulm", b'"Ulm"').replace(b"age", b'"age"'),
    "empty lines": lines().replace(b"Ulm,no\n", b"Ulm,no\n\n\r\n"),
    "no line end": lines()[:-1],
    "spaces around numbers": lines().replace(b"\n2", b"\n 2").replace(b"5,", b"5 ,"),
}


@pytest.mark.parametrize("content", HARMLESS.values(), ids=HARMLESS)
@pytest.mark.filterwarnings("ignore::abstain.cli.exit_codes.Note")
def test_harmless_variations_are_read_the_same(tmp_path, content):
    good, other = tmp_path / "good.csv", tmp_path / "other.csv"
    good.write_bytes(lines())
    other.write_bytes(content)
    expected, read = (read_training(path, TableOptions(Given(target="answer"))) for path in (good, other))
    assert read.X.equals(expected.X)
    assert read.y.tolist() == expected.y.tolist()
    assert read.numeric == ["age"]
    assert read.categorical == ["city"]


def test_packed_files_are_unpacked_and_damaged_ones_refused(tmp_path, model):
    packed = tmp_path / "data.csv.gz"
    packed.write_bytes(gzip.compress(lines()))
    assert run("predict", model, packed).stdout.count("\n") == 13
    packed.write_bytes(gzip.compress(lines())[:-12])
    result = run("predict", model, packed)
    assert result.exit_code == 3
    assert "cannot be unpacked" in said(result)


@pytest.mark.parametrize(("label", "other"), [("NA", "yes"), ("null", "x"), ("", "yes"), ("None", "x")])
def test_labels_are_text_whatever_they_look_like(tmp_path, label, other):
    data = tmp_path / "data.csv"
    rows = "".join(f"{at},{[label, other][at % 2]}\n" for at in range(10))
    data.write_text("x,answer\n" + rows, encoding="utf-8")
    result = run("fit", data, *FIT, "--pos-label", other, "-o", tmp_path / "model", "--json")
    if label:
        assert result.exit_code == 0, result.output
        assert f'"{label}"' in result.stdout
    else:
        assert result.exit_code == 3
        assert "line 2 is the first of 5 rows without a label in column 'answer'" in said(result)


def test_na_is_missing_among_numbers_and_a_category_among_categories(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,c,answer\n1,NA,a\nNA,p,b\n,,a\nnan,q,b\n", encoding="utf-8")
    read = read_training(data, TableOptions(Given(target="answer")))
    assert (read.numeric, read.categorical) == (["x"], ["c"])
    assert read.X["x"].is_nan().to_list() == [False, True, True, True]
    assert read.X["c"].to_list() == ["NA", "p", None, "q"]


def test_a_third_class_and_a_lone_class_are_named(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,answer\n1,a\n2,b\n3,a\n4,c\n", encoding="utf-8")
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "line 5, column 'answer': 'c' is a third class after 'a' and 'b'" in said(result)
    data.write_text("x,answer\n1,a\n2,a\n", encoding="utf-8")
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "column 'answer' contains only one class, 'a'" in said(result)


def test_a_missing_column_is_named(tmp_path, model):
    data = tmp_path / "data.csv"
    data.write_text("age,town\n1,Ulm\n", encoding="utf-8")
    result = run("predict", model, data)
    assert result.exit_code == 3
    assert "has no column 'city', which the model needs; it has 'age', 'town'" in said(result)


def test_line_numbers_count_lines_not_records(tmp_path, model):
    data = tmp_path / "data.csv"
    data.write_bytes(b'age,city,answer\n1,"U\nl\nm",no\n\n2,Ulm,yes\nx,Ulm,no\n')
    result = run("predict", model, data)
    assert result.exit_code == 3
    assert "line 7, column 'age': 'x' is not a number" in said(result)
