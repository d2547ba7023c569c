"""What the calibration rows of a `NoveltyRejector` looked like: their scores and the classifier's decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Calibration"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rows that neither the detector nor the classifier that decided on them was fitted on.

    Attributes
    ----------
    scores : ndarray of float64, shape (m,)
        How unusual each of them is, increasing, as in `Guard`.
    choices : ndarray of int64, shape (n_classes + 1,) or (n_actions,), or None
        How many of them got each decision of the classifier: the classes in order, then rejects; with `Actions`, each
        action in the order of their names. None if every classifier at hand may have seen them. Their sum is less
        than m if rows of a rare class were needed for the fit.
    """

    scores: NDArray[np.float64]
    choices: NDArray[np.int64] | None = None
