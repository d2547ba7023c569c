import numpy as np
import pytest

from abstain.losses.step_loss import StepLoss
from embedded_cases import h2


def test_it_is_the_papers_formula():
    xi = np.linspace(-1, 3, 401)
    loss = StepLoss(0.5, 0.1)
    for eps in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(loss.value(xi, eps), h2(xi, eps, 0.5, 0.1), rtol=1e-14)


def test_steep_steps_are_the_staircase():
    xi = np.array([-0.5, 0.2, 0.45, 0.55, 1.0, 1.45, 1.55, 3.0])
    loss = StepLoss(0.5, 0.1, steepness=1e4, slack_penalty=1e-9)
    np.testing.assert_allclose(loss.value(xi, 0.5), loss.steps(xi, 0.5), atol=1e-6)
    np.testing.assert_array_equal(loss.steps(xi, 0.5), [0, 0.1, 0.1, 0.5, 0.5, 0.5, 1, 1])


def test_margin_cost_follows_the_reject_cost():
    assert StepLoss(0.05).margin_cost == pytest.approx(0.01)
    assert StepLoss(0.05, 0.02).margin_cost == 0.02


def test_rejecting_stops_at_one_half():
    assert [StepLoss(w).rejects for w in (0.1, 0.4999, 0.5, 1.0)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"reject_cost": 1.01}, r"reject_cost=1.01 must lie in \(0, 1\]"),
        ({"reject_cost": 0.0}, "reject_cost=0.0 must be positive and finite"),
        ({"reject_cost": -1}, "reject_cost=-1 must be positive"),
        ({"reject_cost": "half"}, "reject_cost='half' must be a real number"),
        ({"reject_cost": 0.1, "margin_cost": 0.1}, "margin_cost=0.1 must lie between 0 and reject_cost=0.1, both"),
        ({"reject_cost": 0.1, "margin_cost": 0.3}, "lower it, or pass None"),
        ({"reject_cost": 0.1, "margin_cost": 0.0}, "margin_cost=0.0 must be positive"),
        ({"reject_cost": 0.1, "margin_cost": -0.1}, "margin_cost=-0.1 must be positive"),
        ({"reject_cost": 0.1, "steepness": 0.0}, "steepness=0.0 must be positive"),
        ({"reject_cost": 0.1, "slack_penalty": np.inf}, "slack_penalty=inf must be positive and finite"),
    ],
)
def test_wrong_costs_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        StepLoss(**arguments)
