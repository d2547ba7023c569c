"""predict and evaluate name the values that a model's training rows did not have."""

import json

import numpy as np
import pandas as pd
import pytest

from abstain import Costs, RejectSVC, ThresholdRejector, load
from abstain.cli.input import models
from abstain.cli.input.models import seen_of
from abstain.estimators.novelty import column_range as seen_column
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.preprocessing import default_pipeline
from cli.running import EVEN, pipeline_of, run, said


class Guard(ThresholdRejector):
    """A rejector around a whole Pipeline, which holds what training had."""

    def fit(self, X, y):
        super().fit(X, y)
        self.seen_ = SeenColumns.of(X)
        return self


@pytest.fixture(scope="module")
def trained(table):
    """The rows that the commands' models are trained on, without the labels, and these."""
    rows = pd.read_csv(table)
    return rows[["age", "city"]], rows["answer"]


@pytest.fixture(params=["file", "stand-in"])
def guarded(request, model, trained, monkeypatch):
    """A model that has `seen_`: the one in the file, or another one around a Pipeline."""
    if request.param == "file":
        estimator = load(model)
    else:
        pipeline = default_pipeline(RejectSVC(Costs(1, 5, 0.3)), ["age"], ["city"])
        estimator = Guard(pipeline.fit(*trained), Costs(1, 5, 0.3), cv="prefit").fit(*trained)
    monkeypatch.setattr(models, "load_estimator", lambda _: estimator)
    return model


@pytest.fixture
def moved(tmp_path):
    """Ages in months, and a city that did not occur in training."""
    path = tmp_path / "moved.csv"
    cells = ["360,Ulm,no", "700.5,Rome,no", "480,,yes", "600,Rome,yes", ",Bonn,no"]
    path.write_text("age,city,answer\n" + "\n".join(cells) + "\n", encoding="utf-8")
    return path


def lines(result):
    assert result.exit_code == 0, result.output
    found = [line.partition("moved.csv: ")[2] for line in result.stderr.splitlines() if "moved.csv: " in line]
    return [line for line in found if not line.startswith("This batch is unlike the training rows")]


def test_values_outside_the_range_are_named(guarded, moved, trained, tmp_path):
    largest = trained[0]["age"].max()
    expected = [
        f"column 'age': 4 of 5 rows are above the largest value in training, {largest:.6g} (largest here: 700.5).",
        "column 'city': 2 of 5 rows have a category that did not occur in training: 'Rome'.",
    ]
    for command in (("predict", guarded, moved), ("predict", guarded, moved, "-o", tmp_path / "out.csv")):
        assert lines(run(*command)) == expected
    assert lines(run("evaluate", guarded, moved)) == expected


def test_the_same_as_json(guarded, moved, trained, tmp_path):
    ages = trained[0]["age"]
    expected = {
        "unseen_categories": [{"column": "city", "rows": 2, "categories": 1, "such_as": ["Rome"]}],
        "outside_the_range": [
            {
                "column": "age",
                "rows": 5,
                "below": 0,
                "above": 4,
                "smallest_in_training": ages.min(),
                "largest_in_training": ages.max(),
                "smallest": 360.0,
                "largest": 700.5,
            }
        ],
        "newly_missing": [],
    }
    for command in (("predict", guarded, moved, "-o", tmp_path / "out.csv"), ("evaluate", guarded, moved)):
        facts = json.loads(run(*command, "--json").stdout)
        assert {name: facts[name] for name in expected} == expected


def test_nothing_is_said_of_the_training_rows(guarded, table):
    result = run("evaluate", guarded, table)
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_summary_has_no_lists(guarded, moved, tmp_path):
    printed = run("predict", guarded, moved, "-o", tmp_path / "out.csv").stdout.partition("This batch")[0]
    assert "rejected" in printed
    assert "range" not in printed
    assert "Rome" not in printed


def test_a_model_without_counts_names_categories_only(table, moved, tmp_path):
    model = tmp_path / "model"
    assert run("fit", table, *EVEN, "--no-novelty", "-o", model).exit_code == 0
    result = run("predict", model, moved, "-o", tmp_path / "out.csv", "--json")
    assert lines(result) == ["column 'city': 2 of 5 rows have a category that did not occur in training: 'Rome'."]
    facts = json.loads(result.stdout)
    assert [record["column"] for record in facts["unseen_categories"]] == ["city"]
    assert not {"outside_the_range", "newly_missing"} & {*facts}


