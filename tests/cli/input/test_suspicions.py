"""Numbers that stand for missing values, names of rows, and rows without a label: said in words, with the option."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.cli.input.features import stand_ins
from cli.running import EVEN, FIT, heard, pipeline_of, run, said, write_table

AGES = np.tile(np.arange(18.0, 92.0), 2)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([*AGES, *[-999.0] * 5], [-999.0]),
        ([*AGES, *[999.0] * 3], [999.0]),
        ([*AGES, *[-9999.0] * 4, *[-999.0] * 4], [-9999.0, -999.0]),
        ([*AGES * 30, *[-999.0] * 5], [-999.0]),  # less than the range of the others away
        ([1.0, 2.0, 1.0, 2.0, *[99.0] * 3], [99.0]),
        ([*AGES / 100 + 120, *[0.0] * 5], [0.0]),
        ([*AGES, *[-999.0] * 2], []),  # too few
        ([*AGES, *[99.0] * 5], []),  # may be an age
        ([0.0, 1.0] * 20, []),
        ([0.0] * 20 + [1e9] * 20, []),
        ([*AGES, 1000.0, 1001.0, 1002.0], []),  # outliers, each another
        ([], []),
    ],
)
def test_a_number_far_away_in_several_rows_is_suspected(values, found):
    assert [value for value, *_ in stand_ins(np.array(values, dtype=float))] == found


def with_ages(path, replaced):
    """The table of the tests with some ages replaced."""
    header, *rows = write_table(path).read_text(encoding="utf-8").splitlines()
    rows = [replaced + row[row.index(",") :] if at % 9 == 0 else row for at, row in enumerate(rows)]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_stand_in_is_said_and_then_missing_everywhere(tmp_path):
    given, empty = with_ages(tmp_path / "given.csv", "-999"), with_ages(tmp_path / "empty.csv", "")
    result = run("fit", given, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 0
    assert "warning: column 'age': -999 occurs in 9 rows" in said(result)
    assert "pass --missing-value -999" in said(result)
    stated = ("--missing-value", -999)
    result = run("fit", given, *FIT, "-o", tmp_path / "model", "--force", *stated)
    assert (result.exit_code, heard(result)) == (0, [])
    assert run("fit", empty, *FIT, "-o", tmp_path / "other").exit_code == 0
    one, other = pipeline_of(tmp_path / "model"), pipeline_of(tmp_path / "other")
    np.testing.assert_array_equal(one[-1].dual_coef_, other[-1].dual_coef_)
    assert one[0].plan_.missing == ("-999",)
    # the model remembers it
    answers = [run("predict", tmp_path / "model", path).stdout.splitlines() for path in (given, empty)]
    assert [line.split(",")[1:] for line in answers[0]] == [line.split(",")[1:] for line in answers[1]]


@pytest.mark.parametrize("form", ["{:%d.%m.%Y}", "{:%Y-%m-%d}"])
def test_a_date_that_stands_for_a_missing_one_is_said(tmp_path, form):
    days = [dt.date(2023, 1, 1) + dt.timedelta(days=at * 5) for at in range(60)]
    days = [dt.date(9999, 12, 31) if at % 8 == 0 else day for at, day in enumerate(days)]
    data = tmp_path / "data.csv"
    rows = "".join(f"{form.format(day)},{'ab'[at % 2]}\n" for at, day in enumerate(days))
    data.write_text("closed,answer\n" + rows, encoding="utf-8")
    arguments = ("fit", data, *EVEN, "--dates", "days", "-o", tmp_path / "model", "--force")
    assert "column 'closed': 9999-12-31 occurs in 8 rows" in said(run(*arguments))
    result = run(*arguments, "--missing-value", "9999-12-31")
    assert (result.exit_code, heard(result)) == (0, [])
    median = pipeline_of(tmp_path / "model")[0].named_transformers_["numeric"]["impute"].statistics_[0]
    kept = [day.toordinal() - dt.date(1970, 1, 1).toordinal() for day in days if day.year < 9999]
    assert median == np.median(kept)


def test_columns_that_name_the_rows_are_said(tmp_path):
    data = tmp_path / "data.csv"
    header, *rows = write_table(data).read_text(encoding="utf-8").splitlines()
    rows = [f"{1000 + 7 * at},P{at:03d},{row}" for at, row in enumerate(rows)]
    data.write_text("\n".join([f"case,patient,{header}", *rows]) + "\n", encoding="utf-8")
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    text, number = heard(result)
    assert number.startswith("abstain: note: column 'case' has a different whole number in each row")
    assert number.endswith("pass --ignore 'case'.")
    assert text.startswith("abstain: note: column 'patient' has another text in nearly every row")
    assert text.endswith("is left out; pass --ignore 'patient' to say so, or --keep 'patient' to keep it.")
    assert "patient" not in pipeline_of(tmp_path / "model").feature_names_in_
    kept = ("--ignore", "case", "--keep", "patient")
    for stated in (("--ignore", "case", "--ignore", "patient"), ("--ignore", "case, patient"), kept):
        assert heard(run("fit", data, *FIT, "-o", tmp_path / "model", *stated, "--force")) == []
    assert "patient" in pipeline_of(tmp_path / "model").feature_names_in_


def with_labels(path, gaps, put=""):
    header, *rows = write_table(path).read_text(encoding="utf-8").splitlines()
    rows = [row[: row.rindex(",") + 1] + put if at in gaps else row for at, row in enumerate(rows)]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("put", ["", "NaN", "nan", "  "])
def test_rows_without_a_label_are_counted_and_left_out_when_asked(tmp_path, model, put):
    data, out = with_labels(tmp_path / "data.csv", {3, 10, 11}, put), tmp_path / "model"
    fit, evaluate = ("fit", data, *FIT, "-o", out), ("evaluate", model, data, "--target", "answer")
    compare = ("compare", data, "--target", "answer", "--reject", 0.2, "--folds", 2, "--machine", "logistic")
    commands = (fit, evaluate, compare) if put == "" else (fit, evaluate)
    for command in commands:
        refused = run(*command)
        assert refused.exit_code == 3
        assert "line 5 is the first of 3 rows without a label in column 'answer'" in said(refused)
        assert "pass --drop-unlabelled" in said(refused)
    for command in commands:
        result = run(*command, "--drop-unlabelled", "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["rows"] == 77
        assert said(result) == f"abstain: note: {data}: 3 rows without a label are left out."
    assert abstain.load(out).classes_.tolist() == ["no", "yes"]


def fit_with(path, cell, *options):
    """Fit to the table of the tests with another column, whose cells are made from the row and the label."""
    header, *rows = write_table(path).read_text(encoding="utf-8").splitlines()
    rows = [f"{cell(at, row.rsplit(',', 1)[1])},{row}" for at, row in enumerate(rows)]
    path.write_text("\n".join([f"more,{header}", *rows]) + "\n", encoding="utf-8")
    return run("fit", path, *FIT, *options, "-o", path.with_suffix(".model"), "--force")


@pytest.mark.parametrize(
    ("cell", "words", "option"),
    [
        (lambda at, _: f"{8 + at % 9}:05", "times such as '8:05', and each becomes a category", "--categorical"),
        (lambda at, _: f"{1 + at % 12:02d}/2021", "months such as '01/2021', and each becomes", "--categorical"),
        (lambda at, _: 20201101 + at % 28, "numbers, which look like dates such as 20201101; write", "--categorical"),
        (lambda at, _: f"{1067 + at % 7:05d}", "leading zeros, as in '01067', and is read as", "--categorical"),
        (lambda *_: "", "'more' is empty in all rows", "--ignore"),
        (lambda *_: "7", "'more' has the same value in all rows", "--ignore"),
        (lambda *_: "x", "'more' has the same value in all rows", "--ignore"),
        (lambda _, label: int(label == "yes"), "the label in every row (0 for 'no', 1 for 'yes')", "--ignore"),
    ],
)
def test_what_a_column_becomes_is_said(tmp_path, cell, words, option):
    result = fit_with(tmp_path / "table.csv", cell)
    assert result.exit_code == 0
    assert words in said(result)
    assert f"{option} 'more'" in said(result)
    assert heard(fit_with(tmp_path / "table.csv", cell, option, "more")) == []


@pytest.mark.parametrize(
    "cell",
    [
        lambda at, _: f"{at % 9}:1",  # a score
        lambda at, _: 20201301 + at % 28,  # month 13
        lambda at, _: f"0.{at % 7}",
        lambda at, _: "7" if at else "",
        lambda at, label: int(label == "yes") if at else 1,  # one row differs
    ],
)
def test_ordinary_columns_need_no_words(tmp_path, cell):
    result = fit_with(tmp_path / "table.csv", cell)
    assert (result.exit_code, heard(result)) == (0, [])


def test_nan_in_a_parquet_file_is_not_a_class(tmp_path):
    path = tmp_path / "data.parquet"
    y = [0.0, 1.0, float("nan"), None, 0.0, 1.0, 1.0, 0.0]
    pl.DataFrame({"x": np.arange(8.0), "answer": y}).write_parquet(path)
    arguments = ("fit", path, *EVEN, "-o", tmp_path / "model")
    assert "row 3 is the first of 2 rows without a label in column 'answer'" in said(run(*arguments))
    assert run(*arguments, "--drop-unlabelled").exit_code == 0
    assert abstain.load(tmp_path / "model").classes_.tolist() == ["0", "1"]


def test_without_any_label_nothing_is_left(tmp_path, model):
    data = with_labels(tmp_path / "data.csv", set(range(80)))
    for command in (("fit", data, *FIT, "-o", tmp_path / "model"), ("evaluate", model, data, "--target", "answer")):
        result = run(*command, "--drop-unlabelled")
        assert result.exit_code == 3
        assert "is the first of 80 rows without a label" in said(result)


@pytest.mark.parametrize("at", [0, 40])
def test_a_third_class_that_looks_missing_is_explained(tmp_path, at):
    data = with_labels(tmp_path / "data.csv", {at}, "NA")
    arguments = ("fit", data, *FIT, "-o", tmp_path / "model")
    result = run(*arguments)
    assert result.exit_code == 3
    assert f"line {at + 2}, column 'answer': 'NA' is a third class" in said(result)
    assert "pass --missing-value 'NA' --drop-unlabelled" in said(result)
    assert run(*arguments, "--missing-value", "NA", "--drop-unlabelled").exit_code == 0


def test_unseen_categories_are_counted_and_named(tmp_path, model):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("age,city,answer\n" + "30,Ulm,no\n31,Rome,no\n32,Oslo,yes\n33,Rome,yes\n34,,no\n", encoding="utf-8")
    words = "column 'city': 3 of 5 rows have 2 categories that did not occur in training, such as 'Rome', 'Oslo'"
    result = run("predict", model, data, "-o", out, "--json")
    assert json.loads(result.stdout)["unseen_categories"] == [
        {"column": "city", "rows": 3, "categories": 2, "such_as": ["Rome", "Oslo"]}
    ]
    for said_by in (result, run("predict", model, data), run("evaluate", model, data)):
        assert said_by.exit_code == 0
        assert words in said_by.stderr.splitlines()[0]


def test_unseen_categories_are_counted_over_batches(tmp_path, model, monkeypatch):
    from abstain.cli.tables import csv_records

    monkeypatch.setattr(csv_records, "CHUNK", 20)
    data = tmp_path / "data.csv"
    data.write_text("age,city\n" + "".join(f"{at},town {at % 7}\n" for at in range(70)), encoding="utf-8")
    categories, *_, drift = heard(run("predict", model, data))
    assert "70 of 70 rows have 7 categories" in categories
    assert "This batch is unlike the training rows" in drift
