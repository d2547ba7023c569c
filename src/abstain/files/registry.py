"""Which estimators a model file can hold, and how each becomes fields and arrays and comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svc import RejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from abstain.files.arrays import Arrays
from abstain.files.embedded_codec import check_prices, embedded_attributes, embedded_parts
from abstain.files.errors import ModelFileError
from abstain.files.preprocessing_codec import check_preprocessing, table_from, table_parts
from abstain.files.rejector_codec import logistic_attributes, logistic_parts, rejector_attributes, rejector_parts
from abstain.files.schema import Fields, prefixed, within
from abstain.files.svc_codec import machine_attributes, machine_parts
from abstain.files.terms import terms_from
from abstain.files.values import from_json, to_json
from abstain.preprocessing import ESTIMATOR

MACHINES: dict[str, Any] = {kind.__name__: kind for kind in (RejectSVC, RejectSVCCV, EmbeddedRejectSVC)}
WRAPPED: dict[str, Any] = MACHINES | {"LogisticRegression": LogisticRegression}  # what a ThresholdRejector may ask
REJECTOR, PIPELINE = "ThresholdRejector", "Pipeline"
MOST_JOBS = 1024  # threads that a file may ask for: they are started at predict, all of them
TABLE_PREFIX, WRAPPED_PREFIX = "table.", "wrapped."


def parts(estimator: Any) -> tuple[dict[str, Any], Arrays]:
    """The fields and arrays of a fitted estimator; what a file cannot hold is refused with a reason."""
    check_is_fitted(estimator)
    if type(estimator) is Pipeline:
        check_preprocessing(estimator)
        table, arrays = table_parts(estimator[0])
        inner, more = parts(estimator[-1])
        return {"kind": PIPELINE, "preprocessing": table, ESTIMATOR: inner}, prefixed(arrays, TABLE_PREFIX) | more
    if type(estimator) is ThresholdRejector:
        return _parts_of_rejector(estimator)
    kind = type(estimator).__name__
    if MACHINES.get(kind) is not type(estimator):
        raise ValueError(
            f"estimator is a {kind}, and a model file can hold {', '.join(MACHINES)}, ThresholdRejector and Pipelines "
            "of abstain.preprocessing.default_pipeline around one of these; use skops or, among people who trust "
            "each other, pickle for others."
        )
    return _parts_of_classifier(estimator)


def _parts_of_classifier(estimator: Any) -> tuple[dict[str, Any], Arrays]:
    if type(estimator) is LogisticRegression:
        state, arrays = logistic_parts(estimator)
    elif type(estimator) is EmbeddedRejectSVC:
        state, arrays = embedded_parts(estimator)
    else:
        state, arrays = machine_parts(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    common = {
        "kind": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
    }
    return common | {"fitted": state}, arrays


def _parts_of_rejector(estimator: Any) -> tuple[dict[str, Any], Arrays]:
    wrapped = estimator.estimator_
    kind = type(wrapped).__name__
    if WRAPPED.get(kind) is not type(wrapped) or type(estimator.estimator) is not type(wrapped):
        raise ValueError(
            f"estimator is a ThresholdRejector that asks a {kind}, and a model file can hold it around "
            f"{', '.join(WRAPPED)} only; use one of these, or skops or, among people who trust each other, pickle."
        )
    inner, more = _parts_of_classifier(wrapped)
    if inner["parameters"] != _parameters(estimator.estimator):
        raise ValueError("estimator was given other parameters since it was fitted; fit it again before saving.")
    state, arrays = rejector_parts(estimator)
    fields = {"kind": REJECTOR, "parameters": _parameters(estimator), "fitted": state, "wrapped": inner}
    return fields, arrays | prefixed(more, WRAPPED_PREFIX)


def _parameters(estimator: Any) -> dict[str, Any]:
    """The parameters as JSON; of scikit-learn's classifiers those that are not the default, which versions change."""
    _check_parameters(estimator)  # as `load` does, which must not refuse what this writes
    given = estimator.get_params(deep=False)
    if type(estimator) is LogisticRegression:
        default = LogisticRegression().get_params()
        given = {name: value for name, value in given.items() if repr(value) != repr(default[name])}
    given.pop("estimator", None)
    return {name: to_json(name, value) for name, value in given.items()}


