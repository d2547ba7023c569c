"""MachineSearch: costs of held-out rows as counted by hand, plain machines, the same folds for all of them."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import abstain
from abstain.candidates.machines import MACHINES, NAMES
from abstain.candidates.pricing import Pricing
from abstain.candidates.search import MachineSearch, trials_of
from abstain.candidates.tuning import Rows
from abstain.costs import Costs
from abstain.estimators.splitting import checked_splits
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from compared import COSTS, prices, rows

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
SMALL = RejectSVCCV(Cs=[0.1, 1.0], gammas=[0.1, 1.0])


def search(*machines, **parameters):
    return MachineSearch(COSTS, machines, svm=SMALL, cv=FOLDS, pos_label="b", **parameters)


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
    before = Rows(X, y, Pricing(sign, COSTS), splits).sigmoids(given)
    flipped = np.where(splits.tests[0] > 0, -sign, sign).astype(np.int8)
    after = Rows(X, y, Pricing(flipped, COSTS), splits).sigmoids(given)
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


def test_time_that_runs_out_leaves_the_first_candidate_and_a_warning():
    X, y = rows(90)
    with pytest.warns(ConvergenceWarning, match="1 of the 2 candidates of 'logistic' count as not tried"):
        found = search("logistic", time_limit=1e-6).fit(X, y)
    assert np.isfinite(found.choice_.chosen.costs).all(axis=1).tolist() == [True, False]
    assert found.choice_.chosen.best == MACHINES["logistic"].candidates[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search("logistic", time_limit=600).fit(X, y)  # control


def test_the_last_fit_of_the_svm_has_the_time_that_is_kept_for_it():
    X, y = rows(90)
    seen = {}

    def late(self, X, y, groups=None):
        seen.update(limit=self.time_limit, search=self._searching * self.time_limit)
        warnings.warn(f"out of time; raise time_limit={self.time_limit} or so", ConvergenceWarning, stacklevel=2)
        return RejectSVCCV.fit(self, X, y, groups=groups)

    class Late(RejectSVCCV):
        fit = late

    machines = MachineSearch(COSTS, ("svm", "logistic"), svm=Late(Cs=[1.0], gammas=[0.1]), cv=FOLDS, time_limit=80.0)
    with pytest.warns(ConvergenceWarning, match=r"raise time_limit=80\.0 or so"):
        machines.fit(X, y)
    # three quarters are for the two searches, in equal shares, and the rest for last fits
    assert seen["search"] == pytest.approx(30.0, abs=1.0)
    assert seen["limit"] - seen["search"] == pytest.approx(20.0)


def test_the_positive_class_may_sort_first():
    X, y = rows(90)
    turned = Costs(COSTS.false_negative, COSTS.false_positive, COSTS.reject[::-1])
    other = MachineSearch(turned, ("logistic",), cv=FOLDS, pos_label="a").fit(X, y)
    np.testing.assert_allclose(other.choice_.chosen.costs, search("logistic").fit(X, y).choice_.chosen.costs)


def test_folds_that_train_on_one_class_are_an_error():
    X, y = rows(60)
    with pytest.raises(ValueError, match="trains on one class only"):
        MachineSearch(COSTS, ("logistic",), cv=[(np.flatnonzero(y == "a"), np.flatnonzero(y == "b"))]).fit(X, y)
