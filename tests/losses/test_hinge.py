import numpy as np
import pytest
from sklearn.metrics import hinge_loss

from abstain.costs.cuts import Thresholds
from abstain.losses.tangent_hinge import hinge


@pytest.mark.parametrize("f", [-2.0, -0.5, 0.0, 0.5, 3.0])
def test_is_scikit_learns_hinge_loss(f):
    y, scores = np.array([-1, 1, 1]), np.array([f, 2 * f, -f])
    ours = [hinge().of(sign).value(sign * score) for sign, score in zip(y, scores, strict=True)]
    assert np.mean(ours) == pytest.approx(hinge_loss(y, scores))


def test_rejects_nothing():
    assert hinge().thresholds == Thresholds(0, 0)
    assert hinge().cut == 0.0
