"""The estimators that a model file can contain, and how each is converted to fields and arrays and back.

The classifiers, which end a Pipeline or are inside a ThresholdRejector, are in `classifiers`.
"""

from __future__ import annotations

import json
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.forced import Forced
from abstain.estimators.threshold import ThresholdRejector
from abstain.files.arrays import Arrays
from abstain.files.calibrated_codec import CALIBRATED, inside
from abstain.files.classifiers import (
    DETECTORS,
    MACHINES,
    OTHERS,
    Parts,
    classifier_from,
    classifier_parts,
    codec_of,
    given_parameters,
    names_from,
    parameters_of,
    table,
)
from abstain.files.errors import ModelFileError
from abstain.files.pipeline_codec import settings, settings_from, steps_from, steps_parts
from abstain.files.pool import PoolReader, PoolWriter
from abstain.files.preprocessing_codec import is_default, table_from, table_parts
from abstain.files.rejector_codec import rejector_classes, rejector_from, rejector_parts
from abstain.files.schema import Fields, prefixed, within
from abstain.files.steps_codec import SUPPORTED, Columns
from abstain.preprocessing import ESTIMATOR

REJECTOR, PIPELINE, LOGISTIC = "ThresholdRejector", "Pipeline", "LogisticRegression"
MODELS = MACHINES | DETECTORS
CLASSIFIERS = MACHINES | OTHERS | table([CALIBRATED])  # what a ThresholdRejector may wrap
TABLE_PREFIX, CLASSIFIER_PREFIX, STEPS_PREFIX = "table.", "classifier.", "steps."


def parts(estimator: Any) -> Parts:
    """Give the fields and arrays of a fitted estimator; an error gives the reason if a file cannot contain it."""
    check_is_fitted(estimator)
    kind = type(estimator).__name__
    if type(estimator) is Pipeline:
        return _parts_of_pipeline(estimator)
    if type(estimator) is ThresholdRejector:
        return _parts_of_rejector(estimator)
    if codec := codec_of(estimator, MODELS):
        return classifier_parts(estimator, codec)
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
        f"estimator is a {kind}, but a model file can contain {', '.join(MODELS)}, ThresholdRejector and Pipelines "
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
        preprocessing, arrays = table_parts(pipeline[0])
        fields = {"kind": PIPELINE, "preprocessing": preprocessing, ESTIMATOR: inner}
        return fields, prefixed(arrays, TABLE_PREFIX) | more
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


def _parts_of_rejector(estimator: ThresholdRejector) -> Parts:
    classifier = estimator.estimator_
    codec = codec_of(classifier, CLASSIFIERS)
    if type(classifier) is Pipeline:
        raise ValueError(
            "estimator is a ThresholdRejector around a Pipeline, which a model file cannot contain; put the rejector "
            "at the end of the Pipeline, make_pipeline(scaler, ThresholdRejector(...)), and fit it again."
        )
    if codec is None:
        raise ValueError(
            f"estimator is a ThresholdRejector around a {type(classifier).__name__}, but a model file can contain it "
            f"only around {', '.join(CLASSIFIERS)}; use one of these, or skops, or pickle among people who trust each "
            "other."
        )
    inner, more = classifier_parts(classifier, codec)
    sigmoid = codec is CALIBRATED and type(estimator.estimator) is not codec.kind
    given = inside(classifier) if sigmoid else classifier
    if _described(given) != _described(estimator.estimator):
        raise ModelFileError("the parameters of its estimator differ from those of the fitted classifier.")
    state, arrays = rejector_parts(estimator, given)
    added = {"sigmoid_added": sigmoid} if codec is CALIBRATED else {}
    fields = {"kind": REJECTOR, "parameters": parameters_of(estimator), **state, **added, "classifier": inner}
    return fields, arrays | prefixed(more, CLASSIFIER_PREFIX)


def _described(classifier: Any) -> list[Any]:
    """The type and the parameters of a classifier, and of the one inside it."""
    within_it = _described(inside(classifier)) if type(classifier) is CALIBRATED.kind else []
    return [type(classifier), parameters_of(classifier), *within_it]


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
    """Name the first field that differs in value, type or position; `given_parameters` has compared the parameters."""
    if where == "parameters" or json.dumps(given) == json.dumps(written):
        return ""
    if not isinstance(given, dict) or not isinstance(written, dict) or [*given] != [*written]:
        return f"field {where!r}"
    return next(filter(None, (_difference(given[name], written[name], name) for name in given)), "")


def _restored(state: Any, arrays: Arrays) -> Any:
    fields = Fields(state, "model")
    kind = fields.one_of("kind", (*MODELS, REJECTOR, PIPELINE))
    if kind in MODELS:
        return classifier_from(kind, MODELS, fields, arrays)
    if kind == REJECTOR:
        return _rejector(fields, arrays)
    inner = fields.take(ESTIMATOR, dict)
    if inner.get("kind") == PIPELINE:
        raise ModelFileError("its Pipeline is inside another Pipeline.")
    prefix = STEPS_PREFIX if "steps" in fields else TABLE_PREFIX
    last = _restored(inner, {name: array for name, array in arrays.items() if not name.startswith(prefix)})
    if prefix == STEPS_PREFIX:
        return _pipeline(fields, within(arrays, prefix), last)
    preprocessing = fields.take("preprocessing", dict)
    fields.end()
    return table_from(preprocessing, within(arrays, prefix), last)


def _pipeline(fields: Fields, arrays: Arrays, last: Any) -> Pipeline:
    """A Pipeline of any supported steps around a fitted estimator."""
    columns = Columns(*names_from(fields))
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


def _rejector(fields: Fields, arrays: Arrays) -> Any:
    parameters = given_parameters(ThresholdRejector, fields)
    inner = Fields(fields.take("classifier", dict), "classifier")
    kind = inner.one_of("kind", CLASSIFIERS)
    classes = rejector_classes(fields.peek("rule"))
    classifier = classifier_from(kind, CLASSIFIERS, inner, within(arrays, CLASSIFIER_PREFIX), classes)
    sigmoid = CLASSIFIERS[kind] is CALIBRATED and fields.take("sigmoid_added", bool)
    given = inside(classifier) if sigmoid else classifier
    prefit = parameters.get("cv") == "prefit" if isinstance(parameters.get("cv"), str) else False
    estimator = ThresholdRejector(given if prefit else clone(given), **parameters)
    estimator._validate_params()
    own = {name: array for name, array in arrays.items() if not name.startswith(CLASSIFIER_PREFIX)}
    estimator._fitted_ = rejector_from(estimator, fields, own, classifier)
    fields.end()
    return estimator
