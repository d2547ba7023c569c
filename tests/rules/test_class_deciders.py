"""How actions are chosen from the scores of several classes: margins, confidence, votes, expected cost."""

from __future__ import annotations

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.labels import Labels
from abstain.losses.tangent_hinge import tangent_hinge, task_tangents
from abstain.rules.class_deciders import Cheapest, Confidence
from abstain.rules.readouts import Ladders, Softmax, Unknown
from abstain.rules.rule import Rule, bayes_rule
from abstain.rules.tuning.scored_rows import confidence_of
from abstain.rules.tuning.sigmoid import Lead
from class_cases import ANSWERS, GENERAL, table_costs
from cost_kinds import KINDS, of_row

THREE = Labels.of([0, 1, 2], rejects=True)
LABELS = Labels.of(["a", "b", "c", "d"], rejects=True)
RNG = np.random.default_rng(0)
SCORE = RNG.normal(size=(200, 4))
P = RNG.dirichlet(np.ones(4), 200)
FOUR = Costs.from_matrix(
    [[0, 1, 2, 3], [5, 0, 3, 1], [1, 1, 0, 4], [2, 2, 2, 0]], (0.5, 0.4, 0.3, 0.6), labels=("a", "b", "c", "d")
)


def rule_of(matrix, reject):
    return bayes_rule(table_costs(matrix, reject), THREE)


def softmax_rule(costs):
    return Rule(LABELS, costs.named(LABELS), Softmax(), Cheapest())


def confident(cuts, by="lead", readout=Unknown()):  # noqa: B008 (a frozen value)
    return Rule(LABELS, None, readout, Confidence(np.asarray(cuts, dtype=float), by))


class TestLadders:
    def test_a_ladder_passes_its_tangents_and_ends_where_the_losses_do(self):
        loss = tangent_hinge([-0.5, 0.25, 1.5])
        ladder = Ladders(np.array([[-0.5, 0.25, 1.5]]))
        passed = ladder.own(np.array([[-0.5], [0.25], [1.5]]))[:, 0]
        assert passed == pytest.approx(1 / (1 + np.exp([0.5, -0.25, -1.5])))
        low, high = -loss.negative.knots[-1], loss.positive.knots[-1]
        assert loss.negative.value(-np.array([low]))[0] == pytest.approx(0.0, abs=1e-12)
        assert loss.positive.value(np.array([high]))[0] == pytest.approx(0.0, abs=1e-12)
        ends = np.array([[low - 1], [low - 1e-9], [high + 1e-9], [high + 1]])
        np.testing.assert_array_equal(ladder.own(ends)[:, 0], [0, 0, 1, 1])
        assert np.isnan(ladder.own(np.array([[np.nan]])))

    def test_it_is_a_line_between_its_points_also_where_tangents_coincide(self):
        for tangents in ([-0.5, 0.25, 1.5], [0.7, 0.7, 0.7]):
            ladder = Ladders(np.array([tangents]))
            points = [ladder.ends[0][0], *tangents, ladder.ends[1][0]]
            score = np.linspace(-9, 9, 1801)
            by_hand = np.interp(score, points, [0, *(1 / (1 + np.exp(-np.array(tangents)))), 1])
            np.testing.assert_allclose(ladder.own(score[:, np.newaxis])[:, 0], by_hand, atol=1e-12)

    @pytest.mark.parametrize("name", ["several, by row", "several, even, by row", "actions of several, by row"])
    def test_rows_have_ladders_of_their_own(self, name):
        table = KINDS[name].table
        score = np.random.default_rng(0).uniform(-4, 4, (len(table.values), 3))
        together = Ladders(np.zeros((3, 1)), by_row=True).of_rows(table)
        for row in range(len(score)):
            alone = Ladders(task_tangents(table)[row])
            np.testing.assert_array_equal(together.probabilities(score)[row], alone.probabilities(score[row]))
        plain = Ladders(task_tangents(of_row(table, 0)))
        assert plain.of_rows(table) is plain  # trained without row costs

    @pytest.mark.parametrize("lead", [None, Lead(15.0), Lead(15.0, 0.7, -0.4)])
    def test_by_cost_it_takes_the_least_expected_cost(self, lead):
        rule = rule_of(GENERAL, [0.2, 0.6, 0.3])
        rule = rule if lead is None else rule.tuned(lead)
        score = np.random.default_rng(0).uniform(-6, 9, (2000, 3))
        likely = rule.readout.probabilities(score)
        np.testing.assert_allclose(likely.sum(axis=1), 1.0)
        assert (likely >= 0).all()
        by_hand = (likely @ np.column_stack([GENERAL, [0.2, 0.6, 0.3]])).argmin(axis=1)
        np.testing.assert_array_equal(rule.choose(score), by_hand)
        assert len(np.unique(by_hand)) == 4
        np.testing.assert_array_equal(rule.choose(score.reshape(2, 1000, 3)), by_hand.reshape(2, 1000))
        with pytest.raises(AttributeError, match="by expected cost"):
            rule.thresholds  # noqa: B018


