"""`--groups`: folds never split a group, and the column is not a feature."""

import json

import numpy as np
import pytest
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from cli.running import pipeline_of, run, said, write_table

COSTS = ("--target", "answer", "--pos-label", "yes", "--false-negative", 2, "--reject", 0.2)


def with_groups(path, groups):
    """The usual table with a column of patients."""
    lines = write_table(path, rows=len(groups)).read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{group}" for line, group in zip(lines, ["patient", *groups], strict=True)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def patients(tmp_path):
    return with_groups(tmp_path / "patients.csv", np.arange(80) // 2)


@pytest.fixture
def splits(monkeypatch):
    """Which splitters made folds, and whether a group was on both sides of one of them."""
    seen = {"StratifiedGroupKFold": 0, "StratifiedKFold": 0, "leaks": 0}

    def spied(kind):
        original = kind.split

        def split(self, X, y=None, groups=None):
            seen[kind.__name__] += 1
            for train, test in original(self, X, y, groups):
                seen["leaks"] += groups is not None and bool(set(groups[train]) & set(groups[test]))
                yield train, test

        monkeypatch.setattr(kind, "split", split)

    spied(StratifiedGroupKFold)
    spied(StratifiedKFold)
    return seen


def test_fit(patients, splits, tmp_path):
    named, ignored = tmp_path / "named", tmp_path / "ignored"
    fit = ("fit", patients, *COSTS, "--machine", "svm", "--json")
    facts = json.loads(run(*fit, "--groups", "patient", "-o", named).stdout)
    assert splits == {"StratifiedGroupKFold": 1, "StratifiedKFold": 0, "leaks": 0}
    assert facts["numeric_columns"] == 1
    machine = pipeline_of(named)[-1]
    assert isinstance(machine.cv, StratifiedGroupKFold)
    other = json.loads(run(*fit, "--ignore", "patient", "-o", ignored).stdout)  # control: other folds
    assert splits["StratifiedKFold"] == 1
    assert other["cross_validated_mean_cost"] != facts["cross_validated_mean_cost"]
    both = run(*fit, "--groups", "patient", "--ignore", "patient", "-o", named, "--force")
    assert json.loads(both.stdout) == facts


def test_compare_and_its_report(patients, splits, tmp_path):
    compare = ("compare", patients, *COSTS, "--folds", 2, "--machine", "svm,logistic", "--groups", "patient")
    result = run(*compare, "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert splits["StratifiedGroupKFold"] > 10
    assert (splits["StratifiedKFold"], splits["leaks"]) == (0, 0)


# what is wrong: the exit code, its words, the command, the groups
REFUSED = {
    "a missing group": (
        3,
        "line 5 has no group in column 'patient'; add it",
        ("fit",),
        ["a", "b", "c", "", *["d"] * 76],
    ),
    "one group": (3, "--groups has only one group, too few to choose C and gamma; name another", ("fit",), ["a"] * 80),
    "few groups": (
        2,
        "--folds 4 needs that many groups; the column of --groups has 3",
        ("compare", "--folds", 4),
        "abc",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_in_one_sentence(name, tmp_path):
    code, words, (command, *options), groups = REFUSED[name]
    table = with_groups(tmp_path / "table.csv", (list(groups) * 80)[:80])
    result = run(command, table, *COSTS, *options, "--groups", "patient", "-o", tmp_path / "out")
    assert result.exit_code == code
    assert words in said(result)


def test_the_column_of_the_labels_cannot_be_the_groups(patients, tmp_path):
    result = run("fit", patients, *COSTS, "--groups", "answer", "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert "--groups 'answer' is the column of the labels; name another one" in said(result)


def test_too_few_groups_inside_a_fold_are_said_in_one_sentence(tmp_path):
    table = with_groups(tmp_path / "table.csv", [f"p{at % 6}" for at in range(80)])
    result = run("compare", table, *COSTS, "--folds", 2, "--groups", "patient")
    assert result.exit_code == 2
    uneven = "the 6 groups of --groups are too few or too uneven"
    assert f"{uneven}: 5 folds need as many groups, and --groups has only" in said(result)
