"""The score of a ThresholdRejector: cut at 0 as everywhere in scikit-learn, also around probabilities."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from abstain import Costs, ThresholdRejector, load, save
from abstain.machines.response_machine import log_odds
from abstain.report import report_for
from abstain.rules.tuning.methods import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows

UNEQUAL = Costs(false_positive=1, false_negative=5, reject=0.3)
NAMED = Costs.from_table({"a": {"b": 1}, "b": {"a": 5}}, reject={"a": 0.2, "b": 0.3})


def test_log_odds_are_finite_ordered_and_odd():
    p = np.array([0.0, 5e-324, 1e-300, 0.2, 0.5, 0.8, 1.0])
    f = log_odds(np.column_stack([1 - p, p]))
    assert np.isfinite(f).all()
    assert (np.diff(f) >= 0).all()
    assert_allclose(f[3:6], logit(p[3:6]))
    assert_array_equal(log_odds(np.column_stack([p, 1 - p])), -f)


def test_tools_that_cut_at_0_decide_as_the_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    alone = GaussianNB().fit(X, y)
    for tool in (FixedThresholdClassifier, lambda clf, **kw: TunedThresholdClassifierCV(clf, cv=3, **kw)):
        found = tool(ThresholdRejector(GaussianNB()), response_method="decision_function").fit(X, y)
        assert found.score(X, y) >= alone.score(X, y) - 0.01
    # control: the probability itself as a score, cut at 0, is always above
    assert alone.score(X, y) > np.mean(y == 1) + 0.2


@pytest.mark.parametrize("model", [KNeighborsClassifier(5), RandomForestClassifier(10, random_state=0)], ids=str)
def test_chow_decides_by_the_probabilities(data, model):
    X, y = data
    clf = ThresholdRejector(model, UNEQUAL, method="chow").fit(X, y)
    P = model.fit(X, y).predict_proba(X)
    cost = np.c_[5 * P[:, 1], np.full(len(P), 0.3), P[:, 0]]
    clear = np.sort(cost, axis=1)[:, 1] - cost.min(axis=1) > 1e-9
    assert_array_equal(clf.predict(X)[clear], np.array([0, -1, 1])[cost.argmin(axis=1)][clear])
    assert_allclose(clf.decide(X).expected_cost, cost, atol=1e-12)
    assert (clf.thresholds_, clf.rule_.cut) == (UNEQUAL.score_thresholds(), UNEQUAL.cut)
    assert report_for(clf, X, y).slider.follows_price  # the score has the scale on which the page moves thresholds


def test_probabilities_are_those_of_the_classifier(data):
    X, y = data
    clf = ThresholdRejector(LogisticRegression(), UNEQUAL)
    assert hasattr(clf, "predict_proba")
    assert not hasattr(ThresholdRejector(LinearSVC(), UNEQUAL), "predict_proba")
    clf.fit(X, y)
    assert_array_equal(clf.predict_proba(X), clf.estimator_.predict_proba(X))
    assert_array_equal(clf.predict_log_proba(X), clf.estimator_.predict_log_proba(X))
    assert not hasattr(ThresholdRejector(LinearSVC(), UNEQUAL).fit(X, y), "predict_proba")
    assert hasattr(ThresholdRejector(LinearSVC(), UNEQUAL, method="chow").fit(X, y), "predict_proba")  # its sigmoid's


def test_unequal_costs_get_two_thresholds_by_default(data):
    X, y = data
    clf = ThresholdRejector(LogisticRegression(), UNEQUAL, cv="train").fit(X, y)
    rows = ScoredRows.of(clf.estimator_.decision_function(X), y, cut=0.0)
    assert (clf.method_, clf.thresholds_) == ("roc", roc_thresholds(rows, UNEQUAL))
    one = ThresholdRejector(LogisticRegression(), UNEQUAL, cv="train", method="symmetric").fit(X, y)
    assert clf.score(X, y) > one.score(X, y)  # on the rows tuned on, two thresholds cost no more than one
    for request in ({"costs": Costs(reject=0.3)}, {"reject_rate": 0.2}, {"max_error": 0.3}):
        found = ThresholdRejector(LogisticRegression(), random_state=0, **request).fit(X, y)
        assert (found.method_, found.thresholds_.lower) == ("symmetric", -found.thresholds_.upper)
        assert found.retune(costs=UNEQUAL).method_ == "roc"
    assert ThresholdRejector(LogisticRegression(), Costs(reject=(0.2, 0.3))).fit(X, y).method_ == "roc"


@pytest.mark.parametrize("costs", [UNEQUAL, NAMED], ids=["positions", "names"])
@pytest.mark.parametrize("method", ["auto", "chow"])
def test_files_keep_the_score_and_named_costs(data, tmp_path, method, costs):
    X, y = data
    y = y if costs.labels is None else np.array(["a", "b"])[y]
    clf = ThresholdRejector(LogisticRegression(), costs, method=method).fit(X, y)
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.costs == costs
    assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert_array_equal(again.predict(X), clf.predict(X))
    assert again.method_ == clf.method_


def test_saving_and_loading_do_not_warn_again(data, tmp_path):
    X, y = data
    with pytest.warns(UserWarning, match="pos_label is not given"):
        clf = ThresholdRejector(LogisticRegression(), UNEQUAL).fit(X, np.array(["a", "b"])[y])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(clf, tmp_path / "model")
        load(tmp_path / "model")
