"""Rows of one column that is the score, and the classifier that reads it off."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Counting(ClassifierMixin, BaseEstimator):
    """The first column is the score; counts its fits."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.asarray(X).shape[1]
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]


def first_column(n=400, seed=0, shift=1.1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    return (shift * (2 * y - 1) + rng.normal(size=n))[:, np.newaxis], y
