"""reject_svc_path: every machine along C is the one that RejectSVC fits there."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC, reject_svc_path
from abstain.dual.certificate import certify
from abstain.gamma import resolve_gamma
from path_cases import DATA_SETS, OBJECTIVE_TOLERANCE, all_cases, random_Cs

needs_data = pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
CASES = [
    pytest.param(case, id=str(case), marks=[] if data == "wdbc" else [needs_data])
    for data in DATA_SETS
    for case in all_cases(data)
]
ASYMMETRIC = Costs(1, 5, 0.3)


@pytest.mark.parametrize("case", CASES)
def test_objectives_are_those_of_exact_fits(case):
    path = case.path()
    assert max(case.errors(path, random_Cs(5, seed=1))) <= OBJECTIVE_TOLERANCE


def test_the_judge_has_teeth():
    # control: coefficients of a C that is off by a thousandth are no optimum
    case = all_cases("wdbc")[2]
    path = case.path()

    class Off:
        problem_at = path.problem_at

        def at(self, C):
            return path.at(C * (1 + 1e-3))

    assert max(case.errors(Off(), random_Cs(5, seed=1))) > OBJECTIVE_TOLERANCE


def same_machine(path, machine, X, towards=1):
    """Coefficients, scores and objective of the path at the machine's C, against a fit to the last digits."""
    beta, intercept = path.at(machine.C)
    assert beta.shape == (X.shape[0],)
    fitted = np.zeros(len(beta))
    fitted[machine.support_] = towards * machine.dual_coef_[0]
    np.testing.assert_allclose(beta, fitted, atol=1e-8 * machine.C)
    scores = path.problem.scores(beta) + intercept
    np.testing.assert_allclose(towards * scores, machine.decision_function(X), atol=1e-8)
    assert certify(path.problem_at(machine.C), beta, intercept).primal == pytest.approx(machine.objective_, rel=1e-9)


def exact(costs=ASYMMETRIC, C=1.7, **options):
    return RejectSVC(costs, C=C, solver="active-set", **options)


@pytest.fixture(scope="module")
def rows(data):
    return data[0] / 8, data[1]


class TestSameMachine:
    @pytest.mark.parametrize("C", [0.01, 0.3, 1.7, 40.0, 1000.0])
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"kernel": "linear"},
            {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
            {"gamma": "auto"},
            {"gamma": 0.7},
            {"class_weight": {0: 1.0, 1: 3.0}},
            {"class_weight": "balanced"},
        ],
        ids=str,
    )
    def test_with_the_same_parameters(self, rows, options, C):
        X, y = rows
        same_machine(reject_svc_path(X, y, ASYMMETRIC, **options), exact(C=C, **options).fit(X, y), X)

    def test_without_costs(self, rows):
        X, y = rows
        same_machine(reject_svc_path(X, y), exact(None).fit(X, y), X)

    def test_under_the_rule_of_bartlett_and_wegkamp(self, rows):
        X, y = rows
        options = {"rule": "bartlett-wegkamp"}
        path = reject_svc_path(X, y, Costs(reject=0.2), **options)
        same_machine(path, exact(Costs(reject=0.2), **options).fit(X, y), X)

    @pytest.mark.parametrize("pos_label", ["no", "yes", None])
    def test_labels_and_the_positive_class(self, rows, pos_label):
        X, y = rows[0], np.where(rows[1] == 1, "yes", "no")
        machine = exact(pos_label=pos_label).fit(X, y)
        path = reject_svc_path(X, y, ASYMMETRIC, pos_label=pos_label)
        # the path's coefficients are those of +1 = the positive class, the machine's those of classes_[1]
        same_machine(path, machine, X, towards=-1 if pos_label == "no" else 1)
        assert (path.problem.sign == np.where(y == (pos_label or "yes"), 1, -1)).all()

    def test_weights_some_of_them_zero(self, rows):
        X, y = rows
        rng = np.random.default_rng(0)
        weight = rng.exponential(size=len(y)) * (rng.random(len(y)) < 0.7)
        path = reject_svc_path(X, y, ASYMMETRIC, sample_weight=weight)
        same_machine(path, exact().fit(X, y, weight), X)
        assert path.problem.kernel.gamma == pytest.approx(resolve_gamma("scale", X, weight))
        assert (path.at(1.7)[0][weight == 0] == 0).all()

    def test_a_weight_of_two_is_a_row_given_twice(self, rows):
        X, y = rows
        weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
        repeated = np.repeat(np.arange(len(y)), weight.astype(int))
        one = reject_svc_path(X, y, ASYMMETRIC, sample_weight=weight)
        two = reject_svc_path(X[repeated], y[repeated], ASYMMETRIC)
        for C in (0.02, 1.0, 300.0):
            values = [certify(path.problem_at(C), *path.at(C)).primal for path in (one, two)]
            assert values[0] == pytest.approx(values[1], rel=1e-9)

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_sparse_rows(self, rows, kernel):
        X, y = csr_array(rows[0]), rows[1]
        same_machine(reject_svc_path(X, y, ASYMMETRIC, kernel=kernel), exact(kernel=kernel).fit(X, y), X)

    def test_a_gram_matrix_and_a_callable(self, rows):
        X, y = rows

        def kernel(a, b):
            return np.exp(-0.3 * ((a[:, np.newaxis] - b[np.newaxis]) ** 2).sum(axis=2))

        K = kernel(X, X)
        same_machine(reject_svc_path(K, y, ASYMMETRIC, kernel="precomputed"), exact(kernel="precomputed").fit(K, y), K)
        same_machine(reject_svc_path(X, y, ASYMMETRIC, kernel=kernel), exact(kernel=kernel).fit(X, y), X)

    def test_an_indefinite_kernel_is_told_and_a_definite_one_is_not(self, rows):
        X, y = rows
        K = np.exp(-0.3 * ((X[:, np.newaxis] - X[np.newaxis]) ** 2).sum(axis=2))
        bent = K - 0.5 * np.eye(len(K))
        with pytest.warns(ConvergenceWarning, match=r"not positive semidefinite on these rows, .* use another"):
            reject_svc_path(bent, y, ASYMMETRIC, kernel="precomputed", C_min=1e-4, C_max=1e-3)
        reject_svc_path(K, y, ASYMMETRIC, kernel="precomputed", C_min=1e-4, C_max=1e-3)  # a warning would be an error

    def test_features_far_from_the_origin(self, rows):
        X, y = rows[0] + 50.0, rows[1]
        for kernel in ("linear", "rbf"):
            path = reject_svc_path(X, y, ASYMMETRIC, kernel=kernel, gamma=0.3)
            machine = exact(kernel=kernel, gamma=0.3).fit(X, y)
            beta, intercept = path.at(1.7)
            np.testing.assert_allclose(path.problem.scores(beta) + intercept, machine.decision_function(X), atol=1e-7)


