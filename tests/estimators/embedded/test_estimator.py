"""EmbeddedRejectSVC as a classifier: labels, kernels, statuses, and what is true of its problem."""

import _thread
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from abstain import EmbeddedRejectSVC, Thresholds
from abstain.estimators.embedded import training
from embedded_cases import objective


def signs(y):
    return np.where(y == 1, 1, -1)


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_fitted_attributes_belong_together(data, solver):
    X, y = data
    clf = EmbeddedRejectSVC(0.2, solver=solver).fit(X, y)
    w, b, eps = clf.coef_[0], clf.intercept_[0], clf.eps_
    assert clf.thresholds_ == Thresholds(-eps, eps)
    assert 0 < eps <= 1
    assert clf.objective_ == pytest.approx(objective(w, b, eps, X, signs(y), 0.2), rel=1e-9)
    np.testing.assert_allclose(clf.decision_function(X), X @ w + b, rtol=1e-12)
    predicted = clf.predict(X)
    rejected = predicted == clf.reject_label_
    np.testing.assert_array_equal(rejected, clf.reject_mask(X))
    risk = 0.2 * rejected.mean() + (~rejected & (predicted != y)).mean()
    assert clf.training_risk_ == pytest.approx(risk)
    assert clf.score(X, y) == pytest.approx(-risk)
    assert clf.status_ == "local"
    assert not hasattr(clf, "duality_gap_")
    assert not hasattr(clf, "sets_")


def test_the_lower_bound_comes_with_the_dual_or_on_request(data):
    X, y = data
    plain, asked, dual = (
        EmbeddedRejectSVC(0.2, **options).fit(X, y) for options in ({}, {"lower_bound": True}, {"solver": "dual"})
    )
    assert not hasattr(plain, "lower_bound_")
    assert asked.lower_bound_ == dual.lower_bound_
    assert asked.objective_ == plain.objective_
    assert dual.lower_bound_ <= asked.objective_ <= dual.objective_
    assert not hasattr(asked.set_params(lower_bound=False).fit(X, y), "lower_bound_")


