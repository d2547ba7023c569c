"""Scorers in scikit-learn's own tools: what they score, whose labels they read, which weights they get."""

import copy
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from abstain import Costs, RejectSVC, ThresholdRejector, metrics
from abstain.metrics import get_scorer

COSTS = Costs(1, 5, 0.3)
OF_PREDICTIONS = {
    "mean_cost": -1,
    "reject_rate": -1,
    "coverage": 1,
    "error_rate": -1,
    "selective_error": -1,
    "selective_accuracy": 1,
    "sensitivity": 1,
    "positive_predictivity": 1,
}
OF_SCORES = ["aurc", "e_aurc", "augrc"]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(150, 4, flip_y=0.1, class_sep=1.0, random_state=5)
    return X, y


@pytest.fixture(scope="module")
def pipeline(data):
    return make_pipeline(StandardScaler(), RejectSVC(COSTS)).fit(*data)


@pytest.mark.parametrize("name", OF_PREDICTIONS)
def test_a_scorer_is_its_measure_of_the_predictions_with_larger_better(name, data, pipeline):
    X, y = data
    costs = COSTS if name == "mean_cost" else None
    weight = np.random.default_rng(0).uniform(size=len(y))
    stated = () if costs is None else (costs,)
    assert 0 < metrics.reject_rate(y, pipeline.predict(X)) < 1
    for options in ({}, {"sample_weight": weight}):
        measured = getattr(metrics, name)(y, pipeline.predict(X), *stated, **options)
        assert get_scorer(name, costs=costs)(pipeline, X, y, **options) == OF_PREDICTIONS[name] * measured


@pytest.mark.parametrize("name", OF_SCORES)
def test_an_area_scores_the_decision_function(name, data, pipeline):
    X, y = data
    measure, score = getattr(metrics, name), pipeline.decision_function(X)
    assert get_scorer(name)(pipeline, X, y) == -measure(y, score)
    assert get_scorer(name, cut=COSTS.cut)(pipeline, X, y) == -measure(y, score, cut=COSTS.cut)
    assert measure(y, score) != measure(y, score, cut=COSTS.cut)
    # with the first class positive the same decisions are made, so the same errors are found
    assert get_scorer(name, pos_label=0)(pipeline, X, y) == -measure(y, score)


@pytest.mark.parametrize("name", OF_SCORES)
def test_an_area_scores_probabilities_where_there_is_nothing_else(name, data):
    X, y = data
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    proba = tree.predict_proba(X)
    assert get_scorer(name)(tree, X, y) == -getattr(metrics, name)(y, proba[:, 1], cut=0.5)
    measured = getattr(metrics, name)(y, proba[:, 0], cut=0.5, pos_label=0)
    assert get_scorer(name, pos_label=0)(tree, X, y) == -measured


@pytest.mark.parametrize("pos_label", [0, 1])
def test_an_area_cuts_at_one_half_where_a_threshold_rejector_scores_by_probabilities(data, pos_label):
    X, y = data
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    by_proba = ThresholdRejector(tree, COSTS, method="chow", cv="prefit").fit(X, y)
    expected = -metrics.aurc(y, tree.predict_proba(X)[:, 1], cut=0.5)
    assert get_scorer("aurc", pos_label=pos_label)(by_proba, X, y) == pytest.approx(expected)
    linear = LogisticRegression().fit(X, y)
    by_score = ThresholdRejector(linear, COSTS, cv="prefit").fit(X, y)
    expected = -metrics.aurc(y, linear.decision_function(X))
    assert get_scorer("aurc", pos_label=pos_label)(by_score, X, y) == pytest.approx(expected)


