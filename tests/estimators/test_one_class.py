"""OneClassSVM: scikit-learn's machine, with a certificate that a judge of its own confirms."""

import os
import signal
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as SklearnOneClassSVM

from abstain import OneClassSVM
from clarabel_qp import dual_optimum, primal_optimum
from looping import looped
from one_class_cases import KERNELS, faults, fitted_to, random_case

WDBC = StandardScaler().fit_transform(load_breast_cancer().data)
IRIS = load_iris().data
WEIGHT = np.random.default_rng(0).integers(0, 4, len(WDBC)).astype(float)
GENERATED = np.random.default_rng(1).normal(size=(6000, 4))
STORAGE = {"dense": np.asarray, "sparse": csr_matrix}


def same_machine(ours, theirs, X, rtol=1e-6):
    size = np.abs(theirs.score_samples(X)).max()
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=0, atol=rtol * size)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=rtol * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=rtol * size)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=2 * rtol * size)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@looped(nu=[0.05, 0.5, 0.9], weight=[None, WEIGHT])
def test_it_is_scikit_learns_machine(kernel, storage, nu, weight):
    X = STORAGE[storage](np.where(WDBC > -0.5, WDBC + 1.0, 0.0))
    options = {"kernel": kernel, "nu": nu, "gamma": 0.05, "coef0": 1.0, "degree": 2}
    ours = OneClassSVM(**options).fit(X, sample_weight=weight)
    theirs = SklearnOneClassSVM(**options, tol=1e-9).fit(X, sample_weight=weight)
    assert ours.status_ == "optimal"
    same_machine(ours, theirs, X)


def test_coefficients_are_scikit_learns_where_they_are_unique():
    for nu in (0.05, 0.4):
        ours, theirs = (kind(nu=nu, gamma=0.1).fit(WDBC) for kind in (OneClassSVM, SklearnOneClassSVM))
        theirs.set_params(tol=1e-10).fit(WDBC)
        dense = [np.bincount(one.support_, one.dual_coef_[0], len(WDBC)) for one in (ours, theirs)]
        np.testing.assert_allclose(*dense, atol=1e-6)
        assert (dense[0][dense[1] == 1.0] == 1.0).all()  # a bound is a bound, to the bit


def test_a_precomputed_and_a_callable_kernel():
    gram = rbf_kernel(WDBC, gamma=0.05)
    expected = OneClassSVM(gamma=0.05, nu=0.2).fit(WDBC)
    for kernel, X in (("precomputed", gram), (lambda A, B: rbf_kernel(A, B, gamma=0.05), WDBC)):
        found = OneClassSVM(kernel=kernel, nu=0.2).fit(X)
        assert found.status_ == "optimal"
        np.testing.assert_allclose(found.score_samples(X), expected.score_samples(WDBC), rtol=1e-9)
    theirs = SklearnOneClassSVM(kernel="precomputed", nu=0.2, tol=1e-9).fit(gram)
    same_machine(OneClassSVM(kernel="precomputed", nu=0.2).fit(gram), theirs, gram)


@pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_letter_in_single_precision_and_from_a_sample(nu):
    table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "letter.csv.gz", delimiter=",", skiprows=1, max_rows=4500)
    X = StandardScaler().fit_transform(table[:, :-1])
    ours, theirs = OneClassSVM(nu=nu).fit(X), SklearnOneClassSVM(nu=nu, tol=1e-6).fit(X)
    assert ours.status_ == "optimal"
    same_machine(ours, theirs, X, 1e-5)
    reached = -0.5 * float(theirs.dual_coef_[0] @ theirs.score_samples(theirs.support_vectors_))
    assert ours.dual_objective_ == pytest.approx(reached, rel=1e-6)
    assert ours.objective_ == pytest.approx(reached, rel=1e-5)