@pytest.mark.parametrize("w_R", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_from_one_half_on_nothing_is_rejected(data, w_R, solver):
    X, y = data
    blobs, _ = make_blobs(len(y), centers=[[0, 0], [1, 1]], cluster_std=2.0, random_state=0)
    for rows in (X, blobs, np.ones((len(y), 2))):
        clf = EmbeddedRejectSVC(w_R, solver=solver).fit(rows, y)
        assert clf.eps_ == 0.0
        assert clf.thresholds_ == Thresholds(0.0, 0.0)
        assert not clf.reject_mask(rows).any()
        assert clf.score(rows, y) == pytest.approx(-(clf.predict(rows) != y).mean())


def test_moving_the_bias_never_costs_more_than_the_band_at_one_half():
    # the reason for the rule, by counting: any band on any scores, against its two ends
    rng = np.random.default_rng(0)
    for _ in range(200):
        f, y, eps, w_R = rng.normal(size=30), rng.choice([-1, 1], 30), rng.uniform(), rng.uniform(0.5, 1)
        banded = w_R * (np.abs(f) <= eps).mean() + ((np.abs(f) > eps) & (np.sign(f) != y)).mean()
        moved = min((np.where(f > cut, 1, -1) != y).mean() for cut in (-eps, eps))
        assert moved <= banded + 1e-12


def test_a_symmetric_threshold_with_a_fixed_bias_may_still_reject_at_one_half():
    # so that nobody tests the rule above on the external technique, of which it is not true
    f, y = np.array([-0.3, -0.2, -0.1, 2.0, -2.0]), np.array([1, 1, 1, 1, -1])

    def risk(D):
        return 0.5 * (np.abs(f) < D).mean() + ((np.abs(f) >= D) & (np.sign(f) != y)).mean()

    assert risk(0.5) < risk(0.0)


def test_labels_of_any_kind_and_either_class_positive(data):
    X, y = data
    plain = EmbeddedRejectSVC(0.2).fit(X, y)
    assert plain.reject_label_ == -1
    words = EmbeddedRejectSVC(0.2, pos_label="bad").fit(X, np.array(["bad", "good"])[y])
    np.testing.assert_array_equal(words.decision_function(X), plain.decision_function(X))
    rejected = plain.reject_mask(X)
    assert 0 < rejected.sum() < len(y)
    expected = np.where(rejected, "reject", np.array(["bad", "good"])[plain.predict_forced(X)])
    np.testing.assert_array_equal(words.predict(X), expected)
    assert EmbeddedRejectSVC(0.2, reject_label=7).fit(X, y).reject_label_ == 7
    with pytest.raises(ValueError, match="reject_label=1 is one of the classes"):
        EmbeddedRejectSVC(0.2, reject_label=1).fit(X, y)
    assert EmbeddedRejectSVC(0.5).fit(X, y.astype(bool)).predict(X).dtype == bool  # it never rejects: no wider dtype


def test_the_score_is_no_probability_and_decide_says_so(data):
    X, y = data
    decisions = EmbeddedRejectSVC(0.2).fit(X, y).decide(X)
    assert np.isnan(decisions.expected_cost).all()
    assert decisions.rejected.any()


def test_the_problem_depends_on_the_scale_of_the_features_through_C(data):
    X, y = data
    base = EmbeddedRejectSVC(0.2, C=0.1).fit(X, y)
    scaled = EmbeddedRejectSVC(0.2, C=0.1 / 16).fit(4 * X, y)  # 1/2 w.w shrinks by 16 with the same scores
    assert scaled.objective_ == pytest.approx(base.objective_ / 16, rel=1e-9)
    np.testing.assert_allclose(scaled.decision_function(4 * X), base.decision_function(X), rtol=1e-6)
    same_C = EmbeddedRejectSVC(0.2, C=0.1).fit(4 * X, y)
    assert same_C.objective_ != pytest.approx(base.objective_, rel=1e-3)


def test_the_same_seed_gives_the_same_machine(data):
    X, y = data
    first, second = (EmbeddedRejectSVC(0.1, random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert (first.eps_, first.objective_) == (second.eps_, second.objective_)
    assert clone(first).fit(X, y).objective_ == first.objective_


def test_fits_in_threads_equal_the_serial_one_bit_for_bit(data):
    def coefficients(seed):
        return EmbeddedRejectSVC(0.1, random_state=seed).fit(*data).coef_

    serial, seeds = [coefficients(0), coefficients(1)], [0, 1] * 4
    with ThreadPoolExecutor(8) as pool:
        for seed, together in zip(seeds, pool.map(coefficients, seeds), strict=True):
            np.testing.assert_array_equal(together, serial[seed])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reject_cost": 0.0}, "reject_cost=0.0 must be positive"),
        ({"reject_cost": 1.5}, r"reject_cost=1.5 must lie in \(0, 1\]"),
        ({"reject_cost": 0.1, "margin_cost": 0.1}, "margin_cost=0.1 must lie between 0 and reject_cost=0.1"),
        ({"reject_cost": 0.1, "margin_cost": 0}, "margin_cost=0 must be positive"),
        ({"C": 0.0}, "'C' parameter of EmbeddedRejectSVC must be"),
        ({"solver": "auto"}, "'solver' parameter of EmbeddedRejectSVC must be a str among"),
        ({"n_starts": -1}, "'n_starts' parameter of EmbeddedRejectSVC must be an int in the range"),
        ({"n_starts": "many"}, "'n_starts' parameter of EmbeddedRejectSVC must be .* a str among {'auto'}"),
        ({"C": 1e308}, "C=1e\\+308 times the losses overflows; lower C"),
    ],
)
def test_wrong_parameters_are_refused(data, options, text):
    with pytest.raises(ValueError, match=text):
        EmbeddedRejectSVC(**options).fit(*data)


def test_there_are_no_sample_weights(data):
    with pytest.raises(TypeError, match="sample_weight"):
        EmbeddedRejectSVC().fit(*data, sample_weight=np.ones(len(data[1])))


def test_limits_are_warned_of(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"status 'iteration_limit' at objective .* raise max_iter=3"):
        clf = EmbeddedRejectSVC(0.2, max_iter=3).fit(X, y)
    assert clf.status_ == "iteration_limit"
    with pytest.warns(ConvergenceWarning, match="raise time_limit=1e-09 or lower n_starts=2000"):
        assert EmbeddedRejectSVC(0.2, time_limit=1e-9).fit(X, y).status_ == "time_limit"


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_the_fit_at_once(data):
    X, y = data
    threading.Timer(0.3, _thread.interrupt_main).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        EmbeddedRejectSVC(0.2, n_starts=10**8).fit(X, y)
    assert time.monotonic() - began < 30  # seconds of a busy machine; without the interrupt it takes hours


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", "sparse rbf", "callable"])
def test_the_order_of_the_rows_changes_nothing(data, kernel):
    X, y = data
    rows = sparse.csr_array(X) if kernel == "sparse rbf" else X @ X.T if kernel == "precomputed" else X
    named = {"sparse rbf": "rbf", "callable": rbf_kernel}.get(kernel, kernel)
    clf = EmbeddedRejectSVC(0.1, C=1.0, kernel=named, n_starts=9, n_components=40)
    plain = clone(clf).fit(rows, y)
    rng = np.random.default_rng(0)
    for _ in range(3):
        order = rng.permutation(len(y))
        turned = rows[order][:, order] if kernel == "precomputed" else rows[order]
        other = clone(clf).fit(turned, y[order])
        assert (other.objective_, other.eps_, other.status_) == (plain.objective_, plain.eps_, plain.status_)
        if kernel == "linear":
            np.testing.assert_array_equal(other.coef_, plain.coef_)
            continue
        np.testing.assert_array_equal(np.sort(order[other.support_]), plain.support_)
        np.testing.assert_array_equal(np.sort(other.dual_coef_[0]), np.sort(plain.dual_coef_[0]))
        np.testing.assert_allclose(
            other.decision_function(turned), plain.decision_function(rows)[order], rtol=1e-9, atol=1e-9
        )


def test_a_gram_matrix_has_the_minimum_of_its_features():
    rng, elsewhere = np.random.default_rng(0), 0
    for d, cost in ((6, 0.1), (12, 0.2), (25, 0.5)):
        y = rng.choice([-1, 1], 80)
        X = rng.normal(size=(80, d)) + 0.3 * y[:, np.newaxis]
        X[:8] *= 4
        linear, other, gram = (
            EmbeddedRejectSVC(cost, C=1.0, n_starts=15, random_state=seed, kernel=kernel).fit(rows, y).objective_
            for kernel, rows, seed in (("linear", X, 0), ("linear", X, 1), ("precomputed", X @ X.T, 0))
        )
        assert gram == pytest.approx(linear, rel=1e-8)
        elsewhere += other != pytest.approx(linear, rel=1e-8)
    assert elsewhere  # so it depends on the way that the search takes


def test_a_kernel_is_the_linear_machine_on_its_features(data):
    X, y = data
    linear = EmbeddedRejectSVC(0.2).fit(X, y)
    gram = EmbeddedRejectSVC(0.2, kernel="precomputed").fit(X @ X.T, y)
    assert gram.objective_ == pytest.approx(linear.objective_, rel=1e-9)
    assert gram.dual_coef_.shape == (1, 4)  # as many rows as there are directions
    assert not hasattr(gram, "coef_")
    w, b = gram.dual_coef_[0] @ X[gram.support_], gram.intercept_[0]
    np.testing.assert_allclose(gram.decision_function(X @ X.T), X @ w + b, atol=1e-9)
    assert gram.objective_ == pytest.approx(objective(w, b, gram.eps_, X, signs(y), 0.2), rel=1e-8)


def test_named_callable_and_precomputed_kernels_agree(data):
    X, y = data
    X = X / 8

    def by_hand(A, B):
        return rbf_kernel(A, B, gamma=0.3)

    options = {"C": 1.0, "n_starts": 5}
    named = EmbeddedRejectSVC(0.2, kernel="rbf", gamma=0.3, **options).fit(X, y)
    called = EmbeddedRejectSVC(0.2, kernel=by_hand, **options).fit(X, y)
    given = EmbeddedRejectSVC(0.2, kernel="precomputed", **options).fit(by_hand(X, X), y)
    new = X[:20] + 0.1
    expected = by_hand(new, named.support_vectors_) @ named.dual_coef_[0] + named.intercept_[0]
    np.testing.assert_allclose(named.decision_function(new), expected, atol=1e-9)
    for other, rows in ((called, new), (given, by_hand(new, X))):
        assert other.objective_ == pytest.approx(named.objective_, rel=0.02)  # rounding may lead to another minimum
        assert other.decision_function(rows).shape == (20,)
    odd = replace(called.machine_, kernel=lambda A, _: A[:, :3])
    words = rf"must have shape \(20, {len(odd.coef)}\), one column per vector, got \(20, 3\)"
    with pytest.raises(ValueError, match=words):
        odd.score(new)
    with pytest.raises(ValueError, match=r"kernel values must have shape \(20, 150\), one column per training row"):
        given.machine_.score(by_hand(new, X[:100]))


def test_sparse_rows_are_the_same_rows(data):
    X, y = data
    for options in ({}, {"kernel": "rbf", "C": 1.0, "n_starts": 3}):
        dense = EmbeddedRejectSVC(0.2, **options).fit(X, y)
        thin = EmbeddedRejectSVC(0.2, **options).fit(sparse.csr_matrix(X), y)
        assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-2)
        np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), thin.decision_function(X), atol=1e-9)