def test_the_estimators_own_labels_are_read_behind_pipelines_and_searches(data):
    X, y = data
    labels = np.array(["ill", "well"])[y]
    clf = make_pipeline(StandardScaler(), RejectSVC(COSTS, reject_label="?", pos_label="ill"))
    search = GridSearchCV(clf, {"rejectsvc__C": [1.0]}, cv=2).fit(X, labels)
    predicted = search.predict(X)
    assert (predicted == "?").any()
    expected = metrics.mean_cost(labels, predicted, COSTS, pos_label="ill", reject_label="?")
    for estimator in (search, search.best_estimator_, search.best_estimator_[-1]):
        rows = X if estimator is not search.best_estimator_[-1] else search.best_estimator_[0].transform(X)
        assert get_scorer("mean_cost", costs=COSTS)(estimator, rows, labels) == pytest.approx(-expected)
    told = get_scorer("mean_cost", costs=COSTS, pos_label="well")(search, X, labels)
    assert told == -metrics.mean_cost(labels, predicted, COSTS, pos_label="well", reject_label="?")
    assert told != pytest.approx(-expected)


def test_a_reject_label_may_be_given(data):
    X, y = data

    class Hesitant(ClassifierMixin, BaseEstimator):
        """Rejects every third row, and has no reject_label_ to say so."""

        def fit(self, _, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.where(np.arange(len(X)) % 3 == 0, 9, 1)

    hesitant = Hesitant().fit(X, y)
    assert get_scorer("reject_rate", reject_label=9)(hesitant, X, y) == pytest.approx(-1 / 3)
    with pytest.raises(ValueError, match="y_pred contains 9, which is not one of the classes"):
        get_scorer("reject_rate")(hesitant, X, y)


def test_estimators_that_never_reject_are_scored_whatever_their_classes(data):
    X, y = data
    for labels in (np.array(["accept", "reject"])[y], y.astype(bool), y.astype(float), y + 0):
        clf = LogisticRegression().fit(X, labels)
        wrong = np.mean(clf.predict(X) != labels)
        assert get_scorer("error_rate")(clf, X, labels) == pytest.approx(-wrong)
        assert get_scorer("coverage")(clf, X[:1], labels[:1]) == 1.0  # also on one row, of one class


def test_a_search_finds_the_smallest_mean_cost(data):
    X, y = data
    folds = StratifiedKFold(3)
    grid = {"rejectsvc__C": [0.01, 0.1, 1.0, 10.0]}
    model = make_pipeline(StandardScaler(), RejectSVC(COSTS))
    search = GridSearchCV(model, grid, scoring=get_scorer("mean_cost", costs=COSTS), cv=folds).fit(X, y)
    by_hand = []
    for C in grid["rejectsvc__C"]:
        parts = []
        for train, test in folds.split(X, y):
            fitted = clone(model).set_params(rejectsvc__C=C).fit(X[train], y[train])
            parts.append(metrics.mean_cost(y[test], fitted.predict(X[test]), COSTS))
        by_hand.append(np.mean(parts))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], -np.array(by_hand), rtol=1e-12)
    assert search.best_params_["rejectsvc__C"] == grid["rejectsvc__C"][int(np.argmin(by_hand))]
    assert len(set(by_hand)) > 1
    # RejectSVC's own score is the same thing
    own = GridSearchCV(model, grid, cv=folds).fit(X, y)
    np.testing.assert_allclose(own.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=1e-12)


def test_several_at_once_in_cross_validate(data):
    X, y = data
    scoring = {name: get_scorer(name, costs=COSTS if name == "mean_cost" else None) for name in OF_PREDICTIONS}
    scoring["aurc"] = get_scorer("aurc")
    model = make_pipeline(StandardScaler(), RejectSVC(COSTS))
    found = cross_validate(model, X, y, scoring=scoring, cv=KFold(3), return_estimator=True)
    for i, (_, test) in enumerate(KFold(3).split(X)):
        predicted = found["estimator"][i].predict(X[test])
        assert found["test_coverage"][i] == pytest.approx(1 + found["test_reject_rate"][i])
        assert found["test_selective_error"][i] == -metrics.selective_error(y[test], predicted)
        score = found["estimator"][i].decision_function(X[test])
        assert found["test_aurc"][i] == -metrics.aurc(y[test], score)


