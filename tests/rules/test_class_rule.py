"""Decisions from the scores of several classes."""

from __future__ import annotations

import numpy as np
import pytest

from abstain.class_labels import ClassLabels
from abstain.estimators.fitting.implied import ladder
from abstain.losses.tangent_hinge import tangent_hinge
from abstain.rules.class_rule import ClassRule, VoteRule
from abstain.rules.tuning.class_lead import Lead
from class_cases import ANSWERS, GENERAL, table_costs


def rule_of(matrix, reject):
    costs = table_costs(matrix, reject)
    ladders = tuple(ladder(tangent_hinge(costs.tangents(k))) for k in range(3))
    return ClassRule(ClassLabels.of([0, 1, 2], rejects=True), costs, ladders, costs.cuts)


def test_a_ladder_passes_its_tangents_and_ends_where_the_losses_do():
    loss = tangent_hinge([-0.5, 1.5])
    steps = ladder(loss)
    assert steps(np.array([-0.5, 1.5])) == pytest.approx(1 / (1 + np.exp([0.5, -1.5])))
    low, high = -loss.negative.knots[-1], loss.positive.knots[-1]
    assert loss.negative.value(-np.array([low]))[0] == pytest.approx(0.0, abs=1e-12)
    assert loss.positive.value(np.array([high]))[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(steps(np.array([low - 1, low, high, high + 1])), [0, 0, 1, 1])


@pytest.mark.parametrize("lead", [None, Lead(15.0), Lead(15.0, 0.7, -0.4)])
def test_by_cost_it_takes_the_least_expected_cost(lead):
    rule = rule_of(GENERAL, [0.2, 0.6, 0.3])
    rule = rule if lead is None else rule.tuned(lead)
    score = np.random.default_rng(0).uniform(-2, 3, (200, 3))
    P = rule.probabilities(score)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    expected = P @ np.column_stack([GENERAL, [0.2, 0.6, 0.3]])
    by_hand = np.array([1, 2, 3, 0])[expected.argmin(axis=1)]
    np.testing.assert_array_equal(rule.choose(score), by_hand)
    assert len(np.unique(by_hand)) == 4
    np.testing.assert_array_equal(rule.choose(score.reshape(2, 100, 3)), by_hand.reshape(2, 100))
    with pytest.raises(AttributeError, match="by expected cost"):
        rule.thresholds  # noqa: B018


def by_margin(rule, score):
    """The class furthest above its cut, which may not be the cheapest of those above it; and the forced one."""
    above = score - rule.cuts
    return np.where(above.max(axis=1) > 0, above.argmax(axis=1) + 1, 0), above.argmax(axis=1) + 1


def wide_scores(rule):
    """Scores within and beyond the ladders, on the cuts and next to them, and tied between classes."""
    rng = np.random.default_rng(0)
    cuts = np.array(rule.cuts)
    points = np.concatenate([rng.uniform(-4, 6, 40), cuts, np.nextafter(cuts, 9), np.nextafter(cuts, -9)])
    return rng.choice(points, (20_000, 3))


@pytest.mark.parametrize("reject", [0.03, 0.2, 0.49])
def test_at_bayes_cuts_equal_errors_are_decided_by_the_margin_to_the_last_bit(reject):
    rule = rule_of(1 - np.eye(3), reject)
    score = wide_scores(rule)
    label, forced = by_margin(rule, score)
    np.testing.assert_array_equal(rule.choose(score), label)
    np.testing.assert_array_equal(rule.best(score), forced)


def test_at_bayes_cuts_the_costs_shown_decide():
    rule = rule_of(ANSWERS, 0.4)
    score = wide_scores(rule)
    cost, choice, best = rule.expected_cost(score), rule.choose(score), rule.best(score)
    rows = np.arange(len(score))
    np.testing.assert_allclose(cost[rows, choice - 1], cost.min(axis=1), atol=1e-15)  # 0, a reject, is the last
    np.testing.assert_allclose(cost[rows, best - 1], cost[:, :3].min(axis=1), rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(choice == 0, (score <= rule.cuts).all(axis=1))
    own = np.column_stack([ladder(column) for ladder, column in zip(rule.ladders, score.T, strict=True)])
    np.testing.assert_allclose(cost[:, :3], [1.0, 2.0, 4.0] * (1 - own), atol=1e-12)
    np.testing.assert_array_equal(cost[:, 3], 0.4)
    label, _ = by_margin(rule, score)
    other = choice != label
    assert (score > rule.cuts)[other].sum(axis=1).min() > 1  # only where several classes pass
    assert other.any()
    tied = (cost == cost.min(axis=1, keepdims=True))[:, :3] & (choice > 0)[:, np.newaxis]
    above = np.where(tied, score - rule.cuts, -np.inf)
    np.testing.assert_array_equal(choice[tied.sum(axis=1) > 1], above.argmax(axis=1)[tied.sum(axis=1) > 1] + 1)
    np.testing.assert_array_equal(rule.choose(score.reshape(2, -1, 3)), choice.reshape(2, -1))


def test_a_rejected_row_names_two_classes_at_least():
    rule = rule_of(1 - np.eye(3), 0.2)
    score = np.array([[-9.0, -9.0, -8.0], [0.9, -9.0, -9.0], [9.0, -9.0, -9.0]])
    np.testing.assert_array_equal(rule.choose(score), [0, 0, 1])
    np.testing.assert_array_equal(rule.included(score, None).sum(axis=1), [2, 2, 1])


def test_a_scale_moves_the_cut_on_the_lead():
    rule = rule_of(1 - np.eye(3), 0.2)
    score = np.column_stack([np.linspace(0.0, 3.0, 50), np.zeros(50), np.full(50, -100.0)])
    rejected = [int(np.sum(rule.tuned(Lead(scale)).choose(score) == 0)) for scale in (2.0, 5.0, 20.0)]
    assert rejected == sorted(rejected, reverse=True)
    low, high = rule.ladders[0].scores[0], rule.ladders[0].scores[-1]
    lead = np.log(0.8 / 0.2) / 5.0 * (high - low)  # where the likelier of two classes has 1 - reject
    np.testing.assert_array_equal(rule.tuned(Lead(5.0)).choose(score) == 0, score[:, 0] < lead)


def test_costs_of_decisions():
    rule = rule_of(ANSWERS, 0.4)
    score = np.array([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0], [-9.0, -9.0, -9.0]])
    np.testing.assert_array_equal(rule.cost_of([0, 0, 1], score), [0.0, 4.0, 0.4])
    np.testing.assert_array_equal(rule.predict(score), [0, 2, -1])


def test_votes_have_no_costs():
    rule = VoteRule(ClassLabels.of(["a", "b", "c"], rejects=False))
    score = np.array([[1.9, 0.2, 1.1], [0.9, 1.1, 1.2]])  # votes 2 0 1 and 1 1 1: ties go to the first
    assert rule.predict(score).tolist() == ["a", "a"]
    assert np.isnan(rule.expected_cost(score)).all()
    np.testing.assert_array_equal(rule.cost_of(["a", "b"], score), [0.0, 1.0])
