"""scikit-learn's own checks of ThresholdRejector, all of them, around classifiers that pass them themselves."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

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
