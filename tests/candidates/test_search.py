"""MachineSearch: costs of held-out rows as counted by hand, plain machines, the same folds for all of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import abstain
import abstain.candidates.search as machine_search
from abstain.candidates.candidate_costs import Rows
from abstain.candidates.machines import MACHINES, NAMES
from abstain.candidates.search import MachineSearch, trials_of
from abstain.costs.costs import Costs
from abstain.estimators.fitting.splitting import checked_splits
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector
from compared import COSTS, FOLDS, SMALL, prices, rows, search


@pytest.mark.parametrize("name", ["logistic", "boosting"])
def test_the_costs_are_those_of_rows_that_the_machine_was_not_fitted_on(name):
    X, y = rows(90)
    trials = search(name).fit(X, y).choice_.chosen
    for parameters, costs in zip(trials.parameters, trials.costs, strict=True):
        machine = MACHINES[name].make(**parameters, random_state=0)
        for (train, test), cost in zip(FOLDS.split(X, y), costs, strict=True):
            rejecting = ThresholdRejector(clone(machine), COSTS, method="chow", pos_label="b").fit(X[train], y[train])
            assert cost == pytest.approx(prices(y[test], rejecting.predict(X[test])).mean())


def test_a_sigmoid_sees_no_label_of_the_rows_it_is_applied_to():
    X, y = rows(90)
    sign = np.where(y == "b", 1, -1).astype(np.int8)
    splits = checked_splits(FOLDS, y, None, sign, np.ones(len(y)))
    given = [np.random.default_rng(fold).random((30, 2)) for fold in range(3)]
    before = Rows(X, y, sign, COSTS, splits).sigmoids(given)
    flipped = np.where(splits.tests[0] > 0, -sign, sign).astype(np.int8)
    after = Rows(X, y, flipped, COSTS, splits).sigmoids(given)
    np.testing.assert_array_equal(before[0], after[0])
    assert (before[1] != after[1]).any()  # control


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("logistic", LogisticRegression),
        ("forest", RandomForestClassifier),
        ("boosting", HistGradientBoostingClassifier),
    ],
)
def test_the_fitted_machine_is_a_plain_one_with_the_chosen_parameters(name, kind, whole_machines):
    X, y = rows(90)
    found = search(name, reject_label="ask", n_jobs=1).fit(X, y)
    model = found.best_estimator_
    assert type(model) is ThresholdRejector
    classifiers = [model.estimator, model.estimator_]
    if name == "forest":
        for sigmoid in classifiers:
            assert type(sigmoid) is CalibratedClassifierCV
            assert (sigmoid.cv, sigmoid.ensemble, sigmoid.n_jobs) == (3, False, None)
        (inner,) = model.estimator_.calibrated_classifiers_
        classifiers = [model.estimator.estimator, model.estimator_.estimator, inner.estimator]
        assert [forest.n_jobs for forest in classifiers] == [None] * 3
    for classifier in classifiers:
        assert type(classifier) is kind
        tuned = {key: getattr(classifier, key) for key in found.choice_.chosen.best}
        assert tuned == found.choice_.chosen.best
    assert {*found.predict(X).tolist()} <= {"a", "b", "ask"}
    assert abstain.decide(found, X).label.tolist() == found.predict(X).tolist()
    again = search(name, reject_label="ask", n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), found.decision_function(X))
    np.testing.assert_array_equal(again.choice_.chosen.costs, found.choice_.chosen.costs)
    for parameters in whole_machines[name].candidates:  # those of users, not the few of the tests
        assert kind(**parameters).get_params().items() >= parameters.items()


def test_all_machines_are_tried_on_the_same_folds():
    X, y = rows(90)
    found = search(*NAMES).fit(X, y)
    own = clone(SMALL).set_params(costs=COSTS, pos_label="b", cv=FOLDS).fit(X, y)
    trials = {one.name: one for one in found.choice_.trials}
    assert tuple(trials) == NAMES
    assert trials["svm"].least == pytest.approx(-np.nanmax(own.cv_results_["mean_tuned_score"]))
    assert trials["svm"].best == {"C": own.C_, "gamma": own.gamma_}
    for name in NAMES[1:]:
        np.testing.assert_array_equal(trials[name].costs, search(name).fit(X, y).choice_.chosen.costs)
    assert found.choice_.chosen.least == min(one.least for one in trials.values())


def test_an_svm_that_is_chosen_is_the_search_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where((X**2).sum(axis=1) > 1.4, "b", "a")  # a circle, which no line finds
    found = search("svm", "logistic").fit(X, y)
    assert type(found.best_estimator_) is RejectSVCCV
    assert found.choice_.chosen.name == "svm"
    assert found.decision_function(X).shape == (120,)
    assert found.classes_.tolist() == ["a", "b"]


def test_an_svm_that_time_left_unfinished_is_not_chosen():
    X, y = rows(90)
    finished = RejectSVCCV(COSTS, Cs=2, gammas=1).fit(X, y)
    assert np.isfinite(trials_of(finished).least)  # control
    parts = {"_now": finished._now, "cv_results_": finished.cv_results_}
    late = SimpleNamespace(**parts, status_="time_limit")  # the search ended in time, the last fit did not
    assert np.isnan(trials_of(late).least)


REPEATED = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)


def test_repeated_folds_tell_no_row_its_own_label():
    X, y = rows(90)
    sign = np.where(y == "b", 1, -1).astype(np.int8)
    splits = checked_splits(REPEATED, y, None, sign, np.ones(len(y)))
    given = [np.random.default_rng(fold).random((30, 2)) for fold in range(6)]
    before = Rows(X, y, sign, COSTS, splits).sigmoids(given)
    flipped = np.where(splits.tests[0] > 0, -sign, sign).astype(np.int8)  # in all repeats
    after = Rows(X, y, flipped, COSTS, splits).sigmoids(given)
    np.testing.assert_array_equal(before[0], after[0])
    assert (before[1] != after[1]).any()  # control
    # the choice that decides a fold is that of the other folds of its repeat
    trials = search("logistic").set_params(cv=REPEATED).fit(X, y).choice_
    costs = trials.chosen.costs
    repeats = [(0, 1, 2), (3, 4, 5)]
    by_hand = [
        costs[np.argmin(sum(costs[:, other] for other in repeat if other != fold)), fold]
        for repeat in repeats
        for fold in repeat
    ]
    assert trials.cost == pytest.approx(np.mean(by_hand))


def test_a_forest_with_repeated_folds_is_calibrated_on_the_first_repeat():
    X, y = rows(90)
    found = search("forest").set_params(cv=REPEATED).fit(X, y)
    first = list(REPEATED.split(X, y))[:3]
    forest = MACHINES["forest"].make(**found.choice_.chosen.best, random_state=0)
    plain = CalibratedClassifierCV(forest, cv=first, ensemble=False)
    np.testing.assert_allclose(found.best_estimator_.estimator_.predict_proba(X), plain.fit(X, y).predict_proba(X))


def test_folds_that_leave_rows_out_are_refused_before_the_search_if_a_sigmoid_needs_them(monkeypatch):
    X, y = rows(90)
    some = StratifiedShuffleSplit(2, test_size=0.2, random_state=0)
    assert search("logistic").set_params(cv=some).fit(X, y).choice_.chosen.name == "logistic"  # control: it needs none
    monkeypatch.setattr(machine_search, "tuned", lambda *_, **__: pytest.fail("the search has begun"))
    with pytest.raises(ValueError, match=r"folds that together test every row once.* leave out \d+ of 90 rows"):
        search("logistic", "forest").set_params(cv=some).fit(X, y)


def test_the_positive_class_may_sort_first():
    X, y = rows(90)
    turned = Costs(COSTS.false_negative, COSTS.false_positive, COSTS.reject[::-1])
    other = MachineSearch(turned, ("logistic",), cv=FOLDS, pos_label="a").fit(X, y)
    np.testing.assert_allclose(other.choice_.chosen.costs, search("logistic").fit(X, y).choice_.chosen.costs)


def test_folds_that_train_on_one_class_are_an_error():
    X, y = rows(60)
    with pytest.raises(ValueError, match="trains without the class"):
        MachineSearch(COSTS, ("logistic",), cv=[(np.flatnonzero(y == "a"), np.flatnonzero(y == "b"))]).fit(X, y)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"machines": "svm"}, "must be a sequence of names"),
        ({"machines": ()}, "must be a sequence of names"),
        ({"svm": LogisticRegression()}, "must be a RejectSVCCV"),
        ({"machines": ("logistic", "tree")}, "has 'tree', which is none of"),
        ({"time_limit": -1}, "time_limit=-1 must be positive"),
        ({"time_limit": "1"}, "time_limit='1' must be a real number"),
        ({"cv": 1}, "cv=1 must be at least 2 folds"),
    ],
)
def test_impossible_parameters_are_named(given, said):
    X, y = rows(30)
    with pytest.raises(ValueError, match=said):
        search("logistic").set_params(**given).fit(X, y)


def test_costs_of_rows_reach_it_through_a_pipeline_by_metadata_routing():
    X, y = rows(60)
    costs = np.random.default_rng(0).uniform([1, 1, 0.1], [5, 5, 0.4], size=(60, 3))
    alone = search("logistic").fit(X, y, row_costs=costs)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = search("logistic").set_fit_request(row_costs=True).set_predict_request(row_costs=True)
        routed = make_pipeline(FunctionTransformer(), asking.set_score_request(row_costs=True))
        routed.fit(X, y, row_costs=costs)
        np.testing.assert_array_equal(routed.predict(X, row_costs=costs), alone.predict(X, row_costs=costs))
        assert routed.score(X, y, row_costs=costs) == alone.score(X, y, row_costs=costs)
    assert (alone.predict(X, row_costs=costs) != alone.predict(X)).any()  # control


def test_weights_are_repeated_rows():
    X, y = rows(90)
    times = np.random.default_rng(1).integers(0, 4, size=90)
    folds = [(train, test) for train, test in FOLDS.split(X, y)]
    place = np.split(np.arange(times.sum()), np.cumsum(times)[:-1])  # of the copies of each row
    copies = [tuple(np.concatenate([place[row] for row in part]) for part in pair) for pair in folds]
    weighted = search("logistic").set_params(cv=folds).fit(X, y, sample_weight=times)
    repeated = search("logistic").set_params(cv=copies).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.choice_.chosen.costs, repeated.choice_.chosen.costs, rtol=1e-9)
    assert weighted.choice_.chosen.best == repeated.choice_.chosen.best
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    plain = search("logistic").set_params(cv=folds).fit(X, y)  # control
    assert np.abs(plain.choice_.chosen.costs - weighted.choice_.chosen.costs).max() > 1e-3


def test_the_svm_has_the_weights_of_its_own_search():
    X, y = rows(90)
    weight = np.random.default_rng(1).uniform(0.5, 4, size=90)
    found = search("svm").fit(X, y, sample_weight=weight)
    own = clone(SMALL).set_params(costs=COSTS, pos_label="b", cv=FOLDS).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(found.decision_function(X), own.decision_function(X))
    np.testing.assert_array_equal(found.choice_.chosen.costs, trials_of(own).costs)


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "svm"])
@pytest.mark.parametrize("cv", [3, FOLDS])
def test_rows_of_weight_0_are_left_out(name, cv):
    X, y = rows(120)
    weight = (np.random.default_rng(2).random(120) < 0.8).astype(float)
    junk = np.where(weight[:, np.newaxis] > 0, X, 1e3)
    costs = np.random.default_rng(0).uniform([1, 1, 0.1], [5, 5, 0.4], size=(120, 3))
    weighted = search(name).set_params(cv=cv).fit(junk, y, sample_weight=weight, row_costs=costs)
    other = np.where(weight[:, np.newaxis] > 0, X, -1e3)
    again = search(name).set_params(cv=cv).fit(other, y, sample_weight=weight, row_costs=costs)
    np.testing.assert_array_equal(weighted.choice_.chosen.costs, again.choice_.chosen.costs)
    if cv == 3 and name != "forest":  # the folds are those of the rows left; forests draw rows by their weights
        kept = weight > 0
        fewer = search(name).set_params(cv=cv).fit(X[kept], y[kept], row_costs=costs[kept])
        np.testing.assert_allclose(weighted.choice_.chosen.costs, fewer.choice_.chosen.costs, rtol=1e-9)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("limit", [None, 1e6])
def test_weights_reach_every_machine_and_its_sigmoid(routing, limit):
    X, y = rows(90)
    heavy = np.where(y == "b", 20.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=routing):
        for name in NAMES:
            made = search(name, time_limit=limit)
            plain, found = made.fit(X, y).predict_forced(X), made.fit(X, y, sample_weight=heavy).predict_forced(X)
            assert np.sum(found == "b") > np.sum(plain == "b") + 5, name


def test_impossible_weights_are_named():
    X, y = rows(30)
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        search("logistic").fit(X, y, sample_weight=np.full(30, -1.0))


def test_a_single_fold_says_that_the_cost_is_not_known():
    X, y = rows(60)
    with pytest.warns(UserWarning, match="cv has a single fold, on which the choice is made"):
        found = MachineSearch(COSTS, ("logistic",), cv=[(np.arange(30), np.arange(30, 60))]).fit(X, y)
    assert np.isnan(found.best_score_)


def test_threads_reach_the_svm():
    X, y = rows(60)
    assert search("svm", n_jobs=2).fit(X, y).best_estimator_.n_jobs == 2
