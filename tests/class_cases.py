"""Three Gaussians with known probabilities, costs for them, and a classifier that rejects by a request."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from abstain import Costs, ThresholdRejector

CENTRES = 1.3 * np.array([[0.0, 1.0], [-0.87, -0.5], [0.87, -0.5]])
ANSWERS = (1 - np.eye(3)) * [1.0, 2.0, 4.0]  # a wrong answer costs the same whatever is true
GENERAL = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 3.0], [1.0, 1.0, 0.0]])


def gaussians(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return CENTRES[y] + rng.standard_normal((n, 2)), y


def probabilities(X):
    likelihood = np.exp(-0.5 * ((X[:, np.newaxis] - CENTRES) ** 2).sum(axis=2))
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def table_costs(matrix, reject):
    return Costs.from_matrix(matrix, labels=[0, 1, 2], reject=reject)


def paid(matrix, reject, y, choice):
    """The mean cost of choices 0, 1, 2 and 3 = reject."""
    rejects = np.broadcast_to(reject, 3)
    return float(np.mean(np.column_stack([matrix, rejects])[y, choice]))


def rejector(model=None, **request):
    """A ThresholdRejector with this request, of logistic regression where no model is given."""
    return ThresholdRejector(LogisticRegression() if model is None else model, **request)