@pytest.mark.parametrize("alias", [True, "importance"])
def test_sample_weights_are_routed_to_the_scorer_that_asks_for_them(data, alias):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), RejectSVC(COSTS))
        model[-1].set_fit_request(sample_weight=False)
        scoring = {
            "weighted": get_scorer("mean_cost", costs=COSTS).set_score_request(sample_weight=alias),
            "plain": get_scorer("mean_cost", costs=COSTS).set_score_request(sample_weight=False),
        }
        name = "sample_weight" if alias is True else alias
        params = {name: weight}
        found = cross_validate(model, X, y, scoring=scoring, cv=KFold(3), params=params, return_estimator=True)
        search = GridSearchCV(model, {"rejectsvc__C": [1.0]}, scoring=scoring["weighted"], cv=KFold(3), refit=False)
        search.fit(X, y, **params)
    for i, (_, test) in enumerate(KFold(3).split(X)):
        predicted = found["estimator"][i].predict(X[test])
        weighted = metrics.mean_cost(y[test], predicted, COSTS, sample_weight=weight[test])
        plain = metrics.mean_cost(y[test], predicted, COSTS)
        assert found["test_weighted"][i] == pytest.approx(-weighted)
        assert found["test_plain"][i] == pytest.approx(-plain)
        assert search.cv_results_[f"split{i}_test_score"][0] == pytest.approx(-weighted)
        assert weighted != pytest.approx(plain)


def test_weights_that_nobody_asked_for_are_refused_by_name(data):
    X, y = data
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        scorer = get_scorer("mean_cost", costs=COSTS)
        # scikit-learn's own words, which name who was asked
        with pytest.raises(ValueError, match=r"\[sample_weight\] are passed but are not explicitly set as requested"):
            cross_validate(model, X, y, scoring=scorer, cv=2, params={"sample_weight": np.ones(len(y))})


def test_without_routing_the_weights_of_a_score_reach_it(data):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    clf = LogisticRegression().fit(X, y)
    expected = -metrics.mean_cost(y, clf.predict(X), COSTS, sample_weight=weight)
    assert get_scorer("mean_cost", costs=COSTS)(clf, X, y, sample_weight=weight) == expected


def test_all_rejected_is_nan_with_one_warning(data):
    X, y = data
    timid = RejectSVC(Costs(reject=1e-6), C=1e-6).fit(X, y)
    assert timid.reject_mask(X).all()
    with pytest.warns(UndefinedMetricWarning, match="selective_error is undefined") as caught:
        assert np.isnan(get_scorer("selective_error")(timid, X, y))
    assert len(caught) == 1


def test_scorers_are_copied_pickled_and_shown(data, pipeline):
    X, y = data
    scorer = get_scorer("neg_mean_cost", costs=COSTS, pos_label=1)
    expected = get_scorer("mean_cost", costs=COSTS)(pipeline, X, y)
    for other in (scorer, copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):  # noqa: S301 (our own bytes)
        assert other(pipeline, X, y) == expected
        assert repr(other) == (
            "get_scorer('mean_cost', costs=Costs(false_positive=1.0, false_negative=5.0, reject=0.3), pos_label=1)"
        )


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("accuracy", {}, "name='accuracy' is not a metric; give one of augrc, aurc, coverage, e_aurc, error_rate, me"),
        ("neg_coverage", {}, "name='neg_coverage' is not a metric"),
        (None, {}, "name=None is not a metric"),
        ("mean_cost", {}, r"needs costs: get_scorer\(\"mean_cost\", costs=Costs\(...\)\)"),
        ("mean_cost", {"costs": 0.3}, "costs=0.3 must be a Costs"),
        ("coverage", {"costs": COSTS}, 'costs are for "mean_cost" only'),
        ("coverage", {"cut": 0.5}, "cut is for aurc, e_aurc, augrc only"),
        ("aurc", {"cut": "0"}, "cut='0' must be a real number"),
    ],
)
def test_invalid_arguments_of_a_scorer_are_refused(name, options, text):
    with pytest.raises(ValueError, match=text):
        get_scorer(name, **options)


def test_all_measures_have_a_scorer():
    functions = {name for name in metrics.__all__ if name.islower() and not name.endswith("_curve")}
    tables = {"reject_confusion_matrix", "action_confusion_matrix"}
    assert functions - {"get_scorer", "bootstrap_band", *tables} == {*OF_PREDICTIONS, *OF_SCORES}
