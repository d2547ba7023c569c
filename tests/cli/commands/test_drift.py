"""`abstain drift` says what `abstain.drift` says of the same rows."""

import json

import numpy as np
import pandas as pd
import pytest

import abstain
from cli.running import run, said


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    rng = np.random.default_rng(0)
    for name, rows, shift in (("old", 300, 0), ("new", 200, 0), ("moved", 200, 2)):
        X = rng.normal(size=(rows, 2)) + shift
        y = np.where(X[:, 0] + rng.normal(size=rows) > shift, "yes", "no")
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "answer": y}).to_csv(folder / f"{name}.csv", index=False)
    for name, options in (("model", ()), ("plain", ("--no-novelty",))):
        fixed = ("--target", "answer", "--reject", 0.3, "--C", 1, "--gamma", 0.3, *options)
        result = run("fit", folder / "old.csv", *fixed, "-o", folder / name)
        assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize(("name", "drifted"), [("new", False), ("moved", True)])
def test_it_is_that_of_the_library(files, name, drifted):
    rows = pd.read_csv(files / f"{name}.csv")[["a", "b"]]
    direct = abstain.drift(abstain.load(files / "model"), rows)
    assert direct.drifted == drifted
    assert run("drift", files / "model", files / f"{name}.csv").stdout == f"{direct}\n"
    found = json.loads(run("drift", files / "model", files / f"{name}.csv", "--json").stdout)
    assert (found["drifted"], found["sentence"]) == (drifted, direct.sentence)
    assert found["p_value"] == pytest.approx(direct.p_value)
    assert {"outside_the_range", "unseen_categories", "newly_missing"} < {*found}


def test_a_model_without_a_guard_has_nothing_to_compare_with(files):
    result = run("drift", files / "plain", files / "new.csv")
    assert result.exit_code == 3
    assert "has no guard, and nothing to compare rows with; fit it without --no-novelty" in said(result)
