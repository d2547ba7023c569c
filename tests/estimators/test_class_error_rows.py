"""Promises by class: which rows calibrate, and rows that equal them but for rounding."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from abstain import ThresholdRejector
from abstain.estimators.fitting.splitting import held_out_rows


class Tilted(ClassifierMixin, BaseEstimator):
    """The first column is the score of the last class, with an error of rounding in batches of more than one row."""

    def __init__(self, n_classes=2):
        self.n_classes = n_classes

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.arange(self.n_classes)
        return self

    def decision_function(self, X):
        tilt = 1e-14 * (len(X) > 1)
        score = np.asarray(X)[:, 0] + 2.0
        return score + tilt if self.n_classes == 2 else np.column_stack([0 * score - tilt, 1 + 0 * score, score + tilt])

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


@pytest.mark.parametrize("options", [{}, {"conformal": "cross"}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_scored_alone_are_equal_to_calibration_rows(n_classes, options):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 2)).astype(float)
    y = rng.integers(0, n_classes, size=300)
    model = Tilted(n_classes=n_classes)
    clf = ThresholdRejector(model, class_error=0.1, random_state=0, **options).fit(X, y)
    together = clf.predict_set(X[:40])
    np.testing.assert_array_equal(np.vstack([clf.predict_set(X[i : i + 1]) for i in range(40)]), together)


def test_rows_of_weight_0_are_not_calibrated_on():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    weight = np.repeat([1.0, 0.0], 200)
    clf = ThresholdRejector(LogisticRegression(), class_error=0.1, conformal="cross")
    rows = clf.fit(X, y, sample_weight=weight).certificate_.n_rows
    assert rows == {label: int(np.sum(y[:200] == label)) for label in (0, 1)}


@pytest.mark.long
def test_the_largest_group_is_held_out_as_often_as_any_other():
    groups = np.append(np.zeros(80), np.arange(1, 321))
    code = np.arange(400) % 2
    held = [0 in groups[held_out_rows(code, [40, 40], groups, seed)] for seed in range(40)]
    assert 1 <= sum(held) <= 20  # eight are expected; 0.0001 and 0.00004 are the chances to leave the interval
