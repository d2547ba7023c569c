"""`predict_proba`: the probabilities of `decide` where scores have some, and no such method where they have none."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    LinearRejectSVCCV,
    MachineSearch,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    load,
    save,
)
from class_cases import gaussians

EVEN, SIDES = Costs(reject=0.2), Costs(1, 5, 0.3)
X, CODES = gaussians(150)
NEW, NEW_CODES = gaussians(4000, seed=1)
TWO = CODES < 2
HAVE = {
    "svc": RejectSVC(SIDES),
    "named actions": RejectSVC(Actions({"a": {"a": 0, "b": 5}, "b": {"a": 1, "b": 0}, "ask": 0.3})),
    "bartlett-wegkamp": RejectSVC(EVEN, rule="bartlett-wegkamp"),
    "tuned": RejectSVCCV(SIDES, Cs=2, gammas=2, cv=2, cuts="tuned"),
    "bayes": RejectSVCCV(SIDES, Cs=2, gammas=2, cv=2, cuts="bayes"),
    "linear": LinearRejectSVC(SIDES),
    "linear search": LinearRejectSVCCV(SIDES, Cs=2, cv=2),
    "svm": MachineSearch(SIDES, ("svm",), cv=2),
    "logistic": MachineSearch(SIDES, ("logistic",), cv=2),
    "guarded": NoveltyRejector(RejectSVC(SIDES), 0.1, random_state=0),
}
HAVE_NOT = {
    "no costs": RejectSVC(),
    "votes": RejectSVC(),
    "embedded": EmbeddedRejectSVC(0.2, n_starts=1),
    "linear": LinearRejectSVC(),
    "search": RejectSVCCV(Cs=2, gammas=2, cv=2),
    "guarded": NoveltyRejector(RejectSVC(), 0.1, random_state=0),
    "budget": ThresholdRejector(RejectSVC(SIDES), reject_rate=0.2, cv=2),
}


def labelled(name):
    return (X, np.array(["a", "b", "c"])[CODES]) if "votes" in name else (X[TWO], np.array(["a", "b"])[CODES[TWO]])


@pytest.mark.filterwarnings("ignore:pos_label is not given")
@pytest.mark.parametrize("name", HAVE)
def test_they_are_those_of_decide(name, tmp_path):
    clf = HAVE[name]
    assert hasattr(clf, "predict_proba")
    with pytest.raises(NotFittedError):
        clf.predict_proba(X)
    clf.fit(*labelled(name))
    P = clf.predict_proba(NEW)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert P.min() >= 0
    decided = clf.decide(NEW)
    known = decided.reason != "novel"  # of novel rows `decide` says nothing
    np.testing.assert_array_equal(P[known], decided.probability[known])
    assert (np.diff(P[np.argsort(clf.decision_function(NEW)), 1]) >= 0).all()
    if not isinstance(clf, MachineSearch):
        save(clf, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(NEW), P)


@pytest.mark.filterwarnings("ignore:pos_label is not given")
@pytest.mark.parametrize("name", HAVE_NOT)
def test_there_is_none_where_scores_say_nothing_of_probabilities(name):
    clf = HAVE_NOT[name]
    assert not hasattr(clf, "predict_proba")
    clf.fit(*labelled(name))
    assert not hasattr(clf, "predict_proba")
    assert clf.decide(NEW).probability is None


def test_costs_of_the_rows_are_costs():
    clf = RejectSVC()
    clf.fit(X[TWO], CODES[TWO], row_costs=np.tile([1.0, 5.0, 0.3], (TWO.sum(), 1)))
    odds = np.exp(clf.decision_function(NEW))
    np.testing.assert_allclose(clf.predict_proba(NEW)[:, 1], odds / (1 + odds), rtol=1e-10)


def test_several_classes():
    def log_loss(P, truth):
        return -np.log(np.maximum(P[np.arange(len(P)), truth], 1e-12)).mean()

    found = {}
    for cuts in ("bayes", "tuned"):
        clf = RejectSVCCV(EVEN, Cs=[1.0], gammas=[0.3], cv=3, cuts=cuts).fit(X, CODES)
        P = clf.predict_proba(NEW)
        np.testing.assert_array_equal(P, clf.decide(NEW).probability)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        found[cuts] = log_loss(P, NEW_CODES)
        assert log_loss(P, np.roll(NEW_CODES, 1)) > np.log(3)  # the control: those of other rows are worse than none
    assert found["tuned"] < found["bayes"] < np.log(3)


def within(P, truth):
    """The largest distance of stated from observed shares, over tenths of the rows by their probability."""
    order = np.argsort(P)
    return max(abs(P[part].mean() - truth[part].mean()) for part in np.array_split(order, 10))


def test_the_tuned_ones_are_near_the_true_shares():
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 2
    rows = rng.normal(size=(6000, 2)) + 0.8 * y[:, np.newaxis]
    clf = RejectSVCCV(EVEN, Cs=[1.0], gammas=[0.3], cv=5, cuts="tuned").fit(rows[:500], y[:500])
    P = clf.predict_proba(rows[500:])[:, 1]
    assert within(P, y[500:]) < 0.15
    assert within(1 - P, y[500:]) > 0.5  # the control


GRID = {"C": [1.0]}
AROUND = {
    "machine": RejectSVC(EVEN),
    "pipeline": make_pipeline(StandardScaler(), RejectSVC(EVEN)),
    "search": GridSearchCV(RejectSVC(EVEN), GRID, cv=2),
    "search of pipelines": GridSearchCV(make_pipeline(RejectSVC(EVEN)), {"rejectsvc__C": [1.0]}, cv=2),
    "guard": NoveltyRejector(RejectSVC(EVEN), 0.1, random_state=0),
    "machines": MachineSearch(EVEN, ("logistic",), cv=2),
    "other": LinearSVC(),
}


@pytest.mark.parametrize("name", AROUND)
def test_chows_rule_still_calibrates_machines_with_rough_ones(name):
    clf = ThresholdRejector(AROUND[name], SIDES, method="chow", cv=2, pos_label=1).fit(X[TWO], CODES[TWO])
    assert isinstance(clf.estimator_, CalibratedClassifierCV)
    fitted = AROUND[name].fit(X[TWO], CODES[TWO])
    frozen = ThresholdRejector(FrozenEstimator(fitted), SIDES, method="chow", cv="prefit", pos_label=1)
    assert isinstance(frozen.fit(X[TWO], CODES[TWO]).estimator_, CalibratedClassifierCV)


def test_chows_rule_takes_those_of_other_classifiers():
    for clf in (LogisticRegression(), GridSearchCV(LogisticRegression(), GRID, cv=2)):
        found = ThresholdRejector(clf, SIDES, method="chow", cv=2, pos_label=1).fit(X[TWO], CODES[TWO])
        assert type(found.estimator_) is type(clf)
    inner = ThresholdRejector(LogisticRegression(), EVEN)  # passes on those of the regression
    assert type(ThresholdRejector(inner, SIDES, method="chow", pos_label=1).fit(X[TWO], CODES[TWO]).estimator_) is type(
        inner
    )


@pytest.mark.parametrize("conformal", ["split", "cross"])
def test_promises_around_machines_have_none(conformal):
    asked = {"class_error": {0: 0.1, 1: 0.1}, "conformal": conformal}
    for machine, has in ((RejectSVC(SIDES), False), (LogisticRegression(), True)):
        found = ThresholdRejector(machine, **asked).fit(X[TWO], CODES[TWO])
        assert hasattr(found, "predict_proba") == (has and conformal == "split")
