"""Pieces of the experiment on drift on answers made by hand."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "experiments"
if not FOLDER.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(FOLDER))


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"drift_{name}", FOLDER / "drift" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


measure, page = loaded("measure"), loaded("page")


@pytest.fixture
def summary(monkeypatch):
    monkeypatch.setitem(sys.modules, "measure", measure)  # other experiments have one of this name
    return loaded("summary")


def answers(alarm):
    """Two parts of one set; every second batch of the largest size is an alarm if `alarm`."""
    p = [[1.0, 1.0, 1.0, 0.04 if k == 0 else 1.0, 0.01 if alarm and k % 2 else 1.0] for k in range(100)]
    facts = {"single": {"scores": 0.5}, "uniformity": 0.001, "calibration": 99}
    parts = {
        f"alarms-{at}": {"set": "pima", "largest": 368, "splits": [{"p": one, **facts} for one in p[at : at + 50]]}
        for at in (0, 50)
    }
    batches = [
        {"band": list(band), "rows": n, "p": 0.01 if band[0] else 1.0, "by": ["scores"] * bool(band[0]), "shares": {}}
        for band in measure.BANDS
        for n in measure.SIZES
    ]
    times = [{"moment": m, "rows": 100, "p": 1.0, "by": [], "shares": {}} for m in (0.0, *measure.MOMENTS)]
    return {**parts, "elevation": {"known": True, "batches": batches}, "time": {"record": 105, "batches": times}}


@pytest.mark.parametrize(("alarm", "words"), [(False, ", below the level"), (True, "than chance explains**")])
def test_rates_are_counted_over_all_parts_and_judged(summary, alarm, words):
    found = summary.summary(answers(alarm))
    assert found["alarms"]["pima"]["rates"] == pytest.approx([0, 0, 0, 0.01, 0.5 * alarm])
    assert found["alarms"]["pima"]["uniformity"] == 1
    assert 0.05 < found["most"] < 0.2
    assert [one["rates"][-1] for one in found["elevation"]["with"]] == [0, 1, 1, 1, 1, 1]
    assert found["elevation"]["without"] == []
    machine = dict.fromkeys(("day", "abstain", "scikit-learn"))
    facts = {"experiment": "drift", "processor_seconds": 1, "machine": machine}
    assert words in page.page({**found, **facts})


def test_batches_are_disjoint_but_for_the_largest():
    rest = np.arange(700)
    *small, largest = measure.batches(rest)
    assert [len(one) for one in small] == list(measure.SIZES)
    assert len(np.unique(np.concatenate(small))) == sum(measure.SIZES)
    np.testing.assert_array_equal(largest, rest)
