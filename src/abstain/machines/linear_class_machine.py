"""A linear score for each of several classes: f_k(x) = w_k.(x - centre) + bias_k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.kernels import Matrix
from abstain.machines.linear_machine import LinearMachine, check_width, finite

__all__ = ["LinearClassMachine"]

_BLOCK = 1_000_000  # entries of X that are centred at a time


@dataclass(frozen=True, eq=False)
class LinearClassMachine:
    """The weights of several `LinearMachine`s around one centre.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_features)
    centre : ndarray of shape (n_features,)
    biases : ndarray of shape (n_classes,)
        The scores at `centre`.
    """

    weights: NDArray[np.float64]
    centre: NDArray[np.float64]
    biases: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[1])

    @property
    def intercepts(self) -> NDArray[np.float64]:
        """The scores at the origin."""
        return np.asarray(self.biases - self.weights @ self.centre)

    def of_class(self, k: int) -> LinearMachine:
        """Give the machine of one class."""
        return LinearMachine(self.weights[k], self.centre, float(self.biases[k]))

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Give the score of each row for each class, shape (n, n_classes)."""
        check_width(X, self.n_features)
        out = np.empty((X.shape[0], len(self.biases)))
        step = max(1, _BLOCK // max(1, X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, X.shape[0], step):
                rows = X[first : first + step]
                if issparse(rows) and self.centre.any():
                    rows = rows.toarray()
                out[first : first + step] = (rows if issparse(rows) else rows - self.centre) @ self.weights.T
            out += self.biases
        finite(out.ravel())
        return out
