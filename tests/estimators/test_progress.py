"""A long fit shows that it is alive, if asked."""

from abstain import RejectSVC
from abstain.estimators.fitting import progress


class Bare:
    """An estimator as it is under scikit-learn 1.7: no callbacks at all."""


def test_a_line_on_stderr_after_two_seconds_if_asked(capsys, monkeypatch):
    task = progress.FitTask(Bare(), None, None, None, verbose=True)
    assert task.watched
    assert task.report(10, 0.5) is False
    assert capsys.readouterr().err == ""  # two seconds have not passed
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    task.report(12345, 0.25)
    task.end_line()
    task.end()
    assert capsys.readouterr().err.startswith("\rBare: 12,345 iterations, KKT violation 0.25")


def test_nothing_if_not_asked(data, capsys):
    assert not progress.FitTask(Bare(), None, None, None, verbose=False).watched
    RejectSVC().fit(*data)
    assert capsys.readouterr() == ("", "")
