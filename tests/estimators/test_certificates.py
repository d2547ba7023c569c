"""Reported proofs against a judge that shares no code with the library; ``verification/adversary.py`` runs 2,000."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from abstain import (
    Costs,
    EmbeddedRejectSVC,
    RejectSVC,
    RejectSVCCV,
    embedded_reject_curve,
    reject_price_sweep,
    reject_svc_path,
)
from abstain.losses.tangent_hinge import double_hinge
from abstain.solvers.linear_dual import LinearDual
from adversary_cases import Case, check_fit, gram, random_case
from adversary_controls import controls, judge
from looping import looped, quick


def clouds(n=200, d=3, seed=0):
    """Two overlapping Gaussians; rounded to 1/64, so that adding 1e7 rounds nothing."""
    y = np.where(np.arange(n) % 2, 1, -1)
    rows = np.random.default_rng(seed).normal(size=(n, d)) + 0.5 * y[:, np.newaxis]
    return np.round(64 * rows) / 64, y


def products_of_distances(kernel, X, vectors, _=None):
    """rbf by |x|^2 - 2 x.y + |y|^2, from the origin."""
    products = (X @ vectors.T).toarray()
    squares = [np.asarray(rows.multiply(rows).sum(axis=1)).ravel() for rows in (X, vectors)]
    return np.exp(np.minimum(kernel.gamma * (2.0 * products - np.add.outer(*squares)), 0.0))


def case_of(X, y, kernel, C=1.0, costs=None, **options):
    return Case(0, X, y, None, {"kernel": kernel, "C": C, "costs": costs, **options}, kernel)


def faults_of(*arguments, **options):
    return check_fit(case_of(*arguments, **options)).faults


@looped(seed=range(60))
def test_random_problems_report_their_true_gap(seed):
    assert check_fit(random_case(seed)).faults == []


@looped(seed=range(3))
def test_random_problems_in_single_precision_report_their_true_gap(seed):
    assert check_fit(random_case(seed, large=True)).faults == []


CASE, MACHINES = controls()


@pytest.mark.parametrize("name", MACHINES)
def test_the_judge_has_teeth(name):
    assert bool(judge(CASE, MACHINES[name]).faults) == (name != "unchanged")


def test_the_judges_kernel_is_scikit_learns():
    from sklearn.metrics.pairwise import pairwise_kernels

    X, y = clouds(20)
    for name, options in (("rbf", {"gamma": 0.3}), ("poly", {"gamma": 0.3, "coef0": 1.0, "degree": 4})):
        clf = RejectSVC(kernel=name, **options).fit(X, y)
        K = gram(case_of(X, y, name), clf.machine_.kernel).astype(float)
        np.testing.assert_allclose(K, pairwise_kernels(X, metric=name, **options), rtol=1e-12)


class TestFarFromTheOrigin:
    @pytest.mark.parametrize("C", [1.0, 1e4])
    def test_linear_predicts_as_if_centred(self, C):
        X, y = clouds()
        near, far = (RejectSVC(Costs(reject=0.2), kernel="linear", C=C).fit(X + shift, y) for shift in (0.0, 1e7))
        np.testing.assert_array_equal(far.predict(X + 1e7), near.predict(X))
        np.testing.assert_allclose(far.decision_function(X + 1e7), near.decision_function(X), atol=1e-6)
        assert faults_of(X + 1e7, y, "linear", C=C, costs=Costs(reject=0.2)) == []

    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
    def test_sparse_rows_are_fitted_and_scored_like_dense_ones(self, kernel):
        X, y = clouds()
        far = X + 1e7
        dense, sparse = (RejectSVC(kernel=kernel, C=10).fit(rows, y) for rows in (far, csr_array(far)))
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-9)
        for clf in (dense, sparse):
            np.testing.assert_array_equal(clf.decision_function(csr_array(far)), clf.decision_function(far))
        assert faults_of(csr_array(far), y, kernel, C=10) == []

    @pytest.mark.parametrize("by_products", [False, True])
    def test_sparse_rows_and_a_huge_C_report_their_true_gap(self, monkeypatch, by_products):
        """Control: with distances from products the reported gap is too low."""
        if by_products:
            from abstain.machines import kernel_machine

            monkeypatch.setattr(kernel_machine, "kernel_values", products_of_distances)
        faults = []
        for seed in (5, 27, 45):
            rng = np.random.default_rng(seed)
            y = np.where(rng.random(250) < 0.5, 1, -1)
            X = rng.normal(size=(250, 2)) + y[:, np.newaxis] + [600.0, 0.0]
            faults += faults_of(csr_array(X), y, "rbf", C=1e6, gamma=0.5, costs=Costs(reject=0.2))
        assert bool(faults) == by_products

    def test_many_sparse_rows_are_scored_block_by_block(self, monkeypatch):
        from abstain.machines import linear_machine

        X, y = clouds()
        clf = RejectSVC(kernel="linear").fit(X + 1e7, y)
        whole = clf.decision_function(X + 1e7)
        monkeypatch.setattr(linear_machine, "_BLOCK", 50)
        np.testing.assert_array_equal(clf.decision_function(csr_array(X + 1e7)), whole)


@pytest.mark.parametrize(("factor", "C", "coef0"), [(100.0, 1e3, 1.0), (100.0, 1.0, 1.0), (1000.0, 1.0, 0.0)])
@looped(seed=range(4))
def test_poly_with_outliers_reports_its_true_gap(factor, C, coef0, seed):
    X, y = clouds(60, seed=seed)
    X[[3, 20, 41]] *= factor
    assert faults_of(X, y, "poly", C=C, degree=4, coef0=coef0, gamma=1.0) == []


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
@pytest.mark.parametrize("C", quick([1e-3, 1.0, 1e6], 1.0))
@looped(share=[0.1, 0.5], shift=[0.0, 1e4])
def test_identical_rows_give_a_feasible_dual_point(kernel, C, share, shift):
    y = np.where(np.arange(50) < 50 * share, 1, -1)
    X = np.full((50, 3), 0.7) + shift
    assert faults_of(X, y, kernel, C=C, costs=Costs(1, 5, 0.3)) == []


class TestIndefinite:
    """A stationary point of an indefinite problem is never called optimal without a proof."""

    def test_an_eigenvalue_just_below_0_counts_at_a_large_C(self):
        rng = np.random.default_rng(0)
        basis, _ = np.linalg.qr(rng.normal(size=(500, 500)))
        values = np.linspace(0.1, 2.0, 500)
        y = np.where(np.arange(500) % 2, 1, -1)
        for lowest, status in ((-3e-5, "inaccurate"), (3e-5, "optimal")):
            values[0] = lowest
            K = (basis * values) @ basis.T
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                clf = RejectSVC(kernel="precomputed", C=1e7).fit((K + K.T) / 2, y)
            assert clf.status_ == status

    def test_one_pair_of_rows_among_2400_counts(self):
        y = np.where(np.arange(2400) % 2, 1, -1)
        K = np.eye(2400)
        K[1000, 1001] = K[1001, 1000] = 3.0  # eigenvalues 4 and -2
        with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
            clf = RejectSVC(kernel="precomputed").fit(K, y)
        assert clf.status_ == "inaccurate"
        K[1000, 1001] = K[1001, 1000] = 1.0  # eigenvalues 2 and 0; a warning would be an error
        assert RejectSVC(kernel="precomputed").fit(K, y).status_ == "optimal"


@pytest.mark.parametrize("scale", [1e160, 1e300, 1.5e307])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_rows_near_the_largest_float_are_refused_with_a_way_out(kernel, scale):
    X, y = clouds(20)
    with pytest.raises(ValueError, match=r'gamma="scale" is .* entries up to .*e\+\d+; scale the features'):
        RejectSVC(kernel=kernel).fit(X * scale, y)


FITS = {
    "RejectSVC": lambda X, y: RejectSVC().fit(X, y),
    "RejectSVC, poly": lambda X, y: RejectSVC(kernel="poly").fit(X, y),
    "RejectSVC, sparse": lambda X, y: RejectSVC().fit(csr_array(X), y),
    "RejectSVCCV": lambda X, y: RejectSVCCV(gammas=["scale"], Cs=[1.0], cv=2).fit(X, y),
    "EmbeddedRejectSVC": lambda X, y: EmbeddedRejectSVC(0.2, kernel="rbf", n_starts=1).fit(X, y),
    "embedded_reject_curve": lambda X, y: embedded_reject_curve(
        EmbeddedRejectSVC(0.2, kernel="rbf", n_starts=1), X, y, [0.2]
    ),
    "reject_svc_path": reject_svc_path,
    "reject_price_sweep": lambda X, y: reject_price_sweep(RejectSVC(Costs(reject=0.3)), X, y, [0.2]),
}


@pytest.mark.parametrize("name", FITS)
def test_rows_near_the_smallest_float_are_refused_with_a_way_out(name):
    X, y = clouds(20)
    for scale in (1e-160, 1e-250, 1e-307):
        with pytest.raises(
            ValueError, match=r'gamma="scale" is .* above the range .* entries up to .*e-\d+; scale the'
        ):
            FITS[name](X * scale, y)
    FITS[name](X * 1e-140, y)  # control: in range


@pytest.mark.parametrize("scale", [2.0**-511, 2.0**510])
def test_a_number_of_gammas_that_leaves_the_range_is_refused(scale):
    X, y = clouds(20)
    X = X / np.sqrt(X.shape[1] * X.var())  # gamma="scale" is 1, and 4**511 or 4**-510 after scaling
    RejectSVCCV(gammas=1, Cs=[1.0], cv=2).fit(X * scale, y)
    with pytest.raises(ValueError, match=r"gammas=5 reaches from .* beyond the range of float64; scale the"):
        RejectSVCCV(gammas=5, Cs=[1.0], cv=2).fit(X * scale, y)


def test_pair_steps_leave_iterations_for_the_exact_solver():
    """200 steps in single precision for each row would use up `max_iter`; from 50,000 rows on, also the default one."""
    X, y = make_classification(1500, 5, n_informative=5, n_redundant=0, class_sep=0.5, flip_y=0.1, random_state=0)
    options = {"kernel": "rbf", "C": 1e4, "max_iter": 100_000}
    assert RejectSVC(Costs(reject=0.2), **options).fit(X, y).status_ == "optimal"
    with pytest.warns(ConvergenceWarning, match="max_iter=5000"):  # the control: too few for both
        RejectSVC(Costs(reject=0.2), **options | {"max_iter": 5_000}).fit(X, y)


class TestMachinesThatPredictByOtherValues:
    """A callable kernel, or a Gram matrix that is not quite symmetric, is certified by what the machine predicts."""

    @staticmethod
    def true_gap(clf, X, y, C):
        """From what `decision_function` says of the training rows."""
        f, sign = clf.decision_function(X), np.where(y == 1, 1, -1)
        beta = np.zeros(len(y))
        beta[clf.support_] = clf.dual_coef_[0]
        loss = double_hinge(Costs(reject=0.2)).of(1)
        half = 0.5 * beta @ (f - clf.intercept_[0])
        primal = half + C * loss.value(sign * f).sum()
        return (primal - loss.dual_value(sign * beta, np.full(len(y), C)).sum() + half) / primal

    @pytest.mark.parametrize(("offset", "C"), [(1e5, 1e6), (1e6, 1e4), (1e3, 1e6)])
    def test_a_callable_kernel(self, offset, C):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((200, 5))
        X, y = rows + offset, (rows[:, 0] > 0).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = RejectSVC(Costs(reject=0.2), C=C, kernel=lambda A, B: rbf_kernel(A, B, gamma=1.0)).fit(X, y)
        true = self.true_gap(clf, X, y, C)
        assert clf.proof_.gap >= min(0.5 * true, true - 1e-8)
        assert clf.proof_.status != "optimal" or true <= 0.01

    def test_a_gram_matrix_with_rounding(self):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((200, 5))
        y = (rows[:, 0] > 0).astype(int)
        K = rbf_kernel(rows, gamma=1.0) * (1 + 4e-7 * rng.uniform(-1, 1, (200, 200)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = RejectSVC(Costs(reject=0.2), C=1e8, kernel="precomputed").fit(K, y)
        true = self.true_gap(clf, K, y, 1e8)
        assert clf.proof_.gap >= min(0.5 * true, true - 1e-8)
        assert clf.proof_.status != "optimal" or true <= 0.01


def test_coefficients_that_overflow_are_an_error(monkeypatch):
    X, y, huge = [[1e-155], [-1e-155]], [0, 1], RejectSVC(C=1e200, kernel="linear")
    np.testing.assert_array_equal(huge.fit(X, y).dual_coef_, [[-1e200, 1e200]])  # the control: large, and right
    solve = LinearDual.solve

    def overflowing(solver, problem, start=None):
        return replace(solve(solver, problem, start), beta=np.array([-np.inf, np.inf]))

    monkeypatch.setattr(LinearDual, "solve", overflowing)
    with pytest.raises(ValueError, match=r"coefficients of the machine overflow.* Scale the features, or lower C"):
        huge.fit(X, y)


@pytest.mark.parametrize(("offset", "C"), [(1e4, 1e4), (1e6, 1e4), (1e7, 100.0)])
def test_a_path_far_from_the_origin_raises_where_its_numbers_cannot_express_the_optimum(offset, C):
    X, y = clouds(60, 2)
    near = reject_svc_path(X, y, Costs(reject=0.2), kernel="linear", C_max=1e5)
    assert len(near.at(C)[0]) == 60  # the control
    far = reject_svc_path(X + offset, y, Costs(reject=0.2), kernel="linear", C_max=1e5)
    with pytest.raises(ValueError, match=r"cannot express the optimum .* centre the features"):
        far.at(C)
