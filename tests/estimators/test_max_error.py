"""`ThresholdRejector(max_error=...)` certifies the classifier that answers, on rows that it was not fitted on."""

from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from abstain import Costs, ThresholdRejector
from abstain.rules.tuning.scored_rows import ScoredRows
from one_score import certify

CEILING, CONFIDENCE, N, SHIFT, REPEATS = 0.25, 0.9, 200, 2.0, 40
MANY = binom.ppf(0.999, REPEATS, 1 - CONFIDENCE)  # of all calibrations 10 % may break the ceiling


def drawn(n, seed=0, n_features=N):
    """Two classes that two of the features tell apart: with as many rows as features least squares falls apart."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, n_features))
    X[:, :2] += SHIFT * y[:, np.newaxis]
    return X, y


def held_out(X, y, seed, ceiling=CEILING):
    model = ThresholdRejector(RidgeClassifier(alpha=1e-6), max_error=ceiling, confidence=CONFIDENCE, random_state=seed)
    model.fit(X, y)
    return model.estimator_, model.thresholds_


def by_answer(X, y, seed):
    return held_out(X, y, seed, {1: CEILING})


def refitted(X, y, _):
    """The control that is refused: tests on scores of folds, and a classifier that is then fitted on all rows."""
    score = cross_val_predict(RidgeClassifier(alpha=1e-6), X, y, cv=5, method="decision_function")
    thresholds, _ = certify(ScoredRows.of(score, y, cut=0.0), CEILING, CONFIDENCE)
    return RidgeClassifier(alpha=1e-6).fit(X, y), thresholds


def error(model, thresholds, answers):
    """The exact error among the rows with these answers: the score of a class is normal."""
    weights, bias = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    law = norm(np.array([bias, bias + SHIFT * weights[:2].sum()]), np.linalg.norm(weights))
    given = {0: law.cdf(thresholds.lower), 1: law.sf(thresholds.upper)}
    return sum(given[label][1 - label] for label in answers) / sum(given[label].sum() for label in answers)


def errors(way, answers=(0, 1)):
    """The errors of the fits that are certified."""
    found = []
    for seed in range(REPEATS):
        with suppress(ValueError):  # where nothing can be certified
            found.append(error(*way(*drawn(N, seed), seed), answers))
    return np.array(found)


@pytest.mark.parametrize(("way", "answers"), [(held_out, (0, 1)), (by_answer, (1,))], ids=["all", "by answer"])
def test_the_ceiling_holds_for_the_classifier_that_answers(way, answers):
    found = errors(way, answers)
    assert len(found) >= 10
    assert np.sum(found > CEILING) <= MANY


def test_scores_of_folds_with_a_refit_break_it():
    found = errors(refitted)
    assert len(found) >= 10
    assert np.sum(found > CEILING) > MANY


class Remembering(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        self.seen_ = X
        return super().fit(X, y, sample_weight)


def fitted_on(model):
    return {tuple(row) for row in model.seen_}


@pytest.mark.parametrize("ceiling", [0.3, (0.3, 0.3), {0: 0.3, 1: 0.3}], ids=["one", "pair", "by answer"])
def test_the_calibration_rows_are_not_fitted_on(ceiling):
    X, y = drawn(400, n_features=3)
    clf = ThresholdRejector(Remembering(), max_error=ceiling, random_state=0).fit(X, y)
    left = [row for row in X if tuple(row) not in fitted_on(clf.estimator_)]
    assert len(left) == clf.certificate_.n_rows == len(clf._fitted_.rows.score)
    np.testing.assert_array_equal(np.sort(clf.estimator_.decision_function(left)), clf._fitted_.rows.score)


@pytest.mark.parametrize(
    ("size", "n", "held"), [(None, 400, 200), (None, 1600, 660), (None, 4000, 1000), (0.1, 1600, 160), (300, 1600, 300)]
)
def test_the_number_of_calibration_rows(size, n, held):
    # half, at most 30 times the 22 rows that certify a tenth without errors (0.9^22 < 0.1), at least a quarter
    X, y = drawn(n, n_features=3)
    clf = ThresholdRejector(GaussianNB(), max_error=0.1, calibration_size=size, random_state=0)
    assert clf.fit(X + 2 * y[:, np.newaxis], y).certificate_.n_rows == held


@pytest.mark.parametrize("ceiling", [0.2, (0.05, 0.4), {0: 0.05}, {0: 0.3, 1: 0.05}])
def test_of_each_class_the_same_share_is_held_out(ceiling):
    X, y = drawn(3000, n_features=3)
    X, y = X[: 2000 + y.sum()], np.sort(y)[: 2000 + y.sum()]
    X[:, :2] = 4 * y[:, np.newaxis] + np.random.default_rng(0).normal(size=(len(y), 2))
    clf = ThresholdRejector(GaussianNB(), max_error=ceiling, random_state=0).fit(X, y)
    held = np.bincount(clf._fitted_.rows.code)
    share = held.sum() / len(y)
    assert (np.abs(held - share * np.bincount(y)) <= 1).all()


def test_whole_groups_are_held_out():
    X, y = drawn(400, n_features=3)
    groups = np.arange(400) // 8
    clf = ThresholdRejector(Remembering(), max_error=0.3, random_state=0).fit(X, y, groups=groups)
    inside = np.array([tuple(row) in fitted_on(clf.estimator_) for row in X]).reshape(-1, 8)
    assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
    assert 0.3 < inside.mean() < 0.7


def test_the_search_and_the_sigmoid_do_not_see_them_either():
    X, y = drawn(400, n_features=3)
    search = GridSearchCV(Remembering(), {"C": [0.1, 1.0]}, cv=2)
    clf = ThresholdRejector(make_pipeline(StandardScaler(), search), max_error=0.3, random_state=0).fit(X, y)
    assert clf.estimator_[0].n_samples_seen_ == 200
    assert len(clf.estimator_[-1].best_estimator_.seen_) == 200
    chow = ThresholdRejector(LinearSVC(), max_error=0.3, method="chow", random_state=0).fit(X, y)
    held = np.isin(chow.decision_function(X), chow._fitted_.rows.score)
    assert held.sum() == 200
    machine = CalibratedClassifierCV(LinearSVC(), cv=StratifiedKFold(5, shuffle=True, random_state=0), ensemble=False)
    np.testing.assert_allclose(chow.predict_proba(X), machine.fit(X[~held], y[~held]).predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"cv": 10}, "max_error with cv=10: scores of folds would belong to other .* leave cv out to hold rows out"),
        ({"cv": StratifiedKFold(5)}, 'scores of folds would belong to other classifiers.*or use cv="prefit"'),
        ({"cv": GroupKFold(3)}, "scores of folds would belong to other classifiers"),
        ({"cv": "train"}, 'cv="train" tunes on the rows that the classifier was fitted on'),
        ({"conformal": "cross"}, 'conformal="cross" is for class_error'),
        ({"max_error": 0.001}, "needs at least 2302 calibration rows .* Use at least 4604 rows"),
        ({"max_error": (0.3, 0.001)}, "needs at least 2302 calibration rows of the class 1 .* there are 200 rows of"),
        ({"max_error": 0.02}, r"no number of rows would be enough at this rate\. Use a better"),
        ({"calibration_size": 399}, "the calibration rows leave only one class to fit on"),
    ],
)
def test_what_cannot_be_certified_is_refused(parameters, words):
    X, y = drawn(400, n_features=3)
    with pytest.raises(ValueError, match=words):
        ThresholdRejector(LogisticRegression(), **{"max_error": 0.3, "random_state": 0, **parameters}).fit(X[:, 2:], y)


def test_retune_certifies_only_on_held_out_rows():
    X, y = drawn(400, n_features=3)
    new, truth = drawn(300, 1, n_features=3)
    for request in ({"reject_rate": 0.1}, {"costs": Costs(reject=0.2)}):
        folds = ThresholdRejector(LogisticRegression(), **request).fit(X, y)
        for ceiling in (0.3, (0.3, 0.3), {0: 0.3}):
            with pytest.raises(ValueError, match="max_error cannot be promised on these scores: the classifier that"):
                folds.retune(max_error=ceiling)
        assert folds.retune(new, truth, max_error=0.3).certificate_.n_rows == 300
    split = ThresholdRejector(LogisticRegression(), max_error=0.3, random_state=0).fit(X, y)
    back = split.retune(reject_rate=0.1).retune(class_error=0.2).retune(max_error=0.3)
    unequal = ThresholdRejector(LogisticRegression(), class_error={0: 0.1, 1: 0.02}, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="held out a larger share of one class than of another"):
        unequal.retune(max_error=0.3)
    assert unequal.retune(class_error=0.2).certificate_.n_rows == unequal.certificate_.n_rows
    assert back.certificate_ == split.certificate_
    assert split.retune(max_error=0.25).certificate_.n_rows == 200


@pytest.mark.parametrize("request_", [{"max_error": 0.3}, {"class_error": 0.2}, {"reject_rate": 0.2}])
def test_a_frozen_estimator_is_fitted_already(request_):
    X, y = drawn(300, n_features=3)
    new, truth = drawn(200, 1, n_features=3)
    model = LogisticRegression().fit(X, y)
    prefit = ThresholdRejector(model, **request_, cv="prefit").fit(new, truth)
    for cv in (5, "prefit", StratifiedKFold(3)):
        frozen = ThresholdRejector(FrozenEstimator(model), **request_, cv=cv).fit(new, truth)
        assert frozen.certificate_ == prefit.certificate_
        assert frozen.thresholds_ == prefit.thresholds_
        assert frozen.retune(max_error=0.4).certificate_.n_rows == 200
    with pytest.raises(ValueError, match=r"have one classifier, and .* one for each fold"):
        ThresholdRejector(FrozenEstimator(model), class_error=0.2, conformal="cross").fit(new, truth)
