"""Decisions by probabilities: each row by hand, for two classes, several, and actions; and the costs of the folds."""

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from abstain import Costs, RejectSVCCV
from abstain.candidates.candidate_costs import Rows, paid, truth_and_costs, tuned
from abstain.candidates.search import MachineSearch
from abstain.estimators.fitting.splitting import checked_splits
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, table_costs

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
X, Y = gaussians(90)


def cheapest(costs, truth, probability):
    """The price of the cheapest column for each row of probabilities, given the true rows of the table."""
    return costs[truth, np.argmin(probability @ costs, axis=1)]


def test_several_classes_are_priced_by_hand():
    truth, table = truth_and_costs(table_costs(GENERAL, 0.6), Y, None, "auto")
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 90)
    costs = np.column_stack([GENERAL, np.full(3, 0.6)])
    np.testing.assert_allclose(paid(truth, table, p), cheapest(costs, Y, p))
    np.testing.assert_allclose(paid(truth[5:9], table.take(np.arange(5, 9)), p[5:9]), cheapest(costs, Y, p)[5:9])
    even = truth_and_costs(Costs(reject=0.3), Y, None, "auto")
    np.testing.assert_allclose(paid(*even, p), cheapest(np.column_stack([1 - np.eye(3), np.full(3, 0.3)]), Y, p))


def test_actions_are_priced_by_hand():
    y = np.array(["bad", "good"])[np.arange(90) % 2]
    last = np.random.default_rng(0).random(90)
    last[:2] = 0.0, 1.0
    found = paid(*truth_and_costs(CREDIT, y, None, "auto"), np.column_stack([1 - last, last]))
    expected = cheapest(CREDIT.table(), np.arange(90) % 2, np.column_stack([1 - last, last]))
    np.testing.assert_allclose(found, expected)


def test_the_costs_of_several_classes_are_those_of_rows_not_fitted_on():
    truth, table = truth_and_costs(Costs(reject=0.3), Y, None, "auto")
    rows = Rows(X, Y, truth, table, checked_splits(FOLDS, Y, None, truth, np.ones(90)))
    trials = tuned("logistic", rows, seed=0, limit=None, n_jobs=None, verbose=False)
    costs = np.column_stack([1 - np.eye(3), np.full(3, 0.3)])
    for parameters, found in zip(trials.parameters, trials.costs, strict=True):
        for (train, test), cost in zip(FOLDS.split(X, Y), found, strict=True):
            p = LogisticRegression(max_iter=1000, **parameters).fit(X[train], Y[train]).predict_proba(X[test])
            assert cost == pytest.approx(cheapest(costs, Y[test], p).mean())


def test_sigmoids_of_several_classes_by_hand():
    truth, table = truth_and_costs(Costs(reject=0.3), Y, None, "auto")
    splits = checked_splits(FOLDS, Y, None, truth, np.ones(90))
    held_out = np.random.default_rng(0).dirichlet([1, 1, 1], 90)
    parts = [held_out[test > 0] for test in splits.tests]
    found = Rows(X, Y, truth, table, splits).sigmoids(parts)
    # one sigmoid for each class against the rest, normalised
    others = splits.tests[0] == 0
    own = [_SigmoidCalibration().fit(held_out[others, k], Y[others] == k).predict(parts[0][:, k]) for k in range(3)]
    np.testing.assert_allclose(found[0], np.column_stack(own) / np.sum(own, axis=0)[:, np.newaxis])


def test_a_search_with_actions_chooses_and_predicts_them():
    y = np.array(["bad", "good"])[(Y > 0).astype(int)]
    svm = RejectSVCCV(Cs=[1.0], gammas=[0.3])
    found = MachineSearch(CREDIT, ("svm", "logistic"), svm=svm, cv=FOLDS).fit(X, y)
    assert {*found.predict(X).tolist()} <= {*CREDIT.names}
    assert np.isfinite(found.choice_.cost)
    own = svm.set_params(costs=CREDIT, cv=FOLDS).fit(X, y).cv_results_["mean_tuned_score"]
    assert found.choice_.trials[0].least == pytest.approx(-own[0])


def test_folds_without_one_of_several_classes_are_an_error():
    folds = [(np.flatnonzero(Y < 2), np.flatnonzero(Y == 2)), (np.flatnonzero(Y > 0), np.flatnonzero(Y == 0))]
    with pytest.raises(ValueError, match="fold 0 of cv trains without the class 2"):
        MachineSearch(Costs(reject=0.3), ("logistic",), cv=folds).fit(X, Y)
