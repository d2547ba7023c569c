"""scikit-learn's own checks, all of them, none expected to fail."""

import os
import subprocess
import sys

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from sklearn.utils.fixes import parse_version

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV

LOW_RANK = LinearRejectSVC(kernel="rbf", n_components=20)
SEARCHES = [RejectSVCCV(Cs=2, gammas=2, cv=2), LinearRejectSVCCV(Cs=2, cv=2)]
ESTIMATORS = [EmbeddedRejectSVC(n_starts=2), RejectSVC(), LinearRejectSVC(), *SEARCHES]


def reason(error):
    """The error with its cause, which some checks replace by a guess."""
    return error if error.__cause__ is None else (error, error.__cause__)


def fails(check, estimator):
    try:
        check(estimator)
    except AssertionError:
        return True
    return False


def each_of(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=str)


@pytest.mark.filterwarnings("ignore:The least populated class")  # a check of scikit-learn 1.7 has classes below 5 rows
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@each_of([*ESTIMATORS, LOW_RANK, OneClassSVM()])
def test_every_check_passes(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"]: reason(result["exception"]) for result in results if result["status"] == "failed"}
    assert failed == {}
    assert sum(result["status"] == "passed" for result in results) > 50


@each_of(ESTIMATORS[:4])
def test_the_checks_have_teeth(estimator):
    class Overwrites(type(estimator)):
        def fit(self, X, y, **weights):
            self.C = 2.0
            return super().fit(X, y, **weights)

    teeth = {"check_estimators_overwrite_params", "check_dont_overwrite_parameters"}
    checks = [check for _, check in estimator_checks_generator(Overwrites()) if check.func.__name__ in teeth]
    assert any(fails(check, Overwrites()) for check in checks)
    assert not any(fails(check, estimator) for check in checks)


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="from scikit-learn 1.9 on")
def test_array_api_checks_run_where_scipy_has_them_switched_on():
    # SCIPY_ARRAY_API is read when SciPy is first imported, hence the process of its own
    script = """
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.linear_model import LogisticRegression
from abstain import RejectSVC, ThresholdRejector
for checked in (RejectSVC(), ThresholdRejector(LogisticRegression())):
    ran = 0
    for estimator, check in estimator_checks_generator(checked):
        if "array_api" in getattr(check, "func", check).__name__:
            check(estimator)
            ran += 1
    print(ran)
"""
    done = subprocess.run(  # noqa: S603 (our own interpreter and script)
        [sys.executable, "-c", script],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = map(int, done.stdout.split())
    assert min(first, second) >= 1
