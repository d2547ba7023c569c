"""A stand-in for a fitted NoveltyRejector: scores and decisions are columns of the rows."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator

from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.labels import Labels


class Guarded(BaseEstimator):
    """The first column is the score, the second the decision of the classifier: 0, 1, or -1 for a reject."""

    def __init__(self, calibration, training=None, rate=0.01, refit=False):
        self.calibration, self.training, self.rate, self.refit = calibration, training, rate, refit
        calibration = np.asarray(calibration, dtype=float)
        scores = np.sort(calibration[:, 0])
        self.guard_ = SimpleNamespace(scores=scores, rate=rate, unusual=first, n=0)
        self._fitted_ = SimpleNamespace(decided=second, counted=by_choice)
        self.calibration_ = SimpleNamespace(scores=scores, choices=by_choice(calibration[:, 1]))
        self.classes_ = np.array([0, 1])
        self.rule_ = SimpleNamespace(labels=Labels.of(self.classes_, rejects=True))
        self.seen_ = None if training is None else SeenColumns.of(training)

    def fit(self, X, y):  # noqa: ARG002
        return self

    def transform(self, X):
        return X


def first(X):
    return np.asarray(X)[:, 0].astype(float)


def second(X):
    return np.asarray(X)[:, 1].astype(int)


def by_choice(decisions):
    return np.array([(decisions == choice).sum() for choice in (0, 1, -1)])
