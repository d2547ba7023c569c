"""Forced: rejecting classifiers inside tools for which a reject label is an error, or an index of the last class."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from abstain import (
    Costs,
    EmbeddedRejectSVC,
    Forced,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    decide,
    save,
)
from class_cases import GENERAL, gaussians, table_costs

COSTS, UNEQUAL = Costs(reject=0.2), Costs(1, 20, 0.3)
HIGH = table_costs(GENERAL, 0.6)
REJECTING = RejectSVC(COSTS, C=10)
ENSEMBLES = {
    "bagging": lambda clf: BaggingClassifier(clf, n_estimators=5, random_state=0),
    "one-vs-one": OneVsOneClassifier,
    "output code": lambda clf: OutputCodeClassifier(clf, random_state=0),
    "voting": lambda clf: VotingClassifier([("one", clf), ("two", LogisticRegression()), ("three", SVC())]),
    "stacking": lambda clf: StackingClassifier([("one", clf)], cv=3),
    "stacking labels": lambda clf: StackingClassifier([("one", clf)], cv=3, stack_method="predict"),
}
MULTICLASS = ("one-vs-one", "output code")


@pytest.fixture(scope="module")
def flowers():
    """Rows of three classes, or of the two that overlap; the even ones to train on."""
    X, y = load_iris(return_X_y=True)
    return lambda name: (X, y) if name in MULTICLASS else (X[y > 0], y[y > 0] - 1)


def accuracy(rows, make, clf):
    X, y = rows
    return make(clf).fit(X[::2], y[::2]).score(X[1::2], y[1::2])


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles_decide_like_those_of_svc(flowers, name):
    rows, make = flowers(name), ENSEMBLES[name]
    assert accuracy(rows, make, Forced(REJECTING)) >= accuracy(rows, make, SVC(C=10)) - 0.041


@pytest.mark.parametrize("name", ["bagging", "one-vs-one", "stacking labels"])
def test_without_it_they_lose_rows_silently(flowers, name):
    rows, make = flowers(name), ENSEMBLES[name]
    wide = ThresholdRejector(RejectSVC(C=10), reject_rate=0.6, cv=2)  # rejects most rows
    assert accuracy(rows, make, wide) < accuracy(rows, make, Forced(wide)) - 0.05


def test_without_it_bags_forget_the_costs(data):
    X, y = data
    one = {"n_estimators": 1, "bootstrap": False}
    for clf in (RejectSVC(UNEQUAL), ThresholdRejector(LogisticRegression(), UNEQUAL, method="chow")):
        inner = clone(clf).fit(X, y).predict_forced(X)
        np.testing.assert_array_equal(BaggingClassifier(Forced(clf), **one).fit(X, y).predict(X), inner)
        bare = BaggingClassifier(clf, **one).fit(X, y).predict(X)  # the likeliest class
        assert (bare != inner).any()


def test_without_it_votes_are_an_error(flowers):
    with pytest.raises(ValueError, match="negative"):
        accuracy(flowers("voting"), ENSEMBLES["voting"], RejectSVC(Costs(reject=0.02), C=10))


def test_tools_that_cut_at_0_get_the_forced_choice(data):
    X, y = data
    inner = RejectSVC(UNEQUAL).fit(X, y).predict_forced(X)
    forced, bare = (FixedThresholdClassifier(clf).fit(X, y) for clf in (Forced(RejectSVC(UNEQUAL)), RejectSVC(UNEQUAL)))
    np.testing.assert_array_equal(forced.predict(X), inner)
    assert (bare.predict(X) != inner).any()


@pytest.mark.parametrize(
    "clf",
    [
        RejectSVC(UNEQUAL),
        RejectSVCCV(UNEQUAL, Cs=2, gammas=1, cv=2),
        EmbeddedRejectSVC(0.2, C=0.1),
        ThresholdRejector(LogisticRegression(), UNEQUAL, pos_label=0),
        ThresholdRejector(RandomForestClassifier(5, random_state=0), UNEQUAL),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_predict_is_predict_forced(data, clf):
    X, y = data
    forced, inner = Forced(clf).fit(X, y), clone(clf).fit(X, y)
    np.testing.assert_array_equal(forced.predict(X), inner.predict_forced(X))
    assert set(forced.predict(X)) <= set(y)
    assert forced.score(X, y) == np.mean(inner.predict_forced(X) == y)
    np.testing.assert_array_equal(forced.decision_function(X) > 0, forced.predict(X) == 1)
    assert not hasattr(forced, "predict_proba")  # the likeliest class is not the cheapest


@pytest.mark.parametrize("clf", [LogisticRegression(), RandomForestClassifier(5, random_state=0)], ids=str)
@pytest.mark.parametrize("asked", [{"costs": Costs(reject=0.2)}, {"reject_rate": 0.2}], ids=["costs", "budget"])
def test_probabilities_are_the_classifiers_where_the_likeliest_class_is_answered(data, clf, asked):
    X, y = data
    clf = ThresholdRejector(clf, **asked)
    forced, inner = Forced(clf).fit(X, y), clone(clf).fit(X, y)
    P = forced.predict_proba(X)
    np.testing.assert_array_equal(P, inner.predict_proba(X))
    apart = P[:, 0] != P[:, 1]
    np.testing.assert_array_equal(P.argmax(axis=1)[apart], forced.predict(X)[apart])


def test_rough_probabilities_are_not_offered_to_tools_that_count_labels(data):
    clf = RejectSVC(Costs(reject=0.2)).fit(*data)
    assert hasattr(clf, "predict_proba")
    for around in (clf, make_pipeline(StandardScaler(), clf), FrozenEstimator(clf), NoveltyRejector(clf, 0.1)):
        assert not hasattr(Forced(around).fit(*data), "predict_proba")


@pytest.mark.parametrize(
    "clf",
    [
        RejectSVC(),
        RejectSVC(COSTS),
        RejectSVC(HIGH),
        RejectSVCCV(COSTS, Cs=2, gammas=1, cv=2),
        ThresholdRejector(LogisticRegression(), COSTS),
        ThresholdRejector(LogisticRegression(), HIGH, method="chow"),
        make_pipeline(StandardScaler(), ThresholdRejector(RandomForestClassifier(5, random_state=0), reject_rate=0.3)),
    ],
    ids=["votes", "cuts", "costs", "search", "lead", "chow", "pipeline"],
)
def test_of_several_classes(clf):
    X, y = gaussians(120)
    forced, inner = Forced(clf).fit(X, y), clone(clf).fit(X, y)
    np.testing.assert_array_equal(forced.predict(X), decide(inner, X).forced)
    assert set(forced.predict(X)) == {0, 1, 2}
    assert forced.decision_function(X).shape == (120, 3)
    if clf.get_params().get("costs", "") is not None:  # votes may tie
        np.testing.assert_array_equal(forced.decision_function(X).argmax(axis=1), forced.predict(X))
    assert forced.score(X, y) == np.mean(forced.predict(X) == y)


def test_several_classes_by_name_in_ensembles_that_encode_them():
    X, y = gaussians(150)
    names = np.array(["ant", "bee", "cow"])
    costs = Costs.from_table({"ant": {"bee": 1, "cow": 9}, "bee": {"ant": 1, "cow": 9}, "cow": {"ant": 1, "bee": 1}})
    clf = Forced(ThresholdRejector(LogisticRegression(), costs), classes=names)
    np.testing.assert_array_equal(clone(clf).fit(X, names[y]).predict(X), names[clone(clf).fit(X, y).predict(X)])
    model = StackingClassifier([("one", clf)], cv=3).fit(X, names[y])
    assert model.score(X, names[y]) > 0.6
    with pytest.raises(ValueError, match=r"neither classes=.* nor their positions 0 to 2"):
        clone(clf).fit(X, y + 5)


def test_pipelines_searches_weights_and_names(data):
    X, y = data
    frame, weight = pd.DataFrame(X, columns=[*"abcd"]), np.linspace(0.5, 2, len(y))
    line = Forced(make_pipeline(StandardScaler(), GridSearchCV(RejectSVC(UNEQUAL), {"C": [1, 10]}, cv=2))).fit(frame, y)
    assert set(line.predict(frame)) <= set(y)
    assert line.feature_names_in_.tolist() == [*"abcd"]
    weighted = Forced(RejectSVC(UNEQUAL)).fit(X, y, sample_weight=weight)
    expected = RejectSVC(UNEQUAL).fit(X, y, weight)
    np.testing.assert_allclose(weighted.estimator_.decision_function(X), expected.decision_function(X))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = Forced(RejectSVC(UNEQUAL).set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(routed.decision_function(X), weighted.decision_function(X))


def test_what_never_rejects_is_refused(data):
    with pytest.raises(ValueError, match="others never reject: use it without Forced"):
        Forced(SVC()).fit(*data)


def test_a_model_file_names_what_to_save(data, tmp_path):
    with pytest.raises(ValueError, match=r"estimator is a Forced, .* save its estimator_"):
        save(Forced(RejectSVC(COSTS)).fit(*data), tmp_path / "model")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "clf",
    [
        RejectSVC(),
        pytest.param(ThresholdRejector(LogisticRegression(), reject_rate=0.2, cv=2), marks=pytest.mark.long),
    ],
)
def test_every_check_passes(clf):
    results = check_estimator(Forced(clf), on_fail=None, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 50
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    # its folds are of rows: after rows of weight 0 are left out, a class has one row, which repeated would be several
    weights = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    assert failed <= (weights if hasattr(clf, "cv") else set())
