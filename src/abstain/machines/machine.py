"""A machine is a value that scores rows. To add one, write a class with this method; a `Rule` reads its scores."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from abstain.kernels import Matrix


@runtime_checkable
class Machine(Protocol):
    """Scores rows: `KernelMachine`, `LinearMachine`, the pairs of classes, and machines around other classifiers."""

    def score(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the score of each row, shape (n,): high for the last of two classes; (n, n_classes) for more."""


def check_width(X: Matrix, n_features: int) -> None:
    """Refuse rows if their number of columns is not the machine's; a single column would be broadcast."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X must have {n_features} columns, as the training rows had; its shape is {X.shape}.")


def finite(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores if they are finite; otherwise raise an error with advice."""
    if not np.isfinite(score).all():
        raise ValueError("X is so large that the scores of some rows overflow; scale it like the training rows.")
    return score
