"""MachineSearch as users have it: scikit-learn's checks, its defaults, what it says about doing nothing."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

from abstain import Actions, Costs, MachineSearch, RejectSVCCV
from abstain.candidates.machines import BOOSTED, MACHINES, WITHOUT_BOTH, WITHOUT_SVM, Machine, auto_machines
from compared import rows


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_of_scikit_learn_passes():
    results = check_estimator(MachineSearch(), on_fail=None, on_skip=None)
    assert {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"} == {}
    assert sum(one["status"] == "passed" for one in results) > 50


@pytest.mark.parametrize("name", ["svm", "logistic", "boosting", "forest"])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_costs_nothing_is_rejected(name, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes] + np.random.default_rng(0).normal(size=(50 * classes, 4)), y[y < classes]
    found = MachineSearch(machines=(name,), cv=3).fit(X, y)
    assert not found.reject_mask(X).any()
    assert found.best_score_ == -found.choice_.cost
    assert 0.5 < 1.0 + found.best_score_ < 1.0  # minus the error rate
    np.testing.assert_array_equal(found.predict(X), found.predict_forced(X))


def test_the_machines_follow_from_the_number_of_rows():
    assert auto_machines(BOOSTED - 1, sparse=False) == ("svm", "laplacian", "average")
    assert auto_machines(BOOSTED, sparse=False) == ("svm", "laplacian", "boosting", "average")
    assert auto_machines(WITHOUT_SVM, sparse=False) == ("laplacian", "boosting", "average")
    assert auto_machines(WITHOUT_BOTH, sparse=False) == ("logistic", "boosting")
    assert auto_machines(WITHOUT_SVM - 1, sparse=True) == ("svm", "laplacian", "average")
    assert auto_machines(WITHOUT_SVM, sparse=True) == ("logistic",)
    X, y = rows(60)
    found = MachineSearch(Costs(reject=0.2), cv=3).fit(X, y)
    assert [one.name for one in found.choice_.trials] == ["svm", "laplacian", "average"]
    for name, kernel in (("svm", "rbf"), ("laplacian", "laplacian")):
        alone = MachineSearch(Costs(reject=0.2), (name,), cv=3).fit(X, y)
        plain = RejectSVCCV(Costs(reject=0.2), cv=3, kernel=kernel).fit(X, y)
        assert alone.best_score_ == pytest.approx(plain.best_score_)
        assert alone.best_estimator_.kernel == kernel


def test_folds_that_a_large_table_leaves_out_are_left_out_everywhere():
    """Ten thousand held-out rows are enough; the svm and the others test the same folds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(13_000, 2))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    svm = RejectSVCCV(Cs=[0.01, 0.1, 1.0, 10.0], gammas=[0.1])
    found = MachineSearch(Costs(reject=0.2), ("svm", "logistic"), svm=svm).fit(X, y)
    assert [one.costs.shape[1] for one in found.choice_.trials] == [4, 4]
    assert found.choice_.doing_nothing is None
    same = replace(found.choice_.trials[1], parameters=[{"action": 1}] * 6)
    assert found.choice_.against(same).doing_nothing is not None  # control


def test_a_fit_is_one_value():
    """Two attributes could be of two fits, for a prediction in another thread."""
    X, y = rows(60)
    found = MachineSearch(Costs(reject=0.2), ("logistic",), cv=3)
    before = {*vars(found)}
    found.fit(X, y)
    assert {*vars(found)} - before == {"_fitted_"}
    kept = found._fitted_
    found.fit(X[:, :1], y)
    np.testing.assert_array_equal(found._score(kept, X), kept.estimator.decision_function(X))


def test_a_machine_may_have_neither_trees_nor_iterations(monkeypatch):
    grid = tuple({"n_neighbors": k} for k in (3, 15))
    near = Machine(lambda random_state=0, **parameters: KNeighborsClassifier(**parameters), grid)  # noqa: ARG005
    monkeypatch.setitem(MACHINES, "near", near)
    X, y = rows(90)
    for limit in (None, 1e6):
        found = MachineSearch(Costs(reject=0.2), ("near",), cv=3, time_limit=limit).fit(X, y)
        assert found.choice_.chosen.best in grid
        assert type(found.best_estimator_.estimator_) is KNeighborsClassifier


NOISE = np.random.default_rng(0).normal(size=(120, 3))
FOLDS = StratifiedKFold(4)


