"""How commands end: one exit code and one sentence for everything that can happen."""

import json
import os
import re
import signal
import warnings

import numpy as np
import pytest

from abstain.cli import exit_codes
from abstain.cli.commands import fit
from abstain.cli.training import training
from cli.running import FIT, heard, pipeline_of, run, said, write_table


def test_done_is_0_and_says_nothing_on_stderr(tmp_path, table):
    result = run("fit", table, *FIT, "-o", tmp_path / "model")
    assert (result.exit_code, heard(result)) == (0, [])


def test_an_internal_error_is_1_and_shows_no_traceback(tmp_path, table, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(fit, "fit", broken)
    monkeypatch.delenv(exit_codes.TRACEBACK, raising=False)
    result = run("fit", table, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 1
    assert "internal error, ZeroDivisionError: division by zero" in said(result)
    monkeypatch.setenv(exit_codes.TRACEBACK, "1")
    assert isinstance(run("fit", table, *FIT, "-o", tmp_path / "model").exception, ZeroDivisionError)


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "no-such-file.csv", *FIT, "-o", "model"),
        ("predict", "no-such-model", "no-such-file.csv"),
        ("fit",),
        ("no-such-command",),
        ("fit", "--no-such-option"),
    ],
)
def test_usage_is_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--pos-label", "perhaps"), "--pos-label 'perhaps' is not one of the classes 'no' and 'yes'"),
        (("--reject-label", "yes"), "--reject-label 'yes' is one of the classes"),
        (("--C", -1), "C"),
        (("--gamma", 0), "gamma"),
    ],
)
def test_impossible_wishes_are_2(tmp_path, table, options, text):
    result = run("fit", table, *FIT, *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert text in said(result)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--Cs", "1,x"), "--Cs=1,x must be a number of values, such as 7, or positive values"),
        (("--Cs", "1,-2"), "'-2' is neither"),
        (("--Cs", "scale"), "'scale' is neither"),
        (("--gammas", "0"), "--gammas=0 must be a number of values of at least 2"),
        (("--Cs", "1,2", "--C", 3), "--C fixes the value and --Cs=1,2 lists values to try; give one of the two"),
        (("--search", "half"), "--search=half must be auto, full or halving"),
    ],
)
def test_impossible_grids_are_2(tmp_path, table, options, text):
    result = run("fit", table, "--target", "answer", "--reject", 0.3, *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert text in said(result)


@pytest.mark.parametrize(
    ("options", "tried"),
    [
        (("--Cs", "0.5,5", "--gammas", "scale, 0.1"), (2, 2)),
        (("--Cs", 3, "--gammas", 2, "--search", "full"), (3, 2)),
        (("--Cs", "0.5", "--gamma", 0.1), (1, 1)),
    ],
)
def test_stated_grids_are_tried(tmp_path, table, options, tried):
    asked = ("--target", "answer", "--reject", 0.3, "--machine", "svm", *options)
    result = run("fit", table, *asked, "-o", tmp_path / "model")
    assert result.exit_code == 0, result.output
    machine = pipeline_of(tmp_path / "model")[-1]
    assert (len(np.unique(machine.cv_results_["param_C"])), len(np.unique(machine.cv_results_["param_gamma"]))) == tried


@pytest.mark.parametrize("option", ["--target", "--categorical", "--ignore", "--groups"])
def test_a_column_that_is_not_there_is_3(tmp_path, table, option):
    options = {"--target": "answer", option: "nothing"}
    named = [word for pair in options.items() for word in pair]
    result = run("fit", table, *named, "--reject", 0.3, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert f"has no column 'nothing', which {option} needs; it has 'age', 'city', 'answer'" in said(result)


def test_a_file_that_is_not_a_model_is_3(table, model, tmp_path):
    for content in (b"", b"no model", model.read_bytes()[:-100]):
        path = tmp_path / "model"
        path.write_bytes(content)
        result = run("predict", path, table)
        assert result.exit_code == 3
        assert str(path) in said(result)


def test_a_fit_that_has_not_converged_is_written_and_4(tmp_path, table, monkeypatch):
    monkeypatch.setattr(training, "RejectSVC", lambda **options: _RejectSVC(**options, max_iter=1, solver="smo"))
    result = run("fit", table, *FIT, "-o", tmp_path / "model", "--json")
    assert result.exit_code == 4
    first, second = heard(result)
    assert first.startswith("abstain: warning: ")
    assert "The machine rejects 100.0 % of the training rows" in second  # a machine that has hardly begun
    assert json.loads(result.stdout)["status"] == "iteration_limit"
    assert run("predict", tmp_path / "model", table).exit_code == 0


def _RejectSVC(**options):
    from abstain import RejectSVC

    return RejectSVC(**options)


def test_a_search_out_of_time_keeps_what_it_has_and_is_4(tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.estimators.svm.svc_cv.RejectSVCCV._searching", 0.0)  # no time for a single fit
    data = write_table(tmp_path / "data.csv")
    arguments = ("--target", "answer", "--reject", 0.3, "--time-limit", 100, "--machine", "svm", "--json")
    result = run("fit", data, *arguments, "-o", tmp_path / "model")
    assert result.exit_code == 4
    assert "RejectSVCCV ran out of time: 250 of the 250 fits of its search count as not tried" in said(result)
    facts = json.loads(result.stdout)
    assert facts["C"] == pytest.approx(10 ** (-2 + 4 * 5 / 9))  # the middle of the grid
    assert (facts["status"], facts["cross_validated_mean_cost"]) == ("optimal", None)
    assert run("predict", tmp_path / "model", data).exit_code == 0


def test_a_search_within_its_time_is_0(tmp_path, table):
    arguments = ("--target", "answer", "--reject", 0.3, "--time-limit", 100, "--json")
    result = run("fit", table, *arguments, "-o", tmp_path / "model")
    assert (result.exit_code, heard(result)) == (0, [])
    assert json.loads(result.stdout)["cross_validated_mean_cost"] > 0


def test_the_alarm_is_put_back():
    before = signal.getsignal(signal.SIGALRM)
    with exit_codes.within(100):
        assert signal.getsignal(signal.SIGALRM) is not before
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_memory_that_does_not_suffice_is_said_before_the_fit(tmp_path):
    data = tmp_path / "data.csv"
    rows = "".join(f"name number {at},{'ab'[at % 2]}\n" for at in range(2000))
    data.write_text("name,answer\n" + rows, encoding="utf-8")
    arguments = ("fit", data, "--target", "answer", "--reject", 0.3, "--C", 1, "--gamma", 1, "-o", tmp_path / "model")
    result = run(*arguments, "--max-memory", 10)
    assert result.exit_code == 3
    assert "has no column besides those that are left out; keep one of them with --keep" in result.stderr
    result = run(*arguments, "--max-memory", 10, "--keep", "name")
    assert result.exit_code == 2
    # 2000 rows of 2000 categories are 32 MB of 8-byte numbers
    assert "the rows take 30.5 MB and their fit about 201 MB, more than the 10 MB allowed" in result.stderr
    assert "leave out 'name', which has 2000 categories" in result.stderr


def test_interrupted_is_130_and_leaves_nothing(tmp_path, table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "fit", interrupted)
    result = run("fit", table, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 130
    assert said(result) == "abstain: interrupted; no file was written"


def test_notes_are_not_warnings(capsys):
    with exit_codes.exit_on_error():
        warnings.warn("a remark", exit_codes.Note, stacklevel=1)
    assert capsys.readouterr().err == "abstain: note: a remark\n"


def test_warnings_for_users_are_one_line_and_others_silent(capsys):
    with exit_codes.exit_on_error():
        warnings.warn("first\nline", UserWarning, stacklevel=1)
        warnings.warn("first\nline", UserWarning, stacklevel=1)
        warnings.warn("not for users", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "abstain: warning: first line\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb", "a b"), ("\x1b[31mred", "\\x1b[31mred"), ("\u202eabc", "\\u202eabc"), ("tab\there", "tab here")],
)
def test_texts_from_files_cannot_steer_the_terminal(text, shown):
    assert exit_codes.one_line(text) == shown


def test_no_colour_without_a_terminal(table, model):
    assert os.environ.get("FORCE_COLOR") is None
    assert "\x1b" not in run("evaluate", model, table).output


# Parameters of Python, as the library's errors name them.
NAMED = r"[A-Za-z]+_[a-z_]+|[A-Za-z]\w*\[\d\]|(?:C|cv|gamma|reject|rate|confidence)(?==)|The '\w+' par"
PARAMETER = re.compile(rf"(?<![\w'\"-])({NAMED})")
FAULTS = [
    ("--reject", "0.9"),
    ("--reject", "-1"),
    ("--reject", "0.3", "--pos-label", "yes", "--false-positive", "0"),
    ("--reject", "0.3", "--C", "-1"),
    ("--reject", "0.3", "--C", "1", "--gamma", "-1"),
    ("--reject", "0.3", "--C", "1", "--gamma", "1", "--reject-label", "no"),
    ("--class-error", "0.01"),
    ("--max-error", "0.001", "--machine", "logistic"),
]


@pytest.mark.parametrize("options", FAULTS, ids=" ".join)
def test_errors_of_the_library_name_options(table, tmp_path, options, monkeypatch):
    command = ("fit", table, "--target", "answer", *options, "-o", tmp_path / "model")
    result = run(*command)
    assert result.exit_code == 2
    text = said(result)
    assert PARAMETER.findall(text) == []
    assert next(option for option in reversed(options) if option.startswith("--") and option != "--machine") in text
    monkeypatch.setattr("abstain.cli.exit_codes._WORDS", {})  # control
    assert PARAMETER.findall(said(run(*command))) != []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cv=3 cannot split these rows: n_splits=3 cannot be", "3 folds cannot split these rows: 3 folds cannot be"),
        ("a fold of cv leaves only one class to fit on", "a fold leaves only one class to fit on"),
        ("Use more rows of this class, a larger calibration_size, or a higher rate.",
         "Use more rows of this class, or a higher rate."),
        ("rate=0.01 needs 99 calibration rows", "--novelty 0.01 needs 99 calibration rows"),
        ("column 'reject_rate' has --reject-rate", "column 'reject_rate' has --reject-rate"),
    ],
)  # fmt: skip
def test_parameters_become_options_and_names_of_columns_stay(text, words):
    assert exit_codes.in_options(text) == words
