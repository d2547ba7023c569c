"""Conformal p-values of each class, from the scores of calibration rows of this class (Mondrian; Vovk et al. 2005).

::

    p_k(x) = (1 + sum over folds s of #{i of class k in fold s: t_k^s(x_i) <= t_k^s(x)}) / (n_k + 1)

t_k^s is the score in favour of class k by the classifier that was not fitted on the rows of fold s; with one fold this
is split conformal. With two classes and one score f ::

    t_1 = f          t_0 = -f

and with several classes t_k = f_k - max_{j != k} f_j, the lead of k over the best other class. So a high score does not
count in favour of a class if all scores of the row are high, as they can be in a multinomial regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClassCalibration", "in_favour", "least_count"]

TIED = 1e-9  # difference up to which scores are equal, relative to their size


def in_favour(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score in favour of each class, shape (n, n_classes), from one score per class, or one for two."""
    if score.ndim == 1:
        return np.column_stack([-score, score])
    first, second = np.argmax(score, axis=1), np.partition(score, -2, axis=1)[:, -2]
    lead = score - score.max(axis=1, keepdims=True)
    lead[np.arange(len(score)), first] = score.max(axis=1) - second
    return lead


def least_count(rate: float, n_rows: int) -> int:
    """Return the least count j for which (1 + j) / (n_rows + 1) > rate; 0 if every count is enough.

    It is computed by the same quotients as the p-values, so that a rate of 0.29 of 100 is 29, although 0.29 * 100
    rounds down to 28.
    """
    j = min(int(rate * (n_rows + 1)), n_rows)
    if j < n_rows and (j + 1) / (n_rows + 1) <= rate:
        return j + 1
    return j if j / (n_rows + 1) <= rate else j - 1


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """The scores of calibration rows in favour of their own class.

    Attributes
    ----------
    own : tuple of tuple of ndarray
        For each fold and each class, sorted; lowered by a billionth, because the rounding of a score depends on the
        rows in a batch, and a row that equals a calibration row must count as equal.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.machines.cross_machine import ClassCalibration
    >>> rows = ClassCalibration.of([(np.array([-2.0, -1.0, 0.5, 1.0, 1.0]), np.array([0, 0, 1, 1, 1]))], 2)
    >>> rows.p_values([np.array([-1.5, 1.0])])
    array([[0.66666667, 0.25      ],
           [0.33333333, 1.        ]])
    """

    own: tuple[tuple[NDArray[np.float64], ...], ...]

    @classmethod
    def of(cls, folds: Sequence[tuple[NDArray[np.float64], Any]], n_classes: int) -> Self:
        """Read the scores of each fold and the codes of the true classes."""
        found = [(_lowered(in_favour(score), score), np.asarray(code)) for score, code in folds]
        classes = range(n_classes)
        return cls(tuple(tuple(np.sort(t[code == k, k]) for k in classes) for t, code in found))

    @property
    def n_rows(self) -> tuple[int, ...]:
        """The number of calibration rows of each class."""
        return tuple(sum(map(len, parts)) for parts in zip(*self.own, strict=True))

    def p_values(self, scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return p_k, shape (n, n_classes), from the scores of the same rows by the classifier of each fold."""
        folds = [in_favour(score) for score in scores]
        counts = np.zeros(folds[0].shape)
        for own, t in zip(self.own, folds, strict=True):
            for k, values in enumerate(own):
                counts[:, k] += np.searchsorted(values, t[:, k], side="right")
        return np.asarray((1.0 + counts) / (1.0 + np.array(self.n_rows)))


def _lowered(t: NDArray[np.float64], score: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = np.abs(score[np.isfinite(score)])  # a lead is a difference, with the rounding of the scores
    typical = np.median(sizes) if len(sizes) else 0.0
    return np.asarray(t - TIED * (np.where(np.isfinite(t), np.abs(t), 0.0) + typical))
