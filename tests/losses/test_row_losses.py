"""The losses of costs per row, against the loss of each row's costs alone, for every kind of costs."""

import numpy as np
import pytest

from abstain.costs.per_row import row_table
from abstain.labels import Labels
from abstain.losses.tangent_hinge import double_hinge, row_losses, tangent_hinge, task_tangents
from cost_kinds import KINDS, N_ROWS, of_row
from problems import random_row_costs

LABELS = Labels.of([0, 1], rejects=True)
BY_ROW = {name: kind for name, kind in KINDS.items() if kind.by_row}


def of_two(rows):
    return row_table(rows, LABELS)


def check_same(table, row, one, sign):
    """The loss of a row in a table is this one, as a function and as a dual."""
    z, many = np.linspace(-4, 4, 33), np.full(33, sign)
    same = table.take(np.full(33, row))
    np.testing.assert_allclose(same.value(many, z), one.value(z), rtol=1e-11, atol=1e-13)
    g = np.linspace(0, 1.2, 33) * -one.slopes[0]
    np.testing.assert_allclose(same.dual_value(many, g, np.ones(33)), one.dual_value(g), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("never", [0.0, 0.3, 1.0])
def test_each_row_of_two_classes_has_the_double_hinge_of_its_costs(never):
    rng = np.random.default_rng(7)
    costs = of_two(random_row_costs(rng, 200, never, spread=3.0))
    sign = np.where(rng.random(200) < 0.5, 1, -1).astype(np.int8)
    table = row_losses(task_tangents(costs), sign)
    for row in range(200):
        check_same(table, row, double_hinge(of_row(costs, row)).of(sign[row]), sign[row])
    assert table.n_knots == (1 if never == 1.0 else 2)


@pytest.mark.parametrize("kind", BY_ROW.values(), ids=BY_ROW)
def test_each_row_of_every_kind_has_the_tangents_of_its_costs(kind):
    costs = kind.table
    tasks = [task_tangents(costs)] if kind.labels.n_classes == 2 else np.moveaxis(task_tangents(costs), 1, 0)
    sign = np.where(np.arange(N_ROWS) % 2, 1, -1).astype(np.int8)
    for at in tasks:
        table = row_losses(at, sign)
        for row in range(N_ROWS):
            one = tangent_hinge(np.unique(at[row][np.isfinite(at[row])])).of(sign[row])
            check_same(table, row, one, sign[row])


@pytest.mark.parametrize("width", [1e-7, 1e-3, 0.1, 0.999, 1.001, 30.0])
def test_crossings_keep_their_digits(width):
    """Costs whose thresholds are this far apart, on either side of 0: rho lies between them, as in `tangent_hinge`."""
    for low in (-20.0, -0.5 * width, 3.0):
        a, b = np.exp(low), np.exp(low + width)  # r_neg / (c_fn - r_pos) and (c_fp - r_neg) / r_pos with r = 1
        costs = of_two([[1.0 + b, 1.0 + 1.0 / a, 1.0]])
        for sign in (-1, 1):
            table = row_losses(task_tangents(costs), np.array([sign], dtype=np.int8))
            one = double_hinge(of_row(costs, 0)).of(sign)
            assert table.knots[0] == pytest.approx(one.knots, rel=1e-12)
            assert table.slopes[0] == pytest.approx(one.slopes, rel=1e-14)


def test_rows_with_equal_thresholds_share_a_loss():
    costs = of_two([[1, 5, 0.4], [2, 10, 0.8], [1, 5, 0.4], [1, 5, 0.3]])
    table = row_losses(task_tangents(costs), np.ones(4, dtype=np.int8))
    assert len(table.knots) == 2
    assert table.kind.tolist() == [table.kind[0]] * 3 + [1 - table.kind[0]]


def test_costs_too_far_apart_name_the_row():
    with pytest.raises(ValueError, match="too far apart at row 1"):
        row_losses(task_tangents(of_two([[1, 1, 0.1], [1, 1, 1e-306]])), np.ones(2, dtype=np.int8))
