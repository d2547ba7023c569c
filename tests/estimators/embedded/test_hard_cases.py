"""EmbeddedRejectSVC on rows and parameters that overflow, vanish or say nothing: it ends, with finite numbers."""

import time

import numpy as np
import pytest

from abstain import EmbeddedRejectSVC
from looping import rarely

HARD = {
    "all points identical": (np.ones((20, 3)), np.arange(20) % 2, {}),
    "one sample per class": ([[0.0], [1.0]], [0, 1], {}),
    "one row of one class": (np.arange(60.0).reshape(30, 2), np.arange(30) // 29, {}),
    "X times 1e-200": ("scaled", 1e-200, {}),
    "X times 1e160": ("scaled", 1e160, {}),
    "X subnormal": ("scaled", 1e-310, {}),
    "C of 1e300": ("scaled", 1.0, {"C": 1e300}),
    "C of 1e-300": ("scaled", 1.0, {"C": 1e-300}),
    "columns scaled 1 to 1e8": ("columns", None, {}),
    "5000 features": (np.random.default_rng(0).normal(size=(10, 5000)), np.arange(10) % 2, {}),
    "steepness of 1e6": ("scaled", 1.0, {"steepness": 1e6}),
    "steepness of 1e-3": ("scaled", 1.0, {"steepness": 1e-3}),
    "slack penalty of 1e6": ("scaled", 1.0, {"slack_penalty": 1e6}),
    "slack penalty of 1e-300": ("scaled", 1.0, {"slack_penalty": 1e-300}),
    "reject cost of 1e-12": ("scaled", 1.0, {"reject_cost": 1e-12}),
    "zeros but for 3.7e-208": (np.r_[np.zeros((19, 1)), [[3.7e-208]]], np.arange(20) // 19, {}),
}


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("name", rarely(HARD, "slack penalty of 1e6"))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hard_cases_end_alive_and_finite(data, name, solver):
    X, y, options = HARD[name]
    if isinstance(X, str):
        X, y = (data[0] * (y if X == "scaled" else np.logspace(0, 8, 4))), data[1]
    began = time.process_time()
    clf = EmbeddedRejectSVC(**{"reject_cost": 0.2, "solver": solver, "lower_bound": True, **options}).fit(X, y)
    assert time.process_time() - began < 10  # seconds of the processor, however busy the machine
    numbers = [clf.coef_, clf.intercept_, clf.objective_, clf.training_risk_, clf.decision_function(X)]
    assert all(np.isfinite(number).all() for number in numbers)
    assert 0 <= clf.eps_ <= 1
    assert clf.lower_bound_ <= clf.objective_ * (1 + 1e-9)


def test_rows_far_from_the_origin_are_decided_the_same(data):
    X, y = data
    near, far = EmbeddedRejectSVC(0.2).fit(X, y), EmbeddedRejectSVC(0.2).fit(X + 2.0**20, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    np.testing.assert_array_equal(far.predict(X + 2.0**20), near.predict(X))
