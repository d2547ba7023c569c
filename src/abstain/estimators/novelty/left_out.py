"""What a `NoveltyDetector` would make of each training row if it had been fitted without it, by formulas."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.machines.kernel_machine import gram_values

Array = NDArray[np.float64]

AT_BOUND = 1.0 - 1e-6  # of the largest coefficient
SINGULAR = 1e-8  # of k(x, x): keeps a matrix of kernel values of equal rows invertible


def residuals_left_out(precision: Array, z: Array, clipped: Array) -> Array:
    """Return the residuals (P z)_j / P_jj^(1/2) of each row, with P of the other rows.

    ::

        P of the others = (n - 1) / n (P + (P c)(P c)' / (n - c.P c)),  c the row as it is in S
    """
    n = len(z)
    own, moved = clipped @ precision, z @ precision
    room = n - np.einsum("ij,ij->i", own, clipped)
    moved += own * (np.einsum("ij,ij->i", own, z) / room)[:, np.newaxis]
    return np.asarray(moved * math.sqrt(1.0 - 1.0 / n) / np.sqrt(np.diag(precision) + own * own / room[:, np.newaxis]))


def scores_left_out(machine: Any, z: Array) -> Array:
    """Return the score of each training row in the machine of one class of the others.

    ::

        f_i without row i = f_i - beta_i span_i,   span_i = min |phi_i - sum_j c_j phi_j|^2,  sum_j c_j = 1

    with j over the other rows whose coefficient is within its bounds, if leaving row i out moves no other row to a
    bound or from it (Vapnik & Chapelle, Neural Computation 12, 2000).
    """
    within = machine.coef < AT_BOUND * machine.coef.max()
    m = int(within.sum())
    K = gram_values(machine.kernel, machine.vectors)[: len(within), : len(within)]
    spans = np.ones(len(K))
    if m:
        bordered = np.ones((m + 1, m + 1))
        bordered[:m, :m] = K[np.ix_(within, within)] + SINGULAR * np.eye(m)
        bordered[m, m] = 0.0
        inverse = np.linalg.inv(bordered)
        others = np.vstack([K[np.ix_(within, ~within)], np.ones(len(K) - m)])
        spans[within], spans[~within] = 1.0 / np.diag(inverse)[:m], 1.0 - (others * (inverse @ others)).sum(axis=0)
    score: Array = machine.expansion(z)
    score[machine.support] -= machine.coef * spans.clip(0.0, 1.0)
    return score
