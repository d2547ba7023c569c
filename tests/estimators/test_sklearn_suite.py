"""scikit-learn's own tests of its SVC, run on RejectSVC.

The test functions are those of the installed scikit-learn, on its data. Two things are changed for them: `svm.SVC` is a
stand-in that accepts SVC's parameters and ignores some, and the numbers of a machine fitted to sparse rows are given in
sparse containers. What does not apply is listed with its reason, and fails.
"""

from __future__ import annotations

import warnings
from itertools import product
from types import SimpleNamespace

import pytest
import sklearn
from scipy.sparse import csr_array, issparse
from sklearn import svm
from sklearn.base import BaseEstimator

from abstain import RejectSVC

dense_suite = pytest.importorskip("sklearn.svm.tests.test_svm", reason="scikit-learn's tests are not installed")
sparse_suite = pytest.importorskip("sklearn.svm.tests.test_sparse", reason="scikit-learn's tests are not installed")

REGRESSION = "regression"
ONE_CLASS = "one-class machines"
LIBLINEAR = "LinearSVC and LinearSVR, which are liblinear"
PROBABILITY = "probability=True, which RejectSVC does not have"
LIBSVM = "libsvm's internals"
BY_PAIRS = "decision_function_shape='ovo', one column per pair of classes, which RejectSVC does not have"
TIES = "break_ties, which RejectSVC does not have"
ON_THE_CUT = "a row scored 0 up to rounding, linear kernel: dense rows are centred, sparse ones are not"
LAST_BIT = "equal coefficients to the last bit, of which one in 231 differs, for the same reason"
NEGATIVE = "weights below 0, which RejectSVC refuses"
WORDS = "refused as well, in other words"
# by the name of a function, or of one of its cases
NOT_APPLICABLE = {
    "test_svm.test_decision_function": BY_PAIRS,
    "test_sparse.test_sparse_decision_function": BY_PAIRS,
    "test_svm.test_decision_function_shape": f"{BY_PAIRS}; and {TIES}",
    "test_svm.test_svc_ovr_tie_breaking": TIES,
    "test_svm.test_svc_invalid_break_ties_param": TIES,
    **{f"test_sparse.test_svc-{at}": ON_THE_CUT for at in (1, 17, 33, 49)},
    "test_sparse.test_sparse_realdata": LAST_BIT,
    "test_svm.test_negative_sample_weights_mask_all_samples-0": WORDS,
    "test_svm.test_negative_sample_weights_mask_all_samples-1": NEGATIVE,
    "test_svm.test_negative_weights_svc_leave_just_one_label": NEGATIVE,
    "test_svm.test_negative_weights_svc_leave_two_labels-0": NEGATIVE,
    "test_svm.test_negative_weight_equal_coeffs-0": NEGATIVE,
    "test_svm.test_bad_input": "it requires that a machine fitted to dense rows refuses sparse ones; ours scores them",
    "test_svm.test_svc_nonfinite_params": WORDS,
    "test_svm.test_sparse_precomputed": WORDS,
    "test_svm.test_libsvm_convergence_warnings": "six rows are solved within two iterations",
    "test_sparse.test_timeout": "six rows are solved within one iteration",
    "test_svm.test_custom_kernel_not_array_input": "rows that are strings; RejectSVC takes numbers",
    "test_svm.test_n_iter_libsvm": "n_iter_ is a number here, since there is one machine",
    "test_svm.test_svm_with_infinite_C": "C = inf, which RejectSVC refuses",
    "test_svm.test_tweak_params": f"{LIBSVM}: it overwrites _dual_coef_",
    "test_svm.test_svc_raises_error_internal_representation": f"{LIBSVM}: it overwrites _n_support",
    "test_svm.test_svr": REGRESSION,
    "test_svm.test_svr_errors": REGRESSION,
    "test_svm.test_svr_predict": REGRESSION,
    "test_svm.test_svr_coef_sign": REGRESSION,
    "test_svm.test_svm_regressor_sided_sample_weight": REGRESSION,
    "test_svm.test_sparse_fit_support_vectors_empty": REGRESSION,
    "test_svm.test_linearsvr": REGRESSION,
    "test_svm.test_linearsvr_fit_sampleweight": REGRESSION,
    "test_svm.test_oneclass": ONE_CLASS,
    "test_svm.test_oneclass_decision_function": ONE_CLASS,
    "test_svm.test_oneclass_score_samples": ONE_CLASS,
    "test_svm.test_n_support": f"{REGRESSION} and {ONE_CLASS}",
    "test_sparse.test_sparse_oneclasssvm": ONE_CLASS,
    "test_svm.test_linearsvc_parameters": LIBLINEAR,
    "test_svm.test_linearsvc": LIBLINEAR,
    "test_svm.test_linearsvc_crammer_singer": LIBLINEAR,
    "test_svm.test_linearsvc_fit_sampleweight": LIBLINEAR,
    "test_svm.test_crammer_singer_binary": LIBLINEAR,
    "test_svm.test_linearsvc_iris": LIBLINEAR,
    "test_svm.test_dense_liblinear_intercept_handling": LIBLINEAR,
    "test_svm.test_liblinear_set_coef": LIBLINEAR,
    "test_svm.test_linearsvc_verbose": LIBLINEAR,
    "test_svm.test_linear_svm_convergence_warnings": LIBLINEAR,
    "test_svm.test_lsvc_intercept_scaling_zero": LIBLINEAR,
    "test_svm.test_linearsvm_liblinear_sample_weight": LIBLINEAR,
    "test_svm.test_dual_auto": LIBLINEAR,
    "test_svm.test_dual_auto_edge_cases": LIBLINEAR,
    "test_sparse.test_linearsvc": LIBLINEAR,
    "test_sparse.test_linearsvc_iris": LIBLINEAR,
    "test_sparse.test_sparse_liblinear_intercept_handling": LIBLINEAR,
    "test_svm.test_probability": PROBABILITY,
    "test_svm.test_hasattr_predict_proba": PROBABILITY,
    "test_svm.test_probability_raises_futurewarning": PROBABILITY,
    "test_svm.test_svc_nusvc_probA_probB_deprecated": PROBABILITY,
    "test_sparse.test_unsorted_indices": PROBABILITY,
    "test_sparse.test_sparse_svc_clone_with_callable_kernel": PROBABILITY,
}

