"""`--reject-rate` and `--max-error`: what is asked for holds on held-out rows, and costs are not asked for."""

import json

import numpy as np
import pytest

from abstain.cli.options import Given
from abstain.cli.training.budgets import Budget, stated_budget
from cli.running import pipeline_of, run, said, write_table

FIXED = ("--target", "answer", "--C", 1, "--gamma", 0.5)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("large") / "table.csv", rows=200)


@pytest.mark.parametrize("options", [FIXED, ("--target", "answer", "--machine", "logistic")], ids=["svm", "logistic"])
@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_a_share_of_rejects_is_kept_on_held_out_rows(large, tmp_path, options, rate):
    result = run("fit", large, *options, "--reject-rate", rate, "--reject-label", "ask", "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert rate - 0.05 <= facts["held_out_reject_rate"] <= rate
    assert 0 < facts["held_out_error_among_the_accepted"] < 0.2
    model = pipeline_of(tmp_path / "m")[-1]
    assert (model.reject_rate, model.reject_label_, model.costs) == (rate, "ask", None)
    rows = model._fitted_.rows
    assert np.mean(model.rule_.is_reject(model.rule_.choose(rows.score))) == facts["held_out_reject_rate"]
    judged = run("evaluate", tmp_path / "m", large, "--json")
    assert judged.exit_code == 0, judged.output
    assert "mean_cost" not in json.loads(judged.stdout)


def test_a_ceiling_on_the_error_is_certified_or_refused(large, tmp_path):
    arguments = ("fit", large, *FIXED, "-o", tmp_path / "m")
    result = run(*arguments, "--max-error", 0.15, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["errors_among_them"] <= 0.15 * facts["rows_accepted"]
    pipeline = pipeline_of(tmp_path / "m")
    bound = pipeline[-1].certificate_
    assert (bound.accepted, bound.n_rows) == (facts["rows_accepted"], facts["calibration_rows"])
    assert pipeline[-1].confidence == 0.9
    assert "At most 15 % of the rows answered are wrong, for 90 % of calibrations" in facts["verdict"]["sentence"]
    scaler = pipeline[0].named_transformers_["numeric"][-1]  # it has not seen the calibration rows either
    assert np.max(scaler.n_samples_seen_) <= 200 - bound.n_rows
    refused = run(*arguments, "--max-error", 0.001, "--confidence", 0.95, "--force")
    assert refused.exit_code == 2
    assert "--max-error 0.001 with --confidence 0.95 needs at least 2995 calibration rows" in said(refused)
    assert said(refused).endswith("Use at least 5990 rows, raise --max-error, or lower --confidence.")


def test_groups_are_not_split(tmp_path, large):
    lines = large.read_text(encoding="utf-8").splitlines()
    grouped = tmp_path / "grouped.csv"
    texts = [f"{line},{'patient' if at == 0 else at // 4}" for at, line in enumerate(lines)]
    grouped.write_text("\n".join(texts) + "\n", encoding="utf-8")
    arguments = ("fit", grouped, *FIXED, "--reject-rate", 0.1, "-o", tmp_path / "m")
    result = run(*arguments, "--groups", "patient")
    assert result.exit_code == 0, result.output
    assert "StratifiedGroupKFold" in repr(pipeline_of(tmp_path / "m")[-1].cv)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--reject-rate", 0.1, "--reject", 0.3), "--reject-rate and --reject both say when to reject"),
        (("--reject-rate", 0.1, "--max-error", 0.1), "--reject-rate and --max-error both say when to reject"),
        (("--max-error", 0.1, "--false-negative", 5), "--max-error and --false-negative both say when to reject"),
        (("--max-error", "low"), "--max-error 'low' must be a share between 0 and 1"),
        (("--reject-rate", 1.5), "--reject-rate '1.5' must be a share between 0 and 1"),
        (("--reject-rate", 0.1, "--reject-rate", 0.2), "'0.1' must be one share, as in 0.1, or one for each class"),
    ],
)
def test_what_cannot_be_meant_is_usage(table, tmp_path, options, words):
    result = run("fit", table, *FIXED, *options, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert words in said(result)


def test_shares_by_class(large, tmp_path):
    found = stated_budget(Given(max_error=["no=0.2", "a=b=0.1"], confidence=0.9))
    assert found == Budget("max_error", {"no": 0.2, "a=b": 0.1}, 0.9)
    assert stated_budget(Given(confidence=0.9)) is None
    arguments = ("fit", large, *FIXED, "-o", tmp_path / "m")
    assert run(*arguments, "--reject-rate", "no=0.2", "--reject-rate", "yes=0.1").exit_code == 0
    assert pipeline_of(tmp_path / "m")[-1].reject_rate == {"no": 0.2, "yes": 0.1}
    result = run(*arguments, "--reject-rate", "maybe=0.2", "--force")
    assert result.exit_code == 2
    assert "maybe" in said(result)


@pytest.mark.parametrize("options", [FIXED, ("--target", "answer", "--machine", "forest")], ids=["svm", "forest"])
def test_an_error_by_true_class_is_promised_on_rows_held_out_of_everything(large, tmp_path, options):
    arguments = ("fit", large, *options, "-o", tmp_path / "m", "--json")
    result = run(*arguments, "--class-error", "no=0.1", "--class-error", "yes=0.2", "--reject-label", "ask")
    assert result.exit_code == 0, result.output
    facts, pipeline = json.loads(result.stdout), pipeline_of(tmp_path / "m")
    model = pipeline[-1]
    assert model.certificate_.class_error == {"no": 0.1, "yes": 0.2}
    assert model.certificate_.n_rows == facts["calibration_rows"]
    assert "At most 10 % of no, 20 % of yes are answered as another class" in facts["verdict"]["sentence"]
    assert model.reject_label_ == "ask"
    fitted, held = len(model._fitted_.rows.score), sum(facts["calibration_rows"].values())
    assert fitted == held
    assert facts["rows"] == 200
    scaler = pipeline[0].named_transformers_["numeric"][-1]  # it has not seen the calibration rows either
    assert np.max(scaler.n_samples_seen_) <= 200 - held
    judged = run("evaluate", tmp_path / "m", large, "--json")
    assert judged.exit_code == 0, judged.output
    written = run("predict", tmp_path / "m", large, "-o", tmp_path / "out.csv")
    assert written.exit_code == 0, written.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--class-error", "no=0.1"), "has no rate for the class 'yes'"),
        (("--class-error", "0.001"), "needs at least 999 calibration rows"),
        (("--class-error", "0"), "must lie between 0 and 1, both excluded"),
        (("--class-error", "0.1", "--max-error", "0.1"), "--max-error and --class-error both say when to reject"),
        (("--class-error", "maybe=0.1"), "maybe"),
        (("--class-error", "0.1", "--class-error", "0.2"), "must be one share"),
    ],
)
def test_a_promise_that_cannot_be_made_is_usage(large, tmp_path, options, words):
    result = run("fit", large, *FIXED, *options, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert words in said(result)
    assert not (tmp_path / "m").exists()
