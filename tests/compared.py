"""Rows, costs and machines whose comparison can be counted by hand."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from abstain.candidates.search import MachineSearch
from abstain.costs.costs import Costs
from abstain.estimators.svm.svc_cv import RejectSVCCV

COSTS = Costs(false_positive=1, false_negative=4, reject=(0.3, 0.5))
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
SMALL = RejectSVCCV(Cs=[0.1, 1.0], gammas=[0.1, 1.0])


class Fixed(ClassifierMixin, BaseEstimator):
    """Learns nothing: "b" above `upper`, "a" below `lower`, else a reject, by the first feature."""

    def __init__(self, lower=0.0, upper=0.0):
        self.lower, self.upper = lower, upper

    def fit(self, X, y):
        assert len(X) == len(y)
        self.classes_, self.reject_label_ = np.array(["a", "b"]), "reject"
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.upper, "b", np.where(X[:, 0] <= self.lower, "a", "reject"))


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 == 0)
    X = rng.normal(size=(n, 2))
    X[:, 0] += np.where(y, 0.8, -0.8)
    return X, np.where(y, "b", "a")


def prices(y, predicted, costs=COSTS):
    """One row at a time, by the table of costs."""
    table = {
        ("a", "b"): costs.false_positive,
        ("b", "a"): costs.false_negative,
        ("a", "reject"): costs.reject_negative,
        ("b", "reject"): costs.reject_positive,
    }
    return np.array([table.get((truth, said), 0.0) for truth, said in zip(y, predicted, strict=True)])


def search(*machines, **parameters):
    """A search among these machines, with few candidates."""
    return MachineSearch(COSTS, machines, svm=SMALL, cv=FOLDS, pos_label="b", **parameters)