def test_columns_of_the_gram_matrix_can_be_made_on_demand(data, monkeypatch):
    X, y = data
    options = {"kernel": "rbf", "C": 1.0, "n_starts": 3, "n_components": 40}
    whole = EmbeddedRejectSVC(0.2, **options).fit(X, y)
    monkeypatch.setattr(training, "WHOLE", 10)
    by_columns = EmbeddedRejectSVC(0.2, **options).fit(X, y)
    np.testing.assert_array_equal(by_columns.support_, whole.support_)
    assert by_columns.objective_ == pytest.approx(whole.objective_, rel=1e-2)
    assert whole.dual_coef_.shape == (1, 40)


def test_an_indefinite_kernel_is_flagged(data):
    _, y = data
    S = np.random.default_rng(0).normal(size=(len(y), len(y)))
    with pytest.warns(ConvergenceWarning, match="the kernel is not positive semidefinite on these rows"):
        clf = EmbeddedRejectSVC(0.2, kernel="precomputed", n_starts=2).fit(S + S.T, y)
    assert clf.status_ == "inaccurate"
    assert np.isfinite(clf.decision_function(S + S.T)).all()
    with pytest.raises(ValueError, match="X must be symmetric"):
        EmbeddedRejectSVC(0.2, kernel="precomputed").fit(S, y)


def test_a_refit_with_another_kernel_leaves_nothing_behind(data):
    X, y = data
    clf = EmbeddedRejectSVC(0.2).fit(X, y)
    clf.set_params(kernel="rbf", n_starts=2).fit(X, y)
    assert not hasattr(clf, "coef_")
    clf.set_params(kernel="linear").fit(X, y)
    assert not hasattr(clf, "dual_coef_")
