"""A weight per feature, a centre and a bias: exact far from the origin, and quick."""

import timeit

import numpy as np
import pytest
from scipy.sparse import csr_array

from abstain.kernels import Kernel
from abstain.machines import linear_machine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

MACHINE = LinearMachine(np.array([2.0, -1.0, 0.5]), np.array([1.0, 0.0, -2.0]), bias=0.25)


@pytest.mark.parametrize("block", [2, 1_000_000])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_the_score_is_the_formula(form, block, monkeypatch):
    monkeypatch.setattr(linear_machine, "_BLOCK", block)
    X = np.random.default_rng(0).normal(size=(7, 3))
    expected = [2 * (a - 1) - b + 0.5 * (c + 2) + 0.25 for a, b, c in X]
    np.testing.assert_allclose(MACHINE.score(form(X)), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(X @ MACHINE.weights + MACHINE.intercept, expected, rtol=1e-12, atol=1e-12)


def test_an_offset_of_the_rows_changes_nothing_if_the_centre_moves_with_them():
    X = np.round(np.random.default_rng(1).normal(size=(50, 3)) * 64) / 64  # exact after any power of two is added
    near = LinearMachine(np.array([2 / 3, -1 / 7, 0.3]), MACHINE.centre, MACHINE.bias)
    far = LinearMachine(near.weights, near.centre + 2.0**40, near.bias)
    np.testing.assert_array_equal(far.score(X + 2.0**40), near.score(X))
    # control: the intercept alone does not carry the digits
    assert np.abs((X + 2.0**40) @ far.weights + far.intercept - near.score(X)).max() > 1e-5


def test_scores_that_overflow_are_refused():
    with pytest.raises(ValueError, match="the scores of some rows overflow; scale it like the training rows"):
        MACHINE.score(np.full((1, 3), 1e308))


def test_one_row_takes_no_longer_for_20_000_support_vectors():
    rng = np.random.default_rng(0)
    vectors, coef = rng.normal(size=(20_000, 10)), rng.normal(size=20_000)
    machine = KernelMachine(Kernel("linear"), vectors, coef - coef.mean(), 0.1, np.arange(20_000), 20_000)
    row = rng.normal(size=(1, 10))
    centre = vectors.mean(axis=0)
    expected = (coef - coef.mean()) @ ((vectors - centre) @ (row[0] - centre)) + 0.1
    assert machine.score(row)[0] == pytest.approx(expected, rel=1e-9)
    best = min(timeit.repeat(lambda: machine.score(row), number=200, repeat=20)) / 200
    assert best < 50e-6  # 7.9 ms before the weights were kept


def test_rows_with_another_number_of_columns_are_refused():
    for X in (np.ones((2, 1)), np.ones((2, 4)), np.ones(3)):  # one column would be broadcast
        with pytest.raises(ValueError, match="X must have 3 columns, as the training rows had"):
            MACHINE.score(X)