def by_margin(rule, score):
    """The class furthest above its cut, which may not be the cheapest of those above it; and the forced one."""
    above = score - rule.thresholds
    return np.where(above.max(axis=1) > 0, above.argmax(axis=1), 3), above.argmax(axis=1)


def wide_scores(rule):
    """Scores within and beyond the ladders, on the cuts and next to them, and tied between classes."""
    rng = np.random.default_rng(0)
    cuts = np.array(rule.thresholds)
    points = np.concatenate([rng.uniform(-4, 6, 40), cuts, np.nextafter(cuts, 9), np.nextafter(cuts, -9)])
    return rng.choice(points, (20_000, 3))


class TestMargins:
    @pytest.mark.parametrize("reject", [0.03, 0.2, 0.49])
    def test_equal_errors_are_decided_by_the_margin_to_the_last_bit(self, reject):
        rule = rule_of(1 - np.eye(3), reject)
        score = wide_scores(rule)
        label, forced = by_margin(rule, score)
        np.testing.assert_array_equal(rule.choose(score), label)
        np.testing.assert_array_equal(rule.best(score), forced)

    def test_the_costs_shown_decide(self):
        rule = rule_of(ANSWERS, 0.4)
        score, cuts = wide_scores(rule), rule.thresholds
        cost, choice, best = rule.expected_cost(score), rule.choose(score), rule.best(score)
        rows = np.arange(len(score))
        np.testing.assert_allclose(cost[rows, choice], cost.min(axis=1), atol=1e-15)
        np.testing.assert_allclose(cost[rows, best], cost[:, :3].min(axis=1), rtol=1e-15, atol=1e-15)
        np.testing.assert_array_equal(choice == 3, (score <= cuts).all(axis=1))
        np.testing.assert_allclose(cost[:, :3], [1.0, 2.0, 4.0] * (1 - rule.readout.own(score)), atol=1e-12)
        np.testing.assert_array_equal(cost[:, 3], 0.4)
        label, _ = by_margin(rule, score)
        other = choice != label
        assert (score > cuts)[other].sum(axis=1).min() > 1  # only where several classes pass
        assert other.any()
        tied = (cost == cost.min(axis=1, keepdims=True))[:, :3] & (choice < 3)[:, np.newaxis]
        above = np.where(tied, score - cuts, -np.inf)
        np.testing.assert_array_equal(choice[tied.sum(axis=1) > 1], above.argmax(axis=1)[tied.sum(axis=1) > 1])
        np.testing.assert_array_equal(rule.choose(score.reshape(2, -1, 3)), choice.reshape(2, -1))

    def test_a_rejected_row_names_two_classes_at_least(self):
        rule = rule_of(1 - np.eye(3), 0.2)
        score = np.array([[-9.0, -9.0, -8.0], [0.9, -9.0, -9.0], [9.0, -9.0, -9.0]])
        np.testing.assert_array_equal(rule.choose(score), [3, 3, 0])
        np.testing.assert_array_equal(rule.included(score).sum(axis=1), [2, 2, 1])

    def test_a_scale_moves_the_cut_on_the_lead(self):
        rule = rule_of(1 - np.eye(3), 0.2)
        score = np.column_stack([np.linspace(0.0, 3.0, 50), np.zeros(50), np.full(50, -100.0)])
        rejected = [int(np.sum(rule.tuned(Lead(scale)).choose(score) == 3)) for scale in (2.0, 5.0, 20.0)]
        assert rejected == sorted(rejected, reverse=True)
        low, high = (end[0] for end in rule.readout.ends)
        lead = np.log(0.8 / 0.2) / 5.0 * (high - low)  # where the likelier of two classes has 1 - reject
        np.testing.assert_array_equal(rule.tuned(Lead(5.0)).choose(score) == 3, score[:, 0] < lead)

    def test_costs_of_decisions(self):
        rule = rule_of(ANSWERS, 0.4)
        score = np.array([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0], [-9.0, -9.0, -9.0]])
        np.testing.assert_array_equal(rule.cost_of([0, 0, 1], score), [0.0, 4.0, 0.4])
        np.testing.assert_array_equal(rule.predict(score), [0, 2, -1])


