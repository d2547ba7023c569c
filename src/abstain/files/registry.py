"""The estimators that a model file can contain, and how each is converted to fields and arrays and back.

To add an estimator, add an entry to `CODECS` with the functions that write and read its fitted state.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.forced import Forced
from abstain.estimators.svc import RejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from abstain.files.arrays import Arrays
from abstain.files.embedded_codec import embedded_from, embedded_parts
from abstain.files.errors import ModelFileError
from abstain.files.pipeline_codec import settings, settings_from, steps_from, steps_parts
from abstain.files.pool import PoolReader, PoolWriter
from abstain.files.preprocessing_codec import is_default, table_from, table_parts
from abstain.files.rejector_codec import logistic_attributes, logistic_parts, rejector_from, rejector_parts
from abstain.files.rule_codec import rule_from
from abstain.files.schema import Fields, prefixed, within
from abstain.files.steps_codec import SUPPORTED, Columns
from abstain.files.svc_codec import svc_from, svc_parts
from abstain.files.values import from_json, to_json
from abstain.preprocessing import ESTIMATOR

Parts = tuple[dict[str, Any], Arrays]


@dataclass(frozen=True)
class Codec:
    """The functions that convert a fitted machine to fields and arrays, and these back to its fitted value."""

    kind: Any
    parts: Callable[[Any], Parts]
    fitted: Callable[[Any, Fields, Arrays, int], Any]


CODECS = {
    codec.kind.__name__: codec
    for codec in (
        Codec(RejectSVC, svc_parts, svc_from),
        Codec(RejectSVCCV, svc_parts, svc_from),
        Codec(EmbeddedRejectSVC, embedded_parts, embedded_from),
    )
}
REJECTOR, PIPELINE, LOGISTIC = "ThresholdRejector", "Pipeline", "LogisticRegression"
CLASSIFIERS = (*CODECS, LOGISTIC)  # what a ThresholdRejector may wrap
EARLIER = {"RejectSVCCV": {"cuts": "bayes"}}  # what parameters were before they existed, where that is not the default
MOST_JOBS = 1024  # threads that a file may request; predict starts all of them
TABLE_PREFIX, CLASSIFIER_PREFIX, STEPS_PREFIX = "table.", "classifier.", "steps."


def parts(estimator: Any) -> Parts:
    """Give the fields and arrays of a fitted estimator; an error gives the reason if a file cannot contain it."""
    check_is_fitted(estimator)
    kind = type(estimator).__name__
    if type(estimator) is Pipeline:
        return _parts_of_pipeline(estimator)
    if type(estimator) is ThresholdRejector:
        return _parts_of_rejector(estimator)
    if kind in CODECS and CODECS[kind].kind is type(estimator):
        return _parts_of_classifier(estimator, CODECS[kind].parts)
    if type(estimator) is Forced:
        raise ValueError(
            "estimator is a Forced, which a model file cannot contain; save its estimator_, whose predict_forced "
            "decides the same."
        )
    if hasattr(estimator, "best_estimator_"):
        raise ValueError(
            f"estimator is a {kind}, which a model file cannot contain; save its best_estimator_, or put that in its "
            "place in a Pipeline."
        )
    raise ValueError(
        f"estimator is a {kind}, but a model file can contain {', '.join(CODECS)}, ThresholdRejector and Pipelines "
        f"that end in one of these after {SUPPORTED}; for other estimators use skops, or pickle among people who trust "
        "each other."
    )


def _parts_of_pipeline(pipeline: Pipeline) -> Parts:
    """Preprocessing as `default_pipeline` makes it has fields of its own; any other is a list of steps."""
    last = pipeline[-1]
    if type(last) is Pipeline or isinstance(last, str) or last is None:
        what = last if isinstance(last, str) else type(last).__name__
        raise ValueError(
            f"estimator is a Pipeline whose last step is {what}, but a model file needs a classifier there; give the "
            "steps of an inner Pipeline to the outer one."
        )
    inner, more = parts(last)
    if is_default(pipeline):
        table, arrays = table_parts(pipeline[0])
        return {"kind": PIPELINE, "preprocessing": table, ESTIMATOR: inner}, prefixed(arrays, TABLE_PREFIX) | more
    pool, columns = PoolWriter(), _columns(pipeline)
    steps, made = steps_parts(pipeline.steps[:-1], pool, columns)
    _check_columns(made, last)
    state = {
        "kind": PIPELINE,
        "parameters": settings(pipeline),
        "n_features": columns.count,
        "feature_names": None if columns.names is None else columns.names.tolist(),
        "steps": steps,
        "name": pipeline.steps[-1][0],
        ESTIMATOR: inner,
    }
    return state, prefixed(pool.arrays, STEPS_PREFIX) | more


def _columns(pipeline: Pipeline) -> Columns:
    """The columns that a fitted Pipeline reads: those of its first step that is not "passthrough"."""
    first = next(step for _, step in pipeline.steps if step is not None and not isinstance(step, str))
    if type(first) is Pipeline:
        return _columns(first)
    names = getattr(first, "feature_names_in_", None)
    if names is not None and len({*names}) < len(names):
        raise ValueError("estimator was fitted to a data frame with two columns of the same name; rename one of them.")
    return Columns(int(first.n_features_in_), names)


def _check_columns(made: Columns, last: Any) -> None:
    if getattr(last, "n_features_in_", made.count) != made.count:
        raise ModelFileError(f"its steps make {made.count} features, which do not match those of its machine.")


def _parts_of_classifier(estimator: Any, parts_of: Callable[[Any], Parts]) -> Parts:
    state, arrays = parts_of(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    common = {
        "kind": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
    }
    return common | state, arrays


def _parts_of_rejector(estimator: ThresholdRejector) -> Parts:
    classifier = estimator.estimator_
    kind = type(classifier).__name__
    codecs = {name: (codec.kind, codec.parts) for name, codec in CODECS.items()}
    codecs[LOGISTIC] = (LogisticRegression, logistic_parts)
    if type(classifier) is Pipeline:
        raise ValueError(
            "estimator is a ThresholdRejector around a Pipeline, which a model file cannot contain; put the rejector "
            "at the end of the Pipeline, make_pipeline(scaler, ThresholdRejector(...)), and fit it again."
        )
    if kind not in codecs or not (codecs[kind][0] is type(classifier) is type(estimator.estimator)):
        raise ValueError(
            f"estimator is a ThresholdRejector around a {kind}, but a model file can contain it only around "
            f"{', '.join(CLASSIFIERS)}; use one of these, or skops, or pickle among people who trust each other."
        )
    inner, more = _parts_of_classifier(classifier, codecs[kind][1])
    if inner["parameters"] != _parameters(estimator.estimator):
        raise ModelFileError("the parameters of its estimator differ from those of the fitted classifier.")
    state, arrays = rejector_parts(estimator)
    fields = {"kind": REJECTOR, "parameters": _parameters(estimator), **state, "classifier": inner}
    return fields, arrays | prefixed(more, CLASSIFIER_PREFIX)


def _parameters(estimator: Any) -> dict[str, Any]:
    """The parameters as JSON; for scikit-learn's classifiers only non-default ones, as defaults change."""
    estimator._validate_params()  # as `load` does, which must accept what this writes
    given = estimator.get_params(deep=False)
    if type(estimator) is LogisticRegression:
        default = LogisticRegression().get_params()
        given = {name: value for name, value in given.items() if repr(value) != repr(default[name])}
    given.pop("estimator", None)
    return {name: to_json(name, value) for name, value in given.items()}


