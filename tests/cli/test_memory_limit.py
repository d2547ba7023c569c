"""--max-memory: what a fit takes beyond the program itself, measured, stays below it; otherwise the fit is refused."""

import os
import sys

import numpy as np
import pytest

from cli.running import run


def written(path, rows, columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = np.where(X[:, 0] + rng.standard_normal(rows) > 0, "a", "b")
    lines = [",".join([*(f"{value:.4f}" for value in row), label]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([",".join([*(f"f{k}" for k in range(columns)), "y"]), *lines]), encoding="utf-8")
    return path


def peak(*arguments):
    """The largest resident memory of a command in MB."""
    silent = os.open(os.devnull, os.O_WRONLY)
    command = [sys.executable, "-m", "abstain.cli.main", *map(str, arguments)]
    child = os.posix_spawn(sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)])
    os.close(silent)
    _, status, used = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return used.ru_maxrss / 1024


@pytest.mark.long
def test_a_fit_stays_below_the_limit(tmp_path):
    options = ("--target", "y", "--reject", 0.2, "--C", 1, "--force", "-o", tmp_path / "model")
    program = peak("fit", written(tmp_path / "small.csv", 60, 3), *options, "--gamma", 0.1)
    data = written(tmp_path / "data.csv", 3000, 30)
    assert peak("fit", data, *options, "--gamma", 0.1, "--max-memory", 50) - program < 50


@pytest.mark.parametrize("given", [("--machine", "svm"), ("--C", 1), ("--gamma", 1)])
def test_a_search_that_does_not_fit_is_refused(given, tmp_path):
    fits = {("--machine", "svm"): 250, ("--C", 1): 25, ("--gamma", 1): 50}[given]
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{at},{'ab'[at % 2]}\n" for at in range(20_000)), encoding="utf-8")
    limits = ("--max-memory", 45, "--search", "full")
    result = run("fit", data, "--target", "y", "--reject", 0.2, *given, "-o", tmp_path / "model", *limits)
    assert result.exit_code == 2
    scores = 3 * 8 * 20_000 * fits / 2**20
    assert f"the {fits} fits that choose C and gamma take about {scores:.0f} MB more" in result.stderr
    assert "pass --C and --gamma, use fewer rows, or raise --max-memory" in result.stderr
