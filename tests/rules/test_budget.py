"""Budgets of rejects: kept on new rows, spent as far as ties allow, against every band there is."""

import numpy as np
import pytest

from abstain.costs.cuts import Thresholds
from abstain.rules.tuning.methods import roc_within
from abstain.rules.tuning.scored_rows import ScoredRows
from looping import looped
from one_score import symmetric_within


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    score = rng.integers(-5, 6, n) / 2 if seed % 2 else rng.normal(size=n)
    sign = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), 1, -1)
    sign[:2] = -1, 1
    share = float(rng.choice([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1 / 3, 2 / 7]))
    return score, sign, share if seed % 3 else (share, float(rng.random()))


def within(score, sign, shares, band):
    """Whether a band keeps the budget with a new row inside, which may fall into any band that is not empty."""
    if not band.rejects:
        return True
    out = band.decide(score) == 0
    pairs = [(out, shares)] if isinstance(shares, float) else [(out[sign < 0], shares[0]), (out[sign > 0], shares[1])]
    return all(1 + rows.sum() <= share * (1 + len(rows)) + 1e-9 for rows, share in pairs)


def places(values):
    seen = np.unique(values)
    return np.unique(np.concatenate([seen, (seen[1:] + seen[:-1]) / 2, [-np.inf, np.inf]]))


@looped(seed=range(300))
def test_symmetric_rejects_the_most_that_the_budget_allows(seed):
    score, sign, shares = random_case(seed)
    found = symmetric_within(ScoredRows.of(score, sign > 0, cut=0.0), shares)
    distances = np.append(places(np.abs(score))[1:], 0.0)
    bands = [Thresholds(-d, d) for d in distances[distances >= 0]]
    allowed = [np.sum(band.decide(score) == 0) for band in bands if within(score, sign, shares, band)]
    assert within(score, sign, shares, found)
    assert np.sum(found.decide(score) == 0) == max(allowed)


@looped(seed=range(300))
def test_roc_leaves_the_fewest_errors_that_the_budget_allows(seed):
    score, sign, shares = random_case(seed)
    found = roc_within(ScoredRows.of(score, sign > 0, cut=0.0), shares)
    at = places(score)

    def errors_and_rejects(band):
        choice = band.decide(score)
        return int(np.sum(choice == -sign)), int(np.sum(choice == 0))

    bands = [Thresholds(low, high) for low in at for high in at[at >= low]]
    assert within(score, sign, shares, found)
    assert errors_and_rejects(found) == min(errors_and_rejects(b) for b in bands if within(score, sign, shares, b))


def test_rows_of_one_score_go_together():
    score, sign = np.array([-2.0, -1, 1, 1, 2, 3, 4, 5, 6, 7]), np.ones(10, dtype=int)
    rows = ScoredRows.of(score, sign > 0, cut=0.0)
    assert np.sum(symmetric_within(rows, 0.3).decide(score) == 0) == 0  # three rows tie at a distance of 1
    assert np.sum(symmetric_within(rows, 4 / 11).decide(score) == 0) == 3
    assert np.sum(symmetric_within(rows, 0.49).decide(score) == 0) == 3


@pytest.mark.parametrize("n", [7, 30, 100])
def test_a_share_that_is_a_whole_number_of_rows_is_spent(n):
    # 0.29 * 100 is 28.999999999999996 in floating point, and yet 29 rows of 100, of which one is new
    score = np.arange(1.0, n)
    rows = ScoredRows.of(score, np.ones(n - 1, dtype=int), cut=0.0)
    for k in range(1, n + 1):
        assert np.sum(symmetric_within(rows, k / n).decide(score) == 0) == k - 1
        assert np.sum(symmetric_within(rows, k / (n - 1), for_new=False).decide(score) == 0) == min(k, n - 1)


def test_weights_are_what_is_counted():
    score, sign = np.array([1.0, 2, 3, 4]), np.array([1, 1, 1, 1])
    for unit in (1.0, 1e-3):  # a new row counts as much as the mean, here 2.5 units: 3 + 2.5 of 12.5 are 44 %
        rows = ScoredRows.of(score, sign > 0, unit * np.array([1.0, 1, 1, 7]), cut=0.0)
        assert symmetric_within(rows, 0.44).decide(score).tolist() == [0, 0, 0, 1]
        assert symmetric_within(rows, 0.43).decide(score).tolist() == [0, 0, 1, 1]


def shares_of_new_rows(place, repeats=2000, n=100):
    """The mean share of new rows in the band, exactly: f is uniform in (-1, 1), and positive with (1 + f) / 2."""
    rng, found = np.random.default_rng(0), []
    for _ in range(repeats):
        score = rng.uniform(-1, 1, n)
        sign = np.where(rng.random(n) < (1 + score) / 2, 1, -1)
        band = place(ScoredRows.of(score, sign > 0, cut=0.0))
        low, high = np.clip([band.lower, band.upper], -1, 1)
        # of all rows, of the negative (density (1 - f) / 2 within its class) and of the positive
        found.append([(high - low) / 2, ((1 - low) ** 2 - (1 - high) ** 2) / 4, ((1 + high) ** 2 - (1 + low) ** 2) / 4])
    return np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(repeats)


@pytest.mark.long
@pytest.mark.parametrize("place", [symmetric_within, roc_within])
def test_of_new_rows_no_more_are_rejected_than_the_budget_allows(place):
    share, noise = shares_of_new_rows(lambda rows: place(rows, 0.1))
    assert share[0] <= 0.1
    assert share[0] > (0.08 if place is symmetric_within else 0.05)  # and it is used
    pair, noise = shares_of_new_rows(lambda rows: place(rows, (0.1, 0.2)))
    assert (pair[1:] <= np.array([0.1, 0.2]) + 2 * noise[1:]).all()


def test_a_budget_kept_on_the_rows_themselves_is_exceeded_by_new_ones():
    share, noise = shares_of_new_rows(lambda rows: symmetric_within(rows, 0.1, for_new=False))
    assert share[0] > 0.1 + 4 * noise[0]


def test_too_few_rows_for_a_budget_reject_nothing():
    score = np.arange(1.0, 10)  # 9 rows: a new one is at least a tenth of ten
    rows = ScoredRows.of(score, np.ones(9, dtype=int), cut=0.0)
    for place in (symmetric_within, roc_within):
        assert not place(rows, 0.19).rejects
        assert not place(rows, (0.0, 0.5)).rejects  # of a class without rows nothing is known
    assert symmetric_within(rows, 0.2).rejects
