"""P-values by true class, from calibration rows; and the machine of cross-conformal prediction, one fit per fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.machines.response_machine import ResponseMachine

TIED = 1e-9  # difference up to which scores are equal, relative to their size


def in_favour(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score in favour of each class, shape (n, n_classes), also from one score of two classes."""
    if score.ndim == 1:
        return np.column_stack([-score, score])
    first, second = np.argmax(score, axis=1), np.partition(score, -2, axis=1)[:, -2]
    lead = score - score.max(axis=1, keepdims=True)
    lead[np.arange(len(score)), first] = score.max(axis=1) - second
    return lead


def least_count(rate: float, n_rows: int) -> int:
    """Return the least count j for which (1 + j) / (n_rows + 1) > rate; 0 if every count is enough.

    By the same quotients as the p-values, so that a rate of 0.29 of 100 is 29, and not what 0.29 * 100 rounds down to.
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
    sizes = np.abs(score[np.isfinite(score)])  # a lead is a difference, whose rounding is that of the scores
    typical = np.median(sizes) if len(sizes) else 0.0
    return np.asarray(t - TIED * (np.where(np.isfinite(t), np.abs(t), 0.0) + typical))


@dataclass(frozen=True, eq=False)
class FoldClassifiers:
    """Stands in for one classifier: the classifiers of all folds. They rank rows by p-values, not by probabilities."""

    classifiers: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        if name not in ("classes_", "n_features_in_", "feature_names_in_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; see its classifiers.")
        found = getattr(self.classifiers[0], name)
        return np.sort(found) if name == "classes_" else found


@dataclass(frozen=True, eq=False)
class CrossMachine:
    """Scores rows by their p-values.

    Attributes
    ----------
    folds : tuple of ResponseMachine
        The machine around the classifier of each fold.
    calibration : ClassCalibration
        The scores of the rows left out of each fold.
    least : tuple of float
        The least p-value with which a class is in the set.
    """

    folds: tuple[ResponseMachine, ...]
    calibration: ClassCalibration
    least: tuple[float, ...]

    @property
    def method(self) -> str:
        """The method of the classifiers that returns the score."""
        return self.folds[0].method

    @property
    def classifier(self) -> FoldClassifiers:
        """The classifiers of all folds."""
        return FoldClassifiers(tuple(fold.classifier for fold in self.folds))

    def p_values(self, X: Any) -> NDArray[np.float64]:
        """Return the p-value of each class, shape (n, n_classes)."""
        return self.calibration.p_values([fold.score(X) for fold in self.folds])

    def score(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Return the p-values of several classes; for two classes, one number, beyond 1/2 if one class is in the set.

        ::

            [1 in set] - [0 in set] + (p_1 - p_0) / 2           |p_1 - p_0| < 1, as no p-value is 0
        """
        p = self.p_values(X)
        if p.shape[1] > 2:
            return p
        inside = (p >= self.least).astype(np.float64)
        return np.asarray(inside[:, 1] - inside[:, 0] + (p[:, 1] - p[:, 0]) / 2)
