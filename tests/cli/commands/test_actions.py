"""`--actions`: a file of actions through the commands."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from action_cases import CREDIT
from cli.running import pipeline_of, run, said, write_table

PLAIN = "action,good,bad\napprove,0,5\ndecline,1,0\ncall,0.3,0.3\nvisit,0.4,0.2\n"
MARKED = "action,bad,good,rejects\napprove,5,0,\ndecline,0,1,no\ncall,0.3,0.3,yes\nvisit,0.2,0.4,x\n"
FIXED = ("--target", "answer", "--C", 10, "--gamma", 0.5)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("actions") / "table.csv", labels=("good", "bad"))


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    result = run("fit", data, *FIXED, "--actions", written(folder, MARKED), "-o", folder / "model")
    assert result.exit_code == 0, result.output
    return folder / "model"


def written(folder, text):
    path = folder / "actions.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "options"), [(MARKED, ()), (PLAIN, ("--reject-actions", "visit, call"))])
def test_the_file_is_read_by_names(data, tmp_path, text, options):
    arguments = ("fit", data, *FIXED, "--actions", written(tmp_path, text), *options, "-o", tmp_path / "m", "--json")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert pipeline_of(tmp_path / "m")[-1].costs == CREDIT
    facts = json.loads(result.stdout)
    assert facts["actions"] == ["approve", "decline", "call", "visit"]
    assert facts["hand_the_case_on"] == ["call", "visit"]
    assert "positive_class" not in facts


def test_actions_named_like_classes_need_no_marks(data, tmp_path):
    text = "what,good,bad\ngood,0,5\nbad,1,0\nask,0.3,0.3\n"
    assert run("fit", data, *FIXED, "--actions", written(tmp_path, text), "-o", tmp_path / "m").exit_code == 0
    assert pipeline_of(tmp_path / "m")[-1].costs.rejects == ("ask",)


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        (PLAIN, (), 2, "not known which of them hand the case on; add a column 'rejects'"),
        (PLAIN, ("--reject-actions", "call,vist"), 2, "'vist' is not one of the actions approve, decline, call, visit"),
        (MARKED, ("--reject-actions", "call"), 2, "say the same; leave one of them out"),
        (PLAIN, ("--reject", 0.3), 2, "leave out --reject."),
        (PLAIN, ("--false-negative", 3), 2, "leave out --false-negative."),
        (PLAIN, ("--reject-label", "ask"), 2, "leave out --reject-label."),
        (PLAIN, ("--reject-column", "age"), 2, "leave out --reject-column."),
        (MARKED.replace("x\n", "maybe\n"), (), 3, "column 'rejects' of 'visit' is 'maybe'; it must be yes or no"),
        (MARKED.replace("0.2,", "low,"), (), 3, "the cost of 'visit' if 'bad' is true is 'low'; it must be a number"),
        (MARKED.replace("good", "fine"), (), 3, "a column of costs for each class, 'bad', 'good'"),
        (MARKED.replace("visit", "call"), (), 3, "must name each action once, and it has 'call' again"),
        (MARKED.replace("0.3,0.3", "0.9,0.9"), (), 3, "never the cheapest action"),
    ],
)
def test_what_cannot_be_meant_is_refused(data, tmp_path, text, options, code, words):
    result = run("fit", data, *FIXED, "--actions", written(tmp_path, text), *options, "-o", tmp_path / "m")
    assert result.exit_code == code, result.output
    assert words in said(result)


def test_reject_actions_need_actions(data, tmp_path):
    result = run("fit", data, *FIXED, "--reject", 0.3, "--reject-actions", "call", "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "give that too" in said(result)


def test_a_file_lacks_no_class(data, tmp_path):
    lines = data.read_text(encoding="utf-8").splitlines()
    three = tmp_path / "three.csv"
    three.write_text("\n".join([*lines, "1,Ulm,odd", "2,Ulm,odd"]) + "\n", encoding="utf-8")
    result = run("fit", three, *FIXED, "--actions", written(tmp_path, PLAIN), "-o", tmp_path / "m")
    assert result.exit_code == 3
    assert "a column of costs for each class, 'bad', 'good', 'odd'" in said(result)


def test_predict_and_evaluate_agree(data, model, tmp_path):
    out = tmp_path / "out.csv"
    assert run("predict", model, data, "-o", out).exit_code == 0
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    costs = ["cost_approve", "cost_decline", "cost_call", "cost_visit"]
    assert list(rows[0])[3:] == ["label", "rejected", "reason", "score", "probability_bad", "probability_good", *costs]
    for row in rows:
        least = min(costs, key=lambda name, row=row: float(row[name]))
        assert least == f"cost_{row['label']}"
        assert row["rejected"] == str(row["label"] in ("call", "visit")).lower()
    facts = json.loads(run("evaluate", model, data, "--json").stdout)
    counts = Counter((row["answer"], row["label"]) for row in rows)
    table = [[counts[label, name] for name in CREDIT.names] for label in ("bad", "good")]
    assert [record["actions"] for record in facts["table"]] == table
    assert facts["mean_cost"] == pytest.approx(np.sum(np.array(table) * CREDIT.table()) / 80)
    assert facts["reject_rate"] == pytest.approx(np.array(table)[:, 2:].sum() / 80)
    others = {one["name"]: one["mean_cost"] for one in facts["verdict"]["alternatives"]}
    assert others["taking 'decline' for every row"] == pytest.approx(0.5)  # half of the rows are good
    assert len(others) == 5
    shown = run("evaluate", model, data).stdout.splitlines()
    assert shown[0].split() == ["approve", "decline", "call", "visit", "novel"]
    assert shown[1].split() == ["actual", "bad", *map(str, table[0]), "0"]


@pytest.mark.parametrize("machine", ["logistic", "best"])
def test_other_machines_choose_among_actions(data, tmp_path, machine):
    path = written(tmp_path, MARKED)
    arguments = ("--target", "answer", "--actions", path, "--machine", machine, "-o", tmp_path / "m", "--json")
    result = run("fit", data, *arguments)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert 0 < facts["cross_validated_mean_cost"] < facts["verdict"]["its_mean_cost"]
    assert run("predict", tmp_path / "m", data, "-o", tmp_path / "out.csv").exit_code == 0


def test_a_graph_and_a_report_are_written(data, model, tmp_path):
    assert run("export", model, "--onnx", tmp_path / "graph").exit_code == 0
    page = tmp_path / "page.html"
    result = run("evaluate", model, data, "--report", page)
    assert result.exit_code == 0, result.output
    assert "<bdi>approve</bdi></th>" in page.read_text(encoding="utf-8")


def test_compare_takes_actions(data, tmp_path):
    asked = ("--machine", "logistic", "--folds", 2, "--json")
    result = run("compare", data, "--target", "answer", "--actions", written(tmp_path, MARKED), *asked)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["verdict"]["sentence"]
