"""A14's problem as it should read, solved by a general QP solver: the judge of tests/test_errata.py.

Its multipliers are A14's alpha and beta; nothing of abstain is used. H is the entropy.
"""

from dataclasses import dataclass
from functools import cache
from math import log

import clarabel
import numpy as np
from scipy import sparse

ASYMMETRIC, SYMMETRIC = (0.06, 0.7), (0.2, 0.8)  # (p_low, p_high): of Costs(1, 5, 0.3) and of Costs(1, 1, 0.2)
f = np.linspace(-6.0, 6.0, 2401)


def H(p):
    return -p * log(p) - (1 - p) * log(1 - p)


def tangents(y, p_low, p_high):
    """The loss of a class by its definition: the largest of 0 and the tangents of log(1 + exp(-y f))."""
    slope = {p: -(1 - p) if y > 0 else p for p in (p_low, p_high)}
    return np.max([np.zeros_like(f), *(H(p) + slope[p] * f for p in (p_low, p_high))], axis=0)


def knots(y, p_low, p_high):
    """tau and rho on the margin."""
    rho = (H(p_low) - H(p_high)) / (p_high - p_low)
    return (H(p_high) / (1 - p_high), rho) if y > 0 else (H(p_low) / p_low, -rho)


@dataclass(frozen=True, eq=False)
class Solved:
    """A14's problem (11) at its optimum: what it was made of, its unknowns and its multipliers."""

    y: np.ndarray
    K: np.ndarray
    tau: np.ndarray
    rho: np.ndarray
    B: np.ndarray
    D: float
    f: np.ndarray  # of the training rows, without the bias
    bias: float
    alpha: np.ndarray
    beta: np.ndarray

    @property
    def gamma(self):
        return self.alpha + self.beta

    @property
    def G(self):
        return np.outer(self.y, self.y) * self.K

    def names(self):
        """Each row's set, from the multipliers alone."""
        slack = 1e-6
        inside_alpha = (self.alpha > slack) & (self.alpha < self.B - slack)
        inside_beta = (self.beta > slack) & (self.beta < self.D - slack)
        full = np.where(self.beta > self.D / 2, "D", np.where(self.alpha > self.B / 2, "B", "0"))
        return np.where(inside_alpha, "tau", np.where(inside_beta, "rho", full))


@cache
def solved(thresholds=ASYMMETRIC):
    """Two overlapping classes under a quadratic kernel.

    min 1/2 w.w + B'xi + D 1'eta    s.t.  y (w.phi + b) >= tau - xi,  y (w.phi + b) >= rho - eta,  xi >= 0,  eta >= 0
    """
    p_low, p_high = thresholds
    generator = np.random.default_rng(3)
    y = np.repeat([-1.0, 1.0], 40)
    X = generator.normal(size=(80, 2)) + 0.7 * y[:, np.newaxis]
    phi = np.column_stack([X, X**2 / np.sqrt(2), X[:, 0] * X[:, 1]])
    tau, rho = np.array([knots(sign, p_low, p_high) for sign in y]).T
    B, D = np.where(y > 0, 1 - p_high, p_low), p_high - p_low
    n, d = phi.shape
    score, eye = -y[:, np.newaxis] * np.column_stack([phi, np.ones(n)]), sparse.eye_array(n)
    A = sparse.block_array([[score, -eye, None], [score, None, -eye], [None, -eye, None], [None, None, -eye]])
    P = sparse.block_diag([sparse.eye_array(d), sparse.csc_array((2 * n + 1, 2 * n + 1))])
    q = np.concatenate([np.zeros(d + 1), B, np.full(n, D)])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = False, 1e-11, 1e-11, 1e-11
    bounds = np.concatenate([-tau, -rho, np.zeros(2 * n)])
    matrices, cones = (sparse.triu(P, format="csc"), q, sparse.csc_array(A)), [clarabel.NonnegativeConeT(4 * n)]
    answer = clarabel.DefaultSolver(*matrices, bounds, cones, settings).solve()
    assert str(answer.status) == "Solved"
    w, multipliers = np.array(answer.x), np.array(answer.z)
    return Solved(y, phi @ phi.T, tau, rho, B, D, phi @ w[:d], w[d], multipliers[:n], multipliers[n : 2 * n])
