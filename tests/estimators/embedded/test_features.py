import numpy as np
import pytest
from scipy import sparse

from abstain.estimators.embedded.training import column_of, kernel_features
from abstain.kernels import Kernel


def gram(n=60, d=3, seed=0, gamma=0.2):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, Kernel("rbf", gamma=gamma)(X)


def factor(K, max_rank=10_000):
    return kernel_features(lambda i: K[i], K.diagonal().copy(), max_rank)


def test_inner_products_are_the_kernel():
    _, K = gram()
    found = factor(K)
    np.testing.assert_allclose(found.features @ found.features.T, K, atol=1e-11)
    assert found.definite
    assert found.rest < 1e-11


def test_a_kernel_of_few_directions_gets_few_features():
    X = np.random.default_rng(1).normal(size=(80, 4))
    found = factor(Kernel("poly", degree=2, coef0=1.0)(X))
    assert found.features.shape == (80, 15)  # all monomials of degree at most 2 in 4 variables


def test_a_machine_in_the_features_is_an_expansion_on_the_pivots():
    X, K = gram()
    found = factor(K, max_rank=20)
    w = np.random.default_rng(2).normal(size=20)
    c = found.coefficients(w)
    assert len(set(found.pivots)) == 20
    np.testing.assert_allclose(K[:, found.pivots] @ c, found.features @ w, rtol=1e-7)
    assert X.shape[0] == len(found.features)


def test_stopped_early_it_is_nystroems_approximation():
    _, K = gram(gamma=1.0)
    found = factor(K, max_rank=12)
    P = found.pivots
    nystroem = K[:, P] @ np.linalg.solve(K[np.ix_(P, P)], K[P])
    np.testing.assert_allclose(found.features @ found.features.T, nystroem, atol=1e-9)
    assert found.rest == pytest.approx((K - nystroem).diagonal().max(), rel=1e-6)
    assert found.rest > 1e-3  # else there was nothing to approximate


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_on_demand_are_those_of_the_gram_matrix(make):
    X, K = gram()
    kernel, rows = Kernel("rbf", gamma=0.2), make(X)
    found = kernel_features(column_of(kernel, rows), kernel.diagonal(rows), 30)
    np.testing.assert_array_equal(found.pivots, factor(K, 30).pivots)
    np.testing.assert_allclose(found.features, factor(K, 30).features, atol=1e-9)


def test_an_indefinite_matrix_is_recognised():
    S = np.random.default_rng(0).normal(size=(30, 30))
    assert not factor(S + S.T).definite
    assert not factor(-np.eye(3)).definite
    assert factor(S @ S.T).definite


def test_nothing_but_zeros_gives_no_features():
    found = factor(np.zeros((5, 5)))
    assert found.features.shape == (5, 0)
    assert found.definite
