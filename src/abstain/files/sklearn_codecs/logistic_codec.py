"""A fitted LogisticRegression as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.files.format.arrays import Arrays
from abstain.files.format.schema import Fields, Spec, fitting

# d features; k scores: one for two classes, otherwise one per class
LOGISTIC: dict[str, Spec] = {
    "coef": (("<f8", "<f4"), ("k", "d")),
    "intercept": (("<f8", "<f4"), ("k",)),
    "n_iter": (("<i4",), (1,)),
}


def logistic_parts(fitted: Any) -> tuple[dict[str, Any], Arrays]:
    """Give the arrays of a fitted LogisticRegression."""
    arrays = {"coef": fitted.coef_, "intercept": fitted.intercept_, "n_iter": fitted.n_iter_}
    return {}, {name: np.asarray(array) for name, array in arrays.items()}


def logistic_attributes(
    estimator: Any, fields: Fields, arrays: Arrays, n_features: int, classes: Any
) -> dict[str, Any]:
    """Give the fitted attributes of a LogisticRegression for these classes."""
    del estimator, fields
    fitting(arrays, LOGISTIC, "classifier", {"d": n_features, "k": 1 if len(classes) <= 2 else len(classes)})
    return {
        "classes_": classes,
        "coef_": arrays["coef"],
        "intercept_": arrays["intercept"],
        "n_iter_": arrays["n_iter"],
    }
