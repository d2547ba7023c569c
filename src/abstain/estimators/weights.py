"""C s_i of the training problem: sample weights, class weights and C in one number per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from abstain.labels import Labels


def checked_sample_weight(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """One finite weight >= 0 per row; ones if none are given."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weight = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weight < 0).any():
        at = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight must be >= 0, got {weight[at]:g} at row {at}; a weight of 0 leaves a row out.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row of each class needs more.")
    return weight


def row_weights(
    parameters: Any, sample_weight: NDArray[np.float64], sign: NDArray[np.int8], labels: Labels, steepest: float
) -> NDArray[np.float64]:
    """C s_i for each row, class weights inside; refused where the sum of losses of slope `steepest` would overflow."""
    C = float(parameters.C)
    positive, negative = _class_weights(parameters.class_weight, labels, sign, sample_weight)
    with np.errstate(over="ignore"):
        weight = C * sample_weight * np.where(sign > 0, positive, negative)
        total = float(np.sum(weight) * steepest)
    if not np.isfinite(total):
        raise ValueError(
            f"C={C:g} times the weights (largest sample_weight {sample_weight.max():g}) overflows; "
            "lower C or divide the weights by their mean."
        )
    for label, code in ((labels.positive, 1), (labels.negative, -1)):
        if not weight[sign == code].any():
            raise ValueError(
                f"all rows of the class {label!r} have weight zero, which leaves one class; "
                "give at least one row of each class a sample_weight and a class_weight above zero."
            )
    return weight


def _class_weights(
    class_weight: Any, labels: Labels, sign: NDArray[np.int8], sample_weight: NDArray[np.float64]
) -> tuple[float, float]:
    """Factors of the positive and of the negative class.

    "balanced" counts rows by their sample weights, so that a weight of 2 stays the same as a row given twice.
    """
    if class_weight is None:
        return 1.0, 1.0
    if isinstance(class_weight, str):
        of_positive, of_negative = (float(sample_weight[sign == code].sum()) for code in (1, -1))
        half = (of_positive + of_negative) / 2
        # a class of no weight at all is reported by row_weights
        return half / of_positive if of_positive else 0.0, half / of_negative if of_negative else 0.0
    known = labels.classes.tolist()
    if unknown := [label for label in class_weight if label not in known]:
        raise ValueError(f"class_weight names {unknown!r}, not among the classes {known}.")
    first, second = (float(class_weight.get(label, 1.0)) for label in known)
    if not (0 <= first < np.inf and 0 <= second < np.inf):
        raise ValueError(f"class_weight must hold finite numbers >= 0, got {class_weight!r}.")
    return (second, first) if labels.orientation > 0 else (first, second)
