"""NoveltyRejector: its promise with a control that breaks it, spoilt rows of the README's model, and too few rows."""

import pickle
import threading
import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from abstain import Costs, NoveltyRejector, RejectSVC, RejectSVCCV
from abstain.estimators.novelty import novelty
from abstain.estimators.novelty.guard_rows import GuardRows

COSTS = Costs(false_positive=1, false_negative=5, reject=0.3)


def pickled(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)


def share_novel(model, X):
    return float(np.mean(model.decide(X).reason == "novel"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("detector", "columns"), [(None, 6), (OneClassSVM(gamma=5), 2)], ids=["default", "learns by heart"]
)
class TestThePromise:
    """Of rows exchangeable with the training rows a share of `rate` is novel, whatever the detector."""

    RATE, RESAMPLES = 0.2, 150

    def novel_of_new_rows(self, detector, columns):
        """One new row for each training set, so that the counts are independent."""
        rng = np.random.default_rng(0)
        known = FrozenEstimator(DummyClassifier().fit([[0.0], [1.0]], [0, 1]))
        model = NoveltyRejector(known, self.RATE, detector, calibration_size=19, random_state=1)
        rows = rng.normal(size=(self.RESAMPLES, 41, columns))
        rows = np.exp(rows) if detector is None else rows  # logarithms are part of the default
        return sum(model.fit(X[1:], np.arange(40) % 2).decide(X[:1]).rejected[0] for X in rows)

    def within(self, count):
        low, high = binom(self.RESAMPLES, self.RATE).ppf([1e-4, 1 - 1e-4])
        return low <= count <= high

    def test_holds(self, detector, columns):
        assert self.within(self.novel_of_new_rows(detector, columns))

    def test_is_broken_by_a_cut_from_the_rows_that_the_detector_learnt_from(self, detector, columns, monkeypatch):
        def same_rows(y, present, groups, size, state):
            found = GuardRows.drawn(y, present, groups, size, state)
            return GuardRows(found.detector, found.detector, found.training, found.held_out)

        monkeypatch.setattr(novelty, "GuardRows", type("Leaky", (), {"drawn": staticmethod(same_rows)}))
        assert not self.within(self.novel_of_new_rows(detector, columns))


@pytest.fixture(scope="module")
def readme():
    """The model and the test rows of the README."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y == 0, random_state=0)
    model = make_pipeline(StandardScaler(), RejectSVCCV(COSTS))
    return NoveltyRejector(model, random_state=0).fit(X_train, y_train), X_test, y_test


class TestSpoiltRows:
    def test_rows_like_the_training_rows_are_decided_as_before(self, readme):
        model, X, y = readme
        assert share_novel(model, X) <= 0.05
        kept = model.decide(X).reason != "novel"
        np.testing.assert_array_equal(model.predict(X)[kept], model.estimator_.predict(X)[kept])
        assert model.score(X, y) > -0.1

    @pytest.mark.parametrize("spoilt", ["all times 10", "one column -999", "all -999", "columns shuffled"])
    def test_spoilt_rows_are_novel(self, readme, spoilt):
        model, X, _ = readme
        Z = {
            "all times 10": 10 * X,
            "one column -999": np.where(np.arange(30) == 0, -999.0, X),
            "all -999": np.full_like(X, -999.0),
            "columns shuffled": X[:, np.random.default_rng(0).permutation(30)],
        }[spoilt]
        found = model.decide(Z)
        assert np.mean(found.reason == "novel") > 0.98
        novel = found.reason == "novel"
        assert (found.label[novel] == -1).all()
        assert found.rejected[novel].all()
        assert np.isnan(found.expected_cost[novel]).all()
        np.testing.assert_array_equal(found.forced, model.predict_forced(Z))

    def test_without_the_guard_malignant_tumours_in_other_units_are_benign(self, readme):
        model, X, y = readme
        alone, guarded = (fitted.predict(X[y] / 10) for fitted in (model.estimator_, model))
        assert (alone == 0).all()
        assert (guarded == -1).all()

    @pytest.mark.parametrize("times", [10, 0.1, 2.54, 1 / 2.54, 25.4, 1 / 25.4])
    def test_all_columns_in_other_units(self, readme, times):
        model, X, _ = readme
        assert share_novel(model, times * X) > 0.98

    @pytest.mark.parametrize(("times", "least"), [(10, 0.9), (0.1, 0.6), (1 / 2.54, 0.35)])
    def test_one_column_in_other_units(self, readme, times, least):
        model, X, _ = readme
        shares = [share_novel(model, np.where(np.arange(30) == at, times * X, X)) for at in range(30)]
        assert np.mean(shares) > least
        assert share_novel(model, np.where(np.arange(30) == 0, 100 * X, X)) == 1.0

    def test_neighbouring_columns_swapped(self, readme):
        model, X, _ = readme
        swapped = (X[:, [*range(at), at + 1, at, *range(at + 2, 30)]] for at in range(29))
        assert np.mean([share_novel(model, rows) for rows in swapped]) > 0.55


class TestOneOddCalibrationRow:
    """A typing error among the calibration rows hides no novel rows, unless these must exceed every one of them."""

    def shares(self, size):
        X, y = load_breast_cancer(return_X_y=True)
        X, X_test, y, _ = train_test_split(X, y, train_size=284, random_state=0)
        known = FrozenEstimator(LogisticRegression(max_iter=1).fit(X[:50], y[:50]))
        model = NoveltyRejector(known, random_state=0, calibration_size=size)
        seen = GuardRows.drawn(y, np.arange(284), None, model.fit(X, y).guard_.m, np.random.RandomState(0)).calibration
        X[seen[0], 3] *= 1000.0
        model.fit(X, y)
        assert model.guard_.scores[-1] > 2 * model.guard_.scores[-2]  # it is odd
        return [share_novel(model, rows) for rows in (X_test / 10, X_test / 2.54)]

    @pytest.mark.filterwarnings("ignore")
    def test_leaves_the_others_to_be_found(self):
        assert min(self.shares(None)) > 0.98

    @pytest.mark.filterwarnings("ignore")
    def test_hides_them_if_a_novel_row_must_exceed_every_calibration_row(self):
        assert max(self.shares(99)) < 0.5


class TestTooFewRows:
    X = np.random.default_rng(0).normal(size=(150, 2))
    y = (X[:, 0] > 0).astype(int)

    def test_a_stated_rate_is_an_error_with_the_number_of_rows(self):
        text = r"rate=0\.01 needs 99 calibration rows .* there are 75 of 150 rows; give at least 198 rows, or a larger"
        with pytest.raises(ValueError, match=text):
            NoveltyRejector(LogisticRegression(), rate=float("0.01")).fit(self.X, self.y)
        with pytest.raises(ValueError, match="raise calibration_size=3, or the rate"):
            NoveltyRejector(LogisticRegression(), rate=0.1, calibration_size=3).fit(self.X, self.y)
        with pytest.raises(ValueError, match="calibration_size=150 leaves no rows"):
            NoveltyRejector(LogisticRegression(), calibration_size=150).fit(self.X, self.y)

    def test_so_many_rows_are_enough(self):
        X, y = np.tile(self.X, (2, 1))[:198], np.tile(self.y, 2)[:198]
        model = NoveltyRejector(LogisticRegression(), rate=float("0.01"), random_state=0).fit(X, y)
        assert model.predict([[1e3, 1e3]]) == [-1]
        with pytest.raises(ValueError, match="198 rows"):
            NoveltyRejector(LogisticRegression(), rate=float("0.01")).fit(X[:197], y[:197])

    @pytest.mark.parametrize("kept", [lambda model: model, clone, pickled], ids=["as is", "clone", "pickle"])
    def test_the_default_warns_and_rejects_nothing_as_novel(self, kept):
        model = kept(NoveltyRejector(LogisticRegression(), random_state=0))
        with pytest.warns(UserWarning, match="needs 99 calibration rows .* none will be; give at least 198 rows"):
            model.fit(self.X, self.y)
        model = kept(model) if kept is not clone else model
        assert not model.reject_mask(1e9 * self.X).any()
        assert model.predict(self.X).dtype == self.y.dtype
        assert model.novelty([[1e3, 1e3]]) == [1 / 76]  # and still a p-value
        assert repr(model) == "NoveltyRejector(estimator=LogisticRegression(), random_state=0)"

    def test_the_warning_points_at_the_caller(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            NoveltyRejector(LogisticRegression()).fit(self.X, self.y)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "estimator", [RejectSVC(), pytest.param(LogisticRegression(), marks=pytest.mark.long)], ids=repr
)
@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes(estimator):
    results = check_estimator(NoveltyRejector(estimator), on_fail=None, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 50
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_another_thread_sees_the_old_fit_or_the_new_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    labels = np.array(["left", "right"])[y], np.array(["down", "upwards"])[y]
    model = NoveltyRejector(LogisticRegression(), 0.1, random_state=0).fit(X, labels[0])
    found, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            now = model.decide(X[:3])
            found.append({*now.label} <= {*now.labels.classes.tolist(), "reject"})

    asking = threading.Thread(target=ask)
    asking.start()
    for at in range(20):
        model.fit(X, labels[at % 2])
    stop.set()
    asking.join()
    assert found
    assert all(found)


def test_the_seed_decides():
    X, y = load_breast_cancer(return_X_y=True)
    one, same, other = (NoveltyRejector(LogisticRegression(max_iter=50), random_state=seed) for seed in (0, 0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = [model.fit(X, y).novelty(X) for model in (one, same, other)]
    np.testing.assert_array_equal(p[0], p[1])
    assert (p[0] != p[2]).any()
