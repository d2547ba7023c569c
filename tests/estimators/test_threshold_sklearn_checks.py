"""scikit-learn's own checks of ThresholdRejector, all of them, around classifiers that pass them themselves."""

import os
import subprocess
import sys

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from abstain import Costs, EmbeddedRejectSVC, Forced, RejectSVC, ThresholdRejector


def failed(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 50
    return {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize("classifier", [LogisticRegression(), RejectSVC()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_passes(classifier):
    assert get_tags(ThresholdRejector(classifier)).classifier_tags.multi_class  # checked with several classes too
    assert failed(ThresholdRejector(classifier)) == {}


def test_what_takes_two_classes_says_so_around_it_too():
    for made in (ThresholdRejector, Forced):
        assert not get_tags(made(EmbeddedRejectSVC())).classifier_tags.multi_class
    X, y = [[0.0], [1.0], [2.0]] * 9, [0, 1, 2] * 9
    with pytest.raises(ValueError, match="Only binary classification"):
        ThresholdRejector(EmbeddedRejectSVC(), Costs(reject=0.2)).fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_around_svc_it_fails_what_svc_itself_fails():
    own = failed(SVC())
    assert own  # sample weights against repeated rows, in the versions of scikit-learn known to us
    assert failed(ThresholdRejector(SVC())).keys() == own.keys()


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="from scikit-learn 1.9 on")
def test_array_api_checks_run_where_scipy_has_them_switched_on():
    script = """
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator
from abstain import ThresholdRejector
ran = 0
for estimator, check in estimator_checks_generator(ThresholdRejector(LogisticRegression())):
    if "array_api" in getattr(check, "func", check).__name__:
        check(estimator)
        ran += 1
print("ran", ran)
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
    assert int(done.stdout.split()[-1]) >= 1
