"""Faults of one fit that SVM libraries have had, by name: each ends within 10 s, alive, finite and with a true status.

Layouts of X (memmaps, misaligned, Fortran order, strides, float32, int64 indices) are in ``test_training.py``.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from abstain import Costs, RejectSVC
from estimators.hard_cases.data import X0, Y0, noisy
from estimators.hard_cases.processes import Worker, outcome, serve


def random_gram(n=60):
    S = np.random.default_rng(2).normal(size=(n, n))
    return S + S.T


def both_labels(X):
    return np.repeat(X, 2, axis=0), np.arange(2 * len(X)) % 2


def survives(X, y, **options):
    """Fit: refused with a reason, or finished with finite numbers and a status that its own scores bear out."""
    clf = RejectSVC(**options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clf.fit(X, y)
        except ValueError as refusal:
            assert len(str(refusal)) > 40, refusal  # noqa: PT017 (it may also not be refused)
            return None
    numbers = [clf.decision_function(X), clf.dual_coef_, clf.intercept_, clf.objective_, clf.dual_objective_]
    assert all(np.isfinite(number).all() for number in [*numbers, clf.duality_gap_])
    told = [warning.category for warning in caught]
    assert told == ([] if clf.status_ == "optimal" else [ConvergenceWarning]), [str(w.message) for w in caught]
    if clf.status_ == "optimal" and clf.costs is None:
        check_optimality(clf, np.asarray(X, dtype=float), np.asarray(y))
    return clf


def check_optimality(clf, X, y):
    """The plain hinge's conditions by published attributes alone: g = 0, between, C go with z >= 1, z = 1, z <= 1."""
    sign = np.where(y == clf.classes_[1], 1, -1)
    beta = np.zeros(len(y))
    beta[clf.support_] = clf.dual_coef_[0]
    z = sign * clf.decision_function(X)
    K = X if clf.kernel == "precomputed" else None
    if K is None and clf.kernel == "linear":
        K = pairwise_kernels(X, metric="linear")
    rounding = 0 if K is None else 1e-11 * np.abs(K) @ np.abs(beta)
    slack = 2e-3 + rounding
    share = sign * beta / clf.C
    assert (share >= 0).all()
    assert (share <= 1 + 1e-9).all()
    assert (z >= 1 - slack)[share == 0].all()
    assert (z <= 1 + slack)[share >= 1 - 1e-9].all()
    assert (abs(z - 1) <= slack)[(share > 1e-9) & (share < 1 - 1e-9)].all()


ONE_ENTRY = np.r_[np.zeros((19, 1)), [[3.7e-208]]], np.arange(20) // 19
CANCER = load_breast_cancer(return_X_y=True)
POLY = {"kernel": "poly", "degree": 2, "gamma": 0.5}
LINEAR, GRAM = {"kernel": "linear"}, {"kernel": "precomputed"}

