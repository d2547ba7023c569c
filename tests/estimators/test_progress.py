"""A long fit shows that it is alive, if asked."""

import re

import numpy as np
import pytest

from abstain import Costs, LinearRejectSVC, RejectSVC
from abstain.estimators.fitting import progress


class Bare:
    """An estimator as it is under scikit-learn 1.7: no callbacks at all."""


def test_a_line_on_stderr_after_two_seconds_if_asked(capsys, monkeypatch):
    task = progress.FitTask(Bare(), None, None, None, verbose=True)
    assert task.watched
    assert task.report(10, 0.5) is False
    assert capsys.readouterr().err == ""  # two seconds have not passed
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    with task.line:
        task.report(12345, 0.25)
    task.end()
    assert capsys.readouterr().err.startswith("\rBare: 12,345 iterations, KKT violation 0.25")


def test_nothing_if_not_asked(data, capsys):
    assert not progress.FitTask(Bare(), None, None, None, verbose=False).watched
    RejectSVC().fit(*data)
    assert capsys.readouterr() == ("", "")


def test_the_time_left_follows_from_the_fall_of_the_violation(capsys, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    machine = Bare()
    machine.tol = 0.001
    task = progress.FitTask(machine, None, None, None, verbose=True)
    task.report(1, 1.0)
    task.line.began -= 20.0
    task.report(100, 0.01)  # two powers of ten in 20 s, and one more to go
    assert capsys.readouterr().err.split("\r")[1:] == [
        "Bare: 1 iterations, KKT violation 1 (ends at 0.001)",
        "Bare: 100 iterations, KKT violation 0.01 (ends at 0.001), about 10 s left",
    ]


@pytest.mark.parametrize(
    ("machine", "total"),
    [
        (RejectSVC(verbose=True), 6),
        (RejectSVC(kernel="linear", verbose=True), 6),
        (RejectSVC(Costs(reject=0.2), tol=1e-9, cache_size=1, verbose=True), 4),
        (LinearRejectSVC(Costs(reject=0.2), verbose=True), 4),
    ],
    ids=["pairs together", "pairs one by one", "classes", "linear"],
)
def test_several_classes_count_their_machines(machine, total, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1600, 8)), np.repeat(np.arange(4), 400)
    X[:, 0] += y
    silent = type(machine)(**{**machine.get_params(), "verbose": False}).fit(X, y)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    machine.fit(X, y)
    lines = capsys.readouterr().err.split("\r")[1:]
    assert lines
    assert all(re.fullmatch(rf"\w+: \d of {total} machines(, about \d+ \w+ left)?\s*", line) for line in lines)
    np.testing.assert_array_equal(machine.decision_function(X), silent.decision_function(X))