@pytest.mark.parametrize("machines", [("svm",), ("logistic",), ("svm", "logistic")])
def test_a_machine_that_is_not_worth_it_is_said(machines):
    y = np.arange(120) % 2
    reject = MachineSearch(Costs(reject=0.1), machines, cv=FOLDS).fit(NOISE, y).choice_
    assert reject.doing_nothing.action == -1
    assert reject.doing_nothing.cost == pytest.approx(0.1)
    assert reject.doing_nothing.cost <= reject.cost
    rare = np.where(np.arange(120) % 10 == 0, "rare", "usual")
    one = MachineSearch(Costs(reject=0.4), machines, cv=FOLDS).fit(NOISE, rare).choice_
    assert (one.doing_nothing.action, one.doing_nothing.cost) == ("usual", pytest.approx(0.1))
    assert one.cost >= 0.1 - 1e-12
    known = MachineSearch(Costs(reject=0.1), machines, cv=FOLDS).fit(NOISE + 5.0 * y[:, np.newaxis], y).choice_
    assert known.doing_nothing is None  # control


@pytest.mark.parametrize("pair", [(0.1, -1), (0.45, 1)])
def test_the_machine_that_reads_no_feature_is_what_is_offered(pair):
    reject, action = pair
    y = (np.arange(120) % 5 > 1).astype(int)
    found = MachineSearch(Costs(reject=reject), ("nothing",), cv=FOLDS).fit(NOISE, y)
    assert set(found.predict(1e6 * NOISE).tolist()) == {action}
    assert found.choice_.doing_nothing.action == action
    assert found.choice_.cost == pytest.approx(min(reject, 0.4))
    several = np.arange(120) % 3
    found = MachineSearch(Costs(reject=0.3), ("nothing", "logistic"), cv=FOLDS).fit(NOISE, several)
    assert found.choice_.chosen.name == "nothing"
    weight = np.where(y == 1, 1.0, 9.0)
    heavy = MachineSearch(Costs(reject=0.45), ("nothing",), cv=FOLDS).fit(NOISE, y, weight)
    assert set(heavy.predict(NOISE).tolist()) == {0}
    own = np.column_stack([np.ones((120, 2)), np.where(np.arange(120) < 60, 0.05, 0.45)])
    of_rows = MachineSearch(None, ("nothing",), cv=FOLDS).fit(NOISE, y, row_costs=own)
    assert of_rows.predict(NOISE, row_costs=own).tolist() == [-1] * 60 + [1] * 60


def test_doing_nothing_with_actions_weights_groups_and_costs_of_rows():
    y = np.array(["good", "bad"])[np.arange(120) % 2]
    actions = Actions({"keep": {"good": 0, "bad": 1}, "check": 0.1, "sell": {"good": 1, "bad": 0}}, rejects=("check",))
    found = MachineSearch(actions, ("logistic",), cv=FOLDS).fit(NOISE, y).choice_
    assert (found.doing_nothing.action, found.doing_nothing.cost) == ("check", pytest.approx(0.1))
    weight = np.where(y == "good", 9.0, 1.0)
    only = Costs(reject=0.45)
    found = MachineSearch(only, ("logistic",), cv=4).fit(NOISE, y, weight, groups=np.arange(120) // 2).choice_
    assert (found.doing_nothing.action, found.doing_nothing.cost) == ("good", pytest.approx(0.1))
    own = np.tile([1.0, 1.0, 0.05], (120, 1))
    found = MachineSearch(None, ("logistic",), cv=FOLDS).fit(NOISE, y, row_costs=own).choice_
    assert (found.doing_nothing.action, found.doing_nothing.cost) == ("reject", pytest.approx(0.05))


def test_short_fits_narrow_the_grid_once_for_each_fold(whole_machines, monkeypatch):
    """A fold's own rows have no part in the choice of what is fitted in full for it."""
    X, y = rows(150)
    X = X + 2.0 * np.random.default_rng(1).normal(size=X.shape)

    def found(trees, short):
        make = partial(RandomForestClassifier, n_estimators=trees)
        forest = replace(whole_machines["forest"], make=make, short=short)
        monkeypatch.setitem(MACHINES, "forest", forest)
        return MachineSearch(Costs(reject=0.3), ("forest",), cv=FOLDS).fit(X, y).choice_

    narrowed, few, whole = found(20, (3,)), found(3, ()).chosen.costs, found(20, ()).chosen.costs
    chosen = narrowed.chosen
    for fold in range(4):
        others = [at for at in range(4) if at != fold]
        assert np.flatnonzero(chosen.kept[:, fold]).tolist() == [few[:, others].mean(axis=1).argmin()]
    best = few.mean(axis=1).argmin()
    assert chosen.best == chosen.parameters[best]
    assert chosen.least == pytest.approx(whole[best].mean())
    assert narrowed.cost == pytest.approx(np.mean([whole[chosen.kept[:, fold], fold][0] for fold in range(4)]))
    short = ~chosen.kept.any(axis=1)
    np.testing.assert_array_equal(chosen.costs, np.where(short[:, np.newaxis], few, whole))


def test_the_cost_of_the_svm_is_that_of_its_own_search():
    y = np.arange(120) % 2
    found = MachineSearch(Costs(reject=0.1), ("svm",), cv=FOLDS).fit(NOISE, y)
    assert found.best_score_ == pytest.approx(found.best_estimator_.best_score_)
