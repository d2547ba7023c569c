import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import entr

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.losses.tangent_hinge import double_hinge
from problems import ASYMMETRIC, RHO, TAU_NEGATIVE, TAU_POSITIVE, entropy


def test_knots_and_slopes_of_math_2():
    loss = double_hinge(ASYMMETRIC)  # p_low = 0.06, p_high = 0.7
    assert_allclose(loss.positive.knots, [RHO, TAU_POSITIVE], rtol=1e-14)
    assert_allclose(loss.positive.slopes, [-0.94, -0.3], rtol=1e-14)
    assert_allclose(loss.negative.knots, [-RHO, TAU_NEGATIVE], rtol=1e-14)
    assert_allclose(loss.negative.slopes, [-0.7, -0.06], rtol=1e-14)


def test_thresholds_are_those_of_the_costs():
    loss = double_hinge(ASYMMETRIC)
    assert loss.thresholds == ASYMMETRIC.score_thresholds()
    assert loss.cut == np.log(1 / 5)


def test_symmetric_costs_have_rho_0():
    loss = double_hinge(Costs(reject=0.2))
    assert loss.positive.knots[0] == 0.0
    assert_allclose(loss.positive.knots, loss.negative.knots, atol=1e-15)


def test_equality_is_one_tangent_at_the_cut():
    loss = double_hinge(Costs(1, 5, 5 / 6))
    # p = c_fp / (c_fp + c_fn) = 1 / 6
    assert_allclose(loss.positive.knots, [entropy(1 / 6) / (5 / 6)], rtol=1e-14)
    assert_allclose(loss.negative.knots, [entropy(1 / 6) / (1 / 6)], rtol=1e-14)
    assert_allclose([loss.positive.slopes, loss.negative.slopes], [[-5 / 6], [-1 / 6]], rtol=1e-14)
    assert loss.thresholds == Thresholds(np.log(1 / 5), np.log(1 / 5))


def test_half_a_price_is_the_hinge_in_other_units():
    # W(z) = ln 2 |1 - z / (2 ln 2)|_+: the hinge of the score divided by 2 ln 2
    loss, z = double_hinge(Costs(reject=0.5)).positive, np.linspace(-3, 3, 61)
    assert_allclose(loss.value(z), np.log(2) * np.maximum(1 - z / (2 * np.log(2)), 0), atol=1e-15)


@pytest.mark.parametrize("reject", [0.5 - 1e-11, 0.5 - 1e-8, 0.5 - 1e-4])
def test_a_closing_band_tends_to_one_tangent(reject):
    loss, limit, z = double_hinge(Costs(reject=reject)), double_hinge(Costs(reject=0.5)), np.linspace(-3, 3, 61)
    assert loss.thresholds.rejects
    # Near r = 1/2 the two tangents leave the one by less than the change of p times |f|.
    assert_allclose(loss.positive.value(z), limit.positive.value(z), atol=4 * (0.5 - reject))


def test_costs_of_1_to_a_billion():
    loss, f = double_hinge(Costs(1, 1e9, (0.5, 1e8))), np.linspace(-30, 10, 401)
    p = np.array([0.5 / (9e8 + 0.5), 0.5 / (0.5 + 1e8)])[:, np.newaxis]
    H = entr(p) - (1 - p) * np.log1p(-p)
    assert_allclose(loss.negative.value(-f), np.maximum(0, (H + p * f).max(axis=0)), rtol=1e-9, atol=1e-16)
    assert_allclose(loss.positive.value(f), np.maximum(0, (H - (1 - p) * f).max(axis=0)), rtol=1e-9, atol=1e-16)
