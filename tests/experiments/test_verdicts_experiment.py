"""Pieces of the experiment on verdicts: which rows each way adds, with which weights, and what the page says."""

import numpy as np
import pytest

from experiment_modules import experiment_modules

measure, page = experiment_modules("verdicts", "measure", "page")
REJECTED = np.isin(np.arange(500), np.arange(0, 500, 10))


@pytest.mark.parametrize(("way", "rejects", "rows"), [
    ("verdicts", 50, 70), ("weighted", 50, 70), ("audited only", 0, 20), ("random rows", None, 70),
])  # fmt: skip
def test_each_way_adds_its_rows(way, rejects, rows):
    taken, weight = measure.chosen(way, REJECTED, np.random.default_rng(0))
    assert len({*taken.tolist()}) == len(taken) == len(weight) == rows
    if rejects is not None:
        assert REJECTED[taken].sum() == rejects
    total = 500 if way == "weighted" else rows
    assert weight.sum() == pytest.approx(total), "weighted rows stand for the whole batch"


def test_differences_are_paired_by_seed():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=4)
    more = dict(zip(measure.WAYS, (0.0, 0.1, -0.2, 0.0), strict=True))
    rows = [
        {"way": way, "seed": seed, "cost": [1.0, 1 + noise[seed] + more[way]], "rows": [1, 2], "rejects": [0.5, 0.1]}
        for seed in (2, 0, 3, 1)
        for way in measure.WAYS
    ]
    found = measure.summary({"wdbc/0": rows[:8], "wdbc/1": rows[8:]})
    for way, gap in found["sets"]["wdbc"]["minus_verdicts"].items():
        assert gap["mean"] == pytest.approx(more[way])
        assert gap["standard_error"] < 1e-12
    assert "costs more on biopsies" in page._words(found, "weighted")
    assert "costs less on biopsies" in page._words(found, "audited only")
