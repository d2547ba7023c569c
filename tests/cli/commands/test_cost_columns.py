"""Costs of each row from columns of the table: fit, predict and evaluate read the same ones."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import abstain
from abstain.metrics import mean_cost
from abstain.preprocessing import CellPlan
from cli.running import run

OPTIONS = ("--target", "status", "--pos-label", "bad", "--C", "100", "--gamma", "0.3", "--ignore", "interest")
COSTS = ("--false-negative-column", "amount", "--false-positive-column", "interest", "--reject", "200")


def said(result):
    """The last sentence on stderr, after notes on the columns."""
    return result.stderr.splitlines()[-1]


def loans():
    rng = np.random.default_rng(0)
    amount, debt = rng.uniform(1_500, 9_000, 150).round(), rng.normal(size=150).round(3)
    status = np.where(debt + 0.5 * rng.normal(size=150) > 0.8, "bad", "good")
    return pd.DataFrame({"amount": amount, "debt": debt, "interest": (0.2 * amount).round(1), "status": status})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loans")
    loans().to_csv(folder / "loans.csv", index=False)
    run("fit", folder / "loans.csv", *OPTIONS, *COSTS, "-o", folder / "model")
    return folder / "loans.csv", folder / "model"


def test_the_model_is_that_of_the_library(files):
    table, path = files
    rows, model = loans(), abstain.load(path)
    given = np.column_stack([rows["interest"], rows["amount"], np.full(150, 200.0)])
    costs = (("false_positive", "interest"), ("false_negative", "amount"), ("reject", 200.0))
    assert model.estimator_[0].plan_ == CellPlan(costs=costs)
    features = rows[["amount", "debt"]]
    assert model.feature_names_in_.tolist() == ["amount", "debt"]  # an ignored column may have costs
    decided = abstain.decide(model, features, given)
    answered = list(csv.DictReader(io.StringIO(run("predict", path, table).stdout)))
    assert [row["label"] for row in answered] == decided.label.tolist()
    assert {row["label"] for row in answered} >= {"good", "reject"}
    np.testing.assert_allclose([float(row["cost_good"]) for row in answered], decided.expected_cost[:, 0])
    facts = json.loads(run("evaluate", path, table, "--json").stdout)
    expected = mean_cost(rows["status"], decided.label, row_costs=given, pos_label="bad", reject_label="reject")
    assert facts["mean_cost"] == pytest.approx(expected)
    blind = {one["name"]: one["mean_cost"] for one in facts["verdict"]["alternatives"]}
    assert blind["rejecting every row"] == pytest.approx(200.0)
    assert blind["deciding 'good' for every row"] == pytest.approx(np.mean(given[:, 1] * (rows["status"] == "bad")))
    forced = mean_cost(rows["status"], decided.forced, row_costs=given, pos_label="bad", reject_label="reject")
    assert blind["deciding every row without rejects"] == pytest.approx(forced)


def test_a_search_minimises_the_rows_own_costs(files, tmp_path):
    options = [*OPTIONS[:4], "--gamma", "0.3", "--json"]
    facts = json.loads(run("fit", files[0], *options, *COSTS, "-o", tmp_path / "model").stdout)
    assert facts["false_negative_costs"] == "column amount"
    assert facts["reject_costs"] == 200.0
    assert 0 < facts["cross_validated_mean_cost"] < 400
    assert facts["verdict"]["its_mean_cost"] == pytest.approx(200.0)


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, ("--false-negative-column", "loan", "--reject", "0.3"), "no column 'loan'"),
        ({}, ("--false-negative-column", "status", "--reject", "0.3"), "'status' has the labels"),
        ({}, ("--false-negative-column", "amount", "--false-negative", "5", "--reject", "0.3"), "leave one of them"),
        ({}, ("--reject-column", "amount", "--reject", "0.3"), "--reject and --reject-column both"),
        ({}, ("--false-negative-column", "amount"), "--reject is missing"),
        ({}, ("--false-negative-column", "amount", "--false-positive", "-1", "--reject", "3"), "--false-positive -1"),
        ({"amount": -1.0}, COSTS, "line 4, column 'amount': the cost of a false negative is -1; it must be positive"),
        ({"interest": np.nan}, COSTS, "line 4, column 'interest': the cost of a false positive is missing"),
    ],
)
def test_errors_name_the_place_and_the_option(tmp_path, change, options, words):
    rows = loans()
    for name, value in change.items():
        rows.loc[2, name] = value
    rows.to_csv(tmp_path / "t.csv", index=False)
    assert words in said(run("fit", tmp_path / "t.csv", *OPTIONS, *options, "-o", tmp_path / "model"))


def test_the_positive_class_must_be_stated(files, tmp_path):
    words = said(run("fit", files[0], "-t", "status", *COSTS, "-o", tmp_path / "model"))
    assert "--pos-label is missing, and the costs are read from columns" in words


def test_a_missing_column_of_costs_is_named(files, tmp_path):
    _, model = files
    loans().drop(columns="interest").to_csv(tmp_path / "t.csv", index=False)
    assert "no column 'interest', which the model needs" in said(run("predict", model, tmp_path / "t.csv"))


def test_a_report_prices_each_row_by_its_own_costs(files, tmp_path):
    table, model = files
    page = tmp_path / "r.html"
    result = run("evaluate", model, table, "--report", page)
    assert result.exit_code == 0, result.output
    assert "reject</bdi></th>" in page.read_text(encoding="utf-8")


def test_a_row_whose_reject_can_never_pay_is_decided(tmp_path):
    rows = loans()
    rows["review"] = 200.0
    rows.loc[[2, 7], "review"] = 1e6
    table, model = tmp_path / "t.csv", tmp_path / "model"
    rows.to_csv(table, index=False)
    options = [*OPTIONS, *COSTS[:4], "--reject-column", "review", "--ignore", "review"]
    fitted = run("fit", table, *options, "-o", model)
    assert fitted.exit_code == 0, fitted.output
    answered = list(csv.DictReader(io.StringIO(run("predict", model, table).stdout)))
    assert {answered[at]["label"] for at in (2, 7)} <= {"good", "bad"}
    assert "reject" in {row["label"] for row in answered}  # the control
    assert json.loads(run("evaluate", model, table, "--json").stdout)["mean_cost"] < 1e5


def test_costs_in_which_no_reject_can_pay_are_a_warning(files, tmp_path):
    options = ("--false-negative-column", "amount", "--reject", "3")  # a false positive costs 1
    result = run("fit", files[0], *OPTIONS, *options, "-o", tmp_path / "model")
    assert result.exit_code == 0
    assert "no row whose reject can pay" in result.stderr
