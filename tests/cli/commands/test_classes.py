"""Tables of more than two classes through the commands: labels, costs by name, and what is for two classes only."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

import abstain
from abstain.cli.input.cost_sources import TWO_ONLY
from abstain.costs.costs import Costs
from class_cases import GENERAL, gaussians
from cli.running import pipeline_of, run, said

NAMES = np.array(["ant", "bee", "cow"])
FIXED = ("--target", "animal", "--C", 1, "--gamma", 0.3)
SEARCHED = ("--target", "animal", "--Cs", "1.0", "--gammas", "0.3")
REJECT = ("--reject", 0.3)
X, CODES = gaussians(120)
Y = NAMES[CODES]


def write(path, labels):
    lines = ["a,b,animal", *(f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(X, labels, strict=False))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("classes") / "three.csv", Y)


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    assert run("fit", data, *FIXED, *REJECT, "-o", path).exit_code == 0
    return path


def matrix(path, *, order=(0, 1, 2), reject=None):
    """GENERAL as a file, its rows and columns in any order."""
    names = [str(NAMES[at]) for at in order]
    lines = [",".join(["actual", *(f"pred_{name}" for name in names), *(["reject"] if reject else [])])]
    for a in order:
        costs = [f"{GENERAL[a, p]:g}" for p in order] + ([str(reject[a])] if reject else [])
        lines.append(",".join([str(NAMES[a]), *costs]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_one_reject_cost_is_enough(data, tmp_path):
    result = run("fit", data, *SEARCHED, *REJECT, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["classes"] == ["ant", "bee", "cow"]
    assert (facts["error_costs"], facts["reject_costs"]) == (1, 0.3)
    assert "positive_class" not in facts
    assert facts["verdict"]["cheapest_alternative"] == "rejecting every row"
    assert facts["verdict"]["its_mean_cost"] == pytest.approx(0.3)
    assert 0 < facts["cross_validated_mean_cost"] < 0.3
    assert pipeline_of(tmp_path / "m")[-1].rule_.costs == Costs.from_matrix(
        1 - np.eye(3), labels=NAMES.tolist(), reject=0.3
    )


def test_a_reject_cost_above_a_half_can_pay_with_three_classes(data, tmp_path):
    arguments = ("fit", data, *FIXED, "-o", tmp_path / "m")
    assert run(*arguments, "--reject", 0.6).exit_code == 0
    result = run(*arguments, "--reject", 0.7, "--force")
    assert result.exit_code == 2
    assert "whatever the probabilities of the 3 classes" in said(result)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("reject", [None, (0.5, 0.6, 0.4)])
def test_a_matrix_is_read_by_names_in_any_order(data, tmp_path, order, reject):
    stated = () if reject else ("--reject", 0.5)
    path = matrix(tmp_path / "cost.csv", order=order, reject=reject)
    assert run("fit", data, *FIXED, "--cost-matrix", path, *stated, "-o", tmp_path / "m").exit_code == 0
    by_name = dict(zip(NAMES.tolist(), reject, strict=True)) if reject else 0.5
    expected = Costs.from_matrix(GENERAL, labels=NAMES.tolist(), reject=by_name)
    assert pipeline_of(tmp_path / "m")[-1].costs == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("actual,ant,bee\nant,0,1\nbee,1,0\n", "line 1 has 3 columns; a cost matrix has 4"),
        ("actual,ant,bee,cat\nant,0,1,1\nbee,1,0,1\ncow,1,1,0\n", "it has none for 'cow', but 'cat'"),
        ("actual,ant,bee,cow\nant,0,1,1\nbee,1,0,1\n", "must name each class once, 'ant', 'bee' and 'cow'"),
        ("actual,ant,bee,cow\nant,0,1,1\nbee,1,2,1\ncow,1,1,0\n", "predicting 'bee' for 'bee' must be 0, not 2"),
    ],
)
def test_what_is_not_a_matrix_of_these_classes_is_refused(data, tmp_path, text, words):
    path = tmp_path / "cost.csv"
    path.write_text(text, encoding="utf-8")
    result = run("fit", data, *FIXED, "--cost-matrix", path, *REJECT, "-o", tmp_path / "m")
    assert result.exit_code == 3
    assert words in said(result)


def test_reject_costs_are_stated_once(data, tmp_path):
    path = matrix(tmp_path / "cost.csv", reject=(0.5, 0.6, 0.4))
    result = run("fit", data, *FIXED, "--cost-matrix", path, *REJECT, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "--reject and the column 'reject' of" in said(result)


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_predict_writes_a_score_and_a_cost_for_each_class(data, model, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", model, data, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["classes"] == NAMES.tolist()
    rows = rows_of(out)
    costs = ["cost_ant", "cost_bee", "cost_cow", "cost_reject"]
    added = [f"{what}_{n}" for what in ("score", "probability") for n in NAMES]
    assert list(rows[0]) == ["a", "b", "animal", "label", "rejected", "reason", *added, *costs]
    import pandas as pd

    found = abstain.decide(abstain.load(model), pd.read_csv(data)[["a", "b"]])
    assert [row["label"] for row in rows] == found.label.tolist()
    assert [row["rejected"] for row in rows] == [str(one).lower() for one in found.rejected]
    written = np.array([[float(cell) for cell in [*row.values()][6:]] for row in rows])
    expected = np.column_stack([found.score, found.probability, found.expected_cost])
    np.testing.assert_allclose(written, expected, rtol=0, atol=1e-12)
    assert json.loads(result.stdout)["rejected"] == sum(row["label"] == "reject" for row in rows) > 0


def test_a_class_named_reject_has_columns_of_its_own(tmp_path):
    data, out = write(tmp_path / "data.csv", np.array(["ant", "reject", "cow"])[CODES]), tmp_path / "out.csv"
    result = run("fit", data, *FIXED, *REJECT, "--reject-label", "ask", "-o", tmp_path / "m")
    assert result.exit_code == 0, result.output
    assert run("predict", tmp_path / "m", data, "-o", out).exit_code == 0
    assert list(rows_of(out)[0])[-4:] == ["cost_ant", "cost_cow", "cost_reject", "cost_ask"]


def test_every_number_of_evaluate_follows_from_the_rows_of_predict(data, model, tmp_path):
    out = tmp_path / "out.csv"
    run("predict", model, data, "-o", out)
    rows = rows_of(out)
    facts = json.loads(run("evaluate", model, data, "--json").stdout)
    counts = Counter((row["animal"], row["label"]) for row in rows)
    for record in facts["table"]:
        actual, total = record["actual"], sum(row["animal"] == record["actual"] for row in rows)
        assert record["decided"] == [counts[actual, name] for name in NAMES]
        assert record["rejected"] == counts[actual, "reject"]
        accepted = sum(record["decided"])
        assert record["coverage"] == pytest.approx(accepted / total)
        assert record["error_among_the_accepted"] == pytest.approx(1 - counts[actual, actual] / accepted)
        answered = sum(counts[other, actual] for other in NAMES)
        assert record["correct_among_its_answers"] == pytest.approx(counts[actual, actual] / answered)
    wrong = sum(row["label"] not in ("reject", row["animal"]) for row in rows)
    rejected = sum(row["label"] == "reject" for row in rows)
    assert facts["error_rate"] == pytest.approx(wrong / 120)
    assert facts["mean_cost"] == pytest.approx((wrong + 0.3 * rejected) / 120)
    others = {one["name"]: one["mean_cost"] for one in facts["verdict"]["alternatives"]}
    assert others["rejecting every row"] == pytest.approx(0.3)
    assert others["deciding 'bee' for every row"] == pytest.approx(np.mean(Y != "bee"))
    assert len(others) == 5
    score = np.array([[float(row[f"score_{name}"]) for name in NAMES] for row in rows])
    forced = np.mean(NAMES[score.argmax(axis=1)] != Y)
    assert others["deciding every row without rejects"] == pytest.approx(forced)
    assert facts["accuracy_by_reject_rate"]["0%"] == pytest.approx(1 - forced)


def test_evaluate_prints_the_table(data, model):
    shown = run("evaluate", model, data).stdout.splitlines()
    assert shown[0].split() == ["decided", "ant", "decided", "bee", "decided", "cow", "rejected", "of", "them", "novel"]
    assert [line.split()[:2] for line in shown[1:4]] == [["actual", name] for name in NAMES]
    assert shown[5].startswith("class  coverage  error among the accepted")


def test_evaluate_without_all_classes_has_no_curves(model, tmp_path):
    data = write(tmp_path / "data.csv", Y[Y != "cow"][:20])
    result = run("evaluate", model, data, "--json", "--target", "animal")
    assert result.exit_code == 0, result.output
    assert "aurc" not in json.loads(result.stdout)


def test_an_unknown_label_is_named(model, tmp_path):
    data = write(tmp_path / "data.csv", ["ant", "bee", "dog"])
    result = run("evaluate", model, data, "--target", "animal")
    assert result.exit_code == 3
    assert "'dog' is not one of the model's classes, 'ant', 'bee' and 'cow'" in said(result)


def test_a_graph_is_exported(model, tmp_path):
    assert run("export", model, "--onnx", tmp_path / "graph").exit_code == 0


OPTIONS = {
    "--pos-label": ("--pos-label", "ant", *REJECT),
    "--false-positive": ("--false-positive", 2, *REJECT),
    "--false-negative": ("--false-negative", 2, *REJECT),
    "two costs of --reject": ("--reject", "0.2/0.3"),
    "--false-positive-column": ("--false-positive-column", "a", *REJECT),
    "--false-negative-column": ("--false-negative-column", "a", *REJECT),
    "--reject-column": ("--reject-column", "a"),
}


@pytest.mark.parametrize("option", sorted({*OPTIONS} & {*TWO_ONLY}))
def test_what_is_for_two_classes_names_the_third_and_the_way_out(data, tmp_path, option):
    result = run("fit", data, "--target", "animal", *OPTIONS[option], "-o", tmp_path / "m")
    assert result.exit_code == 3
    line = said(result)
    assert "is a third class after" in line
    assert f"with {option} there can be only two; {TWO_ONLY[option]}" in line
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("machine", ["logistic", "forest", "boosting", "best"])
def test_other_machines_take_them(data, tmp_path, machine):
    result = run("fit", data, "--target", "animal", *REJECT, "--machine", machine, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.output
    assert 0 < json.loads(result.stdout)["cross_validated_mean_cost"] < 0.5
    judged = json.loads(run("evaluate", tmp_path / "m", data, "--json").stdout)
    assert sum(sum(record["decided"]) + record["rejected"] for record in judged["table"]) == 120


@pytest.mark.parametrize(("share", "most"), [("0.2", 0.2), ("ant=0.1", 0.1)])
def test_a_share_of_rejects_is_kept(data, tmp_path, share, most):
    result = run("fit", data, *FIXED, "--reject-rate", share, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.output
    assert 0 < json.loads(result.stdout)["held_out_reject_rate"] <= most
    assert run("export", tmp_path / "m", "--onnx", tmp_path / "graph").exit_code == 0


def test_compare_takes_them(data, tmp_path):
    page = tmp_path / "page.html"
    asked = ("--machine", "logistic", "--folds", 2, "-o", page, "--json")
    result = run("compare", data, "--target", "animal", *REJECT, *asked)
    assert result.exit_code == 0, result.output
    assert [row["rule"] for row in json.loads(result.stdout)["rules"]] == ["logistic, Chow"]
    assert "cow" in page.read_text(encoding="utf-8")


def test_a_report_has_a_column_for_each_class_and_for_rejects(data, model, tmp_path):
    page = tmp_path / "page.html"
    assert run("evaluate", model, data, "--report", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    for name in (*NAMES, "reject"):
        assert f"<bdi>{name}</bdi></th>" in text


def test_quantities_and_names_are_not_classes(data, tmp_path):
    result = run("fit", data, "--target", "a", *REJECT, "-o", tmp_path / "m")
    assert result.exit_code == 3
    assert "column 'a' has 120 different labels in 120 rows" in said(result)
    assert "if they are quantities, put them into ranges first" in said(result)
    named = write(tmp_path / "named.csv", [f"row {at}" for at in range(120)])
    assert "if they name the rows, pass another --target" in said(
        run("fit", named, "--target", "animal", *REJECT, "-o", tmp_path / "m")
    )


def test_many_numbers_are_classes_with_a_warning(tmp_path):
    data = write(tmp_path / "data.csv", np.arange(120) % 24)
    result = run("fit", data, *FIXED, *REJECT, "-o", tmp_path / "m")
    assert result.exit_code == 0
    assert "column 'animal' has 24 different numbers, each taken as a class" in result.stderr
    assert abstain.load(tmp_path / "m").classes_.shape == (24,)


def test_a_rare_class_is_named_with_its_rows(tmp_path):
    data = write(tmp_path / "data.csv", [*Y[:100], "dog", "dog", "dog"])
    result = run("fit", data, "--target", "animal", *REJECT, "-o", tmp_path / "m")
    assert result.exit_code == 3
    assert "has 3 rows of class 'dog', fewer than the 5 folds that choose C and gamma" in said(result)
    assert "merge it with another class" in said(result)
    assert run("fit", data, *FIXED, *REJECT, "-o", tmp_path / "m").exit_code == 0  # without a search it can be trained
    five = write(tmp_path / "five.csv", [*Y[:100], *["dog"] * 5])
    assert run("fit", five, *SEARCHED, *REJECT, "-o", tmp_path / "m2").exit_code == 0


def test_a_label_that_looks_missing_is_a_class_with_a_warning(tmp_path):
    data = write(tmp_path / "data.csv", np.where(CODES == 2, "NA", Y))
    arguments = ("fit", data, *FIXED, *REJECT, "-o", tmp_path / "m", "--force")
    result = run(*arguments)
    assert result.exit_code == 0
    assert "which is taken as a class; if it means that the label is missing, pass --missing-value 'NA'" in said(result)
    assert run(*arguments, "--missing-value", "NA", "--drop-unlabelled").exit_code == 0
    assert abstain.load(tmp_path / "m").classes_.tolist() == ["ant", "bee"]


def test_a_copy_of_the_label_is_suspected_and_a_flag_of_one_class_is_not(tmp_path):
    cells = zip(X[:, 0], CODES, strict=True)
    lines = ["code,flag,x,animal", *(f"{code},{int(code == 0)},{x},{NAMES[code]}" for x, code in cells)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("fit", data, *FIXED, *REJECT, "-o", tmp_path / "m")
    assert "column 'code' agrees with the label in every row" in result.stderr
    assert "column 'flag' agrees" not in result.stderr
