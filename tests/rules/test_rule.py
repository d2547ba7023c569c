"""The rule: scores are oriented to the class that sorts last, costs to the positive class."""

import numpy as np
import pytest

from abstain import Costs, Thresholds
from abstain.labels import Labels
from abstain.losses.double_hinge import double_hinge
from abstain.rules.rule import Rule, oriented_costs

COSTS = Costs(false_positive=1, false_negative=5, reject=(0.2, 0.3))
SCORES = np.array([-9.0, -1.0, 0.1, 3.0, 9.0])


def rule_for(positive):
    labels = Labels.of(["healthy", "ill"], pos_label=positive, rejects=True)
    return Rule.of_loss(double_hinge(oriented_costs(COSTS, labels)), labels, COSTS)


@pytest.mark.parametrize("positive", ["healthy", "ill"])
def test_the_cheapest_action_by_the_probability_is_chosen(positive):
    rule = rule_for(positive)
    p = 1 / (1 + np.exp(-SCORES))
    if positive == "healthy":
        p = 1 - p
    expected = np.column_stack([5 * p, 0.2 * (1 - p) + 0.3 * p, 1 - p])  # answer negative, reject, answer positive
    np.testing.assert_allclose(rule.expected_cost(SCORES), expected, rtol=1e-12)
    negative = "ill" if positive == "healthy" else "healthy"
    names = np.array([negative, "reject", positive])
    assert rule.predict(SCORES).tolist() == names[expected.argmin(axis=1)].tolist()
    assert rule.forced(SCORES).tolist() == names[[0, 2]][expected[:, [0, 2]].argmin(axis=1)].tolist()
    decided = rule.decide(SCORES)
    np.testing.assert_array_equal(decided.rejected, decided.label == "reject")


def test_the_cost_of_a_decision_follows_the_positive_class():
    score, y = np.array([-9.0, 9.0, 0.0]), ["ill", "healthy", "ill"]
    assert rule_for("ill").cost_of(y, score).tolist() == [5, 1, 0.3 if rule_for("ill").choose(score)[2] == 0 else 0]
    turned = rule_for("healthy").cost_of(y, score)
    assert turned[:2].tolist() == [1, 5]


def test_without_costs_an_error_costs_one_and_nothing_is_expected():
    rule = Rule(Labels.of([0, 1], rejects=False), Thresholds(0, 0), 0.0)
    assert rule.cost_of([0, 1, 1], np.array([1.0, 1.0, -1.0])).tolist() == [1, 0, 1]
    assert np.isnan(rule.expected_cost(np.zeros(2))).all()


def test_a_given_probability_replaces_that_of_the_score():
    given = rule_for("ill").expected_cost(np.zeros(1), np.array([0.25]))
    np.testing.assert_allclose(given, [[5 * 0.25, 0.2 * 0.75 + 0.3 * 0.25, 0.75]])
