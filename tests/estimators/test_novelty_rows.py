"""Which rows each part of a NoveltyRejector is fitted on: classifier, witness, detector and calibration."""

import pickle
from copy import deepcopy
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from abstain import Costs, LinearRejectSVCCV, NoveltyRejector, RejectSVC, RejectSVCCV, ThresholdRejector
from abstain.estimators.novelty import guard_rows
from abstain.estimators.novelty.guard_rows import MOST_DETECTED, GuardRows, calibration_size, unsearched

COSTS = Costs(reject=0.2)


class Log:
    """The rows of each fit and of each question, by the numbers in their first column."""

    seen: ClassVar[list] = []

    @classmethod
    def note(cls, what, X):
        cls.seen.append((what, frozenset(np.asarray(X)[:, 0].astype(int).tolist())))

    @classmethod
    def of(cls, what):
        return [rows for name, rows in cls.seen if name == what]


class SpyClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        Log.note("classifier", X)
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        Log.note("asked", X)
        score = np.asarray(X)[:, 1]
        return score if len(self.classes_) == 2 else np.column_stack([0 * score, score, 0 * score])

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 1] > 0).astype(int)]


class SpyDetector(BaseEstimator):
    def fit(self, X, y=None):  # noqa: ARG002
        Log.note("detector", X)
        return self

    def score_samples(self, X):
        Log.note("calibration", X)
        return np.asarray(X)[:, 1]


class SpyTransformer(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):  # noqa: ARG002
        Log.note("transformer", X)
        return self

    def transform(self, X):
        return X


@pytest.fixture(autouse=True)
def _empty_log():
    Log.seen.clear()


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([np.arange(n), rng.normal(size=n)]), rng.integers(0, 2, n)


def fitted(n, classifier=None, **options):
    X, y = table(n)
    model = NoveltyRejector(classifier or SpyClassifier(), detector=SpyDetector(), random_state=0, **options)
    return model.fit(X, y), frozenset(range(n))


def test_few_calibration_rows_are_left_out_of_the_only_fit():
    model, everything = fitted(50_000)
    (classifier,), (detector,), (calibration,) = map(Log.of, ("classifier", "detector", "calibration"))
    assert len(calibration) == model.guard_.m == 999
    assert classifier == everything - calibration
    assert len(detector) == model.guard_.n == MOST_DETECTED
    assert not detector & calibration
    assert Log.of("asked") == [calibration]
    assert model.calibration_.choices.sum() == 999


@pytest.mark.parametrize("n", [500, 49_000])
def test_below_50000_rows_no_row_is_lost_and_a_witness_is_fitted_without_the_calibration_rows(n):
    model, everything = fitted(n)
    (classifier,), (detector,), (calibration,) = map(Log.of, ("classifier", "detector", "calibration"))
    assert classifier == everything
    assert len(calibration) == (199 if n == 500 else 999)
    assert len(detector) == min(n - 199, MOST_DETECTED)
    assert not detector & calibration
    choices = model.calibration_.choices
    assert Log.of("classifier")[1:] == [everything - calibration]
    assert Log.of("asked") == [calibration, calibration]  # both, which must decide about alike
    x = table(n)[0][sorted(calibration), 1]
    assert choices.tolist() == [np.sum(x <= 0), np.sum(x > 0), 0]
    np.testing.assert_array_equal(model.calibration_.scores, np.sort(-x))


