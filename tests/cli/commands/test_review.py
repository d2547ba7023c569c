"""`abstain predict --review`: the rows that people see, within a capacity, and an audit that cannot be seen."""

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest

import abstain
from cli.running import run, said


def reviewed(tmp_path, model, cases, *options, name="review.csv"):
    path = tmp_path / name
    result = run(
        "predict", model, cases, "-o", tmp_path / "answers.csv", "--review", path, "--force", "--json", *options
    )
    assert result.exit_code == 0, result.stderr
    table = (
        pl.read_csv(path, infer_schema_length=0) if name.endswith(".csv") else pl.read_excel(path, sheet_name="cases")
    )
    answers = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text(encoding="utf-8"))))
    return table, answers, json.loads(result.stdout)


def at(row):
    return int(row.removeprefix("line ")) - 2


def test_rejected_rows_come_in_the_order_of_the_queue(tmp_path, model, cases):
    table, answers, facts = reviewed(tmp_path, model, cases)
    read = pl.read_csv(cases, null_values="")
    X = read.select("age", "city").to_pandas()
    decisions = abstain.decide(abstain.load(model), X.where(X.notna(), None))
    assert [at(row) for row in table["row"]] == decisions.queue.tolist()
    assert facts["rows_to_review"] == facts["rejected"] == table.height > 5
    assert table["why"].null_count() == 0
    X = X.where(X.notna(), None)
    told = abstain.explain(abstain.load(model), X, rows=[at(row) for row in table["row"]]).sentence
    assert table["why"].to_list() == told.tolist()
    assert table["verdict"].null_count() == table.height
    for row in table.iter_rows(named=True):
        assert answers[at(row["row"])]["rejected"] == "true"
        assert row["age"] == (answers[at(row["row"])]["age"] or None)
        for name in ("cost_no", "cost_yes"):
            assert float(row[name]) == pytest.approx(float(answers[at(row["row"])][name]), rel=1e-3)


def test_answers_have_the_sentences_if_they_are_asked_for(tmp_path, model, cases):
    table, answers, _ = reviewed(tmp_path, model, cases, "--reasons")
    told = {at(row): why for row, why in table.select("row", "why").iter_rows()}
    assert [row["sentence"] for row in answers] == [told.get(number, "") for number in range(300)]
    assert len({*told.values()}) > 3


def test_a_capacity_holds_for_answers_and_review(tmp_path, model, cases):
    table, answers, facts = reviewed(tmp_path, model, cases, "--capacity", 4)
    assert table.height == facts["rejected"] == sum(row["rejected"] == "true" for row in answers) == 4
    assert facts["over_capacity"] == sum(row["reason"] == "over capacity" for row in answers) > 0
    everything = reviewed(tmp_path, model, cases)[0]
    assert table["row"].to_list() == everything["row"][:4].to_list()


def test_a_capacity_needs_no_review_file(model, cases):
    result = run("predict", model, cases, "--capacity", 3)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert sum(row["rejected"] == "true" for row in rows) == 3


def test_an_audit_shows_nothing_of_the_answer(tmp_path, model, cases):
    table, answers, facts = reviewed(tmp_path, model, cases, "--audit", 12, "--seed", 4)
    decided = np.array([answers[at(row)]["rejected"] == "false" for row in table["row"]])
    assert decided.sum() == facts["audited_rows"] == 12
    assert facts["seed_of_the_audit"] == 4
    costs = table.select("^cost_.*$")
    assert costs.filter(decided).null_count().sum_horizontal().item() == 12 * costs.width
    assert costs.filter(~decided).null_count().sum_horizontal().item() == 0
    assert table.filter(decided)["why"].unique().to_list() == [
        "Drawn at random, to see how often the machine is right."
    ]
    assert not table.filter(~decided)["why"].str.starts_with("Drawn").any()
    assert not {"label", "rejected", "reason", "score"} & {*table.columns}
    parts = [code.split("-") for code in table["code"]]
    assert {(int(part[1]), int(part[3]), int(part[5])) for part in parts} == {
        (facts["rows"] - facts["rejected"], 12, 4)
    }
    assert [int(part[6]) for part in parts] == [at(row) + 2 for row in table["row"]]


def test_a_workbook_has_the_same_rows_with_their_types(tmp_path, model, cases):
    text, _, _ = reviewed(tmp_path, model, cases, "--audit", 5)
    table, _, _ = reviewed(tmp_path, model, cases, "--audit", 5, name="review.xlsx")
    assert table.columns == text.columns
    assert table["age"].dtype.is_numeric()
    assert table["age"].to_list() == text["age"].cast(pl.Float64).to_list()
    assert table["code"].to_list() == text["code"].to_list()


