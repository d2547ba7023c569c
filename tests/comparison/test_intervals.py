"""Intervals of means and of paired differences: how often they cover, and how wide they are."""

import numpy as np
import pytest
from scipy import stats

from abstain.comparison.intervals import interval_of_mean

# What two rules can differ by on a row, at costs of 1 and c for the errors and r for a reject, and how often.
LOSING = (lambda c, r: [0.0, r, 1 - r, 1.0, -r, r - c, -c], [0.5, 0.1, 0.05, 0.2, 0.1, 0.05])
EVEN = (lambda c, r: [0.0, r, -r, 1.0, -1.0, c, -c], [0.3, 0.3, 0.15, 0.15, 0.05, 0.05])


def student(values, confidence):
    return stats.ttest_1samp(values, 0).confidence_interval(confidence)


def covered(values, bounds, truth, confidence, n_statements=1):
    """Shares of samples, one in each row, whose interval has the true mean: ours, and Student's."""
    ours = [interval_of_mean(one, bounds, confidence, n_statements) for one in values]
    level = 1 - (1 - confidence) / n_statements
    half = stats.t.isf((1 - level) / 2, values.shape[1] - 1) * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    low, high = np.array(ours).T
    theirs = np.abs(values.mean(axis=1) - truth) <= half
    return np.mean((low <= truth) & (truth <= high)), np.mean(theirs), np.mean(high - low) / np.mean(2 * half)


def samples(kind, c, r, differing, n, count=400):
    values, share = np.array(kind[0](c, r)), np.array([1 - differing, *(differing * np.array(kind[1]))])
    return np.random.default_rng(0).choice(values, (count, n), p=share), float(values @ share)


@pytest.mark.parametrize(("n", "c", "differing"), [(60, 5, 0.1), (60, 20, 0.4), (200, 20, 0.1), (200, 20, 0.02)])
def test_few_differing_rows_are_covered_where_students_interval_fails(n, c, differing):
    values, truth = samples(LOSING, c, 0.3, differing, n)
    ours, theirs, _ = covered(values, (-c, c), truth, 0.95)
    assert ours >= 0.93
    assert theirs < 0.9  # control
    ours, theirs, _ = covered(values, (-c, c), truth, 0.95, n_statements=15)
    assert ours >= 0.99
    assert theirs < 0.99


def test_a_rare_large_cost_that_no_row_shows_is_allowed_for():
    """With 3 / n, every twentieth sample has no such row, and Student's interval is then a point."""
    rng, truth = np.random.default_rng(0), 20 * 3 / 200
    values = np.where(rng.random((400, 200)) < 3 / 200, 20.0, 0.0)
    ours, theirs, _ = covered(values, (0, 20), truth, 0.95)
    assert ours >= 0.93
    assert theirs < 0.9
    low, high = interval_of_mean(np.zeros(200), (0.0, 20.0), 0.95)
    assert low == 0
    assert high == pytest.approx(20 * 3 / 200, rel=0.02)  # the rule of three


@pytest.mark.parametrize(("c", "n", "differing"), [(1, 200, 0.4), (5, 1000, 0.4), (20, 1000, 0.4), (1, 1000, 0.1)])
@pytest.mark.parametrize("kind", [LOSING, EVEN])
def test_many_differing_rows_have_nearly_students_interval(kind, c, n, differing):
    values, truth = samples(kind, c, 0.3, differing, n, count=200)
    ours, _, wider = covered(values, (-c, c), truth, 0.95)
    assert abs(ours - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / 200)
    assert 1 <= wider <= 1.1


def test_with_many_rows_it_is_students():
    values = np.random.default_rng(0).normal(0.1, 1.0, 20_000).clip(-5, 5)
    np.testing.assert_allclose(interval_of_mean(values, (-5, 5), 0.9), student(values, 0.9), atol=2e-4)


def test_a_turned_difference_has_the_turned_interval():
    values, _ = samples(LOSING, 5, 0.3, 0.1, 80, count=1)
    low, high = interval_of_mean(values[0], (-5, 5), 0.95)
    assert interval_of_mean(-values[0], (-5, 5), 0.95) == pytest.approx((-high, -low))
    assert interval_of_mean(10 * values[0] + 3, (-47, 53), 0.95) == pytest.approx((10 * low + 3, 10 * high + 3))


def test_the_ends_are_within_the_bounds():
    assert interval_of_mean(np.full(5, 0.3), (0.3 - 20, 0.3), 0.95)[1] == 0.3
    assert interval_of_mean(np.array([1.0]), (0.0, 4.0), 0.95) == (0.0, 4.0)
    low, high = interval_of_mean(np.array([0.0, 0.0, 1.0]), (0.0, 1.0), 0.95)
    assert 0 <= low < 1 / 3 < high <= 1
