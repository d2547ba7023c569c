"""Reviews of tables with odd names, classes and times; and who sees a review cannot draw its audit again."""

import json

import numpy as np
import polars as pl
import pytest

from abstain.cli.output.printing import _jsonable
from cli.reviewing import filled, line, predicted, truths
from cli.running import FIT, run, said


@pytest.mark.parametrize("name", ["Age", "AGE", "a\x01b"])
def test_a_sheet_refuses_names_that_it_cannot_hold(tmp_path, model, cases, name):
    lines = cases.read_text().splitlines()
    odd = tmp_path / "odd.csv"
    odd.write_text("\n".join([f"{lines[0]},{name}", *(f"{one},1" for one in lines[1:])]) + "\n")
    result = run("predict", model, odd, "-o", tmp_path / "answers.xlsx")
    assert result.exit_code == 2
    assert "a sheet cannot have the column" in said(result)
    assert run("predict", model, odd, "-o", tmp_path / "answers.csv").exit_code == 0


def test_an_audit_cannot_be_drawn_again_without_the_model(tmp_path, model, cases):
    path = predicted(tmp_path, model, cases, "--audit", 12, name="review.csv")
    review, answers = (pl.read_csv(tmp_path / name, infer_schema_length=0) for name in ("review.csv", "answers.csv"))
    decided = answers["rejected"].to_numpy() == "false"
    audited = {at for at, row in enumerate(review.iter_rows(named=True)) if decided[line(row)]}
    others, total = np.flatnonzero(decided), review.height
    for seed in (0, 1):  # as who knows the code of this library would
        rng = np.random.default_rng(seed)
        rng.choice(others, size=12, replace=False)
        assert set(rng.choice(total, size=12, replace=False).tolist()) != audited
    assert path.read_bytes() == predicted(tmp_path, model, cases, "--audit", 12, name="review.csv").read_bytes()


@pytest.mark.parametrize(
    ("started", "finished", "words"),
    [
        ("1.5", "2.5", "are not times"),
        ("soon", "later", "are not times"),
        ("2026-03-02 10:00:00", "2026-03-02 09:00:00", "'finished' before 'started'"),
    ],
)
def test_times_that_cannot_be_are_named(tmp_path, model, cases, started, finished, words):
    path = filled(predicted(tmp_path, model, cases, name="review.csv"), truths(cases))
    table = pl.read_csv(path, infer_schema_length=0)
    table.with_columns(pl.lit(started).alias("started"), pl.lit(finished).alias("finished")).write_csv(path)
    result = run("audit", model, path)
    assert result.exit_code == 3, result.stdout
    assert words in said(result)


def test_times_are_read(tmp_path, model, cases):
    path = filled(predicted(tmp_path, model, cases, name="review.csv"), truths(cases))
    table = pl.read_csv(path, infer_schema_length=0)
    pairs = ("started", "09:00"), ("finished", "09:02")
    times = (pl.lit(f"2026-03-02 {time}:00").alias(name) for name, time in pairs)
    table.with_columns(*times).write_csv(path)
    assert run("audit", model, path).exit_code == 0


def test_a_row_of_two_files_counts_once(tmp_path, table, model, cases):
    path = filled(predicted(tmp_path, model, cases, name="review.csv"), truths(cases))
    count = pl.read_csv(path, infer_schema_length=0).height
    result = run("fit", table, *FIT, "--also", path, "--also", path, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["rows"] == 80 + count
    assert f"{count} rows are there more than once" in said(result)


def test_a_class_may_end_in_a_space(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    x = y + rng.normal(0, 0.6, 120)
    table = tmp_path / "t.csv"
    table.write_text("x,kind\n" + "".join(f'{a:.4f},"{("no", "yes ")[k]}"\n' for a, k in zip(x, y, strict=True)))
    fit = ("fit", table, "-t", "kind", "--pos-label", "yes ", "--reject", 0.2, "--C", 1, "--gamma", 1)
    result = run(*fit, "-o", tmp_path / "m")
    assert result.exit_code == 0, result.stderr
    path = predicted(tmp_path, tmp_path / "m", table, name="review.csv")
    for verdict in ("yes ", "yes", "YES", "no"):
        filled(path, lambda _, verdict=verdict: verdict)
        assert run("audit", tmp_path / "m", path).exit_code == 0, verdict


def test_names_that_would_become_one_are_kept():
    assert _jsonable({"stage a": 1, "stage-a": 2}) == {"stage a": 1, "stage-a": 2}
    assert _jsonable({"stage a": 1, "b-c": 2}) == {"stage_a": 1, "b_c": 2}