# name: X, y, options; run alone, since it is here that others hang
ENDS = {
    "poly on 99999": (np.array([[1.0, 99999], [2, 99999]]), [0, 1], POLY),
    "linear on 1e6 with random labels": (noisy(500, 10)[0] * 1e6, np.random.default_rng(1).integers(0, 2, 500), LINEAR),
    "linear with C of 1e8": (X0, Y0, {**LINEAR, "C": 1e8}),
    "tol of 1e-300": (X0, Y0, {"tol": 1e-300}),
    "tol of 1e-300, plain SMO": (X0, Y0, {"tol": 1e-300, "solver": "smo"}),
    "poly of degree 8, gamma 4000": (X0, Y0, {"kernel": "poly", "degree": 8, "gamma": 4000}),
    "zeros but for 3.7e-208": (*ONE_ENTRY, {}),
    "zeros but for 3.7e-208, linear": (*ONE_ENTRY, LINEAR),
    "0 and 1e100": ([[0.0], [1e100]], [0, 1], {}),
    "0 and 1e100, linear": ([[0.0], [1e100]], [0, 1], LINEAR),
    "0 and 1e100, poly": ([[0.0], [1e100]], [0, 1], {"kernel": "poly"}),
    "breast cancer unscaled": (*CANCER, LINEAR),
    "breast cancer unscaled, C of 1e4": (*CANCER, {**LINEAR, "C": 1e4}),
    "sigmoid with gamma 10": (X0, Y0, {"kernel": "sigmoid", "gamma": 10}),
    "random symmetric Gram matrix": (random_gram(), np.arange(60) % 2, GRAM),
    "columns scaled 1 to 1e8": (X0 * np.logspace(0, 8, 5), Y0, {}),
    "columns scaled 1 to 1e8, linear": (X0 * np.logspace(0, 8, 5), Y0, LINEAR),
    "C of 1e-300": (X0, Y0, {"C": 1e-300}),
    "C of 1e300": (X0, Y0, {"C": 1e300}),
    "C of 1e308": (X0, Y0, {"C": 1e308}),
    "constant features": (np.c_[np.ones(300), X0, np.zeros(300)], Y0, {}),
    "all points identical": (np.ones((20, 3)), np.arange(20) % 2, {}),
    "all points identical, linear": (np.ones((20, 3)), np.arange(20) % 2, LINEAR),
    "every point with both labels": (*both_labels(X0[:50]), {}),
    "every point with both labels, C of 1e6": (*both_labels(X0[:50]), {"C": 1e6}),
    "X times 1e-200": (X0 * 1e-200, Y0, {}),
    "X times 1e-200, linear": (X0 * 1e-200, Y0, LINEAR),
    "X times 1e160": (X0 * 1e160, Y0, {}),
    "X times 1e160, linear": (X0 * 1e160, Y0, LINEAR),
    "X subnormal": (X0 * 1e-310, Y0, {}),
    "X subnormal, poly": (X0 * 1e-310, Y0, {"kernel": "poly"}),
    "1 : 5000": (np.r_[noisy(5000, 2)[0], [[4.0, 4.0]]], np.arange(5001) // 5000, {}),
    "one sample per class": ([[0.0], [1.0]], [0, 1], {}),
    "one feature": (X0[:, :1], Y0, {}),
    "5000 features, 10 rows": (*noisy(10, 5000), {}),
    "all at the bound": (X0, Y0, {"C": 1e-6}),
    "costs 1 : 1e9": (X0, Y0, {"costs": Costs(1, 1e9, 0.3)}),
    "costs 1e9 : 1": (X0, Y0, {"costs": Costs(1e9, 1, 0.3)}),
    "reject cost 1e-300": (X0, Y0, {"costs": Costs(reject=1e-300)}),
    "cache of 1e-9 MB": (X0, Y0, {"cache_size": 1e-9}),
    "cache of 4000 MB": (X0, Y0, {"cache_size": 4000}),
    "cache of 1e12 MB": (X0, Y0, {"cache_size": 1e12}),
    "max_iter of 1": (X0, Y0, {"max_iter": 1}),
    "time_limit of a microsecond": (X0, Y0, {"time_limit": 1e-6}),
}
# how some of them must end, beyond surviving
STATUS = {
    "tol of 1e-300": "inaccurate",
    "tol of 1e-300, plain SMO": "inaccurate",
    "sigmoid with gamma 10": "inaccurate",
    "random symmetric Gram matrix": "inaccurate",
    "max_iter of 1": "iteration_limit",
    **dict.fromkeys(["0 and 1e100", "all points identical", "1 : 5000"], "optimal"),
    **dict.fromkeys(["C of 1e-300", "all at the bound", "5000 features, 10 rows", "costs 1 : 1e9"], "optimal"),
    **dict.fromkeys(["cache of 1e-9 MB", "cache of 4000 MB", "cache of 1e12 MB"], "optimal"),
}


def ends(name):
    X, y, options = ENDS[name]
    clf = survives(X, y, **options)
    assert name not in STATUS or (clf is not None and clf.status_ == STATUS[name]), clf and clf.status_


@pytest.fixture(scope="module")
def worker():
    worker = Worker(__file__)
    yield worker
    worker.close()


@pytest.mark.parametrize("name", ENDS)
def test_ends(name, worker):
    assert worker.ask(name) == "survived"


def test_the_truth_of_a_status_is_found_out():
    clf = RejectSVC().fit(X0, Y0)
    check_optimality(clf, X0, Y0)
    clf._fitted_ = replace(clf._fitted_, machine=replace(clf.machine_, bias=clf.machine_.bias + 0.1))
    with pytest.raises(AssertionError):
        check_optimality(clf, X0, Y0)


if __name__ == "__main__":
    serve(lambda name: outcome(lambda: ends(name)))
