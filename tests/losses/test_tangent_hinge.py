from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import entr, expit, logit

from abstain.costs.cuts import Thresholds
from abstain.losses.tangent_hinge import tangent_hinge, tangent_hinge_at


def max_of_tangents(p, y, f):
    """The definition in docs/theory.md: the maximum of 0 and the tangents, class by class, in probabilities."""
    p = np.asarray(p)[:, np.newaxis]
    H = entr(p) + entr(1 - p)
    tangents = H - (1 - p) * f if y > 0 else H + p * f
    return np.maximum(tangents.max(axis=0), 0.0)


@st.composite
def probabilities(draw):
    gaps = draw(st.lists(st.floats(0.02, 1), min_size=2, max_size=6))
    return np.cumsum(gaps[:-1]) / np.sum(gaps)


@given(p=probabilities())
def test_is_the_maximum_of_0_and_the_tangents(p):
    loss, f = tangent_hinge_at(p), np.linspace(-12, 12, 401)
    for y in (-1, 1):
        assert_allclose(loss.of(y).value(y * f), max_of_tangents(p, y, f), rtol=1e-11, atol=1e-12)


@given(p=probabilities())
def test_lies_below_the_logistic_loss_and_touches_it_where_asked(p):
    loss, f = tangent_hinge_at(p), np.linspace(-12, 12, 401)
    for y in (-1, 1):
        assert (loss.of(y).value(y * f) <= np.logaddexp(0, -y * f) + 1e-12).all()
        assert_allclose(loss.of(y).value(y * logit(p)), np.logaddexp(0, -y * logit(p)), rtol=1e-10)


@given(p=probabilities(), P=st.floats(0.001, 0.999))
def test_its_minimiser_falls_on_the_right_side_of_every_threshold(p, P):
    # The expected loss at P(y = +1) = P has its minimum between the log-odds that enclose P (GRKC08 section 3).
    loss = tangent_hinge_at(p)
    bends = np.sort([*loss.positive.knots, *(-knot for knot in loss.negative.knots)])
    risk = P * loss.positive.value(bends) + (1 - P) * loss.negative.value(-bends)
    best = bends[risk <= risk.min() + 1e-12]
    enclosing = np.searchsorted(p, P)
    lower, upper = np.array([-np.inf, *logit(p), np.inf])[[enclosing, enclosing + 1]]
    assert best.max() >= lower - 1e-9
    assert best.min() <= upper + 1e-9


@given(p=probabilities())
def test_swapping_the_classes_swaps_the_losses(p):
    loss, mirrored = tangent_hinge_at(p), tangent_hinge_at(1 - p[::-1])
    assert_allclose(loss.negative.knots, mirrored.positive.knots, rtol=1e-9, atol=1e-12)
    assert_allclose(loss.negative.slopes, mirrored.positive.slopes, rtol=1e-9)


def exact_crossing(a: float, b: float) -> float:
    """rho = (H(p_a) - H(p_b)) / (p_b - p_a) at the log-odds a < b, in 80 digits."""
    with localcontext() as context:
        context.prec = 80

        def entropy_and_probability(t):
            p = 1 / (1 + (-t).exp())
            return -p * p.ln() - (1 - p) * (1 - p).ln(), p

        (H_a, p_a), (H_b, p_b) = entropy_and_probability(Decimal(a)), entropy_and_probability(Decimal(b))
        return float((H_a - H_b) / (p_b - p_a))


@given(a=st.floats(-25, 25), exponent=st.floats(-8, 1.4))
def test_crossings_keep_their_digits_however_near_the_tangents(a, exponent):
    b = a + 10.0**exponent
    loss = tangent_hinge([a, b])
    if loss.n_knots == 2:  # else floating point holds the two tangents for one
        assert_allclose(loss.positive.knots[0], exact_crossing(a, b), rtol=2e-15, atol=2e-15)
        assert_allclose(loss.negative.knots[0], -exact_crossing(a, b), rtol=2e-15, atol=2e-15)


def test_the_limit_of_near_tangents_is_the_log_odds_of_the_midpoint():
    loss = tangent_hinge_at([0.3, 0.3 + 1e-9])
    assert loss.positive.knots[0] == pytest.approx(logit(0.3 + 5e-10), rel=1e-12)


@pytest.mark.parametrize("t", [-699.0, -40.0, 40.0, 699.0])
def test_extreme_log_odds_keep_their_tangents(t):
    loss = tangent_hinge([t])
    # H(p) / (1 - p) tends to 1 + t as p nears 1; H(p) / (1 - p) itself tends to p (1 - t) as p nears 0.
    assert loss.of(np.sign(t)).knots[0] == pytest.approx(1 + abs(t), rel=1e-12)
    assert loss.of(-np.sign(t)).knots[0] == pytest.approx(np.exp(-abs(t)) * (1 + abs(t)), rel=1e-12)
    assert loss.of(np.sign(t)).slopes[0] == pytest.approx(-expit(-abs(t)), rel=1e-12)


def test_tangents_that_rounding_cannot_tell_apart_are_one():
    loss = tangent_hinge([40.0, 41.0])  # 1 / (1 + exp(-t)) is 1 for both
    assert loss.n_knots == 1
    assert loss.thresholds == Thresholds(40.0, 41.0)


@pytest.mark.parametrize(("log_odds", "cut"), [([-1, 2], 0.0), ([1, 2], 1.0), ([-3, -2], -2.0), ([-1, 0, 4], 0.0)])
def test_the_forced_choice_is_the_likelier_class_if_nothing_else_is_said(log_odds, cut):
    loss = tangent_hinge(log_odds)
    assert loss.cut == cut
    assert loss.thresholds == Thresholds(log_odds[0], log_odds[-1])
    assert tangent_hinge(log_odds, cut=1.5).cut == 1.5


@pytest.mark.parametrize("log_odds", [[], [1.0, 1.0], [1.0, 0.0], [0.0, 701.0], [-np.inf, 0.0], [np.nan], ["a"]])
def test_invalid_log_odds_are_refused(log_odds):
    with pytest.raises(ValueError, match="log_odds="):
        tangent_hinge(log_odds)


@pytest.mark.parametrize("p", [[0.0, 0.5], [0.5, 1.0], [-0.1], [np.nan]])
def test_invalid_probabilities_are_refused(p):
    with pytest.raises(ValueError, match="probabilities="):
        tangent_hinge_at(p)
