"""Rows of one column that is the score, the classifier that reads it off, and thresholds around its own cut."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from abstain.rules.tuning import risk_control
from abstain.rules.tuning.methods import cheapest_cut, cuts_within


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


def symmetric_thresholds(rows, costs):
    return rows.band(cheapest_cut(rows.answered(), costs))


def symmetric_within(rows, shares, *, for_new=True):
    return rows.band(cuts_within(rows.answered(), shares, for_new=for_new))


def certify(rows, max_error, confidence, positive=1):
    """The thresholds of two classes and their bound; `positive` is the sign of the class called positive."""
    order = (0, 1) if positive > 0 else (1, 0)
    cuts, bound = risk_control.certify(rows.answered(), max_error, confidence, order=order, above=0.0)
    return rows.band(cuts), bound
