"""The rules around a classifier of several classes: the lead, the largest probability, the least expected cost."""

import numpy as np
import pytest

from abstain.class_labels import ClassLabels
from abstain.costs.class_costs import ClassCosts
from abstain.rules.lead_rule import LeadRule
from abstain.rules.probability_rule import ProbabilityRule
from abstain.rules.tuning.answered_rows import confidence_of

LABELS = ClassLabels.of(["a", "b", "c", "d"], rejects=True)
RNG = np.random.default_rng(0)
SCORE = RNG.normal(size=(200, 4))
P = RNG.dirichlet(np.ones(4), 200)
GENERAL = ClassCosts(
    ("a", "b", "c", "d"), ((0, 1, 2, 3), (5, 0, 3, 1), (1, 1, 0, 4), (2, 2, 2, 0)), (0.5, 0.4, 0.3, 0.6)
)


def test_the_answer_leads_by_more_than_its_own_cut():
    cuts = np.array([0.5, -np.inf, 1.0, np.inf])
    rule, ordered = LeadRule(LABELS, cuts), np.sort(SCORE, axis=1)
    best, lead = SCORE.argmax(axis=1), ordered[:, -1] - ordered[:, -2]
    expected = np.where(lead > cuts[best], LABELS.classes[best], "reject")
    np.testing.assert_array_equal(rule.predict(SCORE), expected)
    np.testing.assert_array_equal(rule.forced(SCORE), LABELS.classes[best])
    assert set(expected) == {"a", "b", "c", "reject"}
    assert np.isnan(rule.decide(SCORE).expected_cost).all()


def test_infinite_scores_lead_by_nothing_over_each_other():
    score = np.array([[np.inf, np.inf, 0.0], [0.0, 0.0, 0.0], [np.inf, 1.0, 0.0]])
    np.testing.assert_array_equal(confidence_of(score, "lead"), [0.0, 0.0, np.inf])


@pytest.mark.parametrize("reject", [0.1, 0.5, 0.65])
def test_even_costs_cut_the_largest_probability(reject):
    rule = ProbabilityRule(LABELS, ClassCosts.even(("a", "b", "c", "d"), 1.0, reject))
    expected = np.where(P.max(axis=1) >= 1 - reject, LABELS.classes[P.argmax(axis=1)], "reject")
    np.testing.assert_array_equal(rule.predict(np.log(P)), expected)
    assert 0 < np.mean(expected == "reject") < 1
    same = LeadRule(LABELS, np.full(4, np.log(1 - reject)), by="highest", is_log_probability=True)
    np.testing.assert_array_equal(same.predict(np.log(P)), expected)


def test_general_costs_take_the_cheapest_action():
    rule = ProbabilityRule(LABELS, GENERAL)
    expected = P @ np.column_stack([GENERAL.errors, GENERAL.reject])
    record = rule.decide(np.log(P))
    np.testing.assert_allclose(record.expected_cost, expected)
    np.testing.assert_array_equal(record.label, np.array([*"abcd", "reject"])[expected.argmin(axis=1)])
    np.testing.assert_array_equal(record.forced, LABELS.classes[expected[:, :4].argmin(axis=1)])
    assert (record.forced != LABELS.classes[P.argmax(axis=1)]).any()  # control: it is not the likeliest
    with pytest.raises(AttributeError, match="by expected cost here"):
        _ = rule.thresholds


def test_without_costs_a_reject_is_not_an_error():
    rule = LeadRule(LABELS, np.full(4, 1.0))
    y, choice = np.full(len(SCORE), "a"), rule.predict(SCORE)
    np.testing.assert_array_equal(rule.cost_of(y, SCORE), (choice != "a") & (choice != "reject"))


class TestSets:
    @pytest.mark.parametrize("by", ["lead", "highest"])
    def test_an_accepted_row_has_its_answer_alone_and_a_rejected_one_more(self, by):
        rule = LeadRule(LABELS, np.full(4, 0.5 if by == "lead" else np.log(0.5)), by=by, is_log_probability=True)
        score = np.log(P)
        sets, choice = rule.included(score, None), rule.choose(score)
        np.testing.assert_array_equal(sets.sum(axis=1) == 1, choice > 0)
        assert sets[np.arange(len(P)), P.argmax(axis=1)].all()
        likely = np.where(sets, P, 0).sum(axis=1)
        if by == "highest":
            assert (likely > 0.5).all()

    def test_everything_is_left_where_everything_is_rejected(self):
        for by in ("lead", "highest"):
            rule = LeadRule(LABELS, np.full(4, np.inf), by=by, is_log_probability=True)
            assert rule.included(np.log(P), None).all()

    def test_of_expected_costs(self):
        rule = ProbabilityRule(LABELS, ClassCosts.even(("a", "b", "c", "d"), 1.0, 0.2))
        sets = rule.included(np.log(P), None)
        alone = (P >= 0.2) | (P.max(axis=1, keepdims=True) == P)
        second = np.sort(P, axis=1)[:, -2:-1] == P
        rejected = (P.max(axis=1) < 0.8) & (alone.sum(axis=1) == 1)  # several small ones: none is likely by itself
        np.testing.assert_array_equal(sets, alone | rejected[:, np.newaxis] & second)
        assert rejected.any()

    def test_by_probability(self):
        likely = LeadRule(LABELS, np.zeros(4), is_log_probability=True).included(np.log(P), 0.3)
        np.testing.assert_array_equal(likely, (P >= 0.3) | (P.max(axis=1, keepdims=True) == P))
        with pytest.raises(ValueError, match="needs probabilities"):
            LeadRule(LABELS, np.zeros(4)).included(SCORE, 0.3)
