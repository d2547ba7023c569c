"""Every kind of costs through every command: two classes, several, actions of both, and costs of each row."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from abstain import Actions, Costs
from cli.running import run
from looping import quick

FIXED = ("--target", "kind", "--C", 3, "--gamma", 0.3)
TWO = Costs.from_table({"ant": {"bee": 1}, "bee": {"ant": 4}}, reject=0.4)
ERRORS = {"ant": {"bee": 1, "cow": 2}, "bee": {"ant": 4, "cow": 1}, "cow": {"ant": 2, "bee": 1}}
THREE = Costs.from_table(ERRORS, reject=0.4)
DO_TWO = Actions({"keep": {"ant": 0, "bee": 5}, "drop": {"ant": 1, "bee": 0}, "ask": 0.3}, rejects=["ask"])
EACH = {"keep": {"ant": 0, "bee": 4, "cow": 1}, "drop": {"ant": 2, "bee": 0, "cow": 1}, "ask": 0.4}
DO_THREE = Actions(EACH, rejects=["ask"])
KINDS = {"two": TWO, "three": THREE, "actions of two": DO_TWO, "actions of three": DO_THREE}


def table(costs, *, by_row):
    """A table of overlapping classes; with costs per row, all costs of a row times the size of the row."""
    random, n = np.random.default_rng(0), 120
    at = np.arange(n) % len(costs.labels)
    centre = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])[at]
    rows = pd.DataFrame(centre + 0.7 * random.normal(size=(n, 2)), columns=["x", "z"]).round(3)
    rows["kind"] = np.array(costs.labels)[at]
    if by_row:
        size = random.uniform(0.5, 3.0, n).round(2)
        own = size[:, np.newaxis, np.newaxis] * costs.table()
        for k, label in enumerate(costs.labels):
            for action, name in enumerate(actions_of(costs)):
                if costs.names is not None or name != label:
                    rows[f"cost_{label}:{name}"] = own[:, k, action]
    return rows


def actions_of(costs):
    return costs.names or ["reject" if answer < 0 else costs.labels[answer] for answer in costs.answers]


def options(costs, folder):
    """The options that state these costs."""
    path = folder / "costs.csv"
    names = actions_of(costs)
    if costs.names is not None:
        lines = [["action", *costs.labels, "rejects"]]
        lines += [[name, *costs.table()[:, at], costs.hands_on[at]] for at, name in enumerate(names)]
    else:
        lines = [["actual", *(name if name == "reject" else f"pred_{name}" for name in names)]]
        lines += [[label, *row] for label, row in zip(costs.labels, costs.table(), strict=True)]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n", encoding="utf-8")
    return ("--cost-matrix" if costs.names is None else "--actions", path)


@pytest.fixture(scope="module", params=[*KINDS, *(f"{kind}, by row" for kind in KINDS)])
def fitted(request, tmp_path_factory):
    """The costs, the rows, what states the costs, and the files of the rows and of the model."""
    folder, by_row = tmp_path_factory.mktemp("kind"), request.param.endswith("by row")
    costs = KINDS[request.param.removesuffix(", by row")]
    rows, asked = table(costs, by_row=by_row), options(costs, folder)
    if by_row:
        asked = (*(() if costs.names is None else asked), "--row-costs", "cost_")
    rows.to_csv(folder / "rows.csv", index=False)
    result = run("fit", folder / "rows.csv", *FIXED, *asked, "-o", folder / "model", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["numeric_columns"] == 2  # columns of costs are not features
    return costs, rows, asked, folder / "rows.csv", folder / "model"


def paid(costs, rows, by_row, answers):
    """What these answers cost, cell by cell."""
    names, labels = actions_of(costs), list(costs.labels)
    total = 0.0
    for at, (truth, answer) in enumerate(zip(rows["kind"], answers, strict=True)):
        if by_row:
            total += rows[f"cost_{truth}:{answer}"][at] if f"cost_{truth}:{answer}" in rows else 0.0
        else:
            total += costs.table()[labels.index(truth), names.index(answer)]
    return total / len(rows)


def test_predict_and_evaluate_pay_the_costs_as_stated(fitted, tmp_path):
    costs, rows, asked, data, model = fitted
    by_row, out = "--row-costs" in asked, tmp_path / "out.csv"
    assert run("predict", model, data, "-o", out).exit_code == 0
    with out.open(encoding="utf-8") as file:
        answered = list(csv.DictReader(file))
    columns = [f"cost_{name}" for name in actions_of(costs)]
    assert list(answered[0])[-len(columns) :] == columns
    expected = np.array([[float(row[name]) for name in columns] for row in answered])
    labels = np.array([row["label"] for row in answered])
    if len(costs.labels) == 2 or by_row or costs.names is not None:  # tuned cuts decide otherwise
        np.testing.assert_array_equal(np.array(actions_of(costs))[expected.argmin(axis=1)], labels)
    handed_on = {name for name, hands_on in zip(actions_of(costs), costs.hands_on, strict=True) if hands_on}
    assert [row["rejected"] for row in answered] == [str(label in handed_on).lower() for label in labels]
    assert 0 < np.mean([label in handed_on for label in labels]) < 1
    facts = json.loads(run("evaluate", model, data, "--json").stdout)
    assert facts["mean_cost"] == pytest.approx(paid(costs, rows, by_row, labels))
    assert facts["reject_rate"] == pytest.approx(np.mean([label in handed_on for label in labels]))
    others = {one["name"]: one["mean_cost"] for one in facts["verdict"]["alternatives"]}
    for name in actions_of(costs):
        verb = "deciding" if costs.names is None else "taking"
        found = others["rejecting every row" if name == "reject" else f"{verb} {name!r} for every row"]
        assert found == pytest.approx(paid(costs, rows, by_row, [name] * len(rows)))
        assert facts["mean_cost"] < found
    assert run("evaluate", model, data).exit_code == 0


def test_a_report_and_a_graph_are_written(fitted, tmp_path):
    costs, _, asked, data, model = fitted
    page = tmp_path / "compared.html"
    result = run("compare", data, "--target", "kind", *asked, "--machine", "logistic", "--folds", 2, "-o", page)
    assert result.exit_code == 0, result.output
    result = run("evaluate", model, data, "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    for path in (page, tmp_path / "page.html"):
        text = path.read_text(encoding="utf-8")
        assert all(f"{name}<" in text for name in (*costs.labels, *(costs.names or ())))
    result = run("export", model, "--onnx", tmp_path / "graph")
    if "--row-costs" in asked:
        assert result.exit_code == 3
        assert "a graph has no input for them" in result.stderr
    else:
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("machine", quick(["logistic", "linear"], "logistic"))
def test_other_machines_and_a_comparison_take_them(fitted, tmp_path, machine):
    _, _, asked, data, _ = fitted
    named = ("--target", "kind", *asked, "--json")
    result = run("fit", data, *named, "--machine", machine, "-o", tmp_path / "model")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["cross_validated_mean_cost"] < facts["verdict"]["its_mean_cost"]
    assert run("predict", tmp_path / "model", data, "-o", tmp_path / "out.csv").exit_code == 0
    result = run("compare", data, *named, "--machine", machine, "--folds", 2)
    assert result.exit_code == 0, result.output
    (rule,) = json.loads(result.stdout)["rules"]
    assert 0 < rule["mean_cost"] < facts["verdict"]["its_mean_cost"]