def _check_parameters(estimator: Any) -> None:
    estimator._validate_params()
    if type(estimator) is EmbeddedRejectSVC:
        check_prices(estimator)


def restored(state: Any, arrays: Arrays) -> Any:
    """The fitted estimator of these fields and arrays."""
    fields = Fields(state, "model")
    kind = fields.one_of("kind", (*MACHINES, REJECTOR, PIPELINE))
    if kind in MACHINES:
        return _classifier(kind, fields, arrays, None)
    if kind == REJECTOR:
        return _rejector(fields, arrays)
    table, inner = fields.take("preprocessing", dict), fields.take(ESTIMATOR, dict)
    fields.end()
    if inner.get("kind") == PIPELINE:
        raise ModelFileError("its Pipeline stands inside another.")
    mine = {name: array for name, array in arrays.items() if not name.startswith(TABLE_PREFIX)}
    return table_from(table, within(arrays, TABLE_PREFIX), restored(inner, mine))


def _classifier(kind: str, fields: Fields, arrays: Arrays, classes: Any) -> Any:
    estimator = WRAPPED[kind](**_given(WRAPPED[kind], fields))
    _check_parameters(estimator)
    n_features = fields.whole("n_features", least=1)
    found: dict[str, Any] = {"n_features_in_": n_features}
    if (names := fields.take("feature_names")) is not None:
        texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not texts or len(names) != n_features:
            raise ModelFileError("its names of features are not one text for each feature.")
        found["feature_names_in_"] = np.array(names, dtype=object)
    fitted = Fields(fields.take("fitted", dict), "machine")
    if kind == "LogisticRegression":
        found |= logistic_attributes(arrays, n_features, classes)
    elif kind == "EmbeddedRejectSVC":
        found |= embedded_attributes(fitted, arrays, n_features)
    else:
        found |= machine_attributes(fitted, arrays, n_features, search=kind == "RejectSVCCV")
    fitted.end()
    fields.end()
    estimator.__dict__.update(found)
    return estimator


def _rejector(fields: Fields, arrays: Arrays) -> Any:
    given = _given(ThresholdRejector, fields)
    inner = Fields(fields.take("wrapped", dict), "classifier")
    fitted = fields.take("fitted", dict)
    fields.end()
    terms, _ = terms_from(fitted.get("decisions"))
    kind = inner.one_of("kind", WRAPPED)
    classifier = _classifier(kind, inner, within(arrays, WRAPPED_PREFIX), terms.labels.classes)
    prefit = given.get("cv") == "prefit" if isinstance(given.get("cv"), str) else False
    estimator = ThresholdRejector(classifier if prefit else clone(classifier), **given)
    estimator._validate_params()
    own = {name: array for name, array in arrays.items() if not name.startswith(WRAPPED_PREFIX)}
    described = Fields(fitted, "rejector")
    found = rejector_attributes(described, own, classifier)
    described.end()
    estimator.__dict__.update(found)
    return estimator


def _given(kind: Any, fields: Fields) -> dict[str, Any]:
    """The parameters in the file; those that a file of an earlier version lacks keep their defaults."""
    given: dict[str, Any] = fields.take("parameters", dict)
    known = {*kind._get_param_names()} - {"estimator"}
    if unknown := sorted({*given} - known):
        raise ModelFileError(f"its parameter {unknown[0][:60]!r} is none of {kind.__name__}.")
    found = {name: from_json(value) for name, value in given.items()}
    jobs = found.get("n_jobs")
    if isinstance(jobs, int) and abs(jobs) > MOST_JOBS:
        raise ModelFileError(f"its n_jobs={jobs} asks for more than {MOST_JOBS} threads.")
    return found
