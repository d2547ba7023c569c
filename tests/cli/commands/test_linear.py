"""`--machine linear`: the linear machine through all commands, and from Parquet files by blocks."""

import json

import pytest

import abstain
from abstain.estimators.linear_svc import LinearRejectSVC
from abstain.estimators.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from cli.running import run, said

COSTS = ("--target", "answer", "--pos-label", "yes", "--false-negative", 5, "--reject", 0.3)
EQUAL = ("--target", "answer", "--reject", 0.3)


def fitted(tmp_path, data, *options, costs=COSTS):
    path = tmp_path / "model"
    result = run("fit", data, *costs, "--machine", "linear", *options, "-o", path, "--json", "--force")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), path


def test_it_goes_through_all_commands(tmp_path, table):
    facts, path = fitted(tmp_path, table, "--Cs", "0.01,0.1,1", "--reject-label", "ask")
    assert (facts["machine"], facts["status"], facts["positive_class"]) == ("linear", "optimal", "yes")
    assert facts["C"] in (0.01, 0.1, 1.0)
    assert 0 < facts["cross_validated_mean_cost"] < 0.3
    machine = abstain.load(path)[-1]
    assert type(machine) is LinearRejectSVCCV
    assert machine.C_ == facts["C"]
    predicted = json.loads(run("predict", path, table, "-o", tmp_path / "out.csv", "--json").stdout)
    answers = [line.split(",")[3] for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert answers.count("ask") == predicted["rejected"] > 0
    judged = run("evaluate", path, table, "--json", "--report", tmp_path / "page.html")
    assert judged.exit_code == 0, judged.output
    assert json.loads(judged.stdout)["mean_cost"] < 0.3


def test_C_fixes_the_machine(tmp_path, table):
    facts, path = fitted(tmp_path, table, "--C", 0.5)
    assert facts["C"] == 0.5
    assert "No row was held out" in facts["verdict"]["sentence"]
    assert type(abstain.load(path)[-1]) is LinearRejectSVC


def test_it_takes_all_ways_to_state_costs(tmp_path, table):
    rows = table.read_text(encoding="utf-8").splitlines()
    priced = tmp_path / "priced.csv"
    priced.write_text("\n".join([f"{rows[0]},price", *(f"{row},{3 + at % 4}" for at, row in enumerate(rows[1:]))]))
    by_row = ("--target", "answer", "--pos-label", "yes", "--false-negative-column", "price", "--reject", 0.3)
    _, path = fitted(tmp_path, priced, "--C", 1, costs=by_row)
    assert run("evaluate", path, priced).exit_code == 0
    actions = tmp_path / "actions.csv"
    actions.write_text("action,no,yes,rejects\npass,0,5,no\nstop,1,0,no\ncall,0.3,0.3,yes\n")
    facts, _ = fitted(tmp_path, table, "--actions", actions, costs=("--target", "answer"))
    assert facts["actions"] == ["pass", "stop", "call"]
    third = tmp_path / "third.csv"
    third.write_text("\n".join([rows[0], *rows[1:], *(f"{90 + at % 7},Trier,maybe" for at in range(20))]))
    facts, path = fitted(tmp_path, third, costs=EQUAL)
    assert facts["classes"] == ["maybe", "no", "yes"]
    assert abstain.load(path)[-1].coef_.shape[0] == 3
    facts, path = fitted(tmp_path, table, "--C", 1, "--reject-rate", 0.2, costs=("--target", "answer"))
    assert facts["machine"] == "linear"
    assert facts["held_out_reject_rate"] <= 0.2
    assert type(abstain.load(path)[-1]) is ThresholdRejector


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--gamma", 2), "--gamma belongs to --machine svm, not to linear; leave it out"),
        (("--gammas", "1,2"), "--gammas belongs to --machine svm, not to linear"),
        (("--search", "full"), "--search belongs to --machine svm, not to linear"),
    ],
)
def test_options_of_a_kernel_are_refused(tmp_path, table, options, words):
    result = run("fit", table, *COSTS, "--machine", "linear", *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert words in said(result)


def test_compare_takes_it(tmp_path, table):
    result = run("compare", table, *COSTS, "--machine", "linear,logistic", "-o", tmp_path / "page.html", "--json")
    assert result.exit_code == 0, result.output
    rules = {rule["rule"] for rule in json.loads(result.stdout)["rules"]}
    assert rules == {"double hinge, linear", "logistic, Chow"}
