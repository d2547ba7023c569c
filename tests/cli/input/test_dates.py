"""Dates are never categories: refused by name, or days since 1970-01-01, in the model's files too."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

from abstain.cli.tables.notation import days, look_like_dates
from abstain.preprocessing import CellPlan
from cli.running import pipeline_of, run, said

FIT = ("--target", "answer", "--reject", 0.3, "--C", 1, "--gamma", 1)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 (of the calendar, without a zone)
DAYS = [dt.datetime(2023, 11, 1) + dt.timedelta(days=37 * at, minutes=at * 61) for at in range(24)]  # noqa: DTZ001
FORMATS = {
    "%Y-%m-%d": None,
    "%Y/%m/%d": None,
    "%d.%m.%Y": None,
    "%d/%m/%Y": True,
    "%m/%d/%Y": False,
    "%d-%m-%Y": True,
    "%Y-%m-%dT%H:%M:%S": None,
    "%d.%m.%Y %H:%M": None,
    "%m/%d/%Y %I:%M %p": False,
    "%Y-%m-%d %H:%M:%S.%f": None,
    "%Y-%m-%dT%H:%M:%SZ": None,
}


@pytest.mark.parametrize(("form", "day_first"), FORMATS.items())
def test_a_date_is_its_days_since_1970(form, day_first):
    texts = [day.strftime(form) for day in DAYS]
    expected = [(dt.datetime.strptime(text, form) - EPOCH) / dt.timedelta(days=1) for text in texts]  # noqa: DTZ007
    np.testing.assert_allclose(days(pl.Series(texts), day_first), expected, rtol=0, atol=1e-9)
    assert look_like_dates(pl.Series(texts))


def test_zones_are_taken_into_account():
    texts = pl.Series(["2024-03-01T01:30+02:00", "2024-02-29T23:30Z", "2024-02-29 18:00:00-0530"])
    np.testing.assert_allclose(np.diff(days(texts, None)), 0, atol=1e-9)


@pytest.mark.parametrize(
    "text", ["2023-02-29", "31.04.2024", "13/13/2024", "2024-00-10", "2024-01-01 25:00", "24-01-31", "x", "2024-1"]
)
def test_what_is_not_a_date_is_nan(text):
    assert np.isnan(days(pl.Series([text]), True)).all()


def test_an_order_that_is_not_stated_is_not_guessed():
    assert np.isnan(days(pl.Series(["01/02/2024"]), None)).all()
    assert days(pl.Series(["01/02/2024"]), True) - days(pl.Series(["01/02/2024"]), False) == 30  # 1 February, 2 January


@pytest.mark.parametrize(
    "texts", [["1.5", "2.5"], ["A-1", "B-2"], ["2024", "2025"], ["192.168.10.12", "10.0.0.1"], [""]]
)
def test_other_texts_do_not_look_like_dates(texts):
    assert not look_like_dates(pl.Series(texts))


def write(path, texts, more="z"):
    rows = "".join(f"{text};{at % 3};{'ab'[at % 2]}\n" for at, text in enumerate(texts))
    path.write_text(f"when;{more};answer\n" + rows, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M:%S"])
def test_dates_are_refused_by_name_and_converted_when_asked(tmp_path, form):
    data, model = write(tmp_path / "data.csv", [day.strftime(form) for day in DAYS]), tmp_path / "model"
    for command in (("fit", data, *FIT, "-o", model), ("compare", data, "--target", "answer", "--reject", 0.3)):
        refused = run(*command)
        assert refused.exit_code == 3
        assert "column 'when' contains dates such as" in said(refused)
        assert "pass --dates days" in said(refused)
        assert "leave them out with --ignore 'when'" in said(refused)
    result = run("fit", data, *FIT, "-o", model, "--dates", "days", "--json")
    assert json.loads(result.stdout)["dates_in_days"] == ["when"]
    numbers = tmp_path / "numbers.csv"
    write(numbers, [(dt.datetime.strptime(day.strftime(form), form) - EPOCH) / dt.timedelta(1) for day in DAYS])  # noqa: DTZ007
    assert run("fit", numbers, *FIT, "-o", tmp_path / "other").exit_code == 0
    one, other = pipeline_of(model), pipeline_of(tmp_path / "other")
    np.testing.assert_allclose(one[-1].dual_coef_, other[-1].dual_coef_, atol=1e-8)
    assert one[0].plan_.dates == ("when",)
    assert run("predict", model, data).exit_code == 0


def test_both_columns_of_dates_are_named(tmp_path):
    data = tmp_path / "data.csv"
    rows = "".join(f"2024-01-{at:02d},{at:02d}.05.2024,{at},{'ab'[at % 2]}\n" for at in range(1, 25))
    data.write_text("in,out,x,answer\n" + rows, encoding="utf-8")
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert "columns 'in', 'out' contain dates such as '2024-01-01'" in said(result)
    assert "with --ignore 'in' --ignore 'out'" in said(result)
    assert run("fit", data, *FIT, "-o", tmp_path / "model", "--ignore", "in", "--ignore", "out").exit_code == 0


def test_an_order_that_cannot_be_seen_is_asked_for_and_kept(tmp_path):
    unclear = write(tmp_path / "unclear.csv", [f"{1 + at % 12:02d}/0{1 + at % 9}/2024" for at in range(24)])
    arguments = ("fit", unclear, *FIT, "-o", tmp_path / "model")
    refused = run(*arguments)  # the first error names what the second one would
    assert refused.exit_code == 3
    assert "such as '01/01/2024'; pass --dates day-first or --dates month-first to turn them into days" in said(refused)
    assert "(which of the two cannot be seen in '01/01/2024'), or leave them out with --ignore 'when'" in said(refused)
    assert "--dates days" not in said(refused)
    refused = run(*arguments, "--dates", "days")
    assert refused.exit_code == 3
    assert "cannot be seen; pass --dates day-first or --dates month-first" in said(refused)
    assert run(*arguments, "--dates", "day-first").exit_code == 0
    assert pipeline_of(tmp_path / "model")[0].plan_ == CellPlan(("when",), True, ())
    assert run("predict", tmp_path / "model", unclear).exit_code == 0
    other = write(tmp_path / "other.csv", ["12/31/2024"])
    refused = run("predict", tmp_path / "model", other)
    assert refused.exit_code == 3
    assert "'12/31/2024' cannot be read as a date" in said(refused)
    assert run("predict", tmp_path / "model", other, "--dates", "month-first").exit_code == 0


def test_dates_that_cannot_be_read_are_still_not_categories(tmp_path):
    data = write(tmp_path / "data.csv", [day.strftime("%d-%b-%y") for day in DAYS])
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "write them as in 2024-01-31, or leave them out with --ignore 'when'" in said(result)
    assert run("fit", data, *FIT, "-o", tmp_path / "model", "--categorical", "when").exit_code == 0


def test_dates_of_a_parquet_file_are_those_of_a_csv(tmp_path):
    data = write(tmp_path / "data.csv", [day.strftime("%Y-%m-%d") for day in DAYS])
    typed = tmp_path / "data.parquet"
    frame = pl.read_csv(data, separator=";", try_parse_dates=True)
    assert frame["when"].dtype == pl.Date
    frame.write_parquet(typed)
    for path in (data, typed):
        assert run("fit", path, *FIT, "-o", path.with_name(f"{path.name}.model"), "--dates", "days").exit_code == 0
    assert (tmp_path / "data.csv.model").read_bytes() == (tmp_path / "data.parquet.model").read_bytes()
    assert run("predict", tmp_path / "data.csv.model", typed).exit_code == 0


def test_a_date_for_a_number_and_a_number_for_a_date_are_refused(tmp_path):
    dated = write(tmp_path / "dated.csv", [day.strftime("%Y-%m-%d") for day in DAYS])
    numbered = write(tmp_path / "numbered.csv", range(24))
    assert run("fit", dated, *FIT, "-o", tmp_path / "dates", "--dates", "days").exit_code == 0
    assert run("fit", numbered, *FIT, "-o", tmp_path / "numbers").exit_code == 0
    assert "is a date, where the model was trained on numbers" in said(run("predict", tmp_path / "numbers", dated))
    assert "'0' cannot be read as a date" in said(run("predict", tmp_path / "dates", numbered))


def test_the_graph_is_exported_with_a_note(tmp_path):
    pytest.importorskip("onnx")
    data = write(tmp_path / "data.csv", [day.strftime("%Y-%m-%d") for day in DAYS])
    assert run("fit", data, *FIT, "-o", tmp_path / "model", "--dates", "days").exit_code == 0
    result = run("export", tmp_path / "model", "--onnx", tmp_path / "graph.onnx")
    assert result.exit_code == 0
    assert "the graph takes dates ('when') as days since 1970-01-01" in said(result)