def restored(state: Any, arrays: Arrays) -> Any:
    """Make the fitted estimator from fields and arrays; `parts` must give the same fields and arrays for it."""
    estimator = _restored(state, arrays)
    written, rewritten = parts(estimator)
    if odd := _difference(state, written, "model"):
        raise ModelFileError(f"the {odd} differs from what the library writes for this model.")
    if [*arrays] != [*rewritten]:
        raise ModelFileError("its arrays are not in the order in which the library writes them.")
    for name, array in arrays.items():
        again = rewritten[name]
        if again is not array and (again.dtype, again.tobytes()) != (array.dtype, array.tobytes()):
            raise ModelFileError(f"the array {name!r} differs from what the library writes for this model.")
    return estimator


def _difference(given: Any, written: Any, where: str) -> str:
    """Name the first field that differs in value, type or position; `_given` has compared the parameters."""
    if where == "parameters" or json.dumps(given) == json.dumps(written):
        return ""
    if not isinstance(given, dict) or not isinstance(written, dict) or [*given] != [*written]:
        return f"field {where!r}"
    return next(filter(None, (_difference(given[name], written[name], name) for name in given)), "")


def _restored(state: Any, arrays: Arrays) -> Any:
    fields = Fields(state, "model")
    kind = fields.one_of("kind", (*CODECS, REJECTOR, PIPELINE))
    if kind in CODECS:
        return _classifier(kind, fields, arrays)
    if kind == REJECTOR:
        return _rejector(fields, arrays)
    inner = fields.take(ESTIMATOR, dict)
    if inner.get("kind") == PIPELINE:
        raise ModelFileError("its Pipeline is inside another Pipeline.")
    prefix = STEPS_PREFIX if "steps" in fields else TABLE_PREFIX
    last = _restored(inner, {name: array for name, array in arrays.items() if not name.startswith(prefix)})
    if prefix == STEPS_PREFIX:
        return _pipeline(fields, within(arrays, prefix), last)
    table = fields.take("preprocessing", dict)
    fields.end()
    return table_from(table, within(arrays, prefix), last)


