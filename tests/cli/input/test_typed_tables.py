"""Parquet and Excel: types that are not numbers or text, malformed files, and workbooks."""

import contextlib
import datetime as dt
import os
import random
import re
import sys
import timeit
import zipfile

import polars as pl
import pytest

from abstain.cli.tables import typed_tables as workbooks
from cli.running import FIT, heard, run, said
from looping import quick

SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
    '"/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://'
    'schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Rows" sheetId="1" r:id="r1"/>'
    "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}


def write_workbook(path, rows):
    def cell(at, row, value):
        place = f'r="{"ABCDEFG"[at]}{row}"'
        if isinstance(value, str):
            return f'<c {place} t="inlineStr"><is><t>{value}</t></is></c>' if value else ""
        return f"<c {place}><v>{value}</v></c>"

    body = "".join(
        f'<row r="{number}">{"".join(cell(at, number, value) for at, value in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    with zipfile.ZipFile(path, "w") as file:
        for name, text in PARTS.items():
            file.writestr(name, text)
        file.writestr("xl/worksheets/sheet1.xml", SHEET.format(body))


def cells_of(table):
    header, *rows = (line.split(",") for line in table.read_text(encoding="utf-8").splitlines())
    return [header, *([float(age) if age else "", city, answer] for age, city, answer in rows)]


@pytest.mark.parametrize("name", ["table.xlsx", "table.csv"])
def test_a_workbook_gives_the_same_model_and_answers(tmp_path, table, model, name):
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    path = tmp_path / name
    write_workbook(path, cells_of(table))
    result = run("fit", path, *FIT, "-o", tmp_path / "model")
    assert (result.exit_code, heard(result)) == (0, [])
    assert (tmp_path / "model").read_bytes() == model.read_bytes()
    expected = [line.split(",")[1:] for line in run("predict", model, table).stdout.splitlines()]
    assert [line.split(",")[1:] for line in run("predict", model, path).stdout.splitlines()] == expected


def test_a_workbook_counts_rows_as_the_spreadsheet_does(tmp_path, model):
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    path = tmp_path / "table.xlsx"
    write_workbook(path, [["age", "city"], [30.0, "Ulm"], ["x", "Ulm"]])
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "row 3, column 'age': 'x' is not a number" in said(result)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "the first sheet is empty; move the table there"),
        ([["Patients in May"], ["age", "city"], [30.0, "Ulm"]], "row 1 gives column 2 no name; .* such as a title"),
    ],
)
def test_a_sheet_without_names_of_columns_is_an_error(tmp_path, model, rows, text):
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    path = tmp_path / "table.xlsx"
    write_workbook(path, rows)
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert re.search(text, said(result))


def test_without_the_reader_the_error_says_what_to_do(tmp_path, model, table, monkeypatch):
    monkeypatch.setattr(workbooks, "find_spec", lambda _: None)
    path = tmp_path / "table.csv"
    write_workbook(path, cells_of(table))
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "is an Excel workbook; save it as CSV UTF-8 in the spreadsheet program, or install" in said(result)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel workbook of the old kind; save it as CSV UTF-8"),
        (b"PK\x03\x04", "Excel workbook"),
    ],
)
def test_other_workbooks_are_refused_whatever_their_name(tmp_path, model, start, text):
    path = tmp_path / "table.csv"
    path.write_bytes(start + b"x" * 600)
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert text in said(result)
    assert "CSV UTF-8" in said(result)


ODD = {
    "list": [[1, 2]],
    "bytes": [b"x"],
    "struct": [{"a": 1}],
    "duration": [dt.timedelta(days=1)],
    "array": pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)),
}


@pytest.mark.parametrize("cells", ODD.values(), ids=ODD)
def test_a_column_that_is_neither_number_nor_text(tmp_path, table, model, cells):
    path, odd = tmp_path / "table.parquet", pl.Series("odd", cells)
    frame = pl.read_csv(table)
    frame.with_columns(pl.concat([odd] * frame.height).alias("odd")).write_parquet(path)
    arguments = ("fit", path, *FIT, "-o", tmp_path / "model")
    result = run(*arguments)
    assert result.exit_code == 3
    assert "column 'odd' contains " in said(result)
    assert "--ignore" in said(result)
    assert run(*arguments, "--ignore", "odd").exit_code == 0
    answered = run("predict", model, path)
    assert answered.exit_code == 0
    assert answered.stdout.splitlines()[0].startswith("age,city,answer,label,")
    assert "column 'odd' contains " in said(answered)
    assert "left out of the output" in said(answered)
    assert run("evaluate", model, path).exit_code == 0


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_panic_of_the_reader_is_one_sentence(tmp_path, table, model, monkeypatch, capfd, command):
    path = tmp_path / "table.parquet"
    pl.read_csv(table).write_parquet(path)
    assert not issubclass(pl.exceptions.PanicException, Exception)

    def panics(_):
        os.write(2, b"thread panicked at ninety lines\n")
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pl, "scan_parquet", panics)
    result = run(command, model, path)
    assert result.exit_code == 3
    assert said(result).endswith("cannot be read as Parquet (it is malformed); write it again.")
    assert capfd.readouterr().err == ""
    os.write(2, b"heard again")  # stderr is put back
    assert capfd.readouterr().err == "heard again"


