"""Probabilities of several classes: a softmax whose likeliest class is corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, softmax

from abstain.rules.tuning.sigmoid import Lead, fitted_lead, fitted_scale

RNG = np.random.default_rng(0)
HEIGHTS = RNG.standard_normal((300, 4))


def drawn(P, rng):
    return np.array([rng.choice(P.shape[1], p=p) for p in P])


def test_without_a_correction_it_is_a_softmax():
    np.testing.assert_allclose(Lead(3.0)(HEIGHTS), softmax(3.0 * HEIGHTS, axis=1), rtol=1e-8)
    np.testing.assert_array_equal(Lead(3.0)(HEIGHTS.reshape(3, 100, 4)).reshape(300, 4), Lead(3.0)(HEIGHTS))


def test_the_correction_is_platts_of_the_likeliest_class_and_keeps_the_ratios_of_the_others():
    P, Q = Lead(3.0, 0.6, -0.2)(HEIGHTS), softmax(3.0 * HEIGHTS, axis=1)
    rows, k = np.arange(300), HEIGHTS.argmax(axis=1)
    top = expit(0.6 * logit(Q[rows, k]) - 0.2)
    sure = top > 0.6
    assert 50 < sure.sum() < 300
    np.testing.assert_allclose(P[rows, k][sure], top[sure])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    P[rows, k] = Q[rows, k] = 0.0
    np.testing.assert_allclose(P / P.sum(axis=1, keepdims=True), Q / Q.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("lead", [Lead(3.0, 0.2, -5.0), Lead(1e3, 3.0, 5.0), Lead(1e-3, 1.0, -2.0)])
def test_the_likeliest_class_remains_so_and_nothing_overflows(lead):
    P = lead(100.0 * HEIGHTS)
    assert np.isfinite(P).all()
    np.testing.assert_array_equal(P.argmax(axis=1), HEIGHTS.argmax(axis=1))


class TestFit:
    def test_a_softmax_stays_one(self):
        g = RNG.standard_normal((4000, 4))
        found = fitted_lead(g, drawn(softmax(2.5 * g, axis=1), RNG), np.ones(4000))
        assert found.scale == pytest.approx(2.5, rel=0.06)
        assert (found.slope, found.shift) == pytest.approx((1.0, 0.0), abs=0.1)

    def test_answers_that_are_too_sure_are_corrected(self):
        g = 3.0 * RNG.standard_normal((4000, 4))
        code = drawn(Lead(2.0, 0.4, 0.5)(g), RNG)
        found = fitted_lead(g, code, np.ones(4000))
        candidates = (found, Lead(fitted_scale(g, code, np.ones(4000))), Lead(2.0, 0.4, 0.5))
        corrected, plain, best = (-np.log(lead(g)[np.arange(4000), code]).mean() for lead in candidates)
        assert corrected < 0.5 * (plain + best)

    def test_few_rows_change_little(self):
        g = RNG.standard_normal((20, 3))
        found = fitted_lead(g, np.arange(20) % 3, np.ones(20))
        assert abs(found.shift) < 0.1
        assert abs(np.log(found.slope)) < 0.1

    def test_a_weight_is_a_repeated_row(self):
        g, code = RNG.standard_normal((60, 3)), RNG.integers(0, 3, 60)
        weight = 1.0 + np.arange(60) % 2
        rows = np.repeat(np.arange(60), weight.astype(int))
        once, again = fitted_lead(g, code, weight), fitted_lead(g[rows], code[rows], np.ones(90))
        assert (once.slope, once.shift) == pytest.approx((again.slope, again.shift), abs=1e-3)
