"""The workbook: types kept, nothing runs, verdicts to choose from; read back by another library."""

import io
import math
import zipfile
from datetime import date, datetime

import openpyxl
import polars as pl
import pytest

from abstain.cli.input.reviewed import CASES, CODE, NOTE, VERDICT
from abstain.cli.output.reports import HELP, READ_ME, WHY, write_workbook

NOON = datetime.fromisoformat("2024-01-31 13:05")
ODD = ["=1+1", "+1", "@SUM(A1)", "-2", '=HYPERLINK("http://x")', "http://x.org", "007", "1e5", " spaced ", "a\nb", "<&"]
COLUMNS = {
    "row": [f"line {at}" for at in range(len(ODD))],
    WHY: [None] * len(ODD),
    VERDICT: [None] * len(ODD),
    NOTE: [None] * len(ODD),
    "text": ODD,
    "number": [0.1 + 0.2, 1e-300, -5.0, math.nan, None, 3.0, 1e300, 2.5, 7.0, 1.0, 0.0],
    "whole": [*range(len(ODD))],
    "truth": [True, False] * 5 + [None],
    "day": [date(2024, 1, 31)] * len(ODD),
    "moment": [NOON] * len(ODD),
    CODE: ["h-1"] * len(ODD),
}
CHOICES = ["no, not yet", "yes", "=1", "unsure"]


@pytest.fixture(scope="module")
def book():
    file = io.BytesIO()
    texts = dict.fromkeys((WHY, VERDICT, NOTE), pl.String)
    write_workbook(pl.DataFrame(COLUMNS, schema_overrides=texts, strict=False), CHOICES, [*READ_ME], file)
    return file.getvalue()


@pytest.fixture(scope="module")
def sheet(book):
    return openpyxl.load_workbook(io.BytesIO(book))[CASES]


def cells(sheet, name):
    at = list(COLUMNS).index(name)
    return [row[at].value for row in sheet.iter_rows(min_row=2)]


def test_text_stays_text(sheet):
    assert cells(sheet, "text") == ODD
    at = list(COLUMNS).index("text")
    assert {row[at].data_type for row in sheet.iter_rows(min_row=2)} == {"s"}


def test_nothing_in_the_file_is_a_formula_or_a_link(book):
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/")]
    assert not any(b"<f>" in text or b"<hyperlink" in text for text in sheets)


def test_numbers_truths_and_dates_keep_their_types(sheet):
    number = cells(sheet, "number")
    assert number[3:5] == [None, None]
    assert [*number[:3], *number[5:10]] == pytest.approx([0.3, 1e-300, -5.0, 3.0, 1e300, 2.5, 7.0, 1.0], rel=1e-15)
    assert cells(sheet, "whole") == COLUMNS["whole"]
    assert cells(sheet, "truth") == COLUMNS["truth"]
    assert cells(sheet, "day")[0] == datetime.fromisoformat("2024-01-31")
    assert cells(sheet, "moment")[0] == NOON


def test_verdicts_are_chosen_from_a_list(book, sheet):
    (rule,) = sheet.data_validations.dataValidation
    assert (rule.type, str(rule.sqref)) == ("list", f"C2:C{len(ODD) + 1}")
    listed = openpyxl.load_workbook(io.BytesIO(book))[rule.formula1.strip("=").partition("!")[0]]
    assert [row[0].value for row in listed.iter_rows()] == CHOICES
    assert listed.sheet_state == "hidden"


def test_the_header_stays_in_sight_and_the_codes_do_not(sheet):
    assert sheet.freeze_panes == "D2"
    hidden = [name for name, column in sheet.column_dimensions.items() if column.hidden]
    assert hidden == [openpyxl.utils.get_column_letter(len(COLUMNS))]


def test_what_to_do_is_said_in_six_lines(book):
    lines = [row[0].value for row in openpyxl.load_workbook(io.BytesIO(book))[HELP].iter_rows()]
    assert [line[0] for line in lines] == [*"123456"]
    assert lines == [*READ_ME]