@looped(kernel=["rbf", "laplacian", "linear", "poly"], nu=[0.01, 0.3, 1.0])
def test_the_optimum_is_that_of_a_general_solver(kernel, nu):
    weight = 1.0 + np.arange(len(IRIS)) % 3
    clf = OneClassSVM(kernel=kernel, nu=nu, gamma=0.5).fit(IRIS, sample_weight=weight)
    posed, unit, _ = clf._posed(clone(clf), IRIS, weight)
    for optimum in (dual_optimum, primal_optimum):
        assert clf.objective_ == pytest.approx(unit * unit * optimum(posed.problem), rel=1e-6)


@pytest.mark.filterwarnings("ignore:no machine separates")
@looped(seed=range(120))
def test_random_problems_report_their_true_gap(seed):
    X, weight, options = random_case(seed)
    assert faults(fitted_to(X, weight, options), X, weight) == []


def test_the_judge_has_teeth():
    clf = OneClassSVM(nu=0.3).fit(IRIS)
    coef = clf.dual_coef_[0]
    moved = coef + 1e-3 * np.where(np.arange(len(coef)) % 2, 1.0, -1.0)
    moved *= coef.sum() / moved.sum()
    assert faults(clf, IRIS, None) == []
    for wrong in ({"coef": moved}, {"coef": 1.01 * coef}, {"coef": -coef}, {"offset": 1.01 * clf.offset_}):
        assert faults(clf, IRIS, None, **wrong)


@pytest.mark.parametrize("kernel", KERNELS[:3])
def test_a_share_nu_scores_below_the_offset(kernel):
    for nu in (0.05, 0.3, 0.7):
        clf = OneClassSVM(kernel=kernel, nu=nu).fit(IRIS)
        unusual = np.mean(clf.predict(IRIS) == -1)
        assert unusual <= nu <= len(clf.support_) / len(IRIS)
        np.testing.assert_array_equal(clf.fit_predict(IRIS), np.where(clf.score_samples(IRIS) >= clf.offset_, 1, -1))


def test_weights_are_repeated_rows_in_any_unit():
    weight = np.arange(len(IRIS)) % 3
    repeated = OneClassSVM(gamma=0.5).fit(np.repeat(IRIS, weight, axis=0)).score_samples(IRIS)
    for unit in (1.0, 1e-9, 1e9, 3.0):
        found = OneClassSVM(gamma=0.5).fit(IRIS, sample_weight=unit * weight)
        np.testing.assert_allclose(found.score_samples(IRIS), unit * repeated, rtol=1e-9)
        assert found.dual_coef_.sum() == pytest.approx(unit * 0.05 * weight.sum())


HARD = {
    "one row": np.array([[1.0, 2.0]]),
    "two rows": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "equal rows": np.ones((50, 2)),
    "rows of 0": np.zeros((50, 2)),
    "duplicates": np.repeat(IRIS[:5], 30, axis=0),
    "far away": IRIS + 1e8,
    "huge": IRIS * 1e100,
    "tiny": IRIS * 1e-100,
    "an outlier": np.vstack([IRIS, [1e6, 0, 0, 0]]),
    "many duplicates": np.repeat(IRIS[:20], 100, axis=0),
    "many, far away": GENERATED[:2000] + 1e8,
}


@pytest.mark.filterwarnings("ignore:no machine separates")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@looped(name=HARD, nu=[1e-9, 0.05, 1.0])
def test_hard_rows_end_with_a_true_status(kernel, name, nu):
    X = HARD[name]
    clf = fitted_to(X, None, {"kernel": kernel, "nu": nu, "time_limit": 30.0})
    assert clf.dual_coef_.sum() == pytest.approx(nu * len(X), rel=1e-9)
    assert np.isfinite(clf.decision_function(X)).all()
    if len(X) < 1000:
        assert faults(clf, X, None) == []
    if kernel == "rbf":
        assert clf.status_ == "optimal"


def test_all_rows_at_their_bound():
    clf = OneClassSVM(nu=1.0).fit(IRIS)
    np.testing.assert_array_equal(clf.dual_coef_, np.ones((1, len(IRIS))))
    assert clf.offset_ == pytest.approx(clf.score_samples(IRIS).max(), rel=1e-11)
    assert clf.status_ == "optimal"


