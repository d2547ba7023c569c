"""Budgets of rejects: never exceeded, spent as far as ties allow, against every band there is."""

import numpy as np
import pytest

from abstain.rules.budget import roc_within, symmetric_within
from abstain.rules.scored_rows import ScoredRows
from abstain.thresholds import Thresholds
from looping import looped


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    score = rng.integers(-5, 6, n) / 2 if seed % 2 else rng.normal(size=n)
    sign = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), 1, -1)
    sign[:2] = -1, 1
    share = float(rng.choice([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1 / 3, 2 / 7]))
    return score, sign, share if seed % 3 else (share, float(rng.random()))


def within(score, sign, shares, band):
    """Whether a band keeps the budget, in whole rows: k of n is a share of at most s iff k <= s n."""
    out = band.decide(score) == 0
    pairs = [(out, shares)] if isinstance(shares, float) else [(out[sign < 0], shares[0]), (out[sign > 0], shares[1])]
    return all(rows.sum() <= share * len(rows) + 1e-9 for rows, share in pairs)


def places(values):
    seen = np.unique(values)
    return np.unique(np.concatenate([seen, (seen[1:] + seen[:-1]) / 2, [-np.inf, np.inf]]))


@looped(seed=range(300))
def test_symmetric_rejects_the_most_that_the_budget_allows(seed):
    score, sign, shares = random_case(seed)
    found = symmetric_within(ScoredRows.of(score, sign, cut=0.0), shares)
    distances = np.append(places(np.abs(score))[1:], 0.0)
    bands = [Thresholds(-d, d) for d in distances[distances >= 0]]
    allowed = [np.sum(band.decide(score) == 0) for band in bands if within(score, sign, shares, band)]
    assert within(score, sign, shares, found)
    assert np.sum(found.decide(score) == 0) == max(allowed)


@looped(seed=range(300))
def test_roc_leaves_the_fewest_errors_that_the_budget_allows(seed):
    score, sign, shares = random_case(seed)
    found = roc_within(ScoredRows.of(score, sign, cut=0.0), shares)
    at = places(score)

    def errors_and_rejects(band):
        choice = band.decide(score)
        return int(np.sum(choice == -sign)), int(np.sum(choice == 0))

    bands = [Thresholds(low, high) for low in at for high in at[at >= low]]
    assert within(score, sign, shares, found)
    assert errors_and_rejects(found) == min(errors_and_rejects(b) for b in bands if within(score, sign, shares, b))


def test_rows_of_one_score_go_together():
    score, sign = np.array([-2.0, -1, 1, 1, 2, 3, 4, 5, 6, 7]), np.ones(10, dtype=int)
    rows = ScoredRows.of(score, sign, cut=0.0)
    assert np.sum(symmetric_within(rows, 0.2).decide(score) == 0) == 0  # three rows tie at a distance of 1
    assert np.sum(symmetric_within(rows, 0.3).decide(score) == 0) == 3
    assert np.sum(symmetric_within(rows, 0.49).decide(score) == 0) == 3


@pytest.mark.parametrize("n", [7, 30, 100])
def test_a_share_that_is_a_whole_number_of_rows_is_spent(n):
    # 0.29 * 100 is 28.999999999999996 in floating point, and yet 29 rows of 100
    score = np.arange(1.0, n + 1)
    rows = ScoredRows.of(score, np.ones(n, dtype=int), cut=0.0)
    for k in range(n + 1):
        assert np.sum(symmetric_within(rows, k / n).decide(score) == 0) == k


def test_weights_are_what_is_counted():
    score, sign = np.array([1.0, 2, 3, 4]), np.array([1, 1, 1, 1])
    rows = ScoredRows.of(score, sign, [1.0, 1, 1, 7], cut=0.0)
    assert symmetric_within(rows, 0.3).decide(score).tolist() == [0, 0, 0, 1]
    assert symmetric_within(rows, 0.29).decide(score).tolist() == [0, 0, 1, 1]