def test_counts_are_summed_over_batches(guarded, tmp_path, monkeypatch):
    from abstain.cli.tables import csv_records

    monkeypatch.setattr(csv_records, "CHUNK", 20)
    path = tmp_path / "moved.csv"
    path.write_text("age,city\n" + "".join(f"{1000 + at},Ulm\n" for at in range(70)), encoding="utf-8")
    (sentence,) = lines(run("predict", guarded, path))
    assert "70 of 70 rows are above" in sentence
    assert "largest here: 1069)" in sentence


def test_missing_cells_where_training_had_none(trained, model, tmp_path, monkeypatch):
    estimator = pipeline_of(model)
    estimator.seen_ = SeenColumns.of(trained[0].dropna())
    monkeypatch.setattr(models, "load_estimator", lambda _: estimator)
    path = tmp_path / "moved.csv"
    path.write_text("age,city\n,Ulm\n40,\n,Ulm\n", encoding="utf-8")
    assert lines(run("predict", model, path)) == [
        "column 'age': 2 of 3 rows have no value; in training every row had one.",
        "column 'city': 1 of 3 rows has no value; in training every row had one.",
    ]


def test_few_columns_are_named(model, tmp_path, monkeypatch):
    names = [f"x{at}" for at in range(9)]
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(40, 9)), columns=names)
    estimator = default_pipeline(RejectSVC(Costs(reject=0.3)), names, []).fit(rows, np.arange(40) % 2)
    estimator.seen_ = SeenColumns.of(rows)
    monkeypatch.setattr(models, "load_estimator", lambda _: estimator)
    (rows + 10).to_csv(tmp_path / "moved.csv", index=False)
    said_of = lines(run("predict", model, tmp_path / "moved.csv"))
    assert [sentence.split(":")[0] for sentence in said_of[:-1]] == [f"column 'x{at}'" for at in range(5)]
    assert said_of[-1] == "and 4 more columns have values that are outside those in training."


def test_dates_are_written_as_dates(tmp_path):
    path = tmp_path / "train.csv"
    days = np.repeat(pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d"), 2)
    pd.DataFrame({"day": days, "answer": ["no", "yes"] * 40}).to_csv(path, index=False)
    fitted = run("fit", path, *EVEN, "--dates", "days", "-o", tmp_path / "m")
    assert fitted.exit_code == 0, fitted.output
    (tmp_path / "moved.csv").write_text("day\n2024-01-05\n2031-12-24\n", encoding="utf-8")
    assert said(run("predict", tmp_path / "m", tmp_path / "moved.csv")).endswith(
        "column 'day': 1 of 2 rows is above the largest value in training, 2024-02-09 (largest here: 2031-12-24)."
    )


def test_the_encoder_completes_columns_of_many_categories(trained, model, monkeypatch):
    monkeypatch.setattr(seen_column, "KEPT", 1)
    estimator = pipeline_of(model)
    estimator.seen_ = SeenColumns.of(trained[0])
    assert estimator.seen_["city"].rest > 0
    cells = pd.DataFrame({"age": [40.0], "city": ["Rome"]})
    assert not estimator.seen_.outside(cells)
    assert seen_of(estimator, estimator[0], ["age", "city"]).outside(cells).columns[1].unseen == {"Rome": 1}
    assert not seen_of(estimator, estimator[0], ["age", "city"]).outside(trained[0])


def test_columns_that_the_model_does_not_read_are_left_out(trained, model):
    estimator = pipeline_of(model)
    estimator.seen_ = SeenColumns.of(trained[0].assign(more=1.0))
    assert [column.name for column in seen_of(estimator, estimator[0], ["age", "city"])] == ["age", "city"]


def test_a_few_values_just_outside_the_range_are_not_worth_a_note(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(20)]
    old, new = (pd.DataFrame(rng.normal(size=(n, 20)), columns=names) for n in (250, 250))
    old.assign(answer=np.where(old["x0"] > 0, "yes", "no")).to_csv(tmp_path / "old.csv", index=False)
    new.to_csv(tmp_path / "moved.csv", index=False)
    assert run("fit", tmp_path / "old.csv", *EVEN, "-o", tmp_path / "m").exit_code == 0
    predict = ("predict", tmp_path / "m", tmp_path / "moved.csv", "-o", tmp_path / "out.csv", "--json", "--force")
    result = run(*predict)
    assert lines(result) == []
    assert len(json.loads(result.stdout)["outside_the_range"]) > 5  # all of them are here
    new.assign(x3=new["x3"] + 1.5).to_csv(tmp_path / "moved.csv", index=False)  # control: many just outside
    (sentence,) = lines(run(*predict))
    assert sentence.startswith("column 'x3'")
    new[:1].assign(x3=-999).to_csv(tmp_path / "moved.csv", index=False)  # control: one far outside
    (sentence,) = lines(run(*predict))
    assert "smallest here: -999" in sentence
