"""A newcomer with three tables types the commands of the README and follows only the advice that is printed."""

import contextlib
import csv
import re
import shlex

import numpy as np
import pytest

from cli.running import heard, run

ROWS = 60
PRICED = "--target outcome --pos-label sick --false-negative 5 --reject 0.3"
COMMANDS = {
    "fit": f"fit old.csv {PRICED} -o my.model",
    "evaluate": "evaluate my.model new.csv",
    "predict": "predict my.model new.csv -o answers.csv",
    "compare": f"compare old.csv {PRICED} -o report.html",
}
OPTION = r"--[a-z-]+(?: (?:'[^']*'|(?!--|to |if )[\w-]+))?"


def advised(line):
    """The options that a sentence says to pass, or to leave columns out with."""
    found = re.search(rf"(?:pass|leave them out with) ((?:{OPTION} ?)+)", line)
    return shlex.split(found[1]) if found else []


def follow(command, *options, most=6):
    """Run a command, adding what each error advises, until it succeeds; the last result and all that was added."""
    added = []
    for _ in range(most):
        result = run(*shlex.split(COMMANDS[command]), *options, *added)
        if result.exit_code == 0:
            return result, added
        assert result.exit_code == 3, result.output
        (line,) = [line for line in result.stderr.splitlines() if "note: " not in line]
        assert advised(line), f"no way out in: {line}"
        added += advised(line)
    pytest.fail(f"{command} fails with {added}: {result.stderr}")


def cases(seed):
    """Rows of a clinic: a number that tells the classes apart, a ward, and the class."""
    rng = np.random.default_rng(seed)
    sick = np.arange(ROWS) % 3 == 0
    level = np.round(4 + 2.5 * sick + rng.normal(0, 1, ROWS), 2)
    ward = rng.choice(["A", "B", "C"], ROWS)
    return [(f"{level[at]:.2f}", str(ward[at]), "sick" if sick[at] else "well") for at in range(ROWS)]


def write(folder, header, make, encoding="utf-8"):
    for seed, name in enumerate(("old.csv", "new.csv")):
        lines = [header, *(make(at, seed, *case) for at, case in enumerate(cases(seed)))]
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode(encoding))


@pytest.fixture
def folder(tmp_path):
    with contextlib.chdir(tmp_path):
        yield tmp_path


def answers(folder, separator=","):
    with (folder / "answers.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=separator))


def test_a_clean_table_needs_no_advice(folder):
    write(folder, "level,ward,outcome", lambda _at, _seed, *case: ",".join(case))
    for command in COMMANDS:
        result, added = follow(command)
        assert (added, heard(result)) == ([], []), command
    assert len(answers(folder)) == ROWS
    assert (folder / "report.html").is_file()


def test_a_european_export_is_read_by_following_the_errors(folder):
    def make(at, seed, level, ward, outcome):
        outcome = "" if seed == 0 and at % 20 == 7 else outcome
        return f"{level.replace('.', ',')};{1 + at % 28:02d}.0{1 + at % 9}.2023;{ward};{outcome}"

    write(folder, "level;admitted;ward;outcome", make, encoding="utf-16")
    result, added = follow("fit")
    assert sorted(added) == sorted(["--drop-unlabelled", "--decimal", ",", "--dates", "days"])
    assert "old.csv is read as UTF-16 (little-endian), by its byte-order mark" in result.stderr
    assert "3 rows without a label are left out" in result.stderr
    facts = dict(re.split(r"\s{2,}", line) for line in result.stdout.split("\n\n")[0].splitlines())
    assert (facts["rows"], facts["numeric columns"], facts["dates in days"]) == ("57", "2", "admitted")
    for command in ("evaluate", "predict"):
        result, added = follow(command)
        assert added == ["--decimal", ","]  # the model has the dates
    assert [row["level"] for row in answers(folder, ";")] == [case[0].replace(".", ",") for case in cases(1)]
    _, added = follow("compare", "--machine", "logistic")
    assert sorted(added) == sorted(["--drop-unlabelled", "--decimal", ",", "--dates", "days"])


def test_names_of_patients_and_new_wards_are_said(folder):
    def make(at, seed, level, ward, outcome):
        level = "-999" if at % 12 == 1 else level
        return f"{7000 + at},P-{seed}{at:03d},{level},{'D' if seed and at < 5 else ward},{outcome}"

    write(folder, "case,patient,level,ward,outcome", make)
    result = run(*shlex.split(COMMANDS["fit"]))
    assert result.exit_code == 0
    advice = [word for line in result.stderr.splitlines() for word in advised(line)]
    assert sorted(advice) == sorted(["--ignore", "case", "--ignore", "patient", "--missing-value", "-999"])
    for command, options in {"fit": (), "compare": ("--machine", "logistic")}.items():
        result = run(*shlex.split(COMMANDS[command]), *options, *advice, "--force")
        assert (result.exit_code, heard(result)) == (0, [])
    result, added = follow("predict")
    assert added == []
    assert "column 'ward': 5 of 60 rows have a category that did not occur in training: 'D'" in result.stderr
    assert len(answers(folder)) == ROWS


def test_the_advice_is_read_from_the_sentence():
    assert advised("x; pass --decimal ',' --thousands '.', or pass --categorical 'x'.") == [
        "--decimal", ",", "--thousands", "."
    ]  # fmt: skip
    assert advised("x; pass --dates days to turn them, or leave them out with --ignore 'when'.") == ["--dates", "days"]
    assert advised("nothing to be done") == []
