"""`abstain compare`: the library's comparison, behind the default pipeline."""

import json

import numpy as np
import pandas as pd
import pytest

from cli.running import run, said
from looping import rarely

COSTS = ("--target", "answer", "--reject", 0.2, "--folds", 2)


@pytest.fixture(scope="module")
def compared(table, tmp_path_factory):
    report = tmp_path_factory.mktemp("report") / "report.html"
    result = run("compare", table, *COSTS, "--machine", "svm,logistic", "--json", "-o", report)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), report


def test_rules_stand_in_the_order_of_their_costs(compared):
    found, _ = compared
    costs = [rule["mean_cost"] for rule in found["rules"]]
    assert costs == sorted(costs)
    assert found["rules"][0]["rule"] == found["best"]
    assert found["rows"] == 80
    names = {rule["rule"] for rule in found["rules"]}
    assert {"double hinge", "Bartlett-Wegkamp", "embedded, linear", "SVM"} <= names  # symmetric costs: all losses apply
    assert found["left_out"] == []
    for rule in found["rules"]:
        assert rule["from"] <= rule["mean_cost"] <= rule["to"]
        assert rule["difference_from_best"] == pytest.approx(rule["mean_cost"] - costs[0])


def test_the_verdict_is_on_the_cheapest_rule_that_rejects(compared):
    found, _ = compared
    rejecting = [rule for rule in found["rules"] if rule["reject_rate"] > 0]
    deciding = {rule["rule"]: rule["mean_cost"] for rule in found["rules"] if rule["reject_rate"] == 0}
    shown = {one["name"]: one["mean_cost"] for one in found["verdict"]["alternatives"]}
    assert found["verdict"]["sentence"].startswith(f"{rejecting[0]['rule']} is ")
    assert {"SVM", "SVM with costs, no rejects"} <= {*deciding}
    assert {name: shown[name] for name in deciding} == pytest.approx(deciding)
    assert shown["rejecting every row"] == pytest.approx(0.2)
    assert shown["deciding 'no' for every row"] == pytest.approx(0.5)
    assert found["warnings"] == []


def test_the_report_holds_the_comparison(compared):
    found, report = compared
    assert found["report"] == str(report)
    page = report.read_text(encoding="utf-8")
    assert all(rule["rule"] in page for rule in found["rules"])


def test_the_table_is_printed(table, tmp_path):
    compare = ("compare", table, *COSTS, "--machine", "logistic,boosting")
    found = json.loads(run(*compare, "--json").stdout)
    printed = run(*compare, "-o", tmp_path / "page.html").stdout
    rule = found["verdict"]["sentence"].split(" is ")[0]
    assert printed.splitlines()[-1] == f"{tmp_path / 'page.html'} written: the report of {rule} on 80 rows"
    rows = "80 rows (40 negative 'no', 40 positive 'yes'), 2 folds"
    assert printed.startswith(f"{len(found['rules'])} models on {rows}")


def test_what_is_left_out_is_said_with_the_reason(table, tmp_path):
    asymmetric = ("--target", "answer", "--pos-label", "yes", "--false-negative", 2, "--reject", 0.2, "--folds", 2)
    asymmetric += ("--machine", "svm")
    report = tmp_path / "page"
    result = run("compare", table, *asymmetric, "--json", "-o", report)
    assert result.exit_code == 0, result.output
    missing = json.loads(result.stdout)["left_out"]
    assert [one["rule"] for one in missing] == ["Bartlett-Wegkamp", "embedded, linear"]
    page = report.read_text(encoding="utf-8")
    for one in missing:
        assert "only equal error costs" in one["reason"]
        assert f"Left out: {one['rule']}; {one['reason']}." in page


def test_more_folds_than_rows_of_a_class_and_no_time_are_usage(table):
    result = run("compare", table, *COSTS[:-1], 41)
    assert result.exit_code == 2
    assert "--folds 41 needs that many rows of each class; the rarer has 40" in said(result)
    result = run("compare", table, *COSTS, "--time-limit", 0.05)
    assert result.exit_code == 2
    assert "not finished within --time-limit 0.05" in said(result)


def named_reject(path):
    """A table whose second class is called "reject", with costs of each row."""
    rng, code = np.random.default_rng(0), np.arange(80) % 2
    table = pd.DataFrame({"x": code + rng.normal(size=80), "answer": np.array(["ok", "reject"])[code]})
    for cell, cost in {"ok:reject": 1, "reject:ok": 2, "ok:later": 0.3, "reject:later": 0.2}.items():
        table[f"cost_{cell}"] = cost * rng.uniform(0.9, 1.1, 80)
    table.to_csv(path, index=False)
    return path


PLAIN, BY_ROW = ("--reject", 0.2, "--pos-label", "ok"), ("--row-costs", "cost_")


@pytest.mark.parametrize("costs", rarely([PLAIN, BY_ROW], PLAIN), ids=str)
def test_a_class_called_reject_asks_for_another_label(costs, tmp_path):
    given = (named_reject(tmp_path / "rows.csv"), "--target", "answer", *costs)
    if "--reject" in costs:
        given += tuple(
            part
            for cell in ("ok:reject", "reject:ok", "ok:later", "reject:later")
            for part in ("--ignore", f"cost_{cell}")
        )
    for command in (("compare",), ("fit", "-o", tmp_path / "model")):
        result = run(command[0], *given, *command[1:])
        assert result.exit_code == 2
        assert "pass a string that is not a class as --reject-label" in said(result)
    page = tmp_path / "page.html"
    compared = ("--folds", 2, "--machine", "svm,logistic,linear", "-o", page)
    result = run("compare", *given, *compared, "--reject-label", "later")
    assert result.exit_code == 0, result.output
    assert page.exists()
