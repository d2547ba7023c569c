"""`abstain evaluate`: every number follows from the rows that `abstain predict` writes."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from abstain import Costs, Thresholds
from abstain.cli.input.deciding import Judged
from abstain.cli.input.models import FittedModel
from abstain.cli.output.printing import evaluation_facts
from abstain.comparison.intervals import interval_of_mean
from abstain.metrics import cost_curve
from abstain.preprocessing import CellPlan
from cli.running import FIT, run, said, write_table


@pytest.fixture(scope="module")
def judged(table, model):
    return json.loads(run("evaluate", model, table, "--json").stdout)


@pytest.fixture(scope="module")
def rows(table, model):
    return list(csv.DictReader(io.StringIO(run("predict", model, table).stdout)))


def test_the_table_counts_the_answers(judged, rows):
    counted = {
        side: {
            name: sum(row["answer"] == truth and row["label"] == label for row in rows)
            for name, label in (("called_negative", "no"), ("rejected", "reject"), ("called_positive", "yes"))
        }
        | {"novel": sum(row["answer"] == truth and row["reason"] == "novel" for row in rows)}
        for side, truth in (("negative", "no"), ("positive", "yes"))
    }
    assert judged["table"] == counted
    assert judged["rows"] == len(rows)
    assert judged["classes"] == {"negative": "no", "positive": "yes"}


def test_the_costs_are_priced_by_hand(judged, rows):
    prices = {("no", "yes"): 1.0, ("yes", "no"): 5.0, ("no", "reject"): 0.3, ("yes", "reject"): 0.3}
    paid = [prices.get((row["answer"], row["label"]), 0.0) for row in rows]
    assert judged["mean_cost"] == pytest.approx(np.mean(paid))
    cut = np.log(1 / 5)  # without rejecting, "yes" is cheaper above log(c_fp / c_fn)
    forced = [prices.get((row["answer"], "yes" if float(row["score"]) > cut else "no"), 0.0) for row in rows]
    assert judged["mean_cost_without_rejecting"] == pytest.approx(np.mean(forced))
    assert judged["mean_cost_of_rejecting_all"] == pytest.approx(0.3)
    assert judged["least_mean_cost_of_any_two_thresholds"] <= min(np.mean(forced), 0.3) + 1e-12


def test_the_least_cost_is_that_of_the_best_two_thresholds(judged, rows):
    score = np.array([float(row["score"]) for row in rows])
    yes, ends = np.array([row["answer"] == "yes" for row in rows]), [-np.inf, *np.unique(score), np.inf]
    costs = [
        np.mean(np.where(score > upper, 1.0 * ~yes, np.where(score <= lower, 5.0 * yes, 0.3)))
        for at, lower in enumerate(ends)
        for upper in ends[at:]
    ]
    assert judged["least_mean_cost_of_any_two_thresholds"] == pytest.approx(min(costs))


def test_the_verdict_is_that_of_the_rows(judged, rows):
    """Against the cheapest of four alternatives, with the interval of the paired costs (Bonferroni)."""
    yes = np.array([row["answer"] == "yes" for row in rows])
    score, label = np.array([float(row["score"]) for row in rows]), np.array([row["label"] for row in rows])
    paid = np.where(label == "reject", 0.3, np.where(label == "yes", 1.0 * ~yes, 5.0 * yes))
    others = {
        "deciding every row without rejects": np.where(score > np.log(1 / 5), 1.0 * ~yes, 5.0 * yes),
        "rejecting every row": np.full(len(rows), 0.3),
        "deciding 'no' for every row": 5.0 * yes,
        "deciding 'yes' for every row": 1.0 * ~yes,
    }
    name = min(others, key=lambda name: others[name].mean())
    verdict = judged["verdict"]
    assert verdict["cheapest_alternative"] == name
    shown = {one["name"]: one["mean_cost"] for one in verdict["alternatives"]}
    assert shown == pytest.approx({name: paid.mean() for name, paid in others.items()})
    bounds = (-5.0, 5.0) if "without" in name else (others[name].min() - 5, others[name].max())
    low, high = interval_of_mean(others[name] - paid, bounds, 1 - 0.05 / 4)
    assert (verdict["from"], verdict["to"]) == pytest.approx((low, high))
    assert verdict["worth_using"] == (True if low > 0 else None)
    assert judged["warnings"] == []


def test_a_machine_that_decides_nothing_is_warned_about(tmp_path, table, model):
    rng, worthless = np.random.default_rng(0), tmp_path / "worthless"
    data = tmp_path / "noise.csv"
    answers = np.where(rng.random(90) < 0.4, "yes", "no")
    lines = [f"{x:.3f},{answer}" for x, answer in zip(rng.normal(size=90), answers, strict=True)]
    data.write_text("x,answer\n" + "\n".join(lines) + "\n", encoding="utf-8")
    trained = run("fit", data, "--target", "answer", "--reject", 0.05, "--C", 1, "--gamma", 1, "-o", worthless)
    assert "warning: The machine rejects 100.0 % of the training rows" in trained.stderr
    assert "too few to reject rows unlike them, which needs 198" in trained.stderr
    result = run("evaluate", worthless, data)
    first, second = result.stderr.splitlines()
    assert "warning: The machine rejects 100.0 % of the rows: it decides hardly anything." in first
    assert "warning: The machine costs 0.05 per row, not less than rejecting every row (0.05)" in second
    last, drift = (" ".join(text.split()) for text in result.stdout.split("\n\n")[-2:])
    assert last.startswith("The machine is not worth using: it rejects 100.0 % of the rows and costs 0.05 per row, ex")
    assert last.endswith("only if the model was neither trained nor chosen on these.")
    assert drift.startswith("This batch is like the training rows")
    assert run("evaluate", model, table).stderr == ""  # control


def with_any_thresholds(seed):
    """Rows decided by any scores and any two thresholds, either class positive, and the least cost of their curve."""
    rng = np.random.default_rng(seed)
    costs = Costs(*rng.uniform(0.5, 5, 2), reject=tuple(rng.uniform(0.05, 0.24, 2)))
    yes = rng.random(50) < 0.4
    score = np.round(rng.normal(size=50) + 2 * yes, 1)
    lower, upper = np.sort(rng.choice(score, 2))
    cut = float(np.mean([lower, upper]) + rng.choice([0, 1]) * rng.normal())
    rule = SimpleNamespace(costs=costs, thresholds=Thresholds(lower, upper), cut=cut, decider=None)
    positive = rng.choice(["no", "yes"])
    classes = SimpleNamespace(classes_=["no", "yes"])
    own = FittedModel(classes, SimpleNamespace(rule_=rule), str(positive), [], [], CellPlan(), {}, [])
    label = np.array(["no", "reject", "yes"])[rule.thresholds.decide(score) + 1]
    rule.labels = SimpleNamespace(positive=positive, reject_label="reject", rejects=True)
    novel = rng.random(50) < 0.1 * (seed % 2)
    given = np.where(novel, "reject", label)
    forced = np.where(score > cut, "yes", "no")
    reason = np.where(novel, "novel", "")
    decided = SimpleNamespace(label=given, score=score, forced=forced, reason=reason)
    judged = Judged(own, Path(), [], np.where(yes, "yes", "no"), decided)
    turned, cut = own.towards_positive(score, rule.cut)
    curve = cost_curve(judged.y_true, turned, costs, cut=cut, pos_label=positive)
    return evaluation_facts(judged), curve.operating_point.mean_cost


def test_no_model_costs_less_than_the_least_of_two_thresholds():
    below_the_curve = 0
    for seed in range(60):
        facts, on_the_curve = with_any_thresholds(seed)
        least = facts["least mean cost of any two thresholds"]
        assert least <= facts["mean cost"] + 1e-12
        assert least <= on_the_curve + 1e-12 or seed % 2  # novel rows stay rejected
        below_the_curve += facts["mean cost"] < on_the_curve - 1e-12
    assert below_the_curve > 0  # control: the least point of the curve does not bound it


@pytest.mark.parametrize("costs", [("--false-negative", 20, "--reject", 0.4), ("--reject", "0.05/0.6")])
def test_the_least_cost_is_at_most_that_of_the_model(tmp_path, table, costs):
    labels = ("--target", "answer", "--pos-label", "yes", "--C", 10, "--gamma", 0.5)
    assert run("fit", table, *labels, *costs, "-o", tmp_path / "model").exit_code == 0
    new = write_table(tmp_path / "new.csv", seed=3)
    judged = json.loads(run("evaluate", tmp_path / "model", new, "--json").stdout)
    assert judged["least_mean_cost_of_any_two_thresholds"] <= judged["mean_cost"] + 1e-12


def test_key_points_of_the_accuracy_reject_curve(judged, rows):
    cut = np.log(1 / 5)
    right = np.array([(row["answer"] == "yes") == (float(row["score"]) > cut) for row in rows])
    expected = [min(float(row["cost_no"]), float(row["cost_yes"])) for row in rows]
    confident = np.argsort(expected, kind="stable")
    assert list(judged["accuracy_by_reject_rate"]) == ["0%", "5%", "10%", "20%", "30%"]
    for share, accuracy in judged["accuracy_by_reject_rate"].items():
        kept = len(rows) - round(float(share.rstrip("%")) / 100 * len(rows))  # 80 rows: whole numbers
        assert accuracy == pytest.approx(right[confident[:kept]].mean(), abs=0.02)  # ties are averaged there
    errors = np.cumsum(~right[confident])
    assert judged["aurc"] == pytest.approx(np.mean(errors / np.arange(1, len(rows) + 1)), abs=5e-3)


def test_the_page_shows_the_same_numbers(table, model, judged):
    printed = run("evaluate", model, table).stdout
    lines = [line.split() for line in printed.splitlines() if line]
    assert lines[0] == ["decided", "no", "rejected", "of", "them", "novel", "decided", "yes"]
    order = ("called_negative", "rejected", "novel", "called_positive")
    assert lines[1] == ["actual", "no", *(str(judged["table"]["negative"][name]) for name in order)]
    assert lines[2] == ["actual", "yes", *(str(judged["table"]["positive"][name]) for name in order)]
    assert f"mean cost {judged['mean_cost']:.4g}".split() in lines
    assert f"sensitivity (of yes) {judged['sensitivity']:.4g}".split() in lines


def test_the_other_class_as_positive_turns_the_table_round(tmp_path, table):
    path = tmp_path / "model"
    assert run("fit", table, *FIT, "-o", path, "--pos-label", "no").exit_code == 0
    judged = json.loads(run("evaluate", path, table, "--json").stdout)
    assert judged["classes"] == {"negative": "yes", "positive": "no"}
    counts = judged["table"]
    paid = 5 * counts["positive"]["called_negative"] + counts["negative"]["called_positive"]
    paid += 0.3 * (counts["positive"]["rejected"] + counts["negative"]["rejected"])
    assert judged["mean_cost"] == pytest.approx(paid / judged["rows"])
    forced = judged["accuracy_by_reject_rate"]["0%"]
    assert forced > 0.6, "the score is read the wrong way round"


def test_the_target_is_found_or_asked_for(tmp_path, table, model):
    text = table.read_text(encoding="utf-8").splitlines()
    two = tmp_path / "two.csv"
    two.write_text("\n".join([f"{text[0]},again", *(f"{line},yes" for line in text[1:])]) + "\n", encoding="utf-8")
    result = run("evaluate", model, two)
    assert result.exit_code == 3
    assert "columns 'answer', 'again' could all be the labels; specify the column" in said(result)
    assert run("evaluate", model, two, "--target", "answer", "--json").stdout == (
        run("evaluate", model, table, "--json").stdout
    )
    none = tmp_path / "none.csv"
    none.write_text("age,city,other\n30,Ulm,maybe\n", encoding="utf-8")
    result = run("evaluate", model, none)
    assert result.exit_code == 3
    assert "none of the columns 'other' contains only the model's classes" in said(result)
    assert "add the labels to the table" in said(result)
    assert "'abstain predict' needs none" in said(result)
    none.write_text("age,city,id,answer,flag\n30,Ulm,7,Yes,on\n", encoding="utf-8")  # the same class in another case
    assert "the model's classes, 'no' and 'yes'; column 'answer' contains 'Yes'; write" in said(
        run("evaluate", model, none)
    )
    none.write_text("age,city,other\n30,Ulm,maybe\n", encoding="utf-8")
    result = run("evaluate", model, none, "--target", "other")
    assert "line 2, column 'other': 'maybe' is not one of the model's classes, 'no' and 'yes'" in said(result)


def test_rows_of_one_class_have_a_table_and_no_curves(tmp_path, model):
    path = tmp_path / "one.csv"
    path.write_text("age,city,answer\n30,Ulm,no\n31,Bonn,no\n", encoding="utf-8")
    result = run("evaluate", model, path, "--json")
    assert result.exit_code == 0
    judged = json.loads(result.stdout)
    assert sum(judged["table"]["negative"].values()) == 2
    assert "aurc" not in judged


def test_the_report_is_one_page_with_the_file_in_it(tmp_path, table, model):
    path = tmp_path / "report.html"
    printed = run("evaluate", model, table, "--report", path).stdout
    assert printed.splitlines()[-1] == f"{path} written: the report on 80 rows"
    as_json = run("evaluate", model, table, "--report", path, "--json", "--force").stdout
    assert json.loads(as_json)["report"] == str(path)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "table.csv" in page
    result = run("evaluate", model, table, "--report", path)
    assert result.exit_code == 2
    assert "exists; pass --force" in said(result)


def test_a_report_of_hostile_labels_runs_nothing(tmp_path):
    labels = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>")
    data, path, report = tmp_path / "<b>data.csv", tmp_path / "model", tmp_path / "report.html"
    write_table(data, labels=labels)
    assert run("fit", data, *FIT, "--pos-label", labels[1], "-o", path).exit_code == 0
    assert run("evaluate", path, data, "--report", report).exit_code == 0
    page = report.read_text(encoding="utf-8")
    assert not [text for text in (*labels, "<b>data") if text in page]


def test_rows_are_named_by_a_column(table, model, tmp_path):
    """Rejected rows are listed by patient instead of by line; a row without a name keeps its line."""
    header, *lines = table.read_text(encoding="utf-8").splitlines()
    named, page = tmp_path / "named.csv", tmp_path / "page.html"
    names = ["" if at == 3 else f"patient {at}" for at in range(len(lines))]
    rows = [f"{line},{name}" for line, name in zip(lines, names, strict=True)]
    named.write_text("\n".join([f"{header},who", *rows]) + "\n", encoding="utf-8")
    assert run("evaluate", model, named, "--report", page, "--id", "who").exit_code == 0
    shown = page.read_text(encoding="utf-8")
    assert "patient " in shown
    assert "line 7" not in shown
    assert ">who<" in shown
    assert run("evaluate", model, named, "--report", page, "--force").exit_code == 0
    assert "patient " not in page.read_text(encoding="utf-8")  # the control
    refused = run("evaluate", model, named, "--id", "nobody")
    assert refused.exit_code == 3
    assert "--id" in said(refused)
