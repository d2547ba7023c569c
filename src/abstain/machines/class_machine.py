"""The machine of all pairs of classes (one-vs-one), and the values of the classes computed from its scores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.kernels import Matrix
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.machine import finite

__all__ = ["OneVsOneMachine", "class_pairs", "ovr_values", "vote_values", "votes"]


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """List the pairs of classes in the order of scikit-learn's `SVC`; a score above 0 means the first of the pair."""
    return list(combinations(range(n_classes), 2))


@dataclass(frozen=True, eq=False)
class OneVsOneMachine(KernelMachine):
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

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what `SVC` returns for ``decision_function_shape="ovr"``: see `ovr_values`."""
        # the sum of finite scores may overflow
        return finite(ovr_values(super().score(X, n_jobs), len(self.n_support)))


def ovr_values(each: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return one value per class from the scores of the pairs: its votes, plus less than 1/3 by the sum of its scores.

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
    """Combine votes and sums of scores into the values of `ovr_values`."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(won + total / (3.0 * (np.abs(total) + 1.0)))


def votes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Recover the votes from the values of `ovr_values`."""
    return np.rint(values)