class TestConfidence:
    def test_the_answer_leads_by_more_than_its_own_cut(self):
        cuts = np.array([0.5, -np.inf, 1.0, np.inf])
        rule, ordered = confident(cuts), np.sort(SCORE, axis=1)
        best, lead = SCORE.argmax(axis=1), ordered[:, -1] - ordered[:, -2]
        expected = np.where(lead > cuts[best], LABELS.classes[best], "reject")
        np.testing.assert_array_equal(rule.predict(SCORE), expected)
        np.testing.assert_array_equal(rule.forced(SCORE), LABELS.classes[best])
        assert set(expected) == {"a", "b", "c", "reject"}
        assert np.isnan(rule.decide(SCORE).expected_cost).all()

    def test_infinite_scores_lead_by_nothing_over_each_other(self):
        score = np.array([[np.inf, np.inf, 0.0], [0.0, 0.0, 0.0], [np.inf, 1.0, 0.0]])
        np.testing.assert_array_equal(confidence_of(score, "lead"), [0.0, 0.0, np.inf])

    @pytest.mark.parametrize("reject", [0.1, 0.5, 0.65])
    def test_even_costs_cut_the_largest_probability(self, reject):
        rule = softmax_rule(Costs.from_matrix(1 - np.eye(4), reject, labels=[*"abcd"]))
        expected = np.where(P.max(axis=1) >= 1 - reject, LABELS.classes[P.argmax(axis=1)], "reject")
        np.testing.assert_array_equal(rule.predict(np.log(P)), expected)
        assert 0 < np.mean(expected == "reject") < 1
        same = confident(np.full(4, np.log(1 - reject)), "highest", Softmax())
        np.testing.assert_array_equal(same.predict(np.log(P)), expected)

    def test_the_forced_answer_of_general_costs_is_not_the_likeliest(self):
        record = softmax_rule(FOUR).decide(np.log(P))
        expected = P @ np.column_stack([FOUR.errors, FOUR.reject_costs])
        np.testing.assert_allclose(record.expected_cost, expected)
        np.testing.assert_array_equal(record.forced, LABELS.classes[expected[:, :4].argmin(axis=1)])
        assert (record.forced != LABELS.classes[P.argmax(axis=1)]).any()

    def test_without_costs_a_reject_is_not_an_error(self):
        rule = confident(np.ones(4))
        y, choice = np.full(len(SCORE), "a"), rule.predict(SCORE)
        np.testing.assert_array_equal(rule.cost_of(y, SCORE), (choice != "a") & (choice != "reject"))

    def test_votes_have_no_costs(self):
        rule = bayes_rule(None, Labels.of(["a", "b", "c"], rejects=False))
        score = np.array([[1.9, 0.2, 1.1], [0.9, 1.1, 1.2]])  # votes 2 0 1 and 1 1 1: ties go to the first
        assert rule.predict(score).tolist() == ["a", "a"]
        assert np.isnan(rule.expected_cost(score)).all()
        np.testing.assert_array_equal(rule.cost_of(["a", "b"], score), [0.0, 1.0])
        with pytest.raises(AttributeError, match="votes decide here"):
            _ = rule.thresholds
        with pytest.raises(ValueError, match="predict_set needs costs"):
            rule.included(score)


class TestSetsOfConfidence:
    @pytest.mark.parametrize("by", ["lead", "highest"])
    def test_an_accepted_row_has_its_answer_alone_and_a_rejected_one_more(self, by):
        rule = confident(np.full(4, 0.5 if by == "lead" else np.log(0.5)), by, Softmax())
        score = np.log(P)
        sets, choice = rule.included(score), rule.choose(score)
        np.testing.assert_array_equal(sets.sum(axis=1) == 1, choice < 4)
        assert sets[np.arange(len(P)), P.argmax(axis=1)].all()
        if by == "highest":
            assert (np.where(sets, P, 0).sum(axis=1) > 0.5).all()

    def test_everything_is_left_where_everything_is_rejected(self):
        for by in ("lead", "highest"):
            assert confident(np.full(4, np.inf), by, Softmax()).included(np.log(P)).all()

    def test_of_expected_costs(self):
        sets = softmax_rule(Costs(reject=0.2)).included(np.log(P))
        alone = (P >= 0.2) | (P.max(axis=1, keepdims=True) == P)
        second = np.sort(P, axis=1)[:, -2:-1] == P
        rejected = (P.max(axis=1) < 0.8) & (alone.sum(axis=1) == 1)  # several small ones: none is likely by itself
        np.testing.assert_array_equal(sets, alone | rejected[:, np.newaxis] & second)
        assert rejected.any()

    def test_by_probability(self):
        likely = confident(np.zeros(4), "lead", Softmax()).included(np.log(P), 0.3)
        np.testing.assert_array_equal(likely, (P >= 0.3) | (P.max(axis=1, keepdims=True) == P))
        with pytest.raises(ValueError, match="needs probabilities"):
            confident(np.zeros(4)).included(SCORE, 0.3)
