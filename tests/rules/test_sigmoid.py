"""The shrunk sigmoid against a general optimiser, and what the shrinking promises."""

import numpy as np
import pytest
from scipy.optimize import minimize

from abstain.rules.tuning.sigmoid import TAU, shrunk_sigmoids


def rows(n, scale, shift, seed=0):
    """Scores whose log-odds are scale * score + shift, and their classes."""
    rng = np.random.default_rng(seed)
    score = 2.0 * rng.normal(size=n)
    sign = np.where(rng.random(n) < 1 / (1 + np.exp(-(scale * score + shift))), 1, -1).astype(np.int8)
    return score, sign


def objective(at, score, sign, weight):
    return weight @ np.logaddexp(0, -sign * (np.exp(at[0]) * score + at[1])) + (at @ at) / (2 * TAU**2)


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_of_a_general_optimiser(seed):
    score, sign = rows(60, 1.5, -0.5, seed)
    weight = np.random.default_rng(seed).uniform(0, 2, 60)
    scores = np.stack([score, 0.1 * score, -score, score - 3])
    found = shrunk_sigmoids(scores, sign, weight)
    for at, one in zip(found, scores, strict=True):
        expected = minimize(objective, np.zeros(2), (one, sign, weight), method="BFGS", options={"gtol": 1e-9})
        assert objective(at, one, sign, weight) <= expected.fun + 1e-6


def test_many_rows_find_the_truth_and_few_do_not_move_far():
    truth = np.array([np.log(2.0), 1.0])
    many, few = (
        shrunk_sigmoids(score[np.newaxis], sign, np.ones(len(sign)))[0]
        for score, sign in (rows(100_000, 2.0, 1.0), rows(5, 2.0, 1.0))
    )
    np.testing.assert_allclose(many, truth, atol=0.03)
    assert np.abs(few).max() < 0.5 * np.abs(truth).min()


@pytest.mark.parametrize(
    "score", [np.zeros(40), np.full(40, 3.0), np.linspace(-1e9, 1e9, 40), np.linspace(-1e-9, 1e-9, 40)]
)
def test_odd_scores_end_with_finite_numbers(score):
    sign = np.where(np.arange(40) < 20, -1, 1).astype(np.int8)
    for turned in (sign, -sign, np.ones(40, dtype=np.int8)):
        found = shrunk_sigmoids(score[np.newaxis], turned, np.ones(40))
        assert np.isfinite(found).all()
        assert objective(found[0], score, turned, np.ones(40)) <= objective(np.zeros(2), score, turned, np.ones(40))


def test_a_start_changes_nothing_but_the_time():
    score, sign = rows(200, 0.7, 0.3)
    begun = shrunk_sigmoids(score[np.newaxis], sign, np.ones(200), np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(begun, shrunk_sigmoids(score[np.newaxis], sign, np.ones(200)), atol=1e-3)
