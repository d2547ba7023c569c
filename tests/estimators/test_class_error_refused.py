"""Promises per class: what would be ignored is refused."""


import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import ThresholdRejector
from estimators.test_class_error import RATES, drawn


def test_what_would_calibrate_on_a_part_only_or_be_ignored_is_refused():
    X, y = drawn(200)
    fitted = LogisticRegression().fit(X, y)
    half = make_pipeline(StandardScaler(), FrozenEstimator(fitted))
    for asked in ({"class_error": RATES}, {"max_error": 0.3}):
        with pytest.raises(ValueError, match="the last step of the Pipeline is frozen"):
            ThresholdRejector(half, **asked).fit(X, y)
    for given in ({"cv": "prefit"}, {"conformal": "cross"}):
        clf = ThresholdRejector(fitted, class_error=RATES, calibration_size=0.3, **given)
        with pytest.raises(ValueError, match="calibration_size has no effect here"):
            clf.fit(X, y)
    whole = FrozenEstimator(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))  # the way out
    rows = drawn(200, seed=1)
    assert sum(ThresholdRejector(whole, class_error=RATES).fit(*rows).certificate_.n_rows.values()) == 200


def test_classifiers_of_folds_have_no_probabilities_as_p_values_rank_rows():
    X, y = drawn(200)
    clf = ThresholdRejector(LogisticRegression(), class_error=RATES, conformal="cross")
    for found in (clf, clone(clf).fit(X, y)):
        assert not hasattr(found, "predict_proba")
        assert not hasattr(found, "predict_log_proba")
    assert hasattr(clf.set_params(conformal="split").fit(X, y), "predict_proba")  # control
