"""Tests of two samples: exact by enumeration of all ways to choose the batch, with ties, for every level at once."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from abstain.comparison.two_samples import Table, beyond_test, cells_of, holm, scores_test, shares_tests

SCORES = np.array([0.3, 1.2, 0.7, 2.9, 1.8, 4.4, 0.1, 3.3, 2.2])
TIED = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 0.0, 2.0, 1.0])
COLUMN = np.array([0, 0, 1, 1, 1, 2, 2, 3, 0])


def splits(n):
    """All ways to choose a batch of n of the nine rows, as (batch, reference)."""
    rows = np.arange(9)
    return [(np.array(chosen), np.setdiff1d(rows, chosen)) for chosen in combinations(range(9), n)]


def shares_test(*cells, hidden=0):
    return shares_tests([Table(*cells, hidden)])[0]


def counts(values):
    return np.bincount(values, minlength=4)


def by_scores(values):
    return lambda here, before: scores_test(*(cells_of(values[part], values[before]) for part in (here, before)))


def by_rank(values, rank):
    return lambda here, before: beyond_test(*(cells_of(values[part], values[before]) for part in (here, before)), rank)


def by_shares(here, before):
    return shares_test(counts(COLUMN[here]), counts(COLUMN[before]))


TESTS = {
    "scores": by_scores(SCORES),
    "tied scores": by_scores(TIED),
    "beyond": by_rank(SCORES, 2),
    "tied beyond": by_rank(TIED, 1),
    "shares": by_shares,
}


def largest_excess(p_values):
    """How far P(p <= t) goes beyond t, over all t; not above 0 for a valid p-value."""
    ordered = np.sort(p_values)
    return np.max((np.arange(len(ordered)) + 1) / len(ordered) - ordered)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_p_values_hold_for_every_level(n):
    for name, test in TESTS.items():
        found = [test(*split) for split in splits(n)]
        assert largest_excess([one.p_value for one in found]) <= 1e-9, name
        assert all(one.least <= one.p_value * (1 + 1e-12) for one in found), name
        assert all(one.difference >= abs(one.here - one.before) - 1e-12 for one in found), name
    # without ties the first and the third are exact: each p-value is attained by as many splits as it says
    for name in ("scores", "beyond"):
        p = [TESTS[name](*split).p_value for split in splits(n)]
        attained = [np.mean(np.array(p) <= value * (1 + 1e-9)) for value in p]
        np.testing.assert_allclose(attained, p, err_msg=name)


def test_several_tests_hold_together_and_need_their_correction():
    names = ("scores", "tied beyond", "shares")
    corrected, plain = [], []
    for split in splits(4):
        found = [TESTS[name](*split) for name in names]
        p, least = [one.p_value for one in found], [one.least for one in found]
        corrected.append(holm(p, least).min())
        plain.append(min(p))
        assert (holm(p, least) <= np.minimum(1, 3 * np.array(p)) + 1e-12).all()  # never worse than Bonferroni's
    assert largest_excess(corrected) <= 1e-9
    assert largest_excess(plain) > 0.03


def test_holms_steps_count_only_tests_that_could_be_as_significant():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.5], [0.0, 0.0, 0.0]), [0.03, 0.04, 0.5])
    np.testing.assert_allclose(holm([0.02, 0.01, 0.5], [0.0, 0.0, 0.4]), [0.02, 0.02, 0.5])
    np.testing.assert_allclose(holm([0.3, 0.9], [0.0, 0.0]), [0.6, 0.9])
    assert holm([], []).shape == (0,)


def test_statistics_are_the_usual_ones():
    rng = np.random.default_rng(0)
    here, before = rng.normal(size=40).round(1), rng.normal(0.5, size=130).round(1)
    one = scores_test(cells_of(here, before), cells_of(before, before))
    usual = stats.ks_2samp(here, before)
    assert (one.difference, one.p_value) == (pytest.approx(usual.statistic), pytest.approx(usual.pvalue))
    table = np.array([[12, 28], [70, 60]])
    sides = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert shares_test(*table).p_value == pytest.approx(2 * min(sides))


def test_a_rare_category_costs_nothing_and_hidden_ones_do():
    here, before = np.array([30, 70]), np.array([100, 900])
    rare = shares_test(np.append(here, np.zeros(50, dtype=int)), np.append(before, np.ones(50, dtype=int)))
    assert rare.p_value < 4 * shares_test(here, before).p_value  # 100 more tests
    one, many = (shares_test(np.append(here, 5), np.append(before, 0), hidden=count) for count in (1, 5))
    # two tests, the first from above and the second from below, could be as significant; of each hidden one both are
    assert many.p_value == pytest.approx(one.p_value * (2 + 2 * 5) / (2 + 2 * 1))


def test_a_score_that_is_not_a_number_counts_as_the_largest():
    assert cells_of(np.array([np.nan, np.inf, 0.5, 1.0]), np.array([1.0, 2.0])).tolist() == [1, 1, 0, 0, 2]


def test_of_categories_too_rare_to_tell_apart_the_one_that_moved_most_is_named():
    """Of 20,000 rows each, all p-values are 0 in float64."""
    before, here = np.array([6000, 6000, 8000]), np.array([10_000, 0, 10_000])
    tested = shares_test(here, before)
    assert (tested.at, tested.here, tested.before) == (1, 0.0, 0.3)
    assert shares_test(here[::-1], before[::-1]).at == 1
    assert shares_test(here[[1, 0, 2]], before[[1, 0, 2]]).at == 0
