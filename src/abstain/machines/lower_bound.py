"""A machine on few points that bounds an rbf machine from below, and the rows for which such bounds decide nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.machines.kernel_machine import KernelMachine

Array = NDArray[np.float64]

POINTS, ROUNDS = 16, 3  # points of a bound, and how often vectors are divided anew among them


def lower_bound(machine: KernelMachine) -> KernelMachine:
    """Return a machine on at most `POINTS` points whose expansion is nowhere above that of a machine.

    The kernel is rbf, the coefficients b_i are positive. The vectors are divided into groups; of a group with the sum B
    of coefficients, their mean m and q, the mean of |x_i - m|^2, by Jensen's inequality ::

        sum_i b_i exp(-gamma |x_i - x|^2) >= B exp(-gamma (|m - x|^2 + q))
    """
    vectors, b = machine.vectors, machine.coef
    middles, nearest = vectors[:1], np.full(len(b), np.inf)
    for _ in range(min(POINTS, len(b)) - 1):  # the next one farthest from those before
        nearest = np.minimum(nearest, _distances(vectors, middles[-1:])[:, 0])
        middles = np.concatenate([middles, vectors[[np.argmax(nearest)]]])
    for _ in range(ROUNDS):
        share = b[:, np.newaxis] * np.eye(len(middles))[np.argmin(_distances(vectors, middles), axis=1)]
        share = share[:, share.any(axis=0)]
        middles = (share.T @ vectors) / share.sum(axis=0)[:, np.newaxis]
    q = (share * _distances(vectors, middles)).sum(axis=0) / share.sum(axis=0)
    kernel: Any = machine.kernel
    coef = share.sum(axis=0) * np.exp(-kernel.gamma * q)
    return replace(machine, vectors=middles, coef=coef, support=np.arange(len(coef)))


def _distances(X: Array, Y: Array) -> Array:
    """Return |x_i - y_j|^2 as sums of squared differences, which rounding leaves above 0."""
    return np.asarray(((X[:, np.newaxis] - Y) ** 2).sum(axis=2))


def unsure_rows(
    X: Array,
    scaling: tuple[Array, Array],
    residuals: Array,
    most: float,
    *,
    bound: KernelMachine,
    least: float,
    clip: float,
) -> NDArray[np.intp]:
    """Return the indices of the rows that single precision does not show to be usual, or that hold no finite numbers.

    ::

        z = (x - centre) / spread;  usual if |residuals_j . z| < most for all j, and bound(z clipped) > least
    """
    X = np.require(X, np.float64, ["C", "A"])
    kernel: Any = bound.kernel
    vectors = np.ascontiguousarray(bound.vectors)
    return _native.unsure_rows(X, *scaling, residuals, most, vectors, bound.coef, kernel.gamma, least, clip)
