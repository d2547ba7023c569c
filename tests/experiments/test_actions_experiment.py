"""Pieces of the experiment with four actions on answers made by hand."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "experiments"
if not FOLDER.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(FOLDER))


def loaded(file):
    spec = importlib.util.spec_from_file_location(f"actions_{file.removesuffix('.py')}", FOLDER / "actions" / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


measure, page = loaded("measure.py"), loaded("page.py")


def test_the_call_is_what_the_page_says_of_it():
    wrong, paid = 0.1, 0.2
    assert measure.TABLE["call"] == pytest.approx({"good": paid + wrong * 1, "bad": paid + wrong * 5})
    assert measure.FOUR.order == ("decline", "visit", "call", "approve")
    np.testing.assert_allclose(measure.FOUR.crossings(), [0.4, 0.75, 4.3 / 4.6])  # of good: 0.6/0.4, 0.3/0.1, 4.3/0.3


def test_differences_are_paired_and_shares_add_up():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=4)  # of the split, shared by all machines
    more = {name: 0.1 * at for at, name in enumerate(measure.MACHINES)}
    counts = [[1, 2, 3, 4], [5, 6, 7, 12]]
    rows = [
        {"machine": name, "seed": seed, "cost": 1 + noise[seed] + more[name], "counts": counts, "train": 160}
        for seed in (2, 0, 3, 1)
        for name in measure.MACHINES
    ]
    found = measure.summary({"a": rows[:10], "b": rows[10:]})
    for name, gap in found["minus_four"].items():
        assert gap["mean"] == pytest.approx(more[name])
        assert gap["standard_error"] < 1e-12
    assert sum(found["machines"]["forced"]["shares"].values()) == pytest.approx(1)
    assert found["bad"] == pytest.approx(0.25)
    assert found["one_action_for_all"]["approve"] == pytest.approx(0.25 * 5)
    machine = dict.fromkeys(("day", "abstain", "scikit-learn"))
    facts = {"experiment": "actions", "processor_seconds": 1, "machine": machine}
    assert "four actions cost less" in page.page({**found, **facts})


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0.1, 0.2, "cost less"), (-0.2, -0.1, "cost more"), (-0.1, 0.1, "no significant")]
)
def test_the_verdict_has_the_sign_of_the_interval(low, high, words):
    assert words in page._words({"mean": (low + high) / 2, "low": low, "high": high})
