"""scikit-learn's own checks of ThresholdRejector, all of them, around classifiers that pass them themselves."""

import os
import subprocess
import sys

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from abstain import RejectSVC, ThresholdRejector


@parametrize_with_checks([ThresholdRejector(LogisticRegression()), ThresholdRejector(RejectSVC())])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)


def failed(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    return {result["check_name"] for result in results if result["status"] == "failed"}


@pytest.mark.filterwarnings("ignore")
def test_around_svc_it_inherits_what_svc_fails():
    own = failed(SVC())
    assert own  # sample weights against repeated rows, in the versions of scikit-learn known to us
    assert failed(ThresholdRejector(SVC())) == own


def test_array_api_checks_run_where_scipy_has_them_switched_on():
    script = """
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator
from abstain import ThresholdRejector
for estimator, check in estimator_checks_generator(ThresholdRejector(LogisticRegression())):
    if "array_api" in getattr(check, "func", check).__name__:
        check(estimator)
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