def test_a_damaged_parquet_file_is_answered_or_refused_in_one_sentence(tmp_path, table, model, capfd):
    path = tmp_path / "table.parquet"
    pl.read_csv(table).write_parquet(path)
    raw, refused = path.read_bytes(), 0
    for seed in range(40):
        rng, damaged = random.Random(seed), bytearray(raw)  # noqa: S311 (no secret)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        result = run("predict", model, path)
        assert result.exit_code in {0, 3}, (seed, result.output)
        if result.exit_code == 3:
            assert str(path) in said(result)
            refused += 1
    assert 0 < refused <= 40
    assert capfd.readouterr().err == ""


@pytest.mark.long
def test_reading_works_without_stderr(tmp_path, table, model):
    import subprocess

    path = tmp_path / "table.parquet"
    pl.read_csv(table).write_parquet(path)
    line = f"{sys.executable} -m abstain.cli.main predict {model} {path} -o {tmp_path / 'out.csv'} 2>&-"
    ended = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("\n") == 81


CELLS = '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row><row r="2"><c r="A2"><v>30</v></c></row>'
FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
TEXTS = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" {}><si><t>age</t></si></sst>'
PADDING = " " * 3_000_000  # three pieces


def packed(path, body=CELLS, parts=()):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in {**PARTS, "xl/worksheets/sheet1.xml": SHEET.format(body), **dict(parts)}.items():
            file.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (CELLS + FAR, {}),
        (CELLS + FAR.replace(' r="XFD', '\n s=">"\t r = "XFD000'), {}),
        (CELLS + FAR.replace(' r="XFD', " r='xfd").replace('6"><v', "6'><v"), {}),
        (CELLS + FAR.replace('<c r="XFD', f'<c{PADDING}r{PADDING}={PADDING}"XFD'), {}),
        (CELLS + FAR.replace("<c r", """<c y='<c s="a' r""").replace('"><v', '" b="/>"><v'), {}),
        (CELLS + '<row r="1048576"><c/><c><v>1</v></c></row>' + '<row r="9"><c r="XFD9"><v>1</v></c></row>', {}),
        (CELLS, {"xl/sharedStrings.xml": TEXTS.format('uniqueCount="99999999999"')}),
        (CELLS, {"xl/sharedStrings.xml": TEXTS.format("uniqueCount = '00099999999999'")}),
    ],
    ids=["far", "turned", "quotes", "spaces", "hidden", "no places", "texts", "texts, turned"],
)
def test_a_small_workbook_that_needs_much_memory_is_refused(tmp_path, model, body, parts):
    """1,462 bytes with one cell in the last place ended the process: room for 17 thousand million cells."""
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    path = packed(tmp_path / "table.xlsx", body, parts)
    result = run("predict", model, path)
    assert result.exit_code == 3
    expected = r"states 99,999,999,999 texts" if parts else r"up to row 1,048,576 and column 16,384 .* only \d+ of them"
    assert re.search(expected, said(result))
    assert "save it as CSV UTF-8" in said(result)


def test_formatted_places_and_declared_sizes_are_not_cells(tmp_path):
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    formatted = '<row r="1048576" ht="15" customHeight="1"/><row r="3"><c r="XFD3" s="1"/></row>'
    path = packed(tmp_path / "table.xlsx", CELLS + formatted)
    assert workbooks.excel_table(path).shape == (1, 1)
    with_size = SHEET.replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>').format(CELLS)
    packed(path, parts={"xl/worksheets/sheet1.xml": with_size})
    assert workbooks.excel_table(path).shape == (1, 1)


def test_a_bomb_is_refused_whatever_it_says_of_its_size(tmp_path, monkeypatch, model):
    """The directory of the archive states 10 bytes for a part that has three million."""
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    monkeypatch.setattr(workbooks, "MOST_BYTES", 2_000_000)
    path = packed(tmp_path / "table.xlsx", CELLS + PADDING)
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"PK\x01\x02")  # of the sheet
    assert int.from_bytes(raw[at + 24 : at + 28], "little") > 2_000_000
    raw[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(raw)
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "has more than 1 MB when it is unpacked; save it as CSV UTF-8" in said(result)


def test_many_parts_and_other_archives_are_refused(tmp_path, model, monkeypatch):
    pytest.importorskip("fastexcel", reason="the extra `excel` is not installed")
    monkeypatch.setattr(workbooks, "MOST_PARTS", 5)
    path = packed(tmp_path / "table.xlsx", parts={"xl/worksheets/sheet2.xml": SHEET, "xl/more.xml": ""})
    assert "has 7 parts, more than 5; save it as CSV UTF-8" in said(run("predict", model, path))
    packed(path, parts={"content.xml": ""})
    monkeypatch.undo()
    assert "perhaps a model, but not an Excel workbook of the kind .xlsx" in said(run("predict", model, path))


PIECES = [b'<c r="A1" ', b"<c ", b'r="0', b"<", b" ", b"<c s=", b'<c r="A1"/>', b"w:"]


@pytest.mark.parametrize("piece", quick(PIECES, b"<", b" ", b'<c r="A1"/>'))
def test_the_size_of_a_workbook_is_known_in_time_that_grows_with_it(piece):
    def seconds(length):
        def count():
            extent = workbooks.Extent()
            text = b"<" + piece * (length // len(piece))
            with contextlib.suppress(ValueError):
                for first in range(0, len(text), workbooks.PIECE):
                    extent.add(text[first : first + workbooks.PIECE], last=False)
                extent.add(b"", last=True)

        return min(timeit.repeat(count, number=1, repeat=3))

    assert seconds(1_600_000) < 40 * max(seconds(200_000), 1e-3), "eight times; the square would be 64 times as much"
