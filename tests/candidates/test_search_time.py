"""MachineSearch within a limit of time: what is unfinished counts as not tried."""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import abstain.candidates.search as machine_search
from abstain.candidates import candidate_costs as tuning
from abstain.candidates.machines import MACHINES
from abstain.candidates.search import MachineSearch
from abstain.costs.costs import Costs
from abstain.estimators.svm.svc_cv import RejectSVCCV
from compared import COSTS, FOLDS, rows, search


class FakeTime:
    """A clock that moves on by a second whenever it is read."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


@pytest.fixture
def fake(monkeypatch, whole_machines):
    forest = {"make": partial(RandomForestClassifier, n_estimators=30), "short": ()}
    small = {"boosting": {"stages": (5, 10, 20, 40)}, "forest": forest}
    for name, parts in small.items():
        monkeypatch.setitem(MACHINES, name, replace(whole_machines[name], grid=whole_machines[name].grid[:2], **parts))
    clock = FakeTime()
    monkeypatch.setattr(tuning, "time", clock)
    monkeypatch.setattr(machine_search, "time", clock)
    return clock


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting"])
def test_a_limit_that_is_not_reached_changes_nothing(name, fake):
    X, y = rows(90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = search(name, time_limit=1e6).fit(X, y)
    free = search(name).fit(X, y)
    np.testing.assert_array_equal(limited.choice_.chosen.costs, free.choice_.chosen.costs)
    np.testing.assert_array_equal(limited.decision_function(X), free.decision_function(X))
    final = limited.best_estimator_.estimator_
    assert final.get_params().keys() == free.best_estimator_.estimator_.get_params().keys()
    assert getattr(final, "warm_start", False) is False  # the last fit is a plain one
    assert getattr(final, "early_stopping", False) is False
    assert fake.now > 20  # control: the fits of the first looked at the clock


def test_boosting_stops_between_trees_and_keeps_what_all_folds_have_reached(fake):
    X, y = rows(90)
    with pytest.warns(ConvergenceWarning, match="4 of the 8 candidates of 'boosting' count as not tried"):
        found = search("boosting", time_limit=160).fit(X, y)
    assert fake.now < 160 + 10
    # a tree takes a second: of 120 for two candidates on three folds, each fit has fewer than 20
    finished = np.isfinite(found.choice_.chosen.costs).all(axis=1)
    assert finished.tolist() == [True, True, False, False] * 2
    free = search("boosting").fit(X, y).choice_.chosen
    np.testing.assert_array_equal(found.choice_.chosen.costs[finished], free.costs[finished])
    assert found.choice_.chosen.best in [free.parameters[at] for at in np.flatnonzero(finished)]
    assert found.best_estimator_.estimator_.n_iter_ == found.choice_.chosen.best["max_iter"]


def test_a_forest_stops_between_trees(fake):
    X, y = rows(90)
    with pytest.warns(ConvergenceWarning) as said:  # looks after 2, 10, 20 and 30 trees, and some around each fit
        found = search("forest", time_limit=48).fit(X, y)
    assert "1 of the 2 candidates of 'forest' count as not tried" in str(said[0].message)
    assert np.isfinite(found.choice_.chosen.costs).all(axis=1).tolist() == [True, False]
    assert fake.now < 48 + 10


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting"])
def test_time_in_which_nothing_is_finished(name, fake):
    X, y = rows(90)
    with pytest.warns(ConvergenceWarning) as said:
        found = search(name, time_limit=4).fit(X, y)
    texts = [str(one.message) for one in said]
    count = len(MACHINES[name].candidates)
    assert f"{count} of the {count} candidates of {name!r} count as not tried" in texts[0]
    assert "no candidate was finished on all folds within time_limit=4" in texts[1]
    assert np.isnan(found.choice_.cost)
    assert found.choice_.chosen.best == MACHINES[name].candidates[0]
    assert {*found.predict(X)} <= {"a", "b", "reject"}
    if name == "forest":
        assert "the last fit of 'forest' has 2 instead of 30 trees, because time ran out" in texts[2]
        assert found.best_estimator_.estimator_.calibrated_classifiers_[0].estimator.n_estimators == 2
    assert fake.now < 20


@pytest.mark.parametrize(
    ("limit", "costs", "trees"),
    [
        (30, ["short", None, None], 2),  # time for one of three short fits
        (80, ["short", "short", "short"], 17),  # for all of them, and not for the one in full
        (1e6, ["short", "short", "full"], 30),
    ],
)
def test_short_fits_of_forests_whose_time_runs_out(limit, costs, trees, fake, whole_machines, monkeypatch):
    X, y = rows(90)
    forest = replace(MACHINES["forest"], grid=whole_machines["forest"].grid)
    known = {}
    for kind, number in (("short", 10), ("full", 30)):
        monkeypatch.setitem(
            MACHINES, "forest", replace(forest, make=partial(RandomForestClassifier, n_estimators=number))
        )
        known[kind] = search("forest").fit(X, y).choice_.chosen.costs
    monkeypatch.setitem(MACHINES, "forest", replace(forest, short=(10,)))
    began = fake.now
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = search("forest", time_limit=limit).fit(X, y)
    assert fake.now - began < limit + 10
    texts, chosen = [str(one.message) for one in said], found.choice_.chosen
    for at, kind in enumerate(costs):
        np.testing.assert_array_equal(chosen.costs[at], np.nan if kind is None else known[kind][at])
    assert chosen.kept[:, -1].tolist() == [at == np.nanargmin(chosen.costs.mean(axis=1)) for at in range(3)]
    sigmoid = found.best_estimator_.estimator_
    assert sigmoid.calibrated_classifiers_[0].estimator.n_estimators == trees
    assert any("count as not tried" in text for text in texts) == (None in costs)
    assert any(f"the last fit of 'forest' has {trees} instead of 30" in text for text in texts) == (trees < 30)
    # a forest of any size has the sigmoid of one of that size, not that of the search
    plain = RandomForestClassifier(trees, min_samples_leaf=chosen.best["min_samples_leaf"], random_state=0)
    own = CalibratedClassifierCV(plain, cv=FOLDS, ensemble=False).fit(X, y)
    np.testing.assert_array_equal(sigmoid.predict_proba(X), own.predict_proba(X))


def test_time_that_runs_out_within_seconds(whole_machines, monkeypatch):
    """The clock of the machine: without a limit, this takes a minute of one core, and more if it is busy."""
    X, y = make_classification(20_000, 30, n_informative=8, flip_y=0.1, random_state=0)
    boosting = whole_machines["boosting"]
    monkeypatch.setitem(MACHINES, "boosting", replace(boosting, grid=boosting.grid[:2], stages=(2, 5000), short=()))
    began = time.process_time()
    with threadpool_limits(1), pytest.warns(ConvergenceWarning, match="of the 4 candidates of 'boosting' count as not"):
        MachineSearch(Costs(reject=0.2), ("boosting",), cv=3, time_limit=2).fit(X, y)
    assert time.process_time() - began < 15  # of work, however long a busy machine takes for it


def test_the_last_fit_of_the_svm_has_the_time_that_is_kept_for_it():
    X, y = rows(90)
    seen = {}

    def late(self, X, y, **given):
        seen.update(limit=self.time_limit, search=self._searching * self.time_limit)
        warnings.warn(f"out of time; raise time_limit={self.time_limit} or so", ConvergenceWarning, stacklevel=2)
        return RejectSVCCV.fit(self, X, y, **given)

    class Late(RejectSVCCV):
        fit = late

    machines = MachineSearch(COSTS, ("svm", "logistic"), svm=Late(Cs=[1.0], gammas=[0.1]), cv=FOLDS, time_limit=80.0)
    with pytest.warns(ConvergenceWarning, match=r"raise time_limit=80\.0 or so"):
        machines.fit(X, y)
    # three quarters are for the two searches, in equal shares, and the rest for last fits
    assert seen["search"] == pytest.approx(30.0, abs=1.0)
    assert seen["limit"] - seen["search"] == pytest.approx(20.0)
