"""The rule: of every kind of costs the cheapest action, named, forced, priced, and decided again row by row."""

import numpy as np
import pytest

from abstain.costs.cuts import Thresholds
from abstain.labels import NO_CLASS, Labels
from abstain.losses.tangent_hinge import hinge
from abstain.rules.class_deciders import Cheapest, Margins
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds, Unknown
from abstain.rules.rule import Rule, bayes_rule
from cost_kinds import KINDS, N_ROWS, of_row, probabilities, rule_of, score_of

PLAIN = {name: kind for name, kind in KINDS.items() if not kind.by_row}
every = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
plain = pytest.mark.parametrize("kind", PLAIN.values(), ids=PLAIN)


def expected_by_hand(kind, P):
    return np.array([P[row] @ of_row(kind.table, row).values for row in range(len(P))])


def names_of(kind):
    known, table = kind.labels.classes.tolist(), kind.table
    return table.names or [kind.labels.reject_label if code == NO_CLASS else known[code] for code in table.answers]


@every
def test_the_cheapest_action_by_the_probability_is_chosen(kind):
    rule, P = rule_of(kind), probabilities(kind, seed=5)
    expected, names, score = expected_by_hand(kind, P), names_of(kind), score_of(P)
    np.testing.assert_allclose(rule.expected_cost(score), expected, rtol=1e-9)
    decided = rule.decide(score)
    assert decided.label.tolist() == [names[at] for at in expected.argmin(axis=1)]
    assert rule.predict(score).tolist() == decided.label.tolist()
    answers = np.flatnonzero(~np.array(kind.table.hands_on))
    assert decided.forced.tolist() == [names[answers[at]] for at in expected[:, answers].argmin(axis=1)]
    np.testing.assert_array_equal(decided.rejected, np.array(kind.table.hands_on)[expected.argmin(axis=1)])
    assert decided.costs_decide
    assert 0 < decided.rejected.sum() < N_ROWS


@every
def test_the_cost_of_a_decision_is_that_of_its_cell(kind):
    rule, P = rule_of(kind), probabilities(kind, seed=5)
    truth = np.arange(N_ROWS) % kind.labels.n_classes
    chosen = expected_by_hand(kind, P).argmin(axis=1)
    paid = [of_row(kind.table, row).values[truth[row], chosen[row]] for row in range(N_ROWS)]
    assert rule.cost_of(kind.labels.classes[truth], score_of(P)).tolist() == paid


@every
def test_given_probabilities_replace_those_of_the_scores(kind):
    rule, P, other = rule_of(kind), probabilities(kind, seed=5), probabilities(kind, seed=6)
    given = rule.expected_cost(score_of(P), other)
    np.testing.assert_allclose(given, expected_by_hand(kind, other), rtol=1e-12)
    assert np.abs(given - rule.expected_cost(score_of(P))).max() > 0.01  # control


@every
def test_a_score_that_is_nan_hands_the_case_on(kind):
    rule = rule_of(kind)
    score = np.full(N_ROWS if kind.labels.n_classes == 2 else (N_ROWS, 3), np.nan)
    can = np.broadcast_to(rule.costs.can_hand_on, N_ROWS) if kind.labels.n_classes == 2 else np.ones(N_ROWS, bool)
    np.testing.assert_array_equal(rule.is_reject(rule.choose(score)), can)


@plain
def test_rows_with_the_same_costs_are_decided_as_without(kind):
    rule, score = rule_of(kind), score_of(probabilities(kind, n=200, seed=7))
    named = kind.stated.named(kind.labels)
    rows = rule.of_rows(named.with_values(np.repeat(named.values[np.newaxis], 200, axis=0)))
    np.testing.assert_array_equal(rows.predict(score), rule.predict(score))
    np.testing.assert_array_equal(rows.forced(score), rule.forced(score))
    np.testing.assert_array_equal(rows.expected_cost(score), rule.expected_cost(score))


@every
def test_sets_hold_the_answer_and_more_where_it_is_rejected(kind):
    rule, score = rule_of(kind), score_of(probabilities(kind, seed=8))
    if kind.table.names is not None:
        with pytest.raises(ValueError, match="predict_set is undefined for Actions"):
            rule.included(score)
        return
    sets, choice = rule.included(score), rule.choose(score)
    rejected = rule.is_reject(choice)
    assert (sets[rejected].sum(axis=1) >= 2).all()
    answered = np.array(rule.answers)[choice[~rejected]]
    assert sets[~rejected][np.arange(len(answered)), answered].all()
    likely = rule.included(score, include=0.3)
    np.testing.assert_array_equal(likely, rule.named(score) | (rule.readout.probabilities(score) >= 0.3))
    for wrong in (0.0, 1.5):
        with pytest.raises(ValueError, match="must be a probability above 0, at most 1"):
            rule.included(score, include=wrong)


@plain
def test_the_rule_of_a_machine_follows_from_the_costs(kind):
    named = kind.stated.named(kind.labels)
    rule = bayes_rule(named, kind.labels)
    if kind.labels.n_classes == 2:
        assert rule.decider.levels == named.levels()
        P = probabilities(kind, seed=5)
        expected = expected_by_hand(kind, P)
        np.testing.assert_array_equal(rule.choose(score_of(P)), expected.argmin(axis=1))
        plain_costs = named.names is None
        assert isinstance(rule.thresholds, Thresholds) is plain_costs
    else:
        assert isinstance(rule.decider, Margins if named.symmetric else Cheapest)
    later = bayes_rule(None, Labels.named(kind.labels.classes, rejects=True), by_row=True)
    for ask in (later.predict, later.forced, later.included):
        with pytest.raises(ValueError, match="fitted with row_costs and without costs, so it has no thresholds"):
            ask(np.zeros(2 if kind.labels.n_classes == 2 else (2, 3)))
    with pytest.raises(AttributeError, match="pass row_costs for these rows"):
        _ = later.thresholds


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_costs_an_error_costs_one_and_nothing_is_expected(n_classes):
    labels = Labels.of(range(n_classes), rejects=False)
    rule = bayes_rule(None, labels, hinge() if n_classes == 2 else None)
    score = np.array([1.0, 1.0, -1.0]) if n_classes == 2 else np.array([[0.0, 2.0, 1.0], [0, 2, 1], [2, 1, 0]])
    assert rule.cost_of([0, 1, 1], score).tolist() == [1, 0, 1]
    assert np.isnan(rule.expected_cost(score)).all()
    assert not rule.decide(score).costs_decide


def test_scores_without_probabilities_take_no_row_costs():
    kind = KINDS["several, by row"]
    rule = Rule(kind.labels, kind.stated, Unknown(), Cheapest())
    with pytest.raises(ValueError, match=r"needs scores that are probabilities.*method=\"chow\""):
        rule.of_rows(kind.table)
    two = KINDS["two, by row"]
    moved = Cuts.at(Thresholds(-9.0, 9.0), 0.0, two.labels.answers)
    other = Rule(two.labels, two.stated.named(two.labels), LogOdds(1.0), moved)
    assert not other.costs_decide
    with pytest.raises(ValueError, match="needs a machine that decides by Chow's rule"):
        other.of_rows(two.table)
