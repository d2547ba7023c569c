"""`abstain audit` on files that are not what it needs: one sentence each, with the way out."""

import csv
import json

import openpyxl
import pytest

from cli.reviewing import filled, predicted, rows_of, truths
from cli.running import FIT, heard, run, said


def mistaken(path, change):
    rows = rows_of(path)
    change(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def renamed(old, new):
    def change(rows):
        for row in rows:
            row[new] = row.pop(old)

    return change


def each(name, value):
    def change(rows):
        for row in rows:
            row[name] = value

    return change


def first(name, value):
    def change(rows):
        rows[0][name] = value

    return change


MISTAKES = {
    "a verdict misspelt": (first("verdict", "yess"), ["line 2", "did you mean 'yes'?"]),
    "a verdict of another kind": (first("verdict", "malignant"), ["line 2", "'no', 'yes' and 'unsure'"]),
    "no verdict at all": (each("verdict", ""), ["has no verdicts", "fill in"]),
    "the column of verdicts renamed": (renamed("verdict", "decision"), ["no column 'verdict'", "it has"]),
    "the hidden column deleted": (renamed("code", "was"), ["no column 'code'", "recognises"]),
    "a feature deleted": (renamed("age", "years"), ["no column 'age'", "the model"]),
    "a text for a number": (first("age", "old"), ["line 2", "'old' is not a number"]),
    "all cells changed": (each("age", "41.5"), ["changed in all rows", "do not edit"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_a_file_end_in_one_sentence_with_the_way_out(tmp_path, model, cases, name):
    change, words = MISTAKES[name]
    path = mistaken(filled(predicted(tmp_path, model, cases, "--audit", 5, name="r.csv"), truths(cases)), change)
    result = run("audit", model, path)
    assert result.exit_code in (2, 3)
    for word in words:
        assert word in said(result)


def test_the_wrong_file_ends_in_one_sentence_with_the_way_out(tmp_path, model, cases, table):
    path = filled(predicted(tmp_path, model, cases, "--audit", 5), truths(cases))
    other, empty, book = tmp_path / "other", tmp_path / "empty.csv", openpyxl.load_workbook(path)
    assert run("fit", table, *FIT, "--C", 3, "-o", other).exit_code == 0
    empty.write_text("")
    book["cases"].title = "today"
    book.save(tmp_path / "sheets.xlsx")
    header = tmp_path / "header.csv"
    header.write_text("row,verdict,code\n")
    for given, words in {
        (model, tmp_path / "answers.csv"): "the file of answers",
        (other, path): "has no row of this model",
        (model, empty): "empty",
        (model, header): "not followed by any rows",
        (model, tmp_path / "sheets.xlsx"): "none is called 'cases'",
        (model, cases): "no column 'verdict'",
        (path, path): "cannot be loaded",
        (model, model): "",
    }.items():
        result = run("audit", *given)
        assert result.exit_code in (2, 3)
        assert words in said(result)
    missing = run("audit", model, tmp_path / "nowhere.xlsx")
    assert missing.exit_code == 2
    assert "nowhere.xlsx" in missing.stderr
    assert run("audit", model).exit_code == 2


def test_without_an_audit_the_rejects_are_all_that_is_known(tmp_path, model, cases):
    path = filled(predicted(tmp_path, model, cases), truths(cases))
    result = run("audit", model, path, "--json")
    facts = json.loads(result.stdout)
    assert facts["error_among_the_answers"] is None
    assert "--audit" in "".join(heard(result))