class TestTheWitnessIsFittedWhenItIsRead:
    """Neither fit nor predict needs it."""

    def test_once(self):
        model, everything = fitted(500)
        model.predict(table(50)[0])
        assert Log.of("classifier") == [everything]
        first = model.calibration_.choices
        assert len(Log.of("classifier")) == 2
        assert model.calibration_.choices is first
        assert len(Log.of("classifier")) == 2

    @pytest.mark.parametrize("copied", [lambda model: pickle.loads(pickle.dumps(model)), deepcopy])  # noqa: S301
    def test_or_copied_which_leaves_no_rows_behind(self, copied):
        model, _ = fitted(500)
        assert callable(model.calibration_.counts)  # control: the rows are held
        again = copied(model)
        assert len(Log.of("classifier")) == 2
        for one in (model, again):
            assert isinstance(one.calibration_.counts, np.ndarray)
        np.testing.assert_array_equal(again.calibration_.choices, model.calibration_.choices)

    @pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
    def test_on_the_rows_as_they_were(self, kind):
        X, y = table(500)
        held = kind(X.copy()), y.copy()
        models = [NoveltyRejector(LogisticRegression(), random_state=0).fit(*rows) for rows in ((kind(X), y), held)]
        held[0][:], held[1][:] = 0.0, 1 - y
        assert models[0].calibration_.choices.tolist() == models[1].calibration_.choices.tolist()

    def test_with_the_settings_of_the_fit(self):
        X, y = table(500)
        with config_context(enable_metadata_routing=True):
            spy = SpyClassifier().set_fit_request(sample_weight=True)
            model = NoveltyRejector(spy, detector=SpyDetector(), random_state=0).fit(X, y, sample_weight=np.ones(500))
        assert model.calibration_.choices.sum() == 199  # without routing, a request is an error

    @pytest.mark.parametrize(("kept", "fits"), [(999, 2), (1000, 1)])
    def test_unless_a_copy_of_the_rows_would_be_large(self, monkeypatch, kept, fits):
        monkeypatch.setattr(guard_rows, "KEPT", kept)
        fitted(500)  # of 2 columns
        assert len(Log.of("classifier")) == fits


@pytest.mark.parametrize("n", [500, 50_000])
def test_refit_decides(n):
    _, everything = fitted(n, refit=False)
    (classifier,), (calibration,) = Log.of("classifier"), Log.of("calibration")
    assert classifier == everything - calibration
    Log.seen.clear()
    model, _ = fitted(n, refit=True)
    assert model.calibration_.choices.sum() == len(calibration)
    assert Log.of("classifier") == [everything, everything - Log.of("calibration")[0]]


def test_a_frozen_classifier_is_not_fitted_and_not_counted():
    X, y = table(500)
    known = SpyClassifier().fit(X, y)
    Log.seen.clear()
    model, _ = fitted(500, FrozenEstimator(known))
    assert model.estimator_ is known
    assert not Log.of("classifier")
    assert not Log.of("asked")
    assert model.calibration_.choices is None
    assert len(Log.of("detector")) == 1


@pytest.mark.parametrize("wrap", [lambda pipe: pipe, lambda pipe: GridSearchCV(pipe, {}, cv=2), ThresholdRejector])
def test_the_detector_has_transformers_of_its_own_that_have_not_seen_the_calibration_rows(wrap):
    model, _ = fitted(500, wrap(make_pipeline(SpyTransformer(), SpyClassifier())))
    (calibration,), (detector,) = Log.of("calibration"), Log.of("detector")
    assert detector in Log.of("transformer")
    assert not detector & calibration
    assert isinstance(model.guard_.detector[0], SpyTransformer)


def test_groups_stay_whole():
    X, y = table(600)
    groups = np.random.default_rng(1).integers(0, 40, 600)
    model = NoveltyRejector(SpyClassifier(), detector=SpyDetector(), random_state=0).fit(X, y, groups=groups)
    assert model.calibration_.choices is not None
    _, witness = Log.of("classifier")
    (calibration,), (detector,) = Log.of("calibration"), Log.of("detector")
    inside, outside = ({*groups[sorted(rows)].tolist()} for rows in (calibration, detector))
    assert not inside & outside
    assert not inside & {*groups[sorted(witness)].tolist()}
    assert 199 <= len(calibration) < 199 + 30


def test_one_group_leaves_nothing_to_calibrate_on():
    X, y = table(600)
    with pytest.raises(ValueError, match="there are 0 of 600 rows; give at least 38 rows in many groups"):
        NoveltyRejector(SpyClassifier(), rate=0.05).fit(X, y, groups=np.zeros(600))


def test_a_rare_class_is_kept_in_training_and_its_rows_are_not_counted():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(10_000), rng.normal(size=10_000)])
    y = np.where(np.arange(10_000) < 4, 2, rng.integers(0, 2, 10_000))
    met = 0
    for seed in range(12):
        Log.seen.clear()
        model = NoveltyRejector(SpyClassifier(), detector=SpyDetector(), random_state=seed, calibration_size=900)
        model.set_params(refit=False).fit(X, y)
        (classifier,), (detector,), (calibration,) = map(Log.of, ("classifier", "detector", "calibration"))
        rare = calibration & {0, 1, 2, 3}
        met += len(rare)
        assert {0, 1, 2, 3} <= classifier
        assert not detector & calibration  # the promise is the detector's
        assert classifier & calibration == rare
        assert model.calibration_.choices.sum() == 900 - len(rare)
    assert met  # without the rule, some of them would have been left out


