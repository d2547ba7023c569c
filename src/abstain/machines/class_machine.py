"""Several kernel expansions on the same rows: one per class (one-vs-rest), or one per pair of classes (one-vs-one).

::

    f_m(x) = sum_j coef_mj k(x_j, x) + bias_m
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.compressed import check_indices
from abstain.kernels import Kernel, Matrix, called_kernel
from abstain.machines.linear_machine import check_width, finite

__all__ = ["OneVsOneMachine", "OneVsRestMachine", "class_pairs", "ovr_values", "vote_values", "votes"]

_BLOCK = 4_000_000  # kernel values in memory at a time: 32 MB


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """List the pairs of classes in the order of scikit-learn's `SVC`; a score above 0 means the first of the pair."""
    return list(combinations(range(n_classes), 2))


@dataclass(frozen=True, eq=False)
class OneVsRestMachine:
    """One expansion per class.

    Attributes
    ----------
    kernel : Kernel or callable
        As in `KernelMachine`.
    vectors : ndarray or CSR of shape (n_vectors, n_features)
        The rows x_j, each a support vector of at least one machine; of shape (0, 0) for a precomputed kernel.
    coef : ndarray or CSR of shape (n_machines, n_vectors)
    biases : ndarray of shape (n_machines,)
        For the linear kernel, the scores at the mean of the vectors.
    support : ndarray of intp, shape (n_vectors,)
        Indices of the vectors among the training rows.
    n_rows : int
        The number of training rows, which is the number of columns of X for a precomputed kernel.
    """

    kernel: Kernel | Callable[..., Any]
    vectors: Matrix
    coef: Any
    biases: NDArray[np.float64]
    support: NDArray[np.intp]
    n_rows: int

    @property
    def is_precomputed(self) -> bool:
        """Whether X contains kernel values with the training rows instead of features."""
        return isinstance(self.kernel, Kernel) and self.kernel.name == "precomputed"

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self.n_rows if self.is_precomputed else int(self.vectors.shape[1])

    @cached_property
    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """The weights of the features, (n_machines, n_features), and the centre of the rows, for the linear kernel.

        The coefficients of a machine sum to 0, so the rows may be centred.
        """
        if not (isinstance(self.kernel, Kernel) and self.kernel.name == "linear"):
            return None
        centre = np.zeros(self.vectors.shape[1])
        if issparse(self.vectors) or not len(self.support):
            weights = self.coef @ self.vectors
            return np.asarray(weights.toarray() if issparse(weights) else weights), centre
        centre = 2.0 * (0.5 * self.vectors).mean(axis=0)  # halved, so that the sum of large rows does not overflow
        return np.asarray(self.coef @ (self.vectors - centre)), centre

    @property
    def intercepts(self) -> NDArray[np.float64]:
        """The constants that scikit-learn calls `intercept_`."""
        if self.linear is None:
            return self.biases
        weights, centre = self.linear
        return np.asarray(self.biases - weights @ centre)

    def each(self, X: Matrix) -> NDArray[np.float64]:
        """Give the score of each row by each machine, shape (n, n_machines)."""
        if not self.is_precomputed:
            check_width(X, self.n_features)
        if issparse(self.vectors):
            check_indices(self.vectors, "support_vectors_")
        out = np.empty((X.shape[0], len(self.biases)))
        step = max(1, _BLOCK // max(1, self.n_rows if self.is_precomputed else len(self.support), X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, X.shape[0], step):
                rows = slice(first, first + step)
                out[rows] = self._sums(X[rows])
            out += self.biases
        finite(out.ravel())
        return out

    def _sums(self, X: Matrix) -> NDArray[np.float64]:
        if self.linear is not None:
            weights, centre = self.linear
            if issparse(X) and not centre.any():
                return np.asarray(X @ weights.T)
            return np.asarray(((X.toarray() if issparse(X) else X) - centre) @ weights.T)
        return np.asarray((self.coef @ self._block(X).T).T)

    def _block(self, X: Matrix) -> NDArray[np.float64]:
        """Give the kernel values of these rows with the vectors."""
        if self.is_precomputed:
            shape, block = (X.shape[0], self.n_rows), X
        elif isinstance(self.kernel, Kernel):
            if issparse(X) is not issparse(self.vectors):
                X = csr_array(X) if issparse(self.vectors) else X.toarray()
            return self.kernel(X, self.vectors)
        else:
            shape, block = (X.shape[0], len(self.support)), called_kernel(self.kernel, X, self.vectors)
        if block.shape != shape:
            raise ValueError(f"kernel values must have shape {shape}, got {block.shape}.")
        return block[:, self.support] if self.is_precomputed else block

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Give the score of each row for each class, shape (n, n_classes)."""
        return self.each(X)


@dataclass(frozen=True, eq=False)
class OneVsOneMachine(OneVsRestMachine):
    """One expansion per pair of classes, each trained on the rows of its two classes, as in scikit-learn's `SVC`.

    Attributes
    ----------
    n_support : ndarray of intp, shape (n_classes,)
        How many vectors each class has; the vectors are sorted by class.
    """

    n_support: NDArray[np.intp]

    @property
    def dual_coef(self) -> NDArray[np.float64]:
        """The coefficients in the layout of `SVC`, (n_classes - 1, n_vectors): by the other class of the pair."""
        n = len(self.n_support)
        ends = np.cumsum(self.n_support)
        found = np.zeros((n - 1, len(self.support)))
        dense = self.coef.toarray() if issparse(self.coef) else self.coef
        for row, (i, j) in enumerate(class_pairs(n)):
            of_i, of_j = (slice(ends[k] - self.n_support[k], ends[k]) for k in (i, j))
            found[j - 1, of_i] = dense[row, of_i]
            found[i, of_j] = dense[row, of_j]
        return found

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Give what `SVC` gives for ``decision_function_shape="ovr"``: see `ovr_values`."""
        values = ovr_values(self.each(X), len(self.n_support))
        finite(values.ravel())  # the sum of finite scores may overflow
        return values


def ovr_values(each: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Give one value per class from those of the pairs: its votes, plus less than 1/3 by the sum of its scores.

    ::

        votes_k + s_k / (3 (|s_k| + 1)),     s_k = sum of the scores of k against each other class
    """
    won, total = (np.zeros((len(each), n_classes)) for _ in range(2))
    with np.errstate(over="ignore", invalid="ignore"):
        for column, (i, j) in zip(each.T, class_pairs(n_classes), strict=True):
            first = column >= 0
            won[:, i] += first
            won[:, j] += ~first
            total[:, i] += column
            total[:, j] -= column
    return vote_values(won, total)


def vote_values(won: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of `ovr_values` from votes and sums of scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(won + total / (3.0 * (np.abs(total) + 1.0)))


def votes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the votes in `ovr_values`."""
    return np.rint(values)
