from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.losses.generalized_hinge import BartlettWegkamp, generalized_hinge
from abstain.losses.tangent_hinge import double_hinge, hinge
from problems import entropy

prices = st.floats(0.01, 0.49)
Z = np.linspace(-4, 4, 161)


@given(r=prices)
def test_is_the_maximum_of_three_lines(r):
    psi = np.maximum(0, np.maximum(1 - Z, 1 - Z * (1 - r) / r))
    for y in (-1, 1):
        assert_allclose(generalized_hinge(r).of(y).value(Z), psi, rtol=1e-12, atol=1e-12)


@given(r=prices)
def test_is_the_double_hinge_in_other_units(r):
    # psi_r(z) = W(z H(r) / r) / H(r)
    W, H = double_hinge(Costs(reject=r)).positive, entropy(r)
    assert_allclose(generalized_hinge(r).positive.value(Z), W.value(Z * H / r) / H, rtol=1e-10, atol=1e-12)


def test_the_two_rules_agree_at_one_price():
    def chow_in_these_units(r):
        return double_hinge(Costs(reject=r)).thresholds.upper * r / entropy(r)

    agreement = brentq(lambda r: chow_in_these_units(r) - generalized_hinge(r).thresholds.upper, 0.1, 0.4)
    assert agreement == pytest.approx(0.2415, abs=5e-5)
    assert chow_in_these_units(0.24) == pytest.approx(0.502, abs=5e-4)
    assert abs(chow_in_these_units(0.1) - 0.5) > 0.1  # elsewhere they do not


def test_half_a_price_is_the_hinge():
    # in units of the tangent hinge: H(1/2) / (1/2) = 2 log 2
    assert generalized_hinge(0.5) == replace(hinge(), unit=2 * np.log(2))
    assert BartlettWegkamp().loss(Costs(reject=0.5 + 4e-13)) == replace(hinge(), unit=2 * np.log(2))


@pytest.mark.parametrize("r", [0, -0.1, 0.6, np.nan, np.inf, "0.1", True])
def test_an_invalid_price_is_refused(r):
    with pytest.raises(ValueError, match="r="):
        generalized_hinge(r)


@pytest.mark.parametrize("delta", [0.29, 0.71])
def test_delta_beyond_the_guarantee_is_refused(delta):
    with pytest.raises(ValueError, match=rf"delta={delta} must lie in \[r, 1 - r\] = \[0.3, 0.7\]"):
        generalized_hinge(0.3, delta)


@pytest.mark.parametrize("delta", [0, -1, 1, 2, np.nan, "0.5"])
def test_a_rule_without_a_threshold_is_refused(delta):
    with pytest.raises(ValueError, match="delta="):
        BartlettWegkamp(delta)


def test_the_rule_takes_its_price_from_symmetric_costs():
    # 0.9 for a reject and 3 for an error is r = 0.3
    loss = BartlettWegkamp(0.4).loss(Costs(3, 3, 0.9))
    assert_allclose(loss.positive.slopes, generalized_hinge(0.3).positive.slopes, rtol=1e-14)
    assert loss.thresholds == Thresholds(-0.4, 0.4)


@pytest.mark.parametrize("costs", [Costs(1, 2, 0.3), Costs(1, 1, (0.3, 0.2))])
def test_the_rule_refuses_other_costs(costs):
    with pytest.raises(ValueError, match=r'needs symmetric costs.*rule="chow"'):
        BartlettWegkamp().loss(costs)
