"""Rows that several hard cases are made of."""

import numpy as np


def noisy(n=300, d=5, seed=0, shift=0.5):
    """Two overlapping Gaussians, labels 0 and 1 in turn."""
    y = np.arange(n) % 2
    return np.random.default_rng(seed).normal(size=(n, d)) + shift * y[:, np.newaxis], y


X0, Y0 = noisy()


def weights(value):
    weight = np.ones(len(Y0))
    weight[3] = value
    return weight


def same_bits(first, second):
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("dual_coef_", "intercept_"))
