"""FR02's machine on Letter pairs: the split, values of F known from long searches, and F by its definition."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

C, STEEPNESS, PENALTY = 0.1, 100.0, 0.05
# (pair, w_R): the lowest F that long searches have met, and a value of the dual
REFERENCE = {
    ("BE", 0.05): (1.02518, 0.8768),
    ("BE", 0.2): (1.68688, 1.2219),
    ("BE", 0.5): (2.35647, 1.6340),
    ("HK", 0.05): (2.28102, 1.7613),
    ("HK", 0.2): (4.55099, 2.6740),
    ("HK", 0.5): (6.38989, 3.7734),
    ("KX", 0.05): (1.64140, 1.3820),
    ("KX", 0.2): (3.15672, 1.9935),
    ("KX", 0.5): (4.29226, 2.7167),
}
CHECKS = {"BE": (767, 371, 75217), "HK": (737, 371, 71909), "KX": (763, 384, 73436)}


@cache
def letters():
    table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "letter.csv.gz", delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)


def pair(name, seed=0):
    """Training and test half of a pair of letters, raw features, the first letter +1: (X, y, X_test, y_test)."""
    X, letter = letters()
    first, second = (ord(c) - ord("A") + 1 for c in name)
    rows = np.flatnonzero((letter == first) | (letter == second))
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    y, half = np.where(letter[rows] == first, 1, -1), -(-len(rows) // 2)
    return X[rows[:half]], y[:half], X[rows[half:]], y[half:]


def h2(xi, eps, w_R, w_C, s=STEEPNESS, a=PENALTY):
    """h'' (FR02 equation 22)."""
    steps = w_C * expit(s * xi) + (w_R - w_C) * expit(s * (xi - 1 + eps)) + (1 - w_R) * expit(s * (xi - 1 - eps))
    return steps + a * xi**2


def least_slack(eps, w_R, w_C, s=STEEPNESS, a=PENALTY):
    """Where h'' has its minimum, by a general minimiser."""
    return minimize_scalar(h2, bounds=(-1, 0), args=(eps, w_R, w_C, s, a), method="bounded", options={"xatol": 1e-12}).x


def objective(w, b, eps, X, y, w_R, *, strength=C, w_C=None, s=STEEPNESS, a=PENALTY):
    """F (FR02 equation 23) with the best slacks: the smallest allowed, or where h'' is least if that is larger."""
    w_C = 0.2 * w_R if w_C is None else w_C
    xi = np.maximum(1 - y * (X @ w + b), least_slack(eps, w_R, w_C, s, a))
    return w @ w / 2 + strength * h2(xi, eps, w_R, w_C, s, a).sum()


def gradient(w, b, eps, X, y, w_R):
    """Derivatives of F by (w, b, eps), for the settings of the reference values."""
    w_C, s = 0.2 * w_R, STEEPNESS
    xi0, slack = least_slack(eps, w_R, w_C), 1 - y * (X @ w + b)
    xi = np.maximum(slack, xi0)
    places = ((w_C, xi), (w_R - w_C, xi - 1 + eps), (1 - w_R, xi - 1 - eps))
    steps = [height * s * expit(s * u) * expit(-s * u) for height, u in places]
    by_margin = -C * np.where(slack > xi0, sum(steps) + 2 * PENALTY * xi, 0.0) * y
    return np.r_[w + by_margin @ X, by_margin.sum(), C * (steps[1] - steps[2]).sum()]
