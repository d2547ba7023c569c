import numpy as np
import pytest

from abstain.costs.cuts import Thresholds
from abstain.losses.margin_loss import MarginLoss, PiecewiseLinear

NEGATIVE = PiecewiseLinear((0.0, 2.0), (-4.0, -1.0))
POSITIVE = PiecewiseLinear((1.0, 3.0), (-5.0, -2.0))


def test_row_0_of_the_tables_is_the_negative_class():
    loss = MarginLoss(NEGATIVE, POSITIVE, Thresholds(0, 0), cut=0.0)
    knots, slopes = loss.tables()
    np.testing.assert_array_equal(knots, [[0, 2], [1, 3]])
    np.testing.assert_array_equal(slopes, [[-4, -1], [-5, -2]])
    assert loss.of(-1) is NEGATIVE
    assert loss.of(1) is POSITIVE
    assert loss.n_knots == 2


def test_both_classes_have_as_many_knots():
    with pytest.raises(ValueError, match=r"same number of knots; got 2 \(negative\) and 1 \(positive\)"):
        MarginLoss(NEGATIVE, PiecewiseLinear((1.0,), (-1.0,)), Thresholds(0, 0), cut=0.0)
