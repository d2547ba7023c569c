"""`--machine linear`: the linear machine through all commands, and from Parquet files by blocks."""

import json
import sys
import tempfile

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector
from cli.running import pipeline_of, run, said

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
    machine = pipeline_of(path)[-1]
    assert type(machine) is LinearRejectSVCCV
    assert facts["C"] == machine.C_
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
    assert type(pipeline_of(path)[-1]) is LinearRejectSVC


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
    assert pipeline_of(path)[-1].coef_.shape[0] == 3
    facts, path = fitted(tmp_path, table, "--C", 1, "--reject-rate", 0.2, costs=("--target", "answer"))
    assert facts["machine"] == "linear"
    assert facts["held_out_reject_rate"] <= 0.2
    assert type(pipeline_of(path)[-1]) is ThresholdRejector


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--gamma", 2), "--gamma does not apply to --machine linear; leave it out"),
        (("--gammas", "1,2"), "--gammas does not apply to --machine linear"),
        (("--search", "full"), "--search does not apply to --machine linear"),
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


class TestParquet:
    @pytest.fixture
    def files(self, table, tmp_path, monkeypatch):
        """Three Parquet files, and one with the rows of all."""
        (tmp_path / "temporary").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        rows = pl.read_csv(table).with_columns(price=3.0 + pl.int_range(pl.len()) % 4)
        paths = [tmp_path / f"part{at}.parquet" for at in range(3)]
        for at, path in enumerate(paths):
            rows[at * 30 : at * 30 + 30].write_parquet(path)
        rows.write_parquet(tmp_path / "all.parquet")
        return paths, tmp_path / "all.parquet"

    def fitted(self, tmp_path, paths, *options):
        path = tmp_path / f"model{len(paths)}"
        result = run("fit", *paths, *options, "--machine", "linear", "-o", path, "--json", "--force")
        assert result.exit_code == 0, result.output
        has_guard = hasattr(abstain.load(path), "guard_")
        assert has_guard == ("note: rows unlike the training rows will not be rejected" not in result.stderr)
        assert list((tmp_path / "temporary").glob("abstain-*")) == []
        return json.loads(result.stdout), path

    @pytest.mark.parametrize(
        "options",
        [
            COSTS,
            (*COSTS, "--C", 1),
            (*COSTS, "--ignore", "city", "--groups", "price"),
            ("--target", "answer", "--pos-label", "yes", "--false-negative-column", "price", "--reject", 0.3),
            ("--target", "city", "--drop-unlabelled", "--reject", 0.3, "--categorical", "price"),
        ],
    )
    def test_several_files_are_fitted_as_the_table_of_all_rows(self, tmp_path, files, options):
        paths, joined = files
        facts, path = self.fitted(tmp_path, paths, *options)
        whole, other = self.fitted(tmp_path, [joined], *options)
        for name in ("rows", "C", "features", "numeric_columns", "categorical_columns", "unlabelled_rows_left_out"):
            assert facts[name] == whole[name]
        found, expected = pipeline_of(path), pipeline_of(other)
        np.testing.assert_allclose(found[-1].coef_, expected[-1].coef_, atol=1e-3)
        assert not np.allclose(expected[-1].coef_, 0.0, atol=1e-2)  # control
        answers = [run("predict", one, joined, "--json").stdout for one in (path, other)]
        assert answers[0] == answers[1]
        if "--C" not in options:
            costs = [one["cross_validated_mean_cost"] for one in (facts, whole)]
            np.testing.assert_allclose(*costs, rtol=0.01)

    def test_one_file_too_large_for_the_memory_is_read_by_blocks(self, tmp_path, files, monkeypatch):
        monkeypatch.setattr("abstain.cli.tables.memory.COPIES", 1_000_000)
        facts, path = self.fitted(tmp_path, files[1:], *COSTS, "--C", 1, "--max-memory", 30)
        assert (facts["rows"], facts["status"]) == (80, "optimal")
        assert run("evaluate", path, files[1]).exit_code == 0
        refused = run("fit", files[1], *COSTS, "--max-memory", 30, "-o", tmp_path / "other")  # control: another machine
        assert refused.exit_code == 2
        assert "raise --max-memory" in said(refused)

    def test_what_cannot_be_done_says_the_way_out(self, tmp_path, files, table):
        paths, _ = files
        linear = ("--machine", "linear")
        budget = ("--target", "answer", "--reject-rate", 0.2)
        for arguments, words in (
            ((*paths, *COSTS), "several files are for --machine linear"),
            ((table, *paths, *COSTS, *linear), "table.csv is not Parquet, and several files must be"),
            ((*paths, *budget, *linear), "need rows in memory; state costs"),
            ((*paths, *COSTS, *linear, "--max-memory", 1), "a fit of 80 rows takes about 16 MB"),
            ((*paths, *COSTS, *linear, "--gamma", 1), "--gamma does not apply to --machine linear"),
            ((*paths, *COSTS, *linear, "--novelty", 0.1), "--novelty 0.1: rows that are read by blocks are not in"),
        ):
            result = run("fit", *arguments, "-o", tmp_path / "model")
            assert result.exit_code == 2, result.output
            assert words in result.stderr
            assert list((tmp_path / "temporary").glob("abstain-*")) == []

    @pytest.mark.long
    def test_a_cluster_fits_the_same_machine(self, tmp_path, files, table):
        distributed = pytest.importorskip("distributed")
        paths, joined = files
        by_row = ("--target", "answer", "--pos-label", "yes", "--false-negative-column", "price", "--reject", 0.3)
        local = {"processes": False, "protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": ":0"}
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **local) as cluster:
            remote = ("--C", 1, "--cluster", cluster.scheduler_address)
            for costs in (COSTS, by_row):
                facts, path = self.fitted(tmp_path, paths, *costs, *remote)
                _, other = self.fitted(tmp_path, [joined], *costs, "--C", 1)
                assert (facts["rows"], facts["status"]) == (80, "optimal")
                found, expected = pipeline_of(path), pipeline_of(other)
                # the objective is strongly convex in w: 1/2 |w - w*|^2 is at most its distance from the optimum
                machines = found[-1], expected[-1]
                apart = sum(np.sqrt(2.0 * one.duality_gap_ * one.objective_) for one in machines)
                assert np.linalg.norm(found[-1].coef_ - expected[-1].coef_) <= apart < 0.1
                answers = [run("predict", one, joined, "--json").stdout for one in (path, other)]
                assert answers[0] == answers[1]
            refused = run("fit", table, *COSTS, "--machine", "linear", *remote, "-o", tmp_path / "none")
            assert "table.csv is not Parquet, and rows for --cluster must be; convert it." in said(refused)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--machine", "linear", "--C", 1), "cannot be reached (Timed out"),
            (("--machine", "linear"), "--cluster fits at one C and does not search for it; pass --C"),
            (("--C", 1), "--cluster is for --machine linear, not for svm"),
        ],
    )
    def test_a_cluster_that_cannot_be_used(self, tmp_path, files, monkeypatch, options, words):
        pytest.importorskip("distributed")
        monkeypatch.setattr("abstain.cli.training.cluster.SECONDS", 0.2)
        address = "tcp://127.0.0.1:9"  # the port of discard, where nothing listens
        result = run("fit", *files[0], *COSTS, *options, "--cluster", address, "-o", tmp_path / "model")
        assert result.exit_code == 2, result.output
        assert words in said(result)

    def test_a_cluster_needs_dask(self, tmp_path, files, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        linear = ("--machine", "linear", "--C", 1, "--cluster", "tcp://127.0.0.1:9")
        result = run("fit", *files[0], *COSTS, *linear, "-o", tmp_path / "model")
        assert result.exit_code == 2
        assert "--cluster needs dask; install it with pip install 'abstain[dask]'" in said(result)
