"""Several expansions on the same rows, and the values that SVC makes from those of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.multiclass import _ovr_decision_function

from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine, class_pairs, ovr_values, votes

RNG = np.random.default_rng(0)


def test_values_of_pairs_are_those_of_scikit_learn():
    each = RNG.standard_normal((50, 6))
    np.testing.assert_allclose(ovr_values(each, 4), _ovr_decision_function(each < 0, -each, 4))
    won = np.zeros((50, 4))
    for column, (i, j) in enumerate(class_pairs(4)):
        won[np.arange(50), np.where(each[:, column] > 0, i, j)] += 1
    np.testing.assert_array_equal(votes(ovr_values(each, 4)), won)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly"])
def test_scores_are_sums_of_kernel_values(name):
    vectors, X = RNG.standard_normal((20, 3)) + 5, RNG.standard_normal((11, 3)) + 5
    coef = RNG.standard_normal((4, 20))
    coef -= coef.mean(axis=1, keepdims=True)
    kernel, biases = Kernel(name, gamma=0.3), RNG.standard_normal(4)
    plain = kernel(X, vectors) @ coef.T
    machine = KernelMachine(kernel, vectors, coef, biases, np.arange(20), 20)
    expected = plain + (machine.intercept if name == "linear" else biases)
    np.testing.assert_allclose(machine.score(X), expected, rtol=1e-9, atol=1e-9)
    sparse = KernelMachine(kernel, vectors, csr_array(coef), biases, np.arange(20), 20)
    np.testing.assert_allclose(sparse.score(csr_array(X)), machine.score(X), rtol=1e-9, atol=1e-9)


def test_rows_of_another_width_are_refused():
    machine = KernelMachine(Kernel("rbf"), np.ones((2, 3)), np.ones((3, 2)), np.zeros(3), np.arange(2), 2)
    with pytest.raises(ValueError, match="must have 3 columns"):
        machine.score(np.ones((4, 1)))
