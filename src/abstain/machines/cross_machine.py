"""The machine of cross-conformal prediction: a classifier for each fold, and p-values from all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from abstain.machines.class_calibration import ClassCalibration
from abstain.machines.response_machine import ResponseMachine, sorted_scores

__all__ = ["CrossMachine", "FoldClassifiers"]


@dataclass(frozen=True, eq=False)
class FoldClassifiers:
    """Stands in for one classifier: the classifiers of all folds, with the means of their probabilities."""

    classifiers: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        if name not in ("classes_", "n_features_in_", "feature_names_in_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; see its classifiers.")
        found = getattr(self.classifiers[0], name)
        return np.sort(found) if name == "classes_" else found

    @available_if(lambda self: hasattr(self.classifiers[0], "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the means of the probabilities of the classes, in sorted order."""
        every = [sorted_scores(one, np.asarray(one.predict_proba(X))) for one in self.classifiers]
        return np.asarray(np.mean(every, axis=0))


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

    @property
    def unit(self) -> float:
        """The score is not related to probabilities: nan."""
        return math.nan

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
