"""Chow's rule around another classifier, for every kind of costs: the least expected cost, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Costs, ThresholdRejector
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, table_costs
from cost_kinds import TRIAGE, varied

X, Y = gaussians(400, 3)
NEW, TRUTH = gaussians(500, 4)
CREDIT_NAMES = np.array(["bad", "good"])
CASES = {
    "two": (Costs(1, 5, (0.4, 0.3)), np.minimum(Y, 1), np.minimum(TRUTH, 1)),
    "several": (table_costs(GENERAL, [0.2, 0.6, 0.3]), Y, TRUTH),
    "actions of two": (CREDIT, CREDIT_NAMES[np.minimum(Y, 1)], CREDIT_NAMES[np.minimum(TRUTH, 1)]),
    "actions of several": (TRIAGE, Y, TRUTH),
}
cases = pytest.mark.parametrize("name", CASES)


def expected_by_hand(model, values):
    P = model.predict_proba(NEW)
    return np.array([P[row] @ np.broadcast_to(values, (len(P), *values.shape[-2:]))[row] for row in range(len(P))])


def check(rejector, values, row_costs=None):
    """Decisions are the least of the expected costs of the classifier's own probabilities; return the positions."""
    classifier = LogisticRegression().fit(X, rejector.y_seen)
    expected = expected_by_hand(classifier, values)
    names, hands_on = rejector.rule_.names, rejector.rule_.hands_on
    best = expected.argmin(axis=1)
    np.testing.assert_array_equal(rejector.predict(NEW, row_costs=row_costs), names[best])
    np.testing.assert_array_equal(rejector.reject_mask(NEW, row_costs=row_costs), hands_on[best])
    answers = np.flatnonzero(~hands_on)
    forced = names[answers[expected[:, answers].argmin(axis=1)]]
    np.testing.assert_array_equal(rejector.predict_forced(NEW, row_costs=row_costs), forced)
    np.testing.assert_allclose(rejector.decide(NEW, row_costs=row_costs).expected_cost, expected, rtol=1e-7, atol=1e-9)
    return best


def fitted(costs, y, row_costs=None):
    rejector = ThresholdRejector(LogisticRegression(), costs, method="chow").fit(X, y, row_costs=row_costs)
    rejector.y_seen = y
    return rejector


@cases
def test_one_table_of_costs(name):
    costs, y, _ = CASES[name]
    rejector = fitted(costs, y)
    best = check(rejector, rejector.rule_.costs.values)
    assert len(np.unique(best)) > 2


@cases
def test_costs_of_each_row(name):
    costs, y, truth = CASES[name]
    named = fitted(costs, y).rule_.costs
    values = varied(named, len(NEW), seed=1)
    rejector = fitted(costs, y, varied(named, len(X)))
    best = check(rejector, values, values)
    code = rejector.rule_.labels.encode(truth)
    paid = values[np.arange(len(NEW)), code, best].mean()
    assert -rejector.score(NEW, truth, row_costs=values) == pytest.approx(paid)
    # control: one table for all rows decides otherwise
    assert np.mean(rejector.predict(NEW) != rejector.predict(NEW, row_costs=values)) > 0.02


@pytest.mark.parametrize("name", ["two", "several"])
def test_rows_alone_without_costs_of_all(name):
    costs, y, _ = CASES[name]
    named = fitted(costs, y).rule_.costs
    values = varied(named, len(NEW), seed=1)
    rejector = fitted(None, y, varied(named, len(X)))
    with pytest.raises(ValueError, match="pass row_costs for these rows"):
        rejector.predict(NEW)
    P = LogisticRegression().fit(X, y).predict_proba(NEW)
    best = np.einsum("nk,nka->na", P, values).argmin(axis=1)
    np.testing.assert_array_equal(rejector.predict(NEW, row_costs=values), rejector.rule_.names[best])


@pytest.mark.parametrize("method", ["symmetric", "roc"])
def test_cuts_that_are_the_same_for_all_rows_are_refused(method):
    values = varied(table_costs(GENERAL, 0.4), 400)
    with pytest.raises(ValueError, match=r"row_costs differ by row; use method=\"chow\""):
        ThresholdRejector(LogisticRegression(), method=method).fit(X, Y, row_costs=values)
    with pytest.raises(ValueError, match=r"Actions are more than two answers and a reject; use method=\"chow\""):
        ThresholdRejector(LogisticRegression(), TRIAGE, method=method).fit(X, Y)