def test_threads_give_the_same_bits():
    one, two = (OneClassSVM(nu=0.1, n_jobs=jobs).fit(GENERATED) for jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert (one.offset_, one.duality_gap_) == (two.offset_, two.duality_gap_)


def test_a_start_from_a_sample_changes_the_answer_by_rounding_only(monkeypatch):
    X = GENERATED[:1500]
    sparse = csr_array((X.ravel(), np.tile(np.arange(4), 1500), np.arange(0, 6001, 4)), shape=(1500, 400))
    for rows, kernel in ((X, "rbf"), (X + 3.0, "linear"), (sparse, "rbf"), (rbf_kernel(X, gamma=0.25), "precomputed")):
        cold = OneClassSVM(kernel=kernel, nu=0.2).fit(rows)
        with monkeypatch.context() as patch:
            patch.setattr("abstain.solvers.native.WORTH_SAMPLING", 1000)
            patch.setattr("abstain.solvers.native.LEAST", 300)
            warm = OneClassSVM(kernel=kernel, nu=0.2).fit(rows)
        assert warm.status_ == cold.status_ == "optimal"
        assert warm.dual_objective_ == pytest.approx(cold.dual_objective_, rel=1e-6)
        if kernel == "rbf":
            assert warm.n_iter_ < cold.n_iter_


def test_limits_are_reported():
    for limit, status in (({"max_iter": 1}, "iteration_limit"), ({"time_limit": 1e-9}, "time_limit")):
        with pytest.warns(ConvergenceWarning, match=f"OneClassSVM stopped after .* status '{status}'"):
            clf = OneClassSVM(nu=0.5, **limit).fit(GENERATED)
        assert clf.status_ == status
        assert clf.duality_gap_ > 0.0


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_a_long_fit():
    def fits():
        while True:
            OneClassSVM(nu=0.5).fit(GENERATED)

    threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        fits()


def test_a_fit_that_fails_changes_nothing():
    clf = OneClassSVM().fit(IRIS)
    before = clf.score_samples(IRIS)
    for bad in ({"sample_weight": -np.ones(len(IRIS))}, {"sample_weight": np.zeros(len(IRIS))}):
        with pytest.raises(ValueError, match="sample_weight"):
            clf.fit(IRIS, **bad)
    with pytest.raises(ValueError, match="'nu' parameter"):
        clf.set_params(nu=0.0).fit(IRIS)
    np.testing.assert_array_equal(clf.score_samples(IRIS), before)
    with pytest.raises(ValueError, match="read-only"):
        clf.dual_coef_[0, 0] = 1.0


def test_an_indefinite_kernel_is_reported():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = OneClassSVM(kernel="sigmoid").fit(WDBC)
    assert clf.status_ == "inaccurate"
    assert "not positive semidefinite" in str(caught[0].message)
    assert not clf.proof_.definite


@pytest.mark.parametrize("nu", [0.02, 0.05, 0.3])
def test_kernel_rows_made_when_needed_are_those_of_the_whole_matrix(nu):
    X = GENERATED[:900]
    gamma = 1.0 / (X.shape[1] * X.var())
    ours, whole = OneClassSVM(nu=nu).fit(X), OneClassSVM(nu=nu, kernel="precomputed").fit(rbf_kernel(X, gamma=gamma))
    assert ours.status_ == whole.status_ == "optimal"
    assert max(ours.duality_gap_, whole.duality_gap_) < 1e-10
    np.testing.assert_array_equal(ours.support_, whole.support_)
    np.testing.assert_allclose(ours.score_samples(X), whole.score_samples(rbf_kernel(X, gamma=gamma)), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_share_below_one_row_has_the_offset_of_the_lowest_score(kernel):
    X = np.random.default_rng(0).normal(size=(50, 1)) + 3.0
    found, theirs = (one(kernel=kernel, nu=0.01, tol=1e-8).fit(X) for one in (OneClassSVM, SklearnOneClassSVM))
    assert found.offset_ == pytest.approx(float(theirs.offset_[0]), rel=1e-5)
    assert found.score_samples(X).min() >= found.offset_ - 1e-6 * abs(found.offset_)
