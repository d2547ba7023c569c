"""Kernel expansions: every kernel and storage gives the sum written out term by term."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import pairwise_kernels

from abstain.kernels import Kernel
from abstain.machines import kernel_machine
from abstain.machines.kernel_machine import KernelMachine

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", 0.3),
    Kernel("laplacian", 0.3),
    Kernel("poly", 0.5, 1.0, 2),
    Kernel("sigmoid", 0.1, -0.2),
]
RNG = np.random.default_rng(0)
VECTORS, NEW = RNG.normal(size=(9, 4)), RNG.normal(size=(6, 4))
COEF = RNG.normal(size=9)
COEF -= COEF.mean()


def machine_of(kernel, vectors=VECTORS, bias=0.7):
    return KernelMachine(kernel, vectors, COEF, bias, np.arange(9), 9)


def written_out(kernel):
    options = {"gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
    return pairwise_kernels(NEW, VECTORS, metric=kernel.name, filter_params=True, **options) @ COEF


@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense rows", "sparse rows"])
@pytest.mark.parametrize("stored", [np.asarray, csr_array], ids=["dense vectors", "sparse vectors"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_score_is_the_sum(kernel, stored, rows, monkeypatch):
    monkeypatch.setattr(kernel_machine, "_BLOCK", 20)
    machine = machine_of(kernel, stored(VECTORS))
    expected = written_out(kernel) + machine.intercept
    np.testing.assert_allclose(machine.score(rows(NEW)), expected, rtol=1e-12, atol=1e-12)
    assert (machine.linear is None) is (kernel.name != "linear")
    assert machine.n_features == 4


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=lambda kernel: kernel.name)
def test_dense_and_sparse_copies_of_far_rows_score_alike(kernel):
    far = machine_of(kernel, VECTORS + 1e7)
    near = machine_of(kernel)
    dense = far.score(NEW + 1e7)
    np.testing.assert_allclose(far.score(csr_array(NEW + 1e7)), dense, atol=1e-6 if kernel.name == "linear" else 0)
    np.testing.assert_allclose(dense, near.score(NEW), atol=1e-6)


@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense rows", "sparse rows"])
@pytest.mark.parametrize("stored", [np.asarray, csr_array], ids=["dense vectors", "sparse vectors"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_values_of_machines_are_those_of_the_kernel(kernel, stored, rows):
    X, vectors = rows(np.where(NEW > 0.3, 0.0, NEW)), stored(np.where(VECTORS > 0.3, 0.0, VECTORS))
    found = kernel_machine.kernel_values(kernel, X, vectors, n_jobs=2)
    np.testing.assert_allclose(found, kernel(X, vectors), rtol=1e-12, atol=1e-14)
    assert kernel_machine.kernel_values(kernel, X[:0], vectors).shape == (0, 9)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("shift", [1e4, 1e8])
def test_distances_survive_far_from_the_origin(shift, name, kind):
    X, vectors = (np.round(rows * 16) / 16 for rows in (NEW, VECTORS))  # so that the shift itself rounds nothing
    kernel, far = Kernel(name, 0.3), (kind(X + shift), kind(vectors + shift))
    for values in (kernel_machine.kernel_values(kernel, *far), kernel(*far)):
        np.testing.assert_allclose(values, kernel(X, vectors), rtol=1e-12)


def test_a_precomputed_kernel_takes_a_column_per_training_row():
    machine = KernelMachine(Kernel("precomputed"), np.empty((0, 0)), COEF[:2], 0.5, np.array([1, 4]), 5)
    block = RNG.normal(size=(3, 5))
    np.testing.assert_allclose(machine.score(block), block[:, 1] * COEF[0] + block[:, 4] * COEF[1] + 0.5)
    with pytest.raises(ValueError, match=r"must have shape \(3, 5\), one column per training row, got \(3, 4\)"):
        machine.score(block[:, :4])


def test_a_callable_kernel_is_evaluated_with_the_vectors():
    machine = machine_of(lambda a, b: (a @ b.T) ** 2)
    np.testing.assert_allclose(machine.score(NEW), (NEW @ VECTORS.T) ** 2 @ COEF + 0.7)


def test_without_vectors_the_score_is_the_bias():
    empty = KernelMachine(Kernel("rbf"), np.empty((0, 4)), np.empty(0), 0.3, np.empty(0, dtype=np.intp), 5)
    np.testing.assert_array_equal(empty.score(NEW), np.full(6, 0.3))
