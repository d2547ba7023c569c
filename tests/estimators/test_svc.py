"""RejectSVC is the machine it says: against scikit-learn, an interior-point solver and its own certificate."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC

from abstain import BartlettWegkamp, Costs, RejectSVC

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
TIGHT = {"tol": 1e-9}


def hinge_twin(X, y, C, **options):
    return SVC(C=C, tol=1e-10, **options).fit(X, y)


class TestAgainstScikitLearn:
    @pytest.mark.parametrize(
        ("kernel", "C", "atol"),
        [
            ("linear", 0.01, 1e-6),
            ("linear", 1.0, 1e-6),
            ("rbf", 0.01, 1e-6),
            ("rbf", 1.0, 1e-6),
            ("poly", 0.01, 1e-6),
            ("poly", 1.0, 1e-6),
            ("rbf", 30.0, 1e-4),  # libsvm keeps its kernel rows in float32, and C multiplies what that loses
            ("poly", 30.0, 1e-4),
        ],
    )
    def test_without_costs_it_is_svc(self, data, kernel, C, atol):
        X, y = data[0] / 8, data[1]
        options = {"kernel": kernel, "gamma": 0.2, "coef0": 0.5, "degree": 2}
        ours, theirs = RejectSVC(C=C, **options, **TIGHT).fit(X, y), hinge_twin(X, y, C, **options)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=atol)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.status_ == "optimal"

    def test_an_indefinite_kernel_is_flagged(self, data):
        # at a small C both end in the same of its optima; SVC says nothing of there being others
        X, y = data[0] / 8, data[1]
        options = {"kernel": "sigmoid", "gamma": 0.02, "coef0": 0.5}
        with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
            ours = RejectSVC(C=0.01, **options, **TIGHT).fit(X, y)
        theirs = hinge_twin(X, y, 0.01, **options)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
        assert ours.status_ == "inaccurate"

    def test_gamma_scale_is_scikit_learns(self, data):
        X, y = data
        np.testing.assert_allclose(
            RejectSVC(**TIGHT).fit(X, y).decision_function(X), hinge_twin(X, y, 1.0).decision_function(X), atol=1e-6
        )

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_costs_that_never_reject_are_svc_in_other_units(self, data, kernel):
        # max(0, ln 2 - z/2) = ln 2 |1 - z / (2 ln 2)|_+ : the score is 2 ln 2 that of SVC(C / (4 ln 2))
        X, y = data
        C = 3.0
        ours = RejectSVC(Costs(reject=0.5), C=C, kernel=kernel, gamma=0.02, **TIGHT).fit(X, y)
        theirs = hinge_twin(X, y, C / (4 * np.log(2)), kernel=kernel, gamma=0.02)
        np.testing.assert_allclose(ours.decision_function(X), 2 * np.log(2) * theirs.decision_function(X), atol=1e-6)
        assert not ours.reject_mask(X).any()
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))

    def test_class_weight_is_svcs(self, data):
        X, y = data
        for class_weight in ({0: 1.0, 1: 4.0}, {1: 0.25}, "balanced"):
            ours = RejectSVC(gamma=0.02, class_weight=class_weight, **TIGHT).fit(X[20:], y[20:])
            theirs = hinge_twin(X[20:], y[20:], 1.0, gamma=0.02, class_weight=class_weight)
            np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def double_hinge_by_interior_point(X, y, C, p_low, p_high, weight):
    """The primal of docs/theory.md for the linear kernel, as a QP for an interior-point solver."""
    clarabel = pytest.importorskip("clarabel")
    n, d = X.shape

    def H(p):
        return -p * np.log(p) - (1 - p) * np.log(1 - p)

    rho = (H(p_low) - H(p_high)) / (p_high - p_low)
    tau = np.where(y > 0, H(p_high) / (1 - p_high), H(p_low) / p_low)
    b = np.where(y > 0, 1 - p_high, p_low)
    # variables w, bias, xi, eta;  tau - y f <= xi,  y rho - y f <= eta,  xi >= 0,  eta >= 0
    Yf = sparse.hstack([sparse.csr_array(-y[:, None] * X), sparse.csr_array(-y[:, None].astype(float))])
    zero, eye, wide = sparse.csr_array((n, n)), sparse.eye_array(n), sparse.csr_array((n, d + 1))
    A = sparse.vstack(
        [
            sparse.hstack([Yf, -eye, zero]),
            sparse.hstack([Yf, zero, -eye]),
            sparse.hstack([wide, -eye, zero]),
            sparse.hstack([wide, zero, -eye]),
        ]
    ).tocsc()
    right = np.concatenate([-tau, -y * rho, np.zeros(2 * n)])
    P = sparse.diags_array(np.r_[np.ones(d), np.zeros(1 + 2 * n)]).tocsc()
    q = np.r_[np.zeros(d + 1), C * weight * b, C * weight * (p_high - p_low)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    found = clarabel.DefaultSolver(P, q, A, right, [clarabel.NonnegativeConeT(4 * n)], settings).solve()
    return np.array(found.x[:d]), found.x[d], found.obj_val


class TestDoubleHinge:
    # c_fp = 1, c_fn = 5, r = 0.3 for both:  p_low = 0.3 / (5 - 0.3 + 0.3),  p_high = 0.7 / (0.7 + 0.3)
    P_LOW, P_HIGH = 0.06, 0.7

    @pytest.mark.parametrize("pos_label", [None, 0])
    def test_it_is_the_minimum_of_the_primal(self, data, pos_label):
        X, y = data[0] / 8, data[1]
        weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
        clf = RejectSVC(ASYMMETRIC, kernel="linear", C=0.7, pos_label=pos_label, **TIGHT).fit(X, y, weight)
        towards = 1 if pos_label is None else -1
        w, bias, value = double_hinge_by_interior_point(X, towards * (2 * y - 1), 0.7, self.P_LOW, self.P_HIGH, weight)
        assert clf.objective_ == pytest.approx(value, rel=1e-7)
        np.testing.assert_allclose(towards * clf.coef_[0], w, atol=1e-4)
        assert towards * clf.intercept_[0] == pytest.approx(bias, abs=1e-3)

    def test_thresholds_are_the_log_odds_of_bayes_rule(self, data):
        clf = RejectSVC(ASYMMETRIC).fit(*data)
        assert clf.thresholds_.lower == pytest.approx(np.log(self.P_LOW / (1 - self.P_LOW)))
        assert clf.thresholds_.upper == pytest.approx(np.log(self.P_HIGH / (1 - self.P_HIGH)))

    def test_decisions_are_thresholds_on_the_score(self, data):
        X, y = data
        clf = RejectSVC(ASYMMETRIC).fit(X, y)
        f = clf.decision_function(X)
        expected = np.where(f > clf.thresholds_.upper, 1, np.where(f < clf.thresholds_.lower, 0, -1))
        np.testing.assert_array_equal(clf.predict(X), expected)
        np.testing.assert_array_equal(clf.reject_mask(X), expected == -1)
        assert 0 < np.mean(expected == -1) < 1
        # forced: the positive class from log(c_fp / c_fn) on
        np.testing.assert_array_equal(clf.predict_forced(X), (f > np.log(1 / 5)).astype(int))

    def test_pos_label_orients_the_costs_and_negates_the_rest(self, data):
        X, y = data
        plain = RejectSVC(ASYMMETRIC, **TIGHT).fit(X, y)
        swapped = RejectSVC(ASYMMETRIC, pos_label=0, **TIGHT).fit(X, 1 - y)  # the same machine, its classes renamed
        np.testing.assert_allclose(swapped.decision_function(X), -plain.decision_function(X), atol=1e-12)
        np.testing.assert_allclose(swapped.dual_coef_, -plain.dual_coef_, atol=1e-12)
        np.testing.assert_allclose(swapped.intercept_, -plain.intercept_, atol=1e-12)
        assert swapped.thresholds_.lower == -plain.thresholds_.upper
        assert swapped.thresholds_.upper == -plain.thresholds_.lower
        names = {0: 1, 1: 0, -1: -1}
        assert swapped.predict(X).tolist() == [names[label] for label in plain.predict(X)]
        assert swapped.predict_forced(X).tolist() == [names[label] for label in plain.predict_forced(X)]
        assert swapped.score(X, 1 - y) == pytest.approx(plain.score(X, y))
        np.testing.assert_allclose(swapped.decide(X).expected_cost, plain.decide(X).expected_cost)
        np.testing.assert_array_equal(swapped.sets_, plain.sets_)
        assert swapped.n_support_.tolist() == plain.n_support_[::-1].tolist()
        # control: without pos_label the costs fall on the other class
        other = RejectSVC(ASYMMETRIC, **TIGHT).fit(X, 1 - y)
        assert np.abs(other.decision_function(X) + plain.decision_function(X)).max() > 0.1

    def test_bartlett_wegkamp_is_the_same_machine_in_other_units(self, data):
        # C_W = C_psi H(r) / r^2 and f_W = f_psi H(r) / r; only the threshold differs
        X, y = data
        r = 0.2
        H = -r * np.log(r) - (1 - r) * np.log(1 - r)
        psi = RejectSVC(Costs(2, 2, 2 * r), C=1.0, rule="bartlett-wegkamp", **TIGHT).fit(X, y)
        chow = RejectSVC(Costs(reject=r), C=H / r**2, **TIGHT).fit(X, y)
        np.testing.assert_allclose(psi.decision_function(X) * H / r, chow.decision_function(X), atol=1e-7)
        assert (psi.thresholds_.lower, psi.thresholds_.upper) == (-0.5, 0.5)
        assert RejectSVC(Costs(reject=r), rule=BartlettWegkamp(0.3)).fit(X, y).thresholds_.upper == 0.3
        np.testing.assert_allclose(psi.decide(X).expected_cost, 2 * chow.decide(X).expected_cost, atol=1e-7)


class TestFitted:
    def test_attributes_agree_with_each_other(self, data):
        X, y = data
        clf = RejectSVC(ASYMMETRIC, C=0.5, kernel="linear", **TIGHT).fit(X, y)
        assert clf.dual_coef_.shape == (1, len(clf.support_))
        assert clf.intercept_.shape == (1,)
        assert (clf.dual_coef_ != 0).all()
        np.testing.assert_array_equal(clf.support_vectors_, X[clf.support_])
        np.testing.assert_array_equal(clf.n_support_, np.bincount(y[clf.support_]))
        assert clf.dual_coef_.sum() == pytest.approx(0, abs=1e-10)
        np.testing.assert_allclose(clf.coef_, clf.dual_coef_ @ clf.support_vectors_)
        np.testing.assert_allclose(clf.decision_function(X), X @ clf.coef_[0] + clf.intercept_[0], atol=1e-9)
        assert isinstance(clf.status_, str)
        assert clf.status_ == "optimal"
        assert clf.n_iter_ >= 1

    def test_certificate(self, data):
        X, y = data
        clf = RejectSVC(C=0.5, kernel="linear", **TIGHT).fit(X, y)
        margin = (2 * y - 1) * clf.decision_function(X)
        primal = 0.5 * clf.coef_[0] @ clf.coef_[0] + 0.5 * np.maximum(0, 1 - margin).sum()
        dual = np.abs(clf.dual_coef_).sum() - 0.5 * clf.coef_[0] @ clf.coef_[0]
        assert clf.objective_ == pytest.approx(primal, rel=1e-12)
        assert clf.dual_objective_ == pytest.approx(dual, rel=1e-12)
        assert clf.duality_gap_ == pytest.approx((primal - dual) / primal, abs=1e-11)
        assert 0 <= clf.duality_gap_ < 1e-6
        # control: a machine stopped early has a gap to show
        with pytest.warns(ConvergenceWarning):
            stopped = RejectSVC(C=0.5, kernel="linear", solver="smo", max_iter=3).fit(X, y)
        assert stopped.duality_gap_ > 0.01

    def test_sets_are_where_the_margins_lie(self, data):
        X, y = data
        clf = RejectSVC(ASYMMETRIC, **TIGHT).fit(X, y)
        assert clf.set_names_ == ("I_0", "I_tau", "I_B", "I_rho", "I_D")
        assert clf.sets_.dtype == np.int8
        assert set(clf.sets_.tolist()) == {0, 1, 2, 3, 4}
        p_low, p_high = 0.06, 0.7
        H_low, H_high = (-p * np.log(p) - (1 - p) * np.log(1 - p) for p in (p_low, p_high))
        sign = 2 * y - 1
        tau = np.where(y == 1, H_high / (1 - p_high), H_low / p_low)
        rho = sign * (H_low - H_high) / (p_high - p_low)
        margin = sign * clf.decision_function(X)
        eps = 1e-6
        places = {
            0: margin > tau - eps,
            1: abs(margin - tau) < eps,
            2: (margin > rho - eps) & (margin < tau + eps),
            3: abs(margin - rho) < eps,
            4: margin < rho + eps,
        }
        for code, there in places.items():
            assert there[clf.sets_ == code].all(), clf.set_names_[code]
        assert set(np.flatnonzero(clf.sets_)) == set(clf.support_)

    def test_three_sets_without_costs(self, data):
        clf = RejectSVC().fit(*data)
        assert clf.set_names_ == ("I_0", "I_tau", "I_B")
        assert set(clf.sets_.tolist()) <= {0, 1, 2}

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_what_was_fitted_cannot_be_written_to(self, data, form, kernel):
        clf = RejectSVC(ASYMMETRIC, kernel=kernel).fit(form(data[0]), data[1])
        names = ["classes_", "dual_coef_", "intercept_", "n_support_", "sets_", "support_", "support_vectors_"]
        for name in [*names, "coef_"] if kernel == "linear" else names:
            value = getattr(clf, name)
            for array in (value.data, value.indices, value.indptr) if sparse.issparse(value) else (value,):
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0
        with pytest.raises(FrozenInstanceError):
            clf.thresholds_.lower = 0.0
        own = np.array(clf.dual_coef_)  # a copy is anyone's
        own[...] = 0

    def test_coef_is_for_the_linear_kernel_only(self, data):
        clf = RejectSVC(kernel="linear").fit(*data)
        assert hasattr(clf, "coef_")
        clf.set_params(kernel="rbf").fit(*data)
        assert not hasattr(clf, "coef_")
        with pytest.raises(AttributeError, match="linear"):
            _ = clf.coef_

    def test_refitting_leaves_nothing_of_the_first_fit(self, data):
        X, y = data
        again = RejectSVC(ASYMMETRIC).fit(X[:, :2], np.array(["u", "v"])[y]).fit(X, y)
        once = RejectSVC(ASYMMETRIC).fit(X, y)
        assert vars(again).keys() == vars(once).keys()
        np.testing.assert_array_equal(again.predict(X), once.predict(X))

    @pytest.mark.parametrize("method", ["predict", "decision_function", "predict_forced", "reject_mask", "decide"])
    def test_before_fit(self, data, method):
        with pytest.raises(NotFittedError):
            getattr(RejectSVC(), method)(data[0])