if not hasattr(dense_suite, "get_iris_dataset"):
    pytest.skip("these are the tests of scikit-learn 1.8 and later", allow_module_level=True)


class SVC(RejectSVC):
    """RejectSVC under SVC's name, with SVC's parameters, of which those without a meaning here change nothing."""

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        probability=False,
        tol=1e-3,
        class_weight=None,
        max_iter=10_000_000,
        decision_function_shape="ovr",
        random_state=None,
    ):
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            class_weight=class_weight,
            max_iter=max_iter,
        )
        self.probability, self.random_state = probability, random_state
        self.decision_function_shape = decision_function_shape

    @property
    def _gamma(self):
        return self.machine_.kernel.gamma

    @property
    def dual_coef_(self):
        return self._contained(super().dual_coef_)

    @property
    def coef_(self):
        return self._contained(super().coef_)

    def _contained(self, values):
        return csr_array(values) if issparse(self.support_vectors_) else values


def stands_in(value):
    """Give the stand-in for SVC, as a class or as an estimator; None for other machines; other values unchanged."""
    if value is svm.SVC:
        return SVC
    if isinstance(value, svm.SVC):
        return SVC(**{name: getattr(value, name) for name in ("C", "kernel")})
    other = isinstance(value, BaseEstimator) or (isinstance(value, type) and issubclass(value, BaseEstimator))
    return None if other else value


def expanded(function):
    """Give the arguments of every case that a test function is parametrised with."""
    axes = []
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            names = [name.strip() for name in mark.args[0].split(",")]
            rows = [row if len(names) > 1 else (row,) for row in mark.args[1]]
            axes.append([dict(zip(names, map(stands_in, row), strict=True)) for row in rows])
    for combination in product(*axes):
        arguments = {name: value for part in combination for name, value in part.items()}
        if None not in (arguments.get(name, 0) for name in ("SVM", "Estimator", "Classifier", "estimator")):
            if "global_random_seed" in function.__code__.co_varnames[: function.__code__.co_argcount]:
                arguments["global_random_seed"] = 42
            yield arguments


def suite():
    for short, module in (("test_svm", dense_suite), ("test_sparse", sparse_suite)):
        for name, function in vars(module).items():
            if name.startswith("test_") and callable(function):
                yield f"{short}.{name}", module, function


ALL = {
    f"{name}-{number}": pytest.param(module, function, arguments, id=f"{name}-{number}")
    for name, module, function in suite()
    for number, arguments in enumerate(expanded(function))
}
# other estimators are scikit-learn's own here
OTHERS = {name for name, why in NOT_APPLICABLE.items() if why.startswith((REGRESSION, ONE_CLASS, LIBLINEAR))}
LEFT_OUT = [case for name, case in ALL.items() if (NOT_APPLICABLE.keys() - OTHERS) & {name, name.rsplit("-", 1)[0]}]
CASES = [case for name, case in ALL.items() if not NOT_APPLICABLE.keys() & {name, name.rsplit("-", 1)[0]}]
# that pass, by version of scikit-learn
LEAST = {"1.9": 92}


@pytest.mark.parametrize(("module", "function", "arguments"), CASES)
def test_of_scikit_learn(module, function, arguments, monkeypatch):
    monkeypatch.setattr(module, "svm", SimpleNamespace(**{**vars(svm), "SVC": SVC}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(**arguments)


@pytest.mark.parametrize(("module", "function", "arguments"), LEFT_OUT)
def test_what_is_left_out_fails(module, function, arguments, monkeypatch):
    with pytest.raises((Exception, pytest.fail.Exception)):
        test_of_scikit_learn(module, function, arguments, monkeypatch)


def test_most_functions_of_a_classifier_apply():
    applied = {case.id.rsplit("-", 1)[0] for case in CASES}
    names = {name for name, _, _ in suite()}
    assert len(applied) >= 18, sorted(applied)
    assert len(CASES) == LEAST.get(sklearn.__version__.rpartition(".")[0], len(CASES))
    assert names - applied <= NOT_APPLICABLE.keys() | {name.rsplit("-", 1)[0] for name in NOT_APPLICABLE}


def test_the_suite_has_teeth(monkeypatch):
    # control: with scores of the wrong sign the same functions object
    right = RejectSVC.predict
    monkeypatch.setattr(RejectSVC, "predict", lambda self, X: self.classes_[(right(self, X) == self.classes_[0]) * 1])
    names = ["test_svm.test_precomputed-0", "test_svm.test_libsvm_parameters-0", "test_sparse.test_error-0"]
    caught = 0
    for case in (case for case in CASES if case.id in names):
        with pytest.raises(AssertionError):
            test_of_scikit_learn(*case.values, monkeypatch)
        caught += 1
    assert caught == len(names)
