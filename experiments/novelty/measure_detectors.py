"""Detectors to compare with the default one, for `NoveltyRejector(detector=...)`; columns are standardised before.

`EARLIER` is the guard of versions up to 0.2: another detector, and fewer calibration rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors

from abstain import OneClassSVM
from abstain.rules.tuning.class_error import rows_needed

Array = NDArray[np.float64]
NEIGHBOURS = 5
DEFAULT = "default"
EARLIER = "one-class SVM, the default up to 0.2"


class NeighbourDistance(OutlierMixin, BaseEstimator):
    """Minus the distance to the fifth neighbour among the training rows."""

    def fit(self, X: Array, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Keep the rows."""
        self.neighbours_ = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(X)
        return self

    def score_samples(self, X: Array) -> Array:
        """Larger is more usual."""
        return -np.asarray(self.neighbours_.kneighbors(X)[0][:, -1])


class Mahalanobis(OutlierMixin, BaseEstimator):
    """Minus Mahalanobis' distance, with Ledoit & Wolf's covariance, which is never singular."""

    def fit(self, X: Array, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Estimate mean and covariance."""
        self.covariance_ = LedoitWolf().fit(X)
        return self

    def score_samples(self, X: Array) -> Array:
        """Larger is more usual."""
        return -np.asarray(self.covariance_.mahalanobis(X))


DETECTORS: dict[str, Callable[[], Any]] = {
    DEFAULT: lambda: None,
    EARLIER: lambda: OneClassSVM(nu=0.05),
    "distance to the 5th neighbour": NeighbourDistance,
    "Mahalanobis' distance": Mahalanobis,
    "isolation forest": IsolationForest,
}


def calibrated_on(detector: str, n: int, rate: float) -> int | None:
    """The number of calibration rows; None for the default."""
    if detector != EARLIER:
        return None
    return min(max(-(-n // 5), rows_needed(rate)), 1000, n // 2)
