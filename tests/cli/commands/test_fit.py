"""`abstain fit`: the default pipeline on a table's columns, with the settings that were asked for."""

import json

import numpy as np
import polars as pl
import pytest

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.cli.input.training_table import TableOptions, read_training
from abstain.cli.options import Given
from cli.running import FIT, pipeline_of, run, said, write_table


def fitted(tmp_path, data, *options):
    path = tmp_path / "model"
    result = run("fit", data, *options, "-o", path, "--json", "--force")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), pipeline_of(path)


def test_what_was_asked_for_is_in_the_model(tmp_path, table):
    facts, model = fitted(tmp_path, table, *FIT)
    machine = model[-1]
    assert isinstance(machine, RejectSVC)
    assert (machine.costs, machine.C, machine.gamma) == (Costs(1, 5, 0.3), 10, 0.5)
    assert machine.classes_.tolist() == ["no", "yes"]
    assert facts["rows"] == 80
    assert (facts["C"], facts["gamma"], facts["positive_class"]) == (10, 0.5, "yes")


def test_c_and_gamma_are_searched_for_by_the_mean_cost(tmp_path, table):
    options = ("--target", "answer", "--pos-label", "yes", "--false-negative", 5, "--reject", 0.3)
    facts, model = fitted(tmp_path, table, *options, "--machine", "svm")
    assert isinstance(model[-1], RejectSVCCV)
    assert facts["C"] == model[-1].C_
    assert facts["gamma"] == model[-1].gamma_
    assert 0 < facts["cross_validated_mean_cost"] < 0.3
    again, _ = fitted(tmp_path, table, *options, "--machine", "svm")
    assert again["cross_validated_mean_cost"] == facts["cross_validated_mean_cost"]
    other, _ = fitted(tmp_path, table, *options, "--machine", "svm", "--seed", 5)
    assert other["cross_validated_mean_cost"] != facts["cross_validated_mean_cost"]  # other folds


def test_the_cost_of_held_out_rows_is_compared_with_doing_the_same_for_all(tmp_path, table):
    """Numbers that say nothing about the labels, at a cheap reject: the search rejects all, and that is said."""
    data = tmp_path / "noise.csv"
    lines = [f"{at % 2},{('no', 'yes')[at // 2 % 2]}" for at in range(80)]
    data.write_text("x,answer\n" + "\n".join(lines) + "\n", encoding="utf-8")
    options = ("--target", "answer", "--reject", 0.05, "--json", "--force", "-o", tmp_path / "model")
    result = run("fit", data, *options)
    facts = json.loads(result.stdout)
    assert facts["held_out_reject_rate"] >= 0.95
    assert facts["verdict"]["cheapest_alternative"] == "rejecting every row"
    assert facts["verdict"]["its_mean_cost"] == pytest.approx(0.05)
    assert "which the choice has not seen, cost" in facts["verdict"]["sentence"]
    assert [line.removeprefix("abstain: warning: ") for line in result.stderr.splitlines()] == facts["warnings"]
    assert [text.split(" ")[4] for text in facts["warnings"]] == ["rejects", "costs", "too"]
    useful = json.loads(run("fit", table, *options[:3], 0.2, *options[4:]).stdout)  # control
    assert [text.split(" ")[4] for text in useful["warnings"]] == ["too"]  # few rows for a guard


def test_one_of_the_two_may_be_given(tmp_path, table):
    facts, _ = fitted(tmp_path, table, "--target", "answer", "--reject", 0.3, "--C", 2)
    assert facts["C"] == 2
    facts, _ = fitted(tmp_path, table, "--target", "answer", "--reject", 0.3, "--gamma", 0.25)
    assert facts["gamma"] == 0.25


def test_numbers_that_are_codes_become_categories_when_asked(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text(
        "code,x,answer\n" + "".join(f"{at % 3},{at},{'ab'[at % 2]}\n" for at in range(30)), encoding="utf-8"
    )
    read = read_training(data, TableOptions(Given(target="answer")))
    assert (read.numeric, read.categorical) == (["code", "x"], [])
    read = read_training(data, TableOptions(Given(target="answer", categorical=["code"], ignore=["x"])))
    assert (read.numeric, read.categorical) == ([], ["code"])
    assert read.X["code"].to_list()[:4] == ["0", "1", "2", "0"]


def test_csv_and_parquet_train_the_same_machine(tmp_path, table):
    parquet = tmp_path / "table.parquet"
    pl.read_csv(table).write_parquet(parquet)
    (_, one), (_, other) = fitted(tmp_path, table, *FIT), fitted(tmp_path, parquet, *FIT)
    np.testing.assert_array_equal(one[-1].dual_coef_, other[-1].dual_coef_)


def test_the_reject_label_may_be_another(tmp_path):
    data = write_table(tmp_path / "data.csv", labels=("accept", "reject"))
    options = (*FIT, "--pos-label", "reject")
    result = run("fit", data, *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert "default reject label 'reject' is one of the classes" in said(result)
    _, model = fitted(tmp_path, data, *options, "--reject-label", "ask")
    assert model[-1].reject_label_ == "ask"


def test_a_class_with_one_row_is_too_few_to_search(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,answer\n1,a\n2,a\n3,a\n4,b\n", encoding="utf-8")
    result = run("fit", data, "--target", "answer", "--reject", 0.3, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "column 'answer' has a class with only one row" in said(result)


def test_a_table_of_labels_alone_is_refused(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("answer\nno\nyes\n", encoding="utf-8")
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "has no column besides 'answer'" in said(result)


@pytest.mark.parametrize("name", ["=cmd", "../../x", "<script>", "x" * 500, "\u202eabc", "a b", "C"])
def test_odd_names_of_columns_are_names(tmp_path, name):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text(f"{name},answer\n" + "".join(f"{at},{'ab'[at > 9]}\n" for at in range(20)), encoding="utf-8")
    _, model = fitted(tmp_path, data, *FIT, "--pos-label", "b")
    assert model.feature_names_in_.tolist() == [name]
    assert run("predict", tmp_path / "model", data, "-o", out).exit_code == 0
    assert out.read_text(encoding="utf-8").split(",")[0] == ("'" * (name[0] == "=") + name)
