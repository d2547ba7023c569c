"""Pieces of the experiment with rows unlike anything seen, on cases with known answers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from abstain import NoveltyRejector
from experiment_modules import experiment_modules

damage, detectors, promise, rates, sets, summary, page = experiment_modules(
    "novelty",
    "measure_damage",
    "measure_detectors",
    "measure_promise",
    "measure_rates",
    "measure_sets",
    "summary",
    "page",
)
RATE, STATEMENTS, SPLITS = 0.05, 17, 25
ROWS = 195  # 39 of them calibrate, so that the expected share, 2 / 40, is the rate itself


@pytest.fixture(scope="module")
def shares():
    """The share of new rows like the training rows that both guards reject, for several training sets."""
    rng = np.random.default_rng(0)
    found = {"guard": [], "wrong": []}
    fitted = None
    for seed in range(SPLITS):
        X, new = rng.standard_normal((ROWS, 5)), rng.standard_normal((200, 5))
        y = (X[:, 0] > 0).astype(int)
        fitted = fitted or sets.classifier().fit(X, y)  # the guard is the same whatever the classifier
        guard = NoveltyRejector(FrozenEstimator(fitted), RATE, random_state=seed).fit(X, y).guard_
        found["guard"].append(guard.novel_rows(new).mean())
        found["wrong"].append(promise.wrong_guard(X, y, RATE).novel_rows(new).mean())
    return found


def test_the_promise_is_kept(shares):
    found = summary.promise(shares["guard"], RATE, STATEMENTS)
    assert not found["broken"]
    assert found["low"] <= RATE <= found["high"]


def test_control_a_cut_from_rows_that_the_detector_has_seen_breaks_it(shares):
    found = summary.promise(shares["wrong"], RATE, STATEMENTS)
    assert found["broken"]


def test_the_promise_is_judged_by_its_interval():
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.standard_normal(200)
    noise -= noise.mean()
    half = summary.promise(RATE + noise, RATE, STATEMENTS)["high"] - RATE
    assert not summary.promise(RATE + 0.9 * half + noise, RATE, STATEMENTS)["broken"]
    assert summary.promise(RATE + 1.1 * half + noise, RATE, STATEMENTS)["broken"]


def test_damage_is_what_its_name_says():
    X = np.arange(1.0, 7.0).reshape(2, 3)
    found = damage.damaged(X, X.std(axis=0), np.random.default_rng(0))
    np.testing.assert_array_equal(found["all columns x 10"], [10 * X])
    assert len(found["one column x 10"]) == len(found["one column -999"]) == 3
    np.testing.assert_array_equal(found["one column x 10"][1], X * [1, 10, 1])
    np.testing.assert_array_equal(found["one column -999"][2], [[1, 2, -999], [4, 5, -999]])
    np.testing.assert_array_equal(np.sort(found["columns shuffled"][0], axis=1), X)
    np.testing.assert_array_equal(found["one column / 10"][0], X / [10, 1, 1])
    np.testing.assert_array_equal(found["neighbours swapped"], [X[:, [1, 0, 2]], X[:, [0, 2, 1]]])
    for seed in range(20):  # of two columns one order of two is their own
        shuffled = damage.damaged(X[:, :2], np.ones(2), np.random.default_rng(seed))["columns shuffled"][0]
        assert (shuffled != X[:, :2]).any()


def test_rows_that_the_damage_leaves_as_they_are_do_not_count():
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    first = damage.damaged(X, np.ones(2), np.random.default_rng(0))["one column x 10"][0]
    assert damage._counted("one column x 10", first, X).tolist() == [False, True]
    assert damage._counted(damage.UNCHANGED, X, X).tolist() == [True, True]


def test_costs_of_damaged_rows_by_hand():
    class Answers:
        reject_label_ = -1

        def __getitem__(self, at):
            return self

        def predict(self, X):
            return X[:, 0].astype(int)

    class Novel:
        def novel_rows(self, X):
            return X[:, 1] > 0

    X = np.array([[0, 0], [1, 0], [-1, 0], [1, 1.0]])
    found = damage.judged({"rbf": Answers()}, {detectors.DEFAULT: Novel()}, X, np.array([0, 0, 0, 0]))
    assert found["novel"] == {detectors.DEFAULT: 0.25}
    reject = sets.COSTS.reject
    assert found["rbf"] == pytest.approx({"answered": 0.75, "cost": (2 + reject) / 4, "guarded": (1 + 2 * reject) / 4})


@pytest.mark.parametrize("name", [name for name in detectors.DETECTORS if name != detectors.DEFAULT])
def test_detectors_score_far_rows_as_unusual(name):
    X = np.random.default_rng(0).standard_normal((60, 2))
    scores = clone(detectors.DETECTORS[name]()).fit(X).score_samples([[0.0, 0.0], [9.0, 9.0]])
    assert scores[0] > scores[1]


@pytest.mark.parametrize(("low", "high", "sign"), [(0.1, 0.2, 1), (-0.2, -0.1, -1), (-0.1, 0.1, 0)])
def test_the_verdict_has_the_sign_of_the_interval(low, high, sign):
    assert page._sign({"low": low, "high": high}) == sign


def test_a_limit_on_the_cost_lowers_the_rate_and_what_is_found_by_hand(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 3)) + 6.0 * y[:, np.newaxis]
    X_test, y_test = rng.normal(size=(200, 3)) + 6.0 * y[:200, np.newaxis], y[:200]
    monkeypatch.setattr(rates, "split", lambda *_: (X, X_test, y, y_test))
    found = {row["limit"]: row for row in rates.trial("WDBC", 0)}
    assert found[None]["rate"] == 0.01
    for limit in (0.01, 0.02, 0.05, 0.1):
        assert found[limit]["rate"] == 1 / 200  # of a cost of nearly 0
        assert found[limit]["alarms"] <= found[None]["alarms"]
        assert all(found[limit]["found"][kind] <= found[None]["found"][kind] for kind in found[None]["found"])
    one = summary.limits([found[0.02], found[0.02] | {"rate": 0.01}])
    assert [item["limit"] for item in one] == [0.02]
    assert one[0]["sets"]["WDBC"]["rate"] == pytest.approx((0.005 + 0.01) / 2)
    assert rates.trial("iris", 0) == []
