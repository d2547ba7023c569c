"""What a test for drift needs of a batch: counts that can be summed over its pieces.

Scores are counted between the calibration scores (`two_samples.cells_of`), decisions by choice, cells by category. The
memory needed does not depend on the number of rows.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.two_samples import cells_of
from abstain.estimators.novelty.guard_rows import FEW
from abstain.estimators.novelty.training_ranges import OutsideColumn
from abstain.estimators.unwrap import final_estimator, reached


@dataclass(frozen=True, eq=False)
class DriftCounts:
    """A batch, or a piece of one, as counts; pieces are added up by ``+`` or `sum`.

    Attributes
    ----------
    rows : int
        The number of rows.
    scores : ndarray of shape (2 * n_distinct + 1,)
        Rows at each distinct calibration score, and in the gaps around them.
    choices : ndarray of shape (n_choices,) or None
        Rows by the classifier's decision; None if calibration has no counts of them.
    columns : tuple of OutsideColumn
        The cells of each column; empty if nothing is known about the columns in training.
    """

    rows: int
    scores: NDArray[np.int64]
    choices: NDArray[np.int64] | None = None
    columns: tuple[OutsideColumn, ...] = ()

    @classmethod
    def of(cls, estimator: Any, X: Any) -> Self:
        """Count the rows of X, as a fitted `NoveltyRejector`, or a Pipeline or search around one, takes them."""
        guarded, X = guarded_rows(estimator, X)
        unusual = guarded.guard_.unusual(X)
        known = len(unusual) and guarded.calibration_.choices is not None
        return cls.of_decided(guarded, X, unusual, guarded._fitted_.decided(X) if known else None)

    @classmethod
    def of_decided(cls, guarded: Any, X: Any, unusual: Any, found: Any) -> Self:
        """Count rows of which the guard's scores and the classifier's decisions, if they are compared, are known."""
        scores = np.asarray(unusual, dtype=np.float64).ravel()
        known = found is not None and guarded.calibration_.choices is not None
        choices = guarded._fitted_.counted(found) if known else None
        seen = guarded.seen_
        columns = seen.outside(X).columns if seen is not None and seen.rows else ()
        reference = np.asarray(guarded.guard_.scores, dtype=np.float64)
        return cls(len(scores), cells_of(scores, reference), choices, columns)

    def __add__(self, other: "DriftCounts") -> "DriftCounts":
        """The counts of both pieces."""
        choices = [piece.choices for piece in (self, other) if piece.choices is not None]
        columns = (one + two for one, two in zip(self.columns, other.columns, strict=True))
        both = np.sum(choices, axis=0) if choices else None
        return DriftCounts(self.rows + other.rows, self.scores + other.scores, both, tuple(columns))

    def __radd__(self, other: int) -> "DriftCounts":
        """The start of a sum."""
        return self if other == 0 else NotImplemented


def guarded_rows(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Find the `NoveltyRejector` inside Pipelines, searches and wrappers, and the rows, if any, as it takes them."""
    if hasattr(X, "fit") and not hasattr(estimator, "fit"):
        raise ValueError("estimator and X are swapped; call drift(estimator, X).")
    estimator, X = reached(estimator, X, "guard_")
    if hasattr(estimator, "guard_") or hasattr(type(estimator), "guard_"):
        return estimator, X
    if hasattr(final_estimator(getattr(estimator, "estimator_", None)), "guard_"):
        return guarded_rows(estimator.estimator_, X)
    raise ValueError(
        "estimator must be a fitted NoveltyRejector, or a Pipeline or search around one; "
        f"{type(estimator).__name__} keeps nothing to compare rows with. Fit NoveltyRejector(estimator)."
    )


def lacking(guarded: Any) -> float:
    """The share of the training rows that the classifier which decided on the calibration rows was fitted without.

    0 if it is the classifier itself. Where the number of training rows is not kept, it is at least that of the
    calibration rows and of the detector's. Files of earlier versions whose classifier was fitted without a twentieth
    of the rows count as if it had been fitted twice.
    """
    m = len(guarded.guard_.scores)
    share = m / max(m + guarded.guard_.n if guarded.seen_ is None else guarded.seen_.rows, 1)
    is_other = share > FEW if guarded.refit == "auto" else guarded.refit
    return share if is_other else 0.0
