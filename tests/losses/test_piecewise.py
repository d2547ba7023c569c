import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from abstain.losses.margin_loss import PiecewiseLinear


@st.composite
def losses(draw):
    K = draw(st.integers(1, 5))
    gaps = st.lists(st.floats(0.01, 3), min_size=K, max_size=K)
    return PiecewiseLinear(np.cumsum(draw(gaps)) + draw(st.floats(-5, 5)), -np.cumsum(draw(gaps))[::-1])


def test_value_by_hand():
    loss = PiecewiseLinear(knots=(0.0, 1.0), slopes=(-3.0, -1.0))
    assert_allclose(loss.value([-2.0, 0.0, 0.5, 1.0, 4.0]), [7.0, 1.0, 0.5, 0.0, 0.0])


@given(loss=losses(), z=st.floats(-20, 20))
def test_value_is_the_integral_of_its_slopes(loss, z):
    knots = np.array([*loss.knots, max(z, loss.knots[-1])])
    ends = np.maximum(knots, z)
    lengths = np.diff([z, *ends])  # how far [z, last knot] runs in each piece
    assert_allclose(loss.value(z), -np.dot([*loss.slopes, 0.0], lengths), rtol=1e-9, atol=1e-9)


@given(loss=losses(), share=st.floats(0, 1), weight=st.floats(0.01, 100))
def test_dual_value_is_the_smallest_loss_plus_g_z(loss, share, weight):
    g = share * weight * -loss.slopes[0]
    # w loss(z) + g z is convex in z and bends at the knots only: its minimum is at one of them.
    by_hand = (weight * loss.value(loss.knots) + g * np.array(loss.knots)).min()
    assert_allclose(loss.dual_value(g, weight), by_hand, rtol=1e-9, atol=1e-9 * weight)


@given(loss=losses())
def test_slopes_and_knots_change_places_in_the_dual(loss):
    bends = np.array([0.0, *loss.breakpoints])
    rises = np.diff(loss.dual_value(bends)) / np.diff(bends)
    assert_allclose(rises, loss.knots[::-1], rtol=1e-6, atol=1e-6)
    assert_allclose(bends[1:], np.abs(loss.slopes)[::-1])


@pytest.mark.parametrize(
    ("knots", "slopes", "text"),
    [
        ((), (), "equal length >= 1"),
        ((1.0,), (-2.0, -1.0), "equal length >= 1"),
        ((1.0, 1.0), (-2.0, -1.0), "knots=.*strictly increasing"),
        ((0.0, np.inf), (-2.0, -1.0), "knots=.*finite"),
        ((0.0, 1.0), (-1.0, -2.0), "slopes=.*strictly increasing"),
        ((0.0, 1.0), (-1.0, 0.0), "slopes=.*negative"),
        ((0.0, 1.0), (np.nan, -1.0), "slopes=.*finite"),
    ],
)
def test_invalid_knots_and_slopes_are_refused(knots, slopes, text):
    with pytest.raises(ValueError, match=text):
        PiecewiseLinear(knots, slopes)
