"""The losses of costs per row, against the double hinge of each row's costs."""

import numpy as np
import pytest

from abstain.costs.row_costs import RowCosts
from abstain.losses.double_hinge import double_hinge
from abstain.losses.row_tangents import row_losses
from problems import random_row_costs


@pytest.mark.parametrize("never", [0.0, 0.3, 1.0])
def test_each_row_has_the_double_hinge_of_its_costs(never):
    rng = np.random.default_rng(7)
    costs, sign = RowCosts.of(random_row_costs(rng, 200, never, spread=3.0)), np.where(rng.random(200) < 0.5, 1, -1)
    table = row_losses(costs, sign.astype(np.int8))
    z = np.linspace(-4, 4, 33)
    g = np.linspace(0, 1.2, 33)
    for row in range(200):
        one, same = double_hinge(costs.of_row(row)).of(sign[row]), table.take(np.full(33, row))
        assert np.allclose(same.value(sign, z), one.value(z), rtol=1e-11, atol=1e-13)
        g_row, w = g * -one.slopes[0], np.full(33, 1.0)
        assert np.allclose(same.dual_value(sign, g_row, w), one.dual_value(g_row), rtol=1e-11, atol=1e-13)
    assert table.n_knots == (1 if never == 1.0 else 2)


@pytest.mark.parametrize("width", [1e-7, 1e-3, 0.1, 0.999, 1.001, 30.0])
def test_crossings_keep_their_digits(width):
    """Costs whose thresholds are this far apart, on either side of 0: rho lies between them, as in `tangent_hinge`."""
    for low in (-20.0, -0.5 * width, 3.0):
        a, b = np.exp(low), np.exp(low + width)  # r_neg / (c_fn - r_pos) and (c_fp - r_neg) / r_pos with r = 1
        costs = RowCosts.of([[1.0 + b, 1.0 + 1.0 / a, 1.0]])
        for sign in (-1, 1):
            table, one = row_losses(costs, np.array([sign], dtype=np.int8)), double_hinge(costs.of_row(0)).of(sign)
            assert table.knots[0] == pytest.approx(one.knots, rel=1e-12)
            assert table.slopes[0] == pytest.approx(one.slopes, rel=1e-14)


def test_rows_with_equal_thresholds_share_a_loss():
    costs = RowCosts.of([[1, 5, 0.4], [2, 10, 0.8], [1, 5, 0.4], [1, 5, 0.3]])
    table = row_losses(costs, np.ones(4, dtype=np.int8))
    assert len(table.knots) == 2
    assert table.kind.tolist() == [table.kind[0]] * 3 + [1 - table.kind[0]]


def test_costs_too_far_apart_name_the_row():
    with pytest.raises(ValueError, match="too far apart at row 1"):
        row_losses(RowCosts.of([[1, 1, 0.1], [1, 1, 1e-306]]), np.ones(2, dtype=np.int8))
