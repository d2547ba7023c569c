"""The commands of the README on its own data, and of docs/command_line.md on German credit with its cost matrix."""

import contextlib
import csv
import gzip
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from abstain.cli.input.cost_sources import stated_actions
from action_cases import CREDIT
from cli.running import run, stated

TOUR = [
    "abstain fit german_train.csv --target class --cost-matrix german_cost.csv --reject 0.5 -o credit.model",
    "abstain evaluate credit.model german_test.csv",
    "abstain predict credit.model german_test.csv -o answers.csv",
    "abstain compare german_train.csv --target class --cost-matrix german_cost.csv --reject 0.5 -o report.html",
    "abstain export credit.model --onnx credit.onnx",
]
PRICES = {("1", "2"): 1.0, ("2", "1"): 5.0, ("1", "reject"): 0.5, ("2", "reject"): 0.5}  # 1 good, 2 bad, as published
ROOT = Path(__file__).parents[2]


def commands_in(path):
    lines = [line.removeprefix("$ ") for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line.startswith("abstain ")]


def run_in(folder, lines):
    """Run lines as a reader types them, in a folder."""
    with contextlib.chdir(folder):
        return [run(*shlex.split(line, comments=True)[1:]) for line in lines]


def test_the_readmes_commands_run_as_printed(tmp_path):
    lines = commands_in(ROOT / "README.md")
    assert {line.split()[1] for line in lines} == {"demo", "fit", "evaluate", "predict", "compare", "export"}
    results = run_in(tmp_path, lines)
    assert [(result.exit_code, result.stderr) for result in results] == [(0, "")] * len(lines)
    written = {"patients.csv", "patients_new.csv", "tumour.model", "answers.csv", "report.html", "tumour.onnx"}
    assert {path.name for path in tmp_path.iterdir()} == written
    with (tmp_path / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    prices = {("benign", "malignant"): 1, ("malignant", "benign"): 5}
    cost = np.mean(
        [0.3 if row["rejected"] == "true" else prices.get((row["diagnosis"], row["label"]), 0) for row in rows]
    )
    assert cost < 0.15  # rejecting all costs 0.3
    page = tmp_path / "evaluated.html"
    assert run_in(tmp_path, [f"abstain evaluate tumour.model patients_new.csv --report {page.name}"])[0].exit_code == 0
    shown = re.search(r'"thresholds":\[([^,]+),([^\]]+)\]', page.read_text(encoding="utf-8"))
    lower, upper = map(float, shown.groups())
    for row in rows:  # the scores in one file and the thresholds in the other are on the same scale
        score = float(row["score"])
        by_hand = "malignant" if score > upper else "benign" if score < lower else "reject"
        assert row["label"] == by_hand or row["reason"] == "novel"
    again = run_in(tmp_path, lines[:1])[0]
    assert again.exit_code == 2
    assert "patients.csv exists; pass --force" in again.stderr


def test_the_page_prints_the_tour():
    assert commands_in(ROOT / "docs" / "command_line.md")[: len(TOUR)] == TOUR


def test_the_files_of_the_page_are_read(tmp_path):
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    blocks = [block.partition("\n```")[0] for block in page.split("```text\n")[1:]]
    (actions,) = [block for block in blocks if block.startswith("action,")]
    (costs,) = [block for block in blocks if block.startswith("actual,cold")]
    for name, text in (("actions.csv", actions), ("costs.csv", costs)):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    assert stated_actions(tmp_path / "actions.csv", ("bad", "good"), None) == CREDIT
    classes = ("cold", "flu", "pneumonia")
    read = stated(None, None, "0.5", tmp_path / "costs.csv", classes)
    assert read.errors.tolist() == [[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [20.0, 15.0, 0.0]]


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """The folder after the tour, and what each command printed."""
    if "ABSTAIN_DATA" not in os.environ:
        pytest.skip("ABSTAIN_DATA names no folder with the data")
    source, folder = Path(os.environ["ABSTAIN_DATA"]), tmp_path_factory.mktemp("tour")
    header, *rows = gzip.decompress((source / "german.csv.gz").read_bytes()).decode().splitlines()
    for name, part in (("german_train.csv", rows[:700]), ("german_test.csv", rows[700:])):
        (folder / name).write_text("\n".join([header, *part]) + "\n", encoding="utf-8")
    (folder / "german_cost.csv").write_bytes((source / "german_cost.csv").read_bytes())
    results = run_in(folder, TOUR)
    return folder, results


def answers(folder):
    with (folder / "answers.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
def test_every_command_succeeds(toured):
    _, results = toured
    assert [(result.exit_code, result.stderr) for result in results] == [(0, "")] * len(TOUR)


@pytest.mark.long
def test_every_applicant_has_an_answer(toured):
    rows = answers(toured[0])
    assert len(rows) == 300
    assert {row["label"] for row in rows} == {"1", "2", "reject"}
    assert "A11" in {row["status"] for row in rows}


@pytest.mark.long
def test_the_evaluation_prices_these_answers(toured):
    folder, results = toured
    paid = np.mean([PRICES.get((row["class"], row["label"]), 0.0) for row in answers(folder)])
    lines = [line.split() for line in results[1].stdout.splitlines()]
    assert f"mean cost {paid:.4g}".split() in lines


@pytest.mark.long
def test_the_model_is_worth_having(toured):
    rows = answers(toured[0])
    paid = np.mean([PRICES.get((row["class"], row["label"]), 0.0) for row in rows])
    for always in ("1", "2", "reject"):  # lend to all, to none, or ask about all
        assert paid < np.mean([PRICES.get((row["class"], always), 0.0) for row in rows])


@pytest.mark.long
def test_all_rules_are_compared_and_reported(toured):
    folder, results = toured
    for rule in ("double hinge", "SVM, one threshold", "SVM, two thresholds (ROC)", "SVM, Chow on Platt"):
        assert rule in results[3].stdout
        assert rule in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_graph_gives_the_same_answers(toured):
    onnxruntime = pytest.importorskip("onnxruntime")
    folder, _ = toured
    rows = answers(folder)
    session = onnxruntime.InferenceSession((folder / "credit.onnx").read_bytes())
    feeds = {
        asked.name: np.array([[row[asked.name]] for row in rows], dtype=object if "string" in asked.type else float)
        for asked in session.get_inputs()
    }
    labels, rejected = session.run(["label", "rejected"], feeds)
    assert np.ravel(labels).tolist() == [row["label"] for row in rows]
    assert [str(bool(one)).lower() for one in np.ravel(rejected)] == [row["rejected"] for row in rows]
