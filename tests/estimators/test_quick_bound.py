"""The bound that spares most rows the detector: below its score everywhere, and no decision differs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import OneClassSVM
from abstain.estimators import guard as home
from abstain.estimators.guard import Guard
from abstain.estimators.quick_bound import GROUPS, lower_bound

RNG = np.random.default_rng(0)
X = RNG.standard_t(4, size=(1200, 3))
ROWS = np.vstack([RNG.standard_t(4, size=(3000, 3)), 5 * RNG.normal(size=(500, 3)), [[1e30, 0, 0], [0, np.inf, 0]]])


@pytest.fixture
def guard():
    detector = make_pipeline(StandardScaler(), OneClassSVM(nu=0.2)).fit(X[:600])
    return Guard.calibrated(detector, X[600:], 0.05, 600)


def test_it_is_below_the_score_and_near_it_where_rows_are(guard):
    machine = guard.detector[-1].machine_
    bound = lower_bound(machine)
    assert len(bound.coef) <= GROUPS < len(machine.coef) / 2
    near, far = X[600:], 1e3 * X[600:]
    for rows in (near, far, machine.vectors, bound.vectors):
        exact = replace(machine, bias=0.0).score(rows)
        assert (bound.score(rows) <= exact * (1 + 1e-12)).all()
    assert np.median(bound.score(near) / replace(machine, bias=0.0).score(near)) > 0.8


def test_no_decision_differs_and_few_rows_reach_the_detector(guard, monkeypatch):
    asked = []
    score_samples = OneClassSVM.score_samples
    monkeypatch.setattr(OneClassSVM, "score_samples", lambda self, X: asked.append(len(X)) or score_samples(self, X))
    monkeypatch.setattr(home, "MANY", 100)
    finite = ROWS[:-1]
    expected = guard.novel(guard.unusual(finite))
    assert 0.05 < expected.mean() < 0.5
    asked.clear()
    np.testing.assert_array_equal(guard.novel_rows(finite), expected)
    assert sum(asked) < 0.4 * len(finite)
    asked.clear()
    monkeypatch.setattr(home, "MANY", 10**9)
    np.testing.assert_array_equal(guard.novel_rows(finite), expected)
    assert sum(asked) >= len(finite) - 1


def test_rows_that_cannot_be_scored_stay_novel(guard, monkeypatch):
    monkeypatch.setattr(home, "MANY", 100)
    assert guard.novel_rows(ROWS)[-2:].all()  # the scaler refuses the last one


def test_the_judge_has_teeth(guard, monkeypatch):
    """A bound that is too high accepts novel rows."""
    monkeypatch.setattr(home, "MANY", 100)
    expected = guard.novel(guard.unusual(ROWS[:-1]))
    high = lower_bound(guard.detector[-1].machine_)
    vars(guard)["_bound"] = replace(high, coef=3.0 * high.coef)
    assert (guard.novel_rows(ROWS[:-1]) != expected).any()


def test_vectors_that_occur_often():
    rows = np.repeat(X[:20], 40, axis=0)
    machine = OneClassSVM(nu=0.5, gamma=0.5).fit(rows).machine_
    bound = lower_bound(machine)
    assert len(bound.coef) <= 20
    np.testing.assert_allclose(bound.score(rows), replace(machine, bias=0.0).score(rows), rtol=1e-9)


def test_machines_without_a_bound():
    plain = OneClassSVM(nu=0.2).fit(X[:600]).machine_
    assert lower_bound(OneClassSVM(nu=0.2, kernel="linear").fit(X[:600]).machine_) is None
    assert lower_bound(OneClassSVM(nu=0.2).fit(sparse.csr_matrix(X[:600])).machine_) is None
    assert lower_bound(OneClassSVM(nu=0.2).fit(X[:60]).machine_) is None  # nothing to save
    assert lower_bound(replace(plain, coef=-plain.coef)) is None
    assert lower_bound(object()) is None
