"""A machine on few points that is nowhere above another one."""

import numpy as np
import pytest

from abstain import OneClassSVM
from abstain.machines.lower_bound import POINTS, lower_bound


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 3, 20])
def test_the_bound_holds_everywhere_and_is_near_the_machine(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, d)) * rng.lognormal(size=d)
    machine = OneClassSVM(nu=0.2).fit(X).machine_
    bound = lower_bound(machine)
    rows = np.concatenate([X, 3.0 * X, machine.vectors, bound.vectors])
    exact, least = machine.expansion(rows), bound.expansion(rows)
    assert len(bound.coef) <= POINTS
    assert (least <= exact * (1.0 + 1e-12)).all()
    assert np.median(least[:300] / exact[:300]) > 0.8
    raised = lower_bound(OneClassSVM(nu=0.2).fit(X).machine_).rescaled(1.3, 0.0).expansion(rows)
    assert (raised > exact).any()  # control: more coefficients would be too many


def test_few_vectors_and_equal_ones_are_their_own_bound():
    X = np.repeat([[0.0, 1.0], [2.0, 0.0]], 10, axis=0)
    machine = OneClassSVM(nu=0.5, gamma=0.3).fit(X).machine_
    np.testing.assert_allclose(lower_bound(machine).expansion(X), machine.expansion(X), rtol=1e-12)
