"""Cuts on the confidence of answers: least cost against every cut tried, budgets never exceeded, ties together."""

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.labels import Labels
from abstain.rules.tuning.methods import cheapest_cut, cheapest_cuts, cuts_within
from abstain.rules.tuning.scored_rows import AnsweredRows, ByAnswer, ScoredRows, two_sided

UNEVEN = Costs.from_matrix([[0, 1, 2], [5, 0, 3], [1, 1, 0]], (0.3, 0.4, 0.2), labels=(1, 2, 3))


def even(error, reject):
    return Costs(error, error, reject).named(Labels.of([1, 2, 3], rejects=True))


EVEN = even(1.0, 0.25)


def random_rows(seed, n=60, weighted=True):
    """Scores in quarters, so that many rows tie."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    score = np.round(4 * (rng.normal(size=(n, 3)) + 0.8 * np.eye(3)[code])) / 4
    return ScoredRows.of(score, code, rng.integers(0, 4, n) if weighted else None).answered("lead")


def cost(rows, costs, cuts):
    choice = np.where(rows.confidence > np.asarray(cuts)[rows.answer], rows.answer, 3)
    return float(rows.weight @ costs.of(rows.truth, choice))


def tried(rows):
    return [-np.inf, *np.unique(rows.confidence)]


@pytest.mark.parametrize("costs", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_no_other_cut_costs_less(costs):
    for seed in range(12):
        rows = random_rows(seed)
        one, each = cheapest_cut(rows, costs), cheapest_cuts(rows, costs)
        assert len(set(one)) == 1
        assert cost(rows, costs, one) == pytest.approx(min(cost(rows, costs, [t, t, t]) for t in tried(rows)))
        least = [[cost(rows, costs, np.where(np.arange(3) == k, t, each)) for t in tried(rows)] for k in range(3)]
        assert cost(rows, costs, each) == pytest.approx(np.min(least))  # no cut of one class alone does better
        assert cost(rows, costs, each) <= cost(rows, costs, one) + 1e-9


def test_ties_of_costs_go_to_fewer_rejects():
    rows = AnsweredRows(np.array([0, 0, 0, 0]), np.array([1, 0, 0, 0]), np.arange(1.0, 5.0), np.ones(4), 3)
    assert cheapest_cuts(rows, Costs.from_matrix(1 - np.eye(3), 0.6, labels=(1, 2, 3)))[0] == 1.5
    pair = AnsweredRows(np.array([0, 0]), np.array([0, 1]), np.array([1.0, 2.0]), np.ones(2), 3)
    assert cheapest_cuts(pair, even(1.0, 0.5))[0] == -np.inf  # two rejects cost one error


def test_budgets_are_used_up_and_never_exceeded():
    for seed in range(12):
        rows = random_rows(seed, weighted=seed % 2 == 0)
        for share in (0.0, 0.1, 0.3, 1.0):
            cut = cuts_within(rows, share)[0]
            total, new = rows.weight.sum(), rows.weight.mean()
            spent = [(t, rows.weight @ (rows.confidence <= t)) for t in tried(rows)]
            within = [t for t, one in spent if one == 0 or one + new <= share * (total + new) + 1e-9]
            np.testing.assert_array_equal(rows.confidence <= cut, rows.confidence <= within[-1])
        shares = (0.05, 0.3, 0.6)
        cuts = cuts_within(rows, ByAnswer((1, 2, 3), shares))
        for k, share in enumerate(shares):
            own = rows.answer == k
            confidence, weight = rows.confidence[own], rows.weight[own]
            allowed = share * (weight.sum() + new) - new
            assert weight @ (confidence <= cuts[k]) <= max(allowed, 0) + 1e-9
            above = confidence[confidence > cuts[k]]
            assert weight @ (confidence <= above.min()) > allowed  # one more tie would be too much


def test_a_tenth_of_thirty_rows_is_three_and_one_of_them_is_new():
    rows = AnsweredRows(np.zeros(29, dtype=int), np.zeros(29, dtype=int), np.arange(29.0), np.ones(29), 3)
    assert cuts_within(rows, 0.1)[0] == 1.5
    assert cuts_within(rows, 3 / 29, for_new=False)[0] == 2.5


def test_of_new_rows_with_an_answer_no_more_are_rejected_than_its_budget_allows():
    rng, shares = np.random.default_rng(0), np.array([0.1, 0.2, 0.3])
    for for_new in (True, False):
        found = []
        for _ in range(1000):
            answer, confidence = np.arange(150) % 3, rng.uniform(size=150)  # the share of new rows is the cut
            rows = AnsweredRows(answer, answer, confidence, np.ones(150), 3)
            cuts = cuts_within(rows, ByAnswer((1, 2, 3), tuple(shares)), for_new=for_new)
            found.append(np.clip(cuts, 0, 1))
        mean, noise = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(1000)
        assert ((mean <= shares) if for_new else (mean > shares + 2 * noise)).all(), (for_new, mean, noise)


def test_a_class_that_is_never_answered_or_not_named_is_not_cut():
    rows = AnsweredRows(np.array([0, 0, 1]), np.array([0, 2, 1]), np.ones(3), np.ones(3), 3)
    np.testing.assert_array_equal(cheapest_cuts(rows, EVEN)[1:], -np.inf)
    named = ByAnswer((1, 2, 3), (np.nan, 1.0, 1.0))
    np.testing.assert_array_equal(cuts_within(rows, named), [-np.inf, np.inf, -np.inf])


def test_constant_scores_are_one_tie():
    rows = ScoredRows.of(np.zeros((10, 3)), np.arange(10) % 3).answered("lead")
    assert set(rows.answer) == {0}
    assert cuts_within(rows, 0.9)[0] == -np.inf
    assert cuts_within(rows, 1.0)[0] == np.inf


@pytest.mark.parametrize("scores", [[-2, -1, 0, 1, 2], [0, 0, 0, 1, 2], [-3, -1, -1, 0, 0]])
def test_two_classes_are_cut_on_both_sides(scores):
    rows = ScoredRows.of(scores, [1, 0, 1, 0, 1], cut=0.0)
    answered = rows.answered()
    for cuts in np.array(np.meshgrid([-np.inf, 0.0, 0.5, 1.0, np.inf], [-np.inf, 0.5, 1.0, np.inf])).reshape(2, -1).T:
        expected = np.where(answered.confidence > cuts[answered.answer], np.where(rows.score > 0, 1, -1), 0)
        np.testing.assert_array_equal(two_sided(cuts).decide(rows.score), expected)


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    score, code, weight = rng.integers(0, 3, (40, 3)), rng.integers(0, 3, 40), rng.random(40)
    mixed = rng.permutation(40)
    one, other = ScoredRows.of(score, code, weight), ScoredRows.of(score[mixed], code[mixed], weight[mixed])
    for name in ("score", "code", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_scores_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="nan or infinite score"):
        ScoredRows.of([[0.0, 1.0, np.inf]], [0])
    with pytest.raises(ValueError, match="without rows"):
        ScoredRows.of(np.zeros((2, 3)), [0, 1], [0.0, 0.0])


def test_costs_whose_sum_overflows_are_refused():
    rows, costs = random_rows(0), even(1e308, 1e307)
    for cuts in (cheapest_cut, cheapest_cuts):
        with pytest.raises(ValueError, match="divide all costs by the largest"):
            cuts(rows, costs)
