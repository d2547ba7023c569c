"""ThresholdRejector around one of a few known classifiers, as fields and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.schema import Fields, Spec, fitting
from abstain.files.terms import attributes, terms_from, terms_state
from abstain.files.values import from_json, to_json
from abstain.rules.risk_control import Certificate
from abstain.rules.scored_rows import ScoredRows

# r rows that thresholds were tuned on; d features
ROWS: dict[str, Spec] = {
    "rows_score": (("<f8",), ("r",)),
    "rows_sign": (("|i1",), ("r",)),
    "rows_weight": (("<f8",), ("r",)),
}
LOGISTIC: dict[str, Spec] = {
    "coef": (("<f8", "<f4"), (1, "d")),
    "intercept": (("<f8", "<f4"), (1,)),
    "n_iter": (("<i4",), (1,)),
}
PROMISE = ("max_error", "confidence", "n_rows", "accepted", "errors")


def rejector_parts(fitted: Any) -> tuple[dict[str, Any], Arrays]:
    """Fields and arrays of a fitted ThresholdRejector, its classifier left out."""
    rows, promise = fitted._rows, fitted.certificate_
    state = {
        "decisions": terms_state(fitted._terms, fitted.thresholds_),
        "response_method": fitted.response_method_,
        "certificate": None if promise is None else [to_json(name, getattr(promise, name)) for name in PROMISE],
        "rows": None if rows is None else [rows.cut, rows.flaw],
    }
    tuned = {} if rows is None else {f"rows_{name}": getattr(rows, name) for name in ("score", "sign", "weight")}
    return state, tuned


def rejector_attributes(fields: Fields, arrays: Arrays, classifier: Any) -> dict[str, Any]:
    """The fitted attributes of a ThresholdRejector around a fitted classifier."""
    terms, thresholds = terms_from(fields.take("decisions", dict))
    if terms.labels.classes.tolist() != classifier.classes_.tolist():
        raise ModelFileError("its classes are not those of the classifier that it asks.")
    method = fields.one_of("response_method", ("decision_function", "predict_proba"))
    if not hasattr(classifier, method):
        raise ModelFileError(f"its classifier has no {method}.")
    return {
        **attributes(terms, thresholds),
        "certificate_": _certificate(fields.take("certificate")),
        "_rows": _rows(fields.take("rows"), arrays),
        "estimator_": classifier,
        "response_method_": method,
    }


def logistic_parts(fitted: Any) -> tuple[dict[str, Any], Arrays]:
    """Fields and arrays of scikit-learn's LogisticRegression for two classes."""
    arrays = {"coef": fitted.coef_, "intercept": fitted.intercept_, "n_iter": fitted.n_iter_}
    return {}, {name: np.asarray(array) for name, array in arrays.items()}


def logistic_attributes(arrays: Arrays, n_features: int, classes: Any) -> dict[str, Any]:
    """Its fitted attributes; the classes are the rejector's."""
    fitting(arrays, LOGISTIC, "classifier", {"d": n_features})
    return {
        "classes_": classes,
        "coef_": arrays["coef"],
        "intercept_": arrays["intercept"],
        "n_iter_": arrays["n_iter"],
    }


def _rows(given: Any, arrays: Arrays) -> ScoredRows | None:
    if given is None:
        fitting(arrays, {}, "rejector", {})
        return None
    fitting(arrays, ROWS, "rejector", {})
    well_said = isinstance(given, list) and len(given) == 2
    if not (well_said and isinstance(given[0], float) and isinstance(given[1], str)):
        raise ModelFileError("the rows that its thresholds were tuned on are not described as they should be.")
    sign, weight = arrays["rows_sign"], arrays["rows_weight"]
    if not (np.abs(sign) == 1).all() or not (weight > 0).all():
        raise ModelFileError("the rows that its thresholds were tuned on have a sign or weight that no row has.")
    return ScoredRows.of(arrays["rows_score"], sign, weight, cut=given[0], flaw=given[1])


def _certificate(given: Any) -> Certificate | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != len(PROMISE):
        raise ModelFileError("its certificate is not given by five values.")
    values = [from_json(value) for value in given]
    max_error, confidence, n_rows, accepted, errors = values
    shares = all(0 < share < 1 for share in (*_each(max_error, float), *_each(confidence, float)))
    counts = [*_each(accepted, int), *_each(errors, int), *_each(n_rows, int)]
    if not shares or not all(0 <= count <= n_rows for count in counts) or len(counts) not in (3, 5):
        raise ModelFileError("its certificate holds shares or counts that cannot be.")
    return Certificate(*values)


def _each(value: Any, kind: type) -> tuple[Any, ...]:
    values = value if isinstance(value, tuple) else (value,)
    if not all(type(one) is kind for one in values) or len(values) > 2:
        raise ModelFileError("its certificate holds something else than numbers.")
    return values
