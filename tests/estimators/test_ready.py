"""Small promises to other tools: null machines say so, exact sparse support, weights of 0, lazy frames, RFE."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.svm import OneClassSVM as LibSVM

import abstain
from abstain import (
    Costs,
    Forced,
    LinearRejectSVC,
    MachineSearch,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    ThresholdRejector,
)
from looping import looped

COSTS = Costs(reject=0.2)


@pytest.fixture(scope="module")
def rows():
    return make_classification(60, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)


class TestOneClass:
    CENTRED = np.random.default_rng(0).normal(size=(200, 3))
    CENTRED -= CENTRED.mean(axis=0)

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    def test_a_null_machine_says_so(self, unit):
        with pytest.warns(UserWarning, match="no machine separates these rows from the origin"):
            OneClassSVM(kernel="linear").fit(unit * self.CENTRED)

    @pytest.mark.parametrize("shift", [3.0, 1e3])
    def test_others_do_not(self, shift):
        OneClassSVM(kernel="linear").fit(self.CENTRED + shift)  # a warning would be an error
        OneClassSVM(nu=0.5).fit(self.CENTRED)

    def test_the_number_of_support_vectors_is_that_of_scikit_learn(self):
        ours, theirs = (
            kind(nu=0.2, gamma=0.5, tol=1e-8).fit(self.CENTRED).n_support_ for kind in (OneClassSVM, LibSVM)
        )
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@looped(seed=range(6), costs=[None, COSTS])
def test_rounding_errors_are_no_support_vectors(seed, costs):
    X = sparse.random(200, 50, 0.02, random_state=seed, format="csr")
    y = np.random.default_rng(seed).integers(0, 2, 200)
    machine = RejectSVC(costs, kernel="linear", C=100).fit(X, y)
    size = np.abs(machine.dual_coef_)
    assert size.min() > 1e-9 * size.max()
    assert machine.status_ == "optimal"
    np.testing.assert_array_equal(machine.support_, np.flatnonzero(machine.sets_ != zero_set(machine)))


def zero_set(machine):
    """The code of the rows whose coefficient is 0."""
    outside = np.setdiff1d(np.arange(len(machine.sets_)), machine.support_)
    return machine.sets_[outside[0]] if len(outside) else -1


@looped(zeros=[1, 3, 12, 15, 20, 30], ordered=[False, True], make=range(4))
def test_trailing_rows_of_weight_0_are_as_if_left_out(zeros, ordered, make, rows):
    X, y = rows[0], np.sort(rows[1])[::-1] if ordered else rows[1]
    weight = np.ones(60)
    weight[-zeros:] = 0
    if len(np.unique(y[weight > 0])) < 2:
        return
    rejector = (
        lambda: ThresholdRejector(RejectSVC(), COSTS, method="chow"),
        lambda: ThresholdRejector(LogisticRegression(), COSTS),
        lambda: ThresholdRejector(LogisticRegression(), reject_rate=0.2),
        lambda: ThresholdRejector(LogisticRegression(), class_error=0.4, random_state=0),
    )[make]
    kept = weight > 0
    found = rejector().fit(X, y, sample_weight=weight)
    without = rejector().fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_allclose(found.decision_function(X), without.decision_function(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found.predict(X), without.predict(X))


def test_a_frozen_classifier_is_calibrated_on_all_rows(rows):
    X, y = rows
    frozen = FrozenEstimator(LogisticRegression().fit(X[:20], y[:20]))
    for prefit in (frozen.estimator, frozen):
        cv = "prefit" if prefit is frozen.estimator else 5
        found = ThresholdRejector(prefit, class_error=0.3, cv=cv).fit(X[20:], y[20:]).certificate_
        assert sum(found.n_rows.values()) == 40


ESTIMATORS = [
    RejectSVC(),
    LinearRejectSVC(),
    ThresholdRejector(LogisticRegression()),
    MachineSearch(),
    NoveltyRejector(LogisticRegression()),
    OneClassSVM(),
    Forced(RejectSVC()),
    abstain.EmbeddedRejectSVC(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_lazy_frames_are_refused(estimator, rows):
    frame = pytest.importorskip("polars").DataFrame(rows[0])
    with pytest.raises(TypeError, match=r"LazyFrame of polars, which has no rows yet; pass X.collect\(\)"):
        estimator.fit(frame.lazy(), rows[1])
    if not isinstance(estimator, OneClassSVM):
        labels = pytest.importorskip("polars").DataFrame({"y": rows[1]}).lazy()
        with pytest.raises(TypeError, match=r"y is a LazyFrame of polars, which has no rows yet; pass y.collect\(\)"):
            estimator.fit(rows[0], labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        RejectSVC().fit(frame.lazy().collect(), rows[1])  # the way out


def test_what_asks_a_fitted_estimator_refuses_lazy_frames_too(rows):
    frame = pytest.importorskip("polars").DataFrame(rows[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        guarded = NoveltyRejector(RejectSVC(), 0.1, random_state=0).fit(*rows)
    for asked in (abstain.drift, abstain.decide):
        with pytest.raises(TypeError, match="X is a LazyFrame of polars"):
            asked(guarded, frame.lazy())


def test_the_features_of_a_search_can_be_chosen_by_its_machine(rows):
    chosen = RFE(MachineSearch(machines=("logistic",), cv=2), n_features_to_select=1).fit(*rows)
    assert chosen.support_.sum() == 1
    assert not hasattr(MachineSearch(machines=("svm",), cv=2).fit(*rows), "coef_")  # control: an rbf machine has none


def test_too_few_rows_for_the_folds_of_a_sigmoid_are_said_in_our_words():
    X, y = np.arange(12.0)[:, np.newaxis], np.arange(12) % 2
    for n, asked in ((8, {"costs": COSTS}), (10, {"reject_rate": 0.2}), (8, {"costs": COSTS, "cv": "train"})):
        with pytest.raises(ValueError, match=r"a sigmoid, which is fitted in 5 folds, and the class 0 has 4 rows"):
            ThresholdRejector(LinearSVC(), method="chow", **asked).fit(X[:n], y[:n])
    ThresholdRejector(LinearSVC(), Costs(reject=0.3), method="chow", cv=4).fit(X[:8], y[:8])  # the way out


@pytest.mark.parametrize("wrap", [Forced, ThresholdRejector])
def test_features_are_chosen_by_the_weights_of_the_classifier_inside(wrap, rows):
    inner = LinearRejectSVC()
    chosen = RFE(wrap(inner), n_features_to_select=2).fit(*rows)
    np.testing.assert_array_equal(chosen.support_, RFE(inner, n_features_to_select=2).fit(*rows).support_)
    assert not hasattr(wrap(RejectSVC()).fit(*rows), "coef_")  # of a kernel that has none