def test_rows_of_a_returned_group_are_all_returned():
    y, groups = np.array([1] * 3 + [0] * 97), np.repeat(np.arange(10), 10)
    for seed in range(10):
        state = np.random.RandomState(seed)
        rows = GuardRows.drawn(y, np.arange(100), groups, 50, state)
        assert {0, 1, 2} <= {*rows.training.tolist()}
        assert not {*groups[rows.training].tolist()} & {*groups[rows.held_out].tolist()}
        assert not {*rows.detector.tolist()} & {*rows.calibration.tolist()}


def test_rows_of_weight_0_calibrate_nothing():
    X, y = table(600)
    weight = (np.arange(600) % 3 > 0).astype(float)
    model = NoveltyRejector(SpyClassifier(), detector=SpyDetector(), random_state=0).fit(X, y, sample_weight=weight)
    without = {*np.flatnonzero(weight == 0).tolist()}
    assert not Log.of("calibration")[0] & without
    assert not Log.of("detector")[0] & without
    assert model.guard_.m + model.guard_.n == 400


def test_the_number_of_calibration_rows():
    for n, rate, size, m in [
        (100_000, 0.01, None, 999),
        (100_000, 0.001, None, 9999),
        (3000, 0.01, None, 599),
        (266, 0.01, None, 199),  # two may be as unusual as a novel row: three quarters of the rows
        (265, 0.01, None, 99),
        (198, 0.01, None, 99),
        (197, 0.01, None, 98),  # too few
        (150, 0.01, None, 75),
        (100, 0.05, None, 39),
        (3000, 0.01, 0.1, 300),
        (3000, 0.01, 7, 7),
        (1, 0.01, None, 0),
    ]:
        assert calibration_size(n, rate, size) == m
    X, y = table(50)
    for size in (0, 1.5, -3):
        with pytest.raises(InvalidParameterError):
            NoveltyRejector(SpyClassifier(), calibration_size=size).fit(X, y)


class TestTheWitness:
    """It has the parameters that were found, and searches nothing again."""

    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=300) > 0).astype(int)

    def test_of_a_search_of_ours(self):
        found = RejectSVCCV(COSTS, Cs=[0.5, 2], gammas=[0.1, 0.4]).fit(self.X, self.y)
        witness = unsearched(found)
        assert type(witness) is RejectSVC
        assert (witness.C, witness.gamma, witness.costs) == (found.C_, found.gamma_, COSTS)
        linear = unsearched(RejectSVCCV(COSTS, Cs=[0.5, 2], kernel="linear", tol=1e-4).fit(self.X, self.y))
        assert (linear.kernel, linear.tol, linear.gamma) == ("linear", 1e-4, "scale")
        assert unsearched(LinearRejectSVCCV(COSTS, Cs=[0.7]).fit(self.X, self.y)).C == 0.7

    def test_of_a_search_of_scikit_learn_around_a_pipeline(self):
        search = GridSearchCV(make_pipeline(SpyTransformer(), RejectSVC(COSTS)), {"rejectsvc__C": [0.3, 3]}, cv=2)
        witness = unsearched(search.fit(self.X, self.y))
        assert search.best_params_["rejectsvc__C"] == witness[-1].C
        assert not hasattr(witness[-1], "_fitted_")

    def test_counts_by_the_final_rule(self):
        model = NoveltyRejector(RejectSVCCV(COSTS, Cs=[1.0], gammas=[0.5]), random_state=0).fit(self.X, self.y)
        at = GuardRows.drawn(self.y, np.arange(300), None, 199, np.random.RandomState(0))
        alone = RejectSVC(COSTS, C=1.0, gamma=0.5).fit(self.X[at.training], self.y[at.training])
        found = model.rule_.predict(alone.decision_function(self.X[at.held_out]))
        assert model.calibration_.choices.tolist() == [np.sum(found == label) for label in (0, 1, -1)]
        assert model.calibration_.choices.min() > 0
