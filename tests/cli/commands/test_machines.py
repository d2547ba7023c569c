"""`--machine`: other classifiers through all commands, and an honest choice among them."""

import json

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from abstain.estimators.threshold.threshold import ThresholdRejector
from cli.running import pipeline_of, run, said, write_table

COSTS = ("--target", "answer", "--pos-label", "yes", "--false-negative", 5, "--reject", 0.3)
KINDS = {"logistic": LogisticRegression, "forest": RandomForestClassifier, "boosting": HistGradientBoostingClassifier}


def fitted(tmp_path, data, *options):
    path = tmp_path / "model"
    result = run("fit", data, *COSTS, *options, "-o", path, "--json", "--force")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), path


@pytest.mark.parametrize("name", KINDS)
def test_a_machine_goes_through_all_commands(tmp_path, table, name):
    facts, path = fitted(tmp_path, table, "--machine", name, "--reject-label", "ask")
    assert (facts["machine"], facts["positive_class"]) == (name, "yes")
    assert 0 < facts["cross_validated_mean_cost"] < 0.3
    assert not {"support_vectors", "duality_gap", "status"} & {*facts}
    model = pipeline_of(path)[-1]
    assert type(model) is ThresholdRejector
    inner = model.estimator.estimator if name == "forest" else model.estimator
    assert isinstance(model.estimator, CalibratedClassifierCV) == (name == "forest")
    assert type(inner) is KINDS[name]
    key = {"logistic": "C", "forest": "min_samples_leaf", "boosting": "max_iter"}[name]
    assert getattr(inner, key) == facts[key]
    predicted = run("predict", path, table, "-o", tmp_path / "out.csv", "--json")
    assert json.loads(predicted.stdout)["rows"] == 80
    answers = [line.split(",")[3] for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert {*answers} <= {"no", "yes", "ask"}
    assert answers.count("ask") == json.loads(predicted.stdout)["rejected"] > 0
    judged = run("evaluate", path, table, "--json", "--report", tmp_path / "page.html")
    assert judged.exit_code == 0, judged.output
    assert json.loads(judged.stdout)["mean_cost"] < 0.3
    assert name in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_best_is_chosen_and_its_cost_is_not_the_least(tmp_path, table):
    facts, path = fitted(tmp_path, table, "--machine", "best")
    costs = facts["least_cross_validated_mean_cost_of_each_machine"]
    assert list(costs) == ["svm", "laplacian", "logistic", "forest", "boosting"]
    assert costs[facts["machine"]] == min(costs.values())
    assert facts["cross_validated_mean_cost"] >= min(costs.values())
    assert "the least of all parameters tried" in facts["how_to_read_them"]
    for name, cost in costs.items():
        if name != "svm":
            alone, _ = fitted(tmp_path, table, "--machine", name)
            assert alone["cross_validated_mean_cost"] >= cost  # on the same folds, each by the others' choice
    shown = run("fit", table, *COSTS, "--machine", "best", "-o", path, "--force").stdout
    assert f"svm {costs['svm']:.4g}, laplacian {costs['laplacian']:.4g}, logistic" in shown


def test_the_default_tries_few_machines_and_says_what_they_cost(tmp_path, table):
    facts, path = fitted(tmp_path, table)
    costs = facts["least_cross_validated_mean_cost_of_each_machine"]
    assert list(costs) == ["svm", "laplacian", "average"]
    assert facts["machine"] == "average of svm and laplacian"
    assert 0.0 < facts["held_out_reject_rate"] < 1.0
    assert facts["svm"]["gamma"] > 0.0
    alone = {name: fitted(tmp_path, table, "--machine", name)[0] for name in ("svm", "laplacian")}
    for name, own in alone.items():
        assert own["cross_validated_mean_cost"] >= costs[name] - 1e-12
    shown = run("fit", table, *COSTS, "-o", path, "--force").stdout
    assert f"svm {costs['svm']:.4g}, laplacian {costs['laplacian']:.4g}, average {costs['average']:.4g}" in shown
    both = fitted(tmp_path, table, "--Cs", "0.5", "--gamma", 0.25)[0]  # options of the svm alone
    assert both["machine"] == "svm"
    assert both["gamma"] == 0.25
    assert "least_cross_validated_mean_cost_of_each_machine" not in both


def test_seeds_change_the_folds(tmp_path, table):
    one, other = (fitted(tmp_path, table, "--machine", "logistic", "--seed", seed)[0] for seed in (0, 5))
    assert one["cross_validated_mean_cost"] != other["cross_validated_mean_cost"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--machine", "tree"), "one of svm, laplacian, logistic, forest, boosting, linear, nothing, or auto or best"),
        (("--machine", "forest", "--C", 2), "--C does not apply to --machine forest; leave it out"),
        (("--machine", "best", "--gamma", 2), "--gamma does not apply to --machine best; leave it out"),
        (("--machine", "forest", "--Cs", 2), "--Cs does not apply to --machine forest; leave it out"),
        (("--machine", "boosting", "--gammas", "1,2"), "--gammas does not apply to --machine boosting"),
        (("--machine", "logistic", "--search", "full"), "--search does not apply to --machine logistic"),
    ],
)
def test_options_that_do_not_fit_together(tmp_path, table, options, words):
    result = run("fit", table, *COSTS, *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert words in said(result)


def test_a_forest_too_large_for_the_memory_is_refused(tmp_path):
    data = write_table(tmp_path / "data.csv", rows=2000)
    options = (*COSTS, "--max-memory", 22, "-o", tmp_path / "model")
    result = run("fit", data, *options, "--machine", "forest")
    assert result.exit_code == 2
    assert "a forest of 2000 rows takes about 19 MB more" in said(result)
    assert run("fit", data, *options, "--machine", "logistic").exit_code == 0  # control


def test_time_that_runs_out_gives_a_model_and_code_4(tmp_path, table):
    arguments = ("fit", table, *COSTS, "--machine", "logistic", "--json", "--force", "-o", tmp_path / "model")
    (few,) = json.loads(run(*arguments).stdout)["warnings"]  # control
    assert "too few to reject rows unlike them" in few
    result = run(*arguments, "--time-limit", 0.001)
    assert result.exit_code == 4
    late, none, _ = result.stderr.splitlines()
    assert "candidates of 'logistic' count as not tried" in late
    assert "so 'logistic' is fitted with its first parameters, {'C': 0.1}" in none
    told = [f"abstain: warning: {text}" for text in json.loads(result.stdout)["warnings"] if text != few]
    assert told == [late, none]
    assert pipeline_of(tmp_path / "model")[-1].estimator.C == 0.1


def test_a_class_with_one_row_is_too_few(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,answer\n1,no\n2,no\n3,no\n4,yes\n", encoding="utf-8")
    result = run("fit", data, *COSTS, "--machine", "best", "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "column 'answer' has a class with only one row" in said(result)


def test_groups_are_kept_in_one_fold(tmp_path, monkeypatch):
    from sklearn.model_selection import StratifiedKFold

    monkeypatch.setattr(StratifiedKFold, "split", lambda *_: pytest.fail("folds that split groups"))
    lines = write_table(tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{group}" for line, group in zip(lines, ["patient", *(np.arange(80) // 2)], strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    fitted(tmp_path, tmp_path / "data.csv", "--machine", "best", "--groups", "patient")


class TestCompare:
    def test_the_machines_asked_for_take_part(self, tmp_path, table):
        page = tmp_path / "page.html"
        result = run("compare", table, *COSTS, "--folds", 2, "--machine", "forest, logistic", "--json", "-o", page)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert {rule["rule"] for rule in found["rules"]} == {"logistic, Chow", "forest, Chow"}
        assert found["left_out"] == []
        assert "Rule: logistic, Chow." in page.read_text(encoding="utf-8")

    def test_best_is_one_more_model(self, table):
        result = run("compare", table, *COSTS, "--folds", 2, "--machine", "boosting,best", "--json")
        assert {rule["rule"] for rule in json.loads(result.stdout)["rules"]} == {"boosting, Chow", "best machine"}

    def test_what_fit_would_write_takes_part(self, table):
        result = run("compare", table, *COSTS, "--folds", 2, "--machine", "auto,laplacian", "--json")
        assert result.exit_code == 0, result.output
        assert {rule["rule"] for rule in json.loads(result.stdout)["rules"]} == {"auto", "double hinge, laplacian"}

    def test_an_unknown_machine_is_named(self, table):
        result = run("compare", table, *COSTS, "--machine", "svm,tree")
        assert result.exit_code == 2
        known = "svm, laplacian, logistic, forest, boosting, linear, best, auto"
        assert f"'svm,tree': 'tree' must be one of {known}" in said(result)

    def test_few_rows_are_enough_for_machines_and_an_error_in_words_for_the_rules_of_the_papers(self, tmp_path):
        data = write_table(tmp_path / "data.csv", rows=12)
        few = ("compare", data, *COSTS, "--folds", 2, "--machine")
        result = run(*few, "svm")
        assert result.exit_code == 2
        assert "the 6 rows of the rarer class are too few to split again inside --folds 2" in result.stderr
        result = run(*few, "logistic,forest,boosting")
        assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("name", ["auto", "svm", "logistic"])
def test_it_is_said_that_doing_nothing_costs_less(tmp_path, table, name):
    rng, path = np.random.default_rng(0), tmp_path / "noise.csv"
    path.write_text("\n".join(["x,answer", *(f"{x:.5f},{'yn'[at % 2]}" for at, x in enumerate(rng.normal(size=80)))]))
    options = ("--target", "answer", "--reject", 0.1, "--machine", name, "-o", tmp_path / "model", "--force")
    result = run("fit", path, *options, "--json")
    facts = json.loads(result.stdout)
    assert facts["cross_validated_mean_cost"] >= 0.1
    assert facts["doing_nothing"] == {"action": "rejecting every row", "mean_cost": pytest.approx(0.1)}
    assert "If rejecting every row is acceptable, no model is needed: --machine nothing reads" in str(facts)
    shown = run("fit", path, *options)
    assert "rejecting every row" in shown.stdout
    nothing = run("fit", path, *options, "--machine", "nothing", "--json")  # what is offered can be used
    assert json.loads(nothing.stdout)["machine"] == "nothing"
    assert json.loads(nothing.stdout)["warnings"] == []
    judged = json.loads(run("evaluate", tmp_path / "model", path, "--json").stdout)
    assert judged["mean_cost"] == pytest.approx(0.1)
    good, _ = fitted(tmp_path, table, "--machine", name)
    assert "doing_nothing" not in good  # control
