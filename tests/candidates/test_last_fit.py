"""The last fit of a MachineSearch, and the scores of new rows by it."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from abstain.candidates.machines import MACHINES
from abstain.candidates.search import MachineSearch
from abstain.costs.costs import Costs
from compared import FOLDS, rows, search


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sigmoid_of_a_forest_needs_no_second_fit_on_the_folds(n_classes, weighted, monkeypatch):
    X, _ = rows(90)
    y = np.arange(90) % n_classes
    X[:, 0] += y
    weight = np.random.default_rng(0).integers(1, 4, 90).astype(float) if weighted else None
    fitted = []

    def fit(self, X, y, sample_weight=None):
        fitted.append(len(X))
        return whole(self, X, y, sample_weight)

    whole = RandomForestClassifier.fit
    monkeypatch.setattr(RandomForestClassifier, "fit", fit)
    costs = Costs(reject=0.2) if n_classes == 2 else None
    found = MachineSearch(costs, ("forest",), cv=FOLDS).fit(X, y, weight)
    assert fitted == [60, 60, 60, 90]
    forest = MACHINES["forest"].make(**found.choice_.chosen.best, random_state=0)
    plain = CalibratedClassifierCV(forest, cv=list(FOLDS.split(X, y)), ensemble=False).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(found.best_estimator_.estimator_.predict_proba(X), plain.predict_proba(X))


def test_few_rows_are_scored_by_one_thread(monkeypatch):
    X, y = rows(90)
    found, threads = search("boosting").fit(X, y), []

    def predict_proba(self, X):
        threads.append(_openmp_effective_n_threads())
        return whole(self, X)

    whole = HistGradientBoostingClassifier.predict_proba
    monkeypatch.setattr(HistGradientBoostingClassifier, "predict_proba", predict_proba)
    with threadpool_limits(2, user_api="openmp"):
        before = _openmp_effective_n_threads()
        found.predict(X)
        found.decide(X)
        assert _openmp_effective_n_threads() == before
    assert {*threads} == {1}
