"""Review files, filled in as people do it."""

import csv
import io

import openpyxl
import polars as pl

from cli.running import run


def predicted(folder, model, cases, *options, name="review.xlsx"):
    """The review file of these cases."""
    path = folder / name
    result = run("predict", model, cases, "-o", folder / "answers.csv", "--review", path, "--force", *options)
    assert result.exit_code == 0, result.stderr
    return path


def filled(path, verdict, target=None):
    """Write into each row the verdict that a function of the row gives, and return the file."""
    target = path if target is None else target
    if path.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        table = pl.DataFrame([row | {"verdict": verdict(row)} for row in rows], infer_schema_length=None)
        table.write_csv(target)
        return target
    book = openpyxl.load_workbook(path)
    sheet = book["cases"]
    names = [cell.value for cell in sheet[1]]
    for cells in sheet.iter_rows(min_row=2):
        row = dict(zip(names, (cell.value for cell in cells), strict=True))
        cells[names.index("verdict")].value = verdict(row)
    book.save(target)
    return target


def line(row):
    """The number of a row of the cases, from 0."""
    return int(row["row"].removeprefix("line ")) - 2


def truths(cases, column="answer"):
    """A function that gives the true label of a row."""
    known = pl.read_csv(cases, infer_schema_length=0)[column].to_list()
    return lambda row: known[line(row)]


def rows_of(path):
    """The rows of a review file."""
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    sheet = openpyxl.load_workbook(path)["cases"]
    names = [cell.value for cell in sheet[1]]
    return [dict(zip(names, row, strict=True)) for row in sheet.iter_rows(min_row=2, values_only=True)]
