"""The guard of `abstain fit`, and what the other commands do with the rows that it rejects."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import abstain
from abstain.cli.exit_codes import UsageError
from abstain.cli.training.guarding import guard_plan, stated_rate
from abstain.estimators.novelty import novelty
from abstain.estimators.svm import svc_cv
from cli.running import heard, pipeline_of, run, said, write_table

COSTS = ("--target", "answer", "--reject", 0.2)
FIXED = (*COSTS, "--C", 1, "--gamma", 0.3)


def rows(n=300, seed=0):
    """Three numbers and a category; the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(10.0, 1.0, size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(0, 0.7, n) > 10, "yes", "no")
    city = rng.choice(["Ulm", "Bonn", "Trier"], n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "city": city, "answer": y})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Rows to train on, new ones, the same times ten, and with -999 in each tenth row."""
    folder = tmp_path_factory.mktemp("novelty")
    new = rows(seed=1)
    holed = new.copy()
    holed.loc[::10, "b"] = -999.0
    tables = {"old": rows(), "new": new, "holed": holed}
    tables["times_ten"] = new.assign(**{name: 10 * new[name] for name in ("a", "b", "c")})
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(files):
    assert run("fit", files / "old.csv", *FIXED, "-o", files / "model").exit_code == 0
    return files / "model"


def answers(model, data):
    return list(csv.DictReader(io.StringIO(run("predict", model, data).stdout)))


def reasons(model, data):
    found = [row["reason"] for row in answers(model, data)]
    return {reason: found.count(reason) for reason in ("decided", "ambiguous", "novel")}


def test_rows_in_another_unit_are_refused(files, model):
    assert reasons(model, files / "times_ten.csv")["novel"] == 300
    few = reasons(model, files / "new.csv")  # control: at most 1 % on average, and its luck
    assert few["novel"] < 12
    assert few["decided"] > 50
    for row in answers(model, files / "times_ten.csv"):
        assert (row["label"], row["rejected"], row["cost_reject"]) == ("reject", "true", "NaN")
        assert row["probability_yes"] == "NaN"
        assert 0 < float(row["p_value"]) <= 0.01


def test_a_number_that_stands_for_missing_is_refused_where_it_is(files, model):
    found = [row["reason"] for row in answers(model, files / "holed.csv")]
    assert found[::10] == ["novel"] * 30
    assert sum(reason == "novel" for reason in found) < 30 + 12


def test_without_the_guard_nothing_is_novel(files, tmp_path):
    result = run("fit", files / "old.csv", *FIXED, "--no-novelty", "-o", tmp_path / "m", "--json")
    facts = json.loads(result.stdout)
    assert (facts["largest_share_rejected_as_novel"], facts["rows_that_calibrated_it"]) == (None, None)
    assert not hasattr(abstain.load(tmp_path / "m"), "guard_")
    found = reasons(tmp_path / "m", files / "holed.csv")
    assert found["novel"] == 0
    assert found["decided"] > 0
    assert found["ambiguous"] > 0
    printed = run("evaluate", tmp_path / "m", files / "new.csv").stdout
    assert "of them novel" not in printed
    assert "This batch" not in printed
    assert json.loads(run("evaluate", tmp_path / "m", files / "new.csv", "--json").stdout)["drift"] is None


def test_the_machine_is_fitted_on_all_rows_as_without_a_guard(files, model, tmp_path):
    assert run("fit", files / "old.csv", *FIXED, "--no-novelty", "-o", tmp_path / "m").exit_code == 0
    one, other = pipeline_of(model)[-1], pipeline_of(tmp_path / "m")[-1]
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


def test_fit_says_what_the_guard_promises(files, tmp_path):
    facts = json.loads(run("fit", files / "old.csv", *FIXED, "-o", tmp_path / "m", "--json").stdout)
    assert (facts["largest_share_rejected_as_novel"], facts["rows_that_calibrated_it"]) == (0.01, 199)
    words = "Of new rows like these, at most 1 % are rejected as novel, the default share."
    assert facts["verdict"]["sentence"].endswith(words)
    assert facts["warnings"] == []


def test_a_stated_share_is_kept(files, tmp_path):
    asked = ("--novelty", 0.1, "-o", tmp_path / "m", "--json")
    facts = json.loads(run("fit", files / "old.csv", *FIXED, *asked).stdout)
    assert (facts["largest_share_rejected_as_novel"], facts["rows_that_calibrated_it"]) == (0.1, 59)
    assert 5 < reasons(tmp_path / "m", files / "new.csv")["novel"] < 70


def test_too_few_rows_are_a_warning_by_default_and_an_error_where_the_share_was_stated(tmp_path):
    data = write_table(tmp_path / "data.csv", rows=197)
    result = run("fit", data, *FIXED, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.output
    (warning,) = json.loads(result.stdout)["warnings"]
    assert "data.csv has 197 rows, too few to reject rows unlike them, which needs 198" in warning
    assert result.stderr == f"abstain: warning: {warning}\n"
    assert warning.endswith("as in --novelty 0.02.")
    refused = run("fit", data, *FIXED, "--novelty", 0.01, "-o", tmp_path / "other")
    assert refused.exit_code == 2
    assert "--novelty 0.01 needs 198 rows, half of them to calibrate it, and" in said(refused)
    assert not (tmp_path / "other").exists()
    more = write_table(tmp_path / "more.csv", rows=198)
    for table, share in ((data, 0.02), (more, 0.01)):  # control: what the messages advise
        advised = run("fit", table, *FIXED, "--novelty", share, "-o", tmp_path / f"{share}")
        assert (advised.exit_code, advised.stderr) == (0, "")


@pytest.mark.parametrize("share", ["0", "1", "-0.1", "nan"])
def test_a_share_is_above_0_and_below_1(files, tmp_path, share):
    result = run("fit", files / "old.csv", *FIXED, "--novelty", share, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "must be a share above 0 and below 1, as in 0.01" in said(result)


def test_the_two_options_exclude_each_other():
    with pytest.raises(UsageError, match="exclude each other"):
        stated_rate(0.01, True)
    assert stated_rate(None, False) is novelty.DEFAULT_RATE
    assert guard_plan(stated_rate(None, True), None, None, 0) is None


ACTIONS = "action,no,yes\nstay,0,4\ngo,1,0\n"


def test_actions_without_one_that_hands_on_have_no_guard(files, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(ACTIONS, encoding="utf-8")
    asked = ("--target", "answer", "--actions", path, "--C", 1, "--gamma", 1, "-o", tmp_path / "m", "--force")
    result = run("fit", files / "old.csv", *asked, "--reject-actions", "")
    assert result.exit_code == 0, result.output
    assert "note: rows unlike the training rows will not be rejected: none of the actions hands a case" in said(result)
    refused = run("fit", files / "old.csv", *asked, "--reject-actions", "", "--novelty", 0.01)
    assert refused.exit_code == 2
    assert "--novelty 0.01: none of the actions hands a case on" in said(refused)
    path.write_text(ACTIONS + "ask,0.3,0.3\n", encoding="utf-8")  # control
    assert run("fit", files / "old.csv", *asked, "--reject-actions", "ask").exit_code == 0
    assert {row["label"] for row in answers(tmp_path / "m", files / "times_ten.csv")} == {"ask"}


@pytest.mark.parametrize(
    "options",
    [
        (*COSTS, "--machine", "logistic"),
        (*COSTS, "--machine", "linear", "--C", 1),
        ("--target", "answer", "--reject-rate", 0.1, "--C", 1, "--gamma", 0.3),
        ("--target", "answer", "--max-error", 0.3, "--machine", "logistic"),
        (*FIXED, "--groups", "city", "--novelty", 0.2),
        ("--target", "answer", "--pos-label", "yes", "--false-negative-column", "a", "--reject", 0.3, *FIXED[4:]),
        ("--target", "city", "--reject", 0.4, "--C", 1, "--gamma", 0.3),
        (*FIXED, "--time-limit", 20),
        ("--target", "answer", "--class-error", 0.2, "--machine", "logistic"),
    ],
)
def test_every_kind_of_model_is_guarded(files, tmp_path, options):
    result = run("fit", files / "old.csv", *options, "-o", tmp_path / "m")
    assert result.exit_code == 0, result.output
    assert reasons(tmp_path / "m", files / "times_ten.csv")["novel"] == 300
    judged = run("evaluate", tmp_path / "m", files / "times_ten.csv", "--json", "--target", options[1])
    assert judged.exit_code == 0, judged.output
    facts = json.loads(judged.stdout)
    assert (facts["novel"], facts["ambiguous"], facts["reject_rate"]) == (300, 0, 1.0)


def test_nothing_is_searched_twice(files, tmp_path, monkeypatch):
    fits, fit = [], svc_cv.RejectSVCCV.fit
    monkeypatch.setattr(svc_cv.RejectSVCCV, "fit", lambda self, *a, **k: fits.append(1) or fit(self, *a, **k))
    asked = ("fit", files / "old.csv", *COSTS, "--Cs", "1,10", "-o", tmp_path / "m", "--force")
    for machine, kernels in (("svm", 1), ("auto", 2)):
        assert run(*asked, "--machine", machine).exit_code == 0
        assert len(fits) == kernels
        fits.clear()


def test_a_time_limit_leaves_time_for_the_second_fit(files, tmp_path, monkeypatch):
    limits, fit = [], abstain.RejectSVC.fit
    monkeypatch.setattr(abstain.RejectSVC, "fit", lambda s, *a, **k: limits.append(s.time_limit) or fit(s, *a, **k))
    for options in (FIXED, (*COSTS, "--Cs", "1,10")):
        limits.clear()
        asked = (*options, "--machine", "svm", "--time-limit", 100, "-o", tmp_path / "m", "--force")
        assert run("fit", files / "old.csv", *asked).exit_code == 0
        assert len(limits) == (2 if options is FIXED else 1)  # the search has a `fit` of its own
        searched = pipeline_of(tmp_path / "m")[-1].time_limit if options is not FIXED else 0
        assert sum(limits) + searched == pytest.approx(100)


def test_evaluate_counts_novel_rows_as_rejects(files, model):
    facts = json.loads(run("evaluate", model, files / "holed.csv", "--json").stdout)
    found = reasons(model, files / "holed.csv")
    assert (facts["ambiguous"], facts["novel"]) == (found["ambiguous"], found["novel"])
    assert facts["reject_rate"] == pytest.approx((found["ambiguous"] + found["novel"]) / 300)
    wrong = sum(row["label"] not in (row["answer"], "reject") for row in answers(model, files / "holed.csv"))
    assert facts["mean_cost"] == pytest.approx((wrong + 0.2 * (300 - found["decided"])) / 300)
    assert sum(side["novel"] for side in facts["table"].values()) == found["novel"]
    assert facts["least_mean_cost_of_any_two_thresholds"] <= facts["mean_cost"]


@pytest.mark.parametrize(("table", "words", "drifted"), [("new", "is like", False), ("times_ten", "is unlike", True)])
def test_drift_is_one_sentence(files, model, tmp_path, table, words, drifted):
    data, out = files / f"{table}.csv", tmp_path / "out.csv"
    judged = json.loads(run("evaluate", model, data, "--json").stdout)["drift"]
    assert judged == json.loads(run("predict", model, data, "-o", out, "--json").stdout)["drift"]
    assert judged["drifted"] == drifted
    assert judged["sentence"].startswith(f"This batch {words} the training rows")
    direct = abstain.drift(abstain.load(model), pd.read_csv(data)[["a", "b", "c", "city"]])
    assert judged["p_value"] == pytest.approx(direct.p_value, rel=1e-6)
    for command in (("evaluate", model, data), ("predict", model, data, "-o", out, "--force")):
        assert " ".join(run(*command).stdout.split("\n\n")[-1].split()) == judged["sentence"]
    assert (judged["sentence"] in run("predict", model, data).stderr) == drifted  # rows are on standard output


def test_batches_are_added_up(files, model, monkeypatch, tmp_path):
    from abstain.cli.tables import csv_records

    predict = ("predict", model, files / "holed.csv", "-o", tmp_path / "out.csv", "--json", "--force")
    whole = json.loads(run(*predict).stdout)
    monkeypatch.setattr(csv_records, "CHUNK", 500)
    assert json.loads(run(*predict).stdout) == whole


def test_the_report_marks_them(files, model, tmp_path):
    page = tmp_path / "page.html"
    assert run("evaluate", model, files / "holed.csv", "--report", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert f"{reasons(model, files / 'holed.csv')['novel']} of them novel" in text
    assert "Rows that calibrated this share" in text
    assert "<bdi>RejectSVC</bdi>" in text


def test_compare_adds_a_guard_where_asked(files, tmp_path):
    asked = (*COSTS, "--machine", "logistic", "--folds", 2, "--json")
    plain = json.loads(run("compare", files / "old.csv", *asked).stdout)
    assert [rule["rule"] for rule in plain["rules"]] == ["logistic, Chow"]
    assert "share_of_novel_rows" not in plain["rules"][0]
    page = tmp_path / "page.html"
    (rule,) = json.loads(run("compare", files / "old.csv", *asked, "--novelty", 0.1, "-o", page).stdout)["rules"]
    assert rule["rule"] == "logistic, Chow, with guard"
    assert 0 < rule["share_of_novel_rows"] < 0.25
    assert rule["reject_rate"] > plain["rules"][0]["reject_rate"]
    assert "of them novel" in page.read_text(encoding="utf-8")
    refused = run("compare", files / "old.csv", *asked, "--novelty", 0.005)
    assert refused.exit_code == 2
    assert "--novelty 0.005 needs 398 rows, half of them to calibrate it, and" in said(refused)
    assert "has 150 in the other folds of 2" in said(refused)


def test_an_exported_graph_rejects_them(files, model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert heard(run("export", model, "--onnx", tmp_path / "graph")) == []
    table = pd.read_csv(files / "times_ten.csv")
    given = {name: table[[name]].to_numpy() for name in ("a", "b", "c")} | {"city": table[["city"]].to_numpy(object)}
    found = onnxruntime.InferenceSession(tmp_path / "graph").run(["rejected"], given)[0]
    assert np.ravel(found).all()