def test_the_ends_are_kept():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    path = reject_svc_path(X, y, ASYMMETRIC, C_min=0.37, C_max=11)
    assert (path.C_min, path.C_max) == (0.37, 11.0)
    assert (path.breakpoints[0], path.breakpoints[-1]) == (0.37, 11.0)
    for C in (0.37, 11.0):
        assert np.isfinite(path.at(C)[0]).all()


def test_defaults_are_a_hundredth_and_a_thousand():
    path = reject_svc_path([[0.0], [1.0]], [0, 1])
    assert (path.C_min, path.C_max) == (0.01, 1000.0)


X0, Y0 = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
# what is wrong: the words of the refusal, what is given
REFUSED = {
    "C_min above C_max": (r"C_min=10 must be below C_max=1\.", {"C_min": 10, "C_max": 1}),
    "C_min equal to C_max": (r"C_min=1 must be below C_max=1\.", {"C_min": 1, "C_max": 1}),
    "C_min of zero": (r"C_min=0", {"C_min": 0}),
    "C_min below zero": (r"C_min=-1", {"C_min": -1}),
    "C_max of inf": (r"C_max=inf", {"C_max": np.inf}),
    "C_max of nan": (r"C_max=nan", {"C_max": np.nan}),
    "C_max a word": (r"C_max='large'", {"C_max": "large"}),
    "costs no Costs": (r"costs=0\.3 must be a Costs, not a float", {"costs": 0.3}),
    "kernel unknown": (r"kernel='rbg' must be one of linear, rbf", {"kernel": "rbg"}),
    "gamma unknown": (r"gamma='large' must be", {"gamma": "large"}),
    "one class": (r"only one class", {"y": [1, 1, 1, 1]}),
    "three classes": (r"a path is that of one machine; follow one for each class", {"y": [0, 1, 2, 0]}),
    "weight below zero": (r"sample_weight must be finite and >= 0, got -1 at row 0", {"sample_weight": [-1, 1, 1, 1]}),
    "weights that leave one class": (r"class 0 have weight zero", {"sample_weight": [0, 1, 0, 1]}),
    "C_max that overflows": (r"C=1e\+300 times .* overflows", {"C_max": 1e300, "sample_weight": [1e10, 1, 1, 1]}),
    "X with nan": (r"NaN", {"X": [[np.nan], [1.0], [2.0], [3.0]]}),
    "Gram matrix not square": (r"square", {"kernel": "precomputed"}),
    "rule without costs": (r"needs costs", {"rule": "bartlett-wegkamp"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_with_a_reason(name):
    words, given = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        reject_svc_path(**{"X": X0, "y": Y0, **given})
