"""`abstain check` says all problems of a table at once, and a command that then works."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from cli.running import heard, run, said, write_table


def messy(path, rows=120, seed=0):
    rng = np.random.default_rng(seed)
    ill = np.arange(rows) % 2 == 1
    table = pd.DataFrame({
        "id": np.arange(rows) + 1000,
        "patient": [f"P{at:04d}" for at in range(rows)],
        "day": [f"2024-01-{1 + at % 28:02d}" for at in range(rows)],
        "zip": [f"0{1000 + at % 9}" for at in range(rows)],
        "dose": np.where(np.arange(rows) % 15 == 2, -999.0, rng.normal(ill, 1).round(2)),
        "weight": [str(one).replace(".", ",") for one in rng.normal(70, 9, rows).round(1)],
        "ward": rng.choice(["A", "B", "C"], rows),
        "unit": "kg",
        "empty": "",
        "flag": ill.astype(int),
        "outcome": np.where(ill, "ill", "well"),
    })  # fmt: skip
    table.loc[7, "outcome"] = ""
    table["dose"] = [str(one).replace(".", ",") for one in table["dose"]]
    table.to_csv(path, index=False)
    return path


FOUND = {
    "has no label in column 'outcome'": "--drop-unlabelled",
    "column 'day' contains dates": "--dates days",
    "has a decimal comma": "--decimal ,",
    "column 'patient' has another text in nearly every row": "--ignore patient",
    "column 'unit' has the same value in all rows": "--ignore unit",
    "column 'empty' is empty in all rows": "--ignore empty",
    "column 'zip' has leading zeros": "--categorical zip",
    "column 'id' has a different whole number in each row": "--ignore id",
    "-999 occurs in 8 rows": "--missing-value -999",
    "column 'flag' agrees with the label in every row": "--ignore flag",
}


def test_all_problems_are_said_at_once_and_the_command_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messy(tmp_path / "messy.csv")
    found = json.loads(run("check", "messy.csv", "--json").stdout)
    assert (found["target"], found["rows"], found["classes"]) == ("outcome", 119, {"ill": 59, "well": 60})
    for words, option in FOUND.items():
        assert any(words in text for text in found["problems"]), words
        assert option in found["command"]
    assert len(found["problems"]) == len(FOUND) + 1  # how many rows are left out
    shown = run("check", "messy.csv", "--target", "outcome").stdout
    assert found["command"] in shown
    assert all(text in shown for text in found["problems"])
    words = [*shlex.split(found["command"])[1:], "--C", 1, "--gamma", 0.1]
    result = run(*words)
    assert (result.exit_code, len(heard(result))) == (0, 1), result.output  # the note on the row without a label
    assert run("fit", "messy.csv", "--target", "outcome", *words[-8:], "--force").exit_code == 3  # control


def test_a_clean_table_has_no_problems(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=60), "label": np.arange(60) % 3}).to_csv(tmp_path / "t.csv", index=False)
    assert "No problems found." in run("check", tmp_path / "t.csv").stdout


def test_a_column_that_must_be_corrected_is_left_out(tmp_path):
    data = write_table(tmp_path / "t.csv")
    lines = data.read_text(encoding="utf-8").splitlines()
    lines = [f"big,{lines[0]}", *(f"{'1e200' if at == 3 else at},{line}" for at, line in enumerate(lines[1:]))]
    data.write_text("\n".join([*lines, lines[1], lines[1]]) + "\n", encoding="utf-8")
    found = json.loads(run("check", data, "--json").stdout)
    assert "--ignore big" in found["command"]
    assert any("is too large to compute with" in text for text in found["problems"])
    assert any("rows repeat others" in text for text in found["problems"])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,answer\n1,no\n2,no\n3,no\n", "contains only one class, 'no'; two are needed"),
        ("a,answer\n", "is not followed by any rows"),
    ],
)
def test_what_no_option_mends_is_an_error(tmp_path, rows, words):
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    result = run("check", tmp_path / "t.csv", "--target", "answer")
    assert (result.exit_code, words in said(result)) == (3, True), result.output


def test_a_table_without_labels_asks_for_the_target(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    result = run("check", tmp_path / "t.csv")
    assert (result.exit_code, "name the labels with --target" in said(result)) == (3, True)


def test_a_guessed_target_is_called_a_guess(tmp_path):
    data = write_table(tmp_path / "t.csv")
    guess = "The column of the labels is a guess"
    assert guess in run("check", data).stdout
    assert guess not in run("check", data, "--target", "answer").stdout
    assert json.loads(run("check", data, "--json").stdout)["guessed"] is True


def test_all_problems_of_a_table_that_no_option_corrects_are_listed(tmp_path):
    rows = "".join(f",{'xy'[at % 2]}\n" for at in range(40))
    (tmp_path / "t.csv").write_text(f"nothing,answer\n{rows}", encoding="utf-8")
    result = run("check", tmp_path / "t.csv", "--target", "answer")
    assert result.exit_code == 3
    assert [line[:2] for line in result.stdout.splitlines()[1:]] == ["1.", "2.", "3."], result.output
    assert "column 'nothing' is empty" in result.stdout
    assert "needs at least one feature" in result.stdout.splitlines()[-1]
    assert said(result).count("at least one feature") == 1


@pytest.mark.parametrize("labels", ["xyyyxz", "xyyyyy"])
def test_too_few_rows_for_a_search_leave_C_and_gamma(tmp_path, monkeypatch, labels):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{at},{(7 * at) % 5},{label}\n" for at, label in enumerate(labels))
    (tmp_path / "t.csv").write_text(f"a,b,answer\n{rows}", encoding="utf-8")
    found = json.loads(run("check", "t.csv", "--target", "answer", "--json").stdout)
    words = shlex.split(found["command"])[1:]
    assert "--C 1 --gamma 0.5" in found["command"]
    assert run(*words).exit_code == 0
    without = [word for word in words if word not in {"--C", "1", "--gamma", "0.5"}]
    assert run(*without, "--force").exit_code == 3  # control


@pytest.mark.parametrize("commas", [1, 3])
def test_of_two_decimal_signs_the_one_of_more_columns_is_advised(tmp_path, commas):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abcd"]).round(3).astype(str)
    for column in table.columns[:commas]:
        table[column] = table[column].str.replace(".", ",")
    table.assign(answer=["x", "y"] * 30).to_csv(tmp_path / "t.csv", index=False, sep=";")
    command = json.loads(run("check", tmp_path / "t.csv", "--json").stdout)["command"]
    assert ("--decimal ," in command) == (commas == 3)
    assert [column for column in "abcd" if f"--ignore {column}" in command] == (["d"] if commas == 3 else ["a"])