def test_rows_may_be_named_by_a_column(tmp_path, model, cases):
    named = tmp_path / "named.csv"
    lines = cases.read_text(encoding="utf-8").splitlines()
    named.write_text(
        "\n".join([f"patient,{lines[0]}", *(f"=P{at},{line}" for at, line in enumerate(lines[1:]))]) + "\n"
    )
    table, _, _ = reviewed(tmp_path, model, named, "--id", "patient", name="review.xlsx")
    assert table.columns[0] == "patient"
    assert table["patient"][0].startswith("=P")
    assert table.columns.count("patient") == 1
    text, _, _ = reviewed(tmp_path, model, named, "--id", "patient")
    assert text["patient"][0].startswith("'=P"), "a CSV has no types, so the apostrophe keeps a formula from running"


def test_several_classes_and_actions_have_reviews(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    rows = "\n".join(f"{v:.3f},{'abc'[k]}" for v, k in zip(y + rng.normal(0, 0.7, 150), y, strict=True))
    (tmp_path / "t.csv").write_text(f"x,kind\n{rows}\n")
    model = tmp_path / "m"
    assert (
        run("fit", tmp_path / "t.csv", "-t", "kind", "--reject", 0.2, "--C", 1, "--gamma", 1, "-o", model).exit_code
        == 0
    )
    table, _, _ = reviewed(tmp_path, model, tmp_path / "t.csv", "--audit", 3)
    assert [name for name in table.columns if name.startswith("cost_")] == [
        *(f"cost_{k}" for k in "abc"),
        "cost_reject",
    ]
    (tmp_path / "a.csv").write_text("action,a,b,c,rejects\np,0,1,1,no\nq,1,0,0.5,no\ncall,0.2,0.2,0.2,yes\n")
    options = ("--actions", tmp_path / "a.csv", "--C", 1, "--gamma", 1, "-o", model, "--force")
    assert run("fit", tmp_path / "t.csv", "-t", "kind", *options).exit_code == 0
    table, _, _ = reviewed(tmp_path, model, tmp_path / "t.csv", "--capacity", 5, name="review.xlsx")
    assert table.height == 5
    assert "cost_call" in table.columns
    assert "action" not in table.columns, "every row is called"


def test_a_review_says_which_action_hands_a_row_on(tmp_path):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    rows = "\n".join(f"{v:.3f},{'ab'[k]}" for v, k in zip(y + rng.normal(0, 0.7, 200), y, strict=True))
    (tmp_path / "t.csv").write_text(f"x,kind\n{rows}\n")
    (tmp_path / "a.csv").write_text("action,a,b,rejects\np,0,1,no\nq,1,0,no\ncall,0.3,0.1,yes\nvisit,0.1,0.3,yes\n")
    options = ("-t", "kind", "--actions", tmp_path / "a.csv", "--machine", "svm", "--C", 1, "--gamma", 1)
    assert run("fit", tmp_path / "t.csv", *options, "-o", tmp_path / "m").exit_code == 0
    table, answers, _ = reviewed(tmp_path, tmp_path / "m", tmp_path / "t.csv", "--audit", 30)
    decided = np.array([answers[at(row)]["rejected"] == "false" for row in table["row"]])
    assert {"call", "visit"} == {*table.filter(~decided)["action"]}
    for row, own in zip(table.iter_rows(named=True), decided, strict=True):
        answer = answers[at(row["row"])]
        cheaper = "call" if float(answer["cost_call"]) < float(answer["cost_visit"]) else "visit"
        assert row["action"] == (cheaper if own else answer["label"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--capacity", 0), "--capacity must be 1 or more"),
        (("--capacity", 2.5), "--capacity must be a whole number, as in 20"),
        (("--capacity", -3), "--capacity must be 1 or more"),
        (("--audit", -1, "--review", "r.csv"), "--audit must be 0 or more"),
        (("--audit", 5), "--review"),
        (("--id", "age"), "--review"),
        (("--review", "r.ods"), ".xlsx or .csv"),
        (("--review", "r.parquet"), ".xlsx or .csv"),
        (("--review", "r.csv", "--id", "patient"), "no column 'patient'"),
    ],
)
def test_mistakes_end_in_one_sentence_with_the_way_out(tmp_path, model, cases, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    result = run("predict", model, cases, "-o", "a.csv", *options)
    assert result.exit_code in (2, 3)
    assert re.search(words, result.stderr)
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("r.*"))


def test_a_review_replaces_nothing_unasked(tmp_path, model, cases):
    path = tmp_path / "r.csv"
    path.write_text("verdicts of a week")
    assert run("predict", model, cases, "-o", tmp_path / "a.csv", "--review", path).exit_code == 2
    assert path.read_text() == "verdicts of a week"
    assert "another name" in said(run("predict", model, cases, "-o", path, "--review", path, "--force"))


def test_a_column_that_the_review_adds_may_not_be_there(tmp_path, model, cases):
    path = tmp_path / "c.csv"
    path.write_text(cases.read_text().replace("answer", "verdict", 1))
    result = run("predict", model, path, "-o", tmp_path / "a.csv", "--review", tmp_path / "r.csv")
    assert result.exit_code == 3
    assert "rename it" in said(result)
