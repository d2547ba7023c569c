"""Reports of the commands show the cells of the rows that people review."""

import csv
import re

import numpy as np
import pytest

from cli.running import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(0)
    dose = rng.normal(size=120)
    y = np.where(dose + rng.normal(size=120) > 0, "ill", "well")
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        rows = zip(np.round(dose, 3).tolist(), np.where(dose > 1, "a<b", "c").tolist(), y.tolist(), strict=True)
        csv.writer(file).writerows([("dose", "ward", "state"), *rows])
    fit = ("fit", folder / "rows.csv", "-t", "state", "--reject", "0.2", "--C", "1", "--gamma", "0.5")
    assert run(*fit, "-o", folder / "m.model").exit_code == 0
    return folder


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_cells_of_rejected_rows_are_shown(files, command):
    how = ("evaluate", files / "m.model", files / "rows.csv", "--report")
    if command == "compare":
        how = ("compare", files / "rows.csv", "-t", "state", "--reject", "0.2", "--machine", "logistic", "-o")
    page = files / f"{command}.html"
    assert run(*how, page).exit_code == 0
    label = "why" if command == "evaluate" else "values"  # the machines of the folds are not kept
    cells = re.findall(rf'data-label="{label}">(.*?)</td>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert all('class="why"' in cell for cell in cells) == (command == "evaluate")
    assert len(cells) > 5
    with (files / "rows.csv").open(encoding="utf-8") as file:
        known = {f"{float(row['dose']):.4g}".replace("-", "\N{MINUS SIGN}") for row in csv.DictReader(file)}
    shown = [re.findall(r"<bdi>(\w+)</bdi> <b>([^<]+)</b>", cell) for cell in cells]
    assert all([name for name, _ in row] == ["dose", "ward"] for row in shown)
    assert {row[0][1] for row in shown} <= known
    assert {row[1][1] for row in shown} <= {"a&lt;b", "c"}
