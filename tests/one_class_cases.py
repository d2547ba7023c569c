"""Random hard problems of one class and a judge that trusts no code of the library."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from abstain import OneClassSVM

EXTENDED = np.longdouble
KERNELS = ("rbf", "linear", "poly", "precomputed")


def gram(fitted, X):
    """Kernel values of the training rows in extended precision; those of a precomputed kernel are X."""
    kernel = fitted.machine_.kernel
    if kernel.name == "precomputed":
        return X.astype(EXTENDED)
    A = (X.toarray() if sparse.issparse(X) else X).astype(EXTENDED)
    if kernel.name == "rbf":
        return np.exp(-EXTENDED(kernel.gamma) * ((A[:, np.newaxis] - A) ** 2).sum(axis=2))
    products = A @ A.T
    return products if kernel.name == "linear" else (EXTENDED(kernel.gamma) * products + kernel.coef0) ** kernel.degree


def random_case(seed):
    """Rows, weights or None, and options: duplicates, constant columns, offsets, scales, few and many rows."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 90)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 5) + rng.choice([0.0, 1.0, 1e3])
    if rng.random() < 0.3:
        X = X[rng.integers(0, max(1, n // 4), n)]
    if rng.random() < 0.2:
        X[:, 0] = 1.0
    weight = None if rng.random() < 0.5 else rng.integers(0, 4, n) * 10.0 ** rng.integers(-6, 7) + (np.arange(n) == 0)
    kernel = KERNELS[seed % len(KERNELS)]
    options = {"kernel": kernel, "nu": float(rng.choice([1e-4, 0.05, 0.3, 0.9, 1.0])), "degree": 2, "coef0": 1.0}
    options |= {"tol": float(rng.choice([1e-6, 1e-3, 0.1])), "max_iter": int(rng.choice([5, 10_000_000]))}
    if kernel == "precomputed":
        X = X @ X.T
    elif rng.random() < 0.3:
        X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    return X, weight, options


def fitted_to(X, weight, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return OneClassSVM(**options).fit(X, sample_weight=weight)


def faults(fitted, X, weight, coef=None, offset=None):
    """What is wrong with a machine: all numbers are computed again, from the definition of the problem.

    primal = 1/2 |h|^2 + sum_i s_i max(0, offset - h(x_i)) - nu S offset,   dual = -1/2 beta' K beta
    """
    n = X.shape[0]
    s = np.ones(n, dtype=EXTENDED) if weight is None else np.asarray(weight, dtype=EXTENDED)
    total = EXTENDED(fitted.nu) * s.sum()
    beta = np.zeros(n, dtype=EXTENDED)
    beta[fitted.support_] = fitted.dual_coef_[0] if coef is None else coef
    offset = EXTENDED(fitted.offset_ if offset is None else offset)
    K = gram(fitted, X)
    h = K @ beta
    dual = -0.5 * (beta @ h)
    # a row may not lose more than the total: the dual does not change by it
    primal = -dual + (np.minimum(s, total) * np.maximum(0, offset - h)).sum() - total * offset
    longest = beta @ np.sqrt(np.abs(np.diagonal(K)))
    gap = float((primal - dual) / max(abs(primal), abs(dual), EXTENDED(0.5e-6) * longest**2, EXTENDED(1e-300)))
    found = []
    if abs(beta.sum() - total) > 1e-9 * total:
        found.append(f"the coefficients add up to {float(beta.sum())}, not to {float(total)}")
    if (beta < 0).any() or (beta > s * EXTENDED(1 + 1e-12)).any():
        found.append("a coefficient is out of its bounds")
    if gap < -1e-8:
        found.append(f"the gap is negative: {gap}")
    if gap > 2.0 * fitted.duality_gap_ + 1e-8:
        found.append(f"the gap is {gap}, reported as {fitted.duality_gap_}")
    if fitted.status_ == "optimal" and gap > max(0.01, 10.0 * fitted.tol) * 1.01:
        found.append(f"optimal, with a gap of {gap}")
    return found