def _pipeline(fields: Fields, arrays: Arrays, last: Any) -> Pipeline:
    """A Pipeline of any supported steps around a fitted estimator."""
    columns = Columns(*_names(fields))
    pool = PoolReader(arrays)
    chosen = settings_from(Pipeline, fields.take("parameters", dict))
    steps, made = steps_from(fields.take("steps"), pool, columns)
    name = fields.take("name", str)
    fields.end()
    pool.end()
    _check_columns(made, last)
    pipeline = Pipeline([*steps, (name, last)], **chosen)
    pipeline._validate_steps()
    return pipeline


def _names(fields: Fields) -> tuple[int, Any]:
    """The number of features, and their names if there are any."""
    n_features, names = fields.whole("n_features", least=1), fields.take("feature_names")
    if names is None:
        return n_features, None
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)) or len(names) != n_features:
        raise ModelFileError("it does not have one name per feature.")
    return n_features, np.array(names, dtype=object)


def _classifier(kind: str, fields: Fields, arrays: Arrays, classes: Any = None) -> Any:
    """One of this library's machines, or scikit-learn's LogisticRegression for these classes."""
    made: Any = LogisticRegression if kind == LOGISTIC else CODECS[kind].kind
    estimator = made(**_given(made, fields))
    estimator._validate_params()
    n_features, names = _names(fields)
    found: dict[str, Any] = {"n_features_in_": n_features}
    if names is not None:
        found["feature_names_in_"] = names
    if kind == LOGISTIC:
        found |= logistic_attributes(arrays, n_features, classes)
    else:
        found["_fitted_"] = CODECS[kind].fitted(estimator, fields, arrays, n_features)
    fields.end()
    estimator.__dict__.update(found)
    return estimator


def _rejector(fields: Fields, arrays: Arrays) -> Any:
    given = _given(ThresholdRejector, fields)
    inner = Fields(fields.take("classifier", dict), "classifier")
    kind = inner.one_of("kind", CLASSIFIERS)
    classes, _ = rule_from(fields.peek("rule"), 3)
    classifier = _classifier(kind, inner, within(arrays, CLASSIFIER_PREFIX), classes)
    prefit = given.get("cv") == "prefit" if isinstance(given.get("cv"), str) else False
    estimator = ThresholdRejector(classifier if prefit else clone(classifier), **given)
    estimator._validate_params()
    own = {name: array for name, array in arrays.items() if not name.startswith(CLASSIFIER_PREFIX)}
    estimator._fitted_ = rejector_from(estimator, fields, own, classifier)
    fields.end()
    return estimator


def _given(kind: Any, fields: Fields) -> dict[str, Any]:
    """The parameters in the file; those missing from a file of an earlier version keep their defaults."""
    given: dict[str, Any] = fields.take("parameters", dict)
    known = {*kind._get_param_names()} - {"estimator"}
    if unknown := sorted({*given} - known):
        raise ModelFileError(f"its parameter {unknown[0][:60]!r} does not exist in {kind.__name__}.")
    found = {name: from_json(value) for name, value in given.items()}
    again = {name: to_json(name, found[name]) for name in sorted(found)}
    if json.dumps(given) != json.dumps(again):
        raise ModelFileError("its parameters are not formatted as the library writes them.")
    jobs = found.get("n_jobs")
    if isinstance(jobs, int) and abs(jobs) > MOST_JOBS:
        raise ModelFileError(f"its n_jobs={jobs} requests more than {MOST_JOBS} threads.")
    return EARLIER.get(kind.__name__, {}) | found
