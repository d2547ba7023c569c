"""The estimators that a model file can contain, and how each is converted to fields and arrays and back.

The classifiers, which end a Pipeline or are inside a ThresholdRejector or NoveltyRejector, are in `classifiers`.
"""

from __future__ import annotations

import json
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.forced import Forced
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.files.codecs.guard_codec import check_detector, guard_from, guard_parts, guarded_classes
from abstain.files.codecs.rejector_codec import classes_and_cuts, rejector_from, rejector_parts
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.pool import PoolReader, PoolWriter
from abstain.files.format.schema import Fields, beside, one_of, prefixed, within
from abstain.files.sklearn_codecs import classifiers
from abstain.files.sklearn_codecs.asked import asked
from abstain.files.sklearn_codecs.calibrated_codec import CALIBRATED, inside
from abstain.files.sklearn_codecs.parameters import parameters_from, parameters_of
from abstain.files.sklearn_codecs.pipeline_codec import pipeline_from, pipeline_parts
from abstain.files.sklearn_codecs.preprocessing_codec import is_default, table_from, table_parts
from abstain.files.sklearn_codecs.steps_codec import SUPPORTED, Columns
from abstain.machines.cross_machine import FoldClassifiers
from abstain.preprocessing import ESTIMATOR

REJECTOR, GUARDED, PIPELINE, LOGISTIC = "ThresholdRejector", "NoveltyRejector", "Pipeline", "LogisticRegression"
MODELS = classifiers.MACHINES | classifiers.DETECTORS  # alone, or at the end of a Pipeline
# inside a rejector, which has their classes
CLASSIFIERS = classifiers.MACHINES | classifiers.OTHERS | classifiers.table([CALIBRATED])
TABLE_PREFIX, CLASSIFIER_PREFIX, STEPS_PREFIX = "table.", "classifier.", "steps."
GUARD_PREFIX, DETECTOR_PREFIX = "guard.", "detector."
# what may be in a file, by what is around it
KINDS: dict[str, tuple[str, ...]] = {
    "": (*MODELS, REJECTOR, GUARDED, PIPELINE),
    REJECTOR: (*CLASSIFIERS, PIPELINE),
    GUARDED: (*CLASSIFIERS, REJECTOR, PIPELINE),
    "detector": (*classifiers.DETECTORS, PIPELINE),
}


def parts(estimator: Any, models: classifiers.Codecs = MODELS) -> Parts:
    """Return the fields and arrays of a fitted estimator; an error gives the reason if a file cannot contain it.

    `models` are those that may be alone or at the end of a Pipeline; inside a NoveltyRejector, `CLASSIFIERS`.
    """
    check_is_fitted(estimator)
    kind = type(estimator).__name__
    if type(estimator) is Pipeline:
        return _parts_of_pipeline(estimator, models)
    if type(estimator) is ThresholdRejector:
        return _parts_of_rejector(estimator)
    if type(estimator) is NoveltyRejector and models is MODELS:
        return _parts_of_guarded(estimator)
    if codec := classifiers.codec_of(estimator, models):
        return classifiers.classifier_parts(estimator, codec)
    if type(estimator) is Forced:
        raise unsupported("is a Forced", "save its estimator_, whose predict_forced decides the same")
    if hasattr(estimator, "best_estimator_"):
        raise unsupported(f"is a {kind}", "save its best_estimator_, or put that in its place in a Pipeline")
    allowed = f"{', '.join(MODELS)}, {REJECTOR}, {GUARDED} and Pipelines that end in one of these after {SUPPORTED}"
    raise unsupported(f"is a {kind}", f"use one of {allowed}")


def _parts_of_pipeline(pipeline: Pipeline, models: classifiers.Codecs) -> Parts:
    """Preprocessing as `default_pipeline` makes it has fields of its own; any other is a list of steps."""
    last = pipeline[-1]
    if type(last) is Pipeline or isinstance(last, str) or last is None:
        what = last if isinstance(last, str) else type(last).__name__
        way_out = "end in a classifier, and give the steps of an inner Pipeline to the outer one"
        raise unsupported(f"is a Pipeline whose last step is {what}", way_out)
    inner, more = parts(last, models)
    if is_default(pipeline):
        preprocessing, arrays = table_parts(pipeline[0])
        fields = {"kind": PIPELINE, "preprocessing": preprocessing, ESTIMATOR: inner}
        return fields, prefixed(arrays, TABLE_PREFIX) | more
    pool, columns = PoolWriter(), Columns.of(pipeline)
    steps, made = pipeline_parts(pipeline, pipeline.steps[:-1], pool, columns)
    made.check_match(last)
    state = {
        "kind": PIPELINE,
        "parameters": steps["parameters"],
        **columns.state,
        "steps": steps["steps"],
        "name": pipeline.steps[-1][0],
        ESTIMATOR: inner,
    }
    return state, prefixed(pool.arrays, STEPS_PREFIX) | more


def _parts_of_rejector(estimator: ThresholdRejector) -> Parts:
    classifier = estimator.estimator_
    if isinstance(classifier, FoldClassifiers):
        raise unsupported('has a classifier for each fold (conformal="cross")', 'use conformal="split"')
    inner, more = _parts_inside(classifier, REJECTOR)
    calibrated = type(classifier) is CALIBRATED.kind
    sigmoid = calibrated and type(estimator.estimator) is not CALIBRATED.kind
    given = inside(classifier) if sigmoid else classifier
    if asked(given) != asked(estimator.estimator):
        raise ModelFileError("the parameters of its estimator differ from those of the fitted classifier.")
    state, arrays = rejector_parts(estimator, given)
    added = {"sigmoid_added": sigmoid} if calibrated else {}
    added |= {"tuned_score": True} if _is_tuned(classifier) else {}
    fields = {"kind": REJECTOR, "parameters": parameters_of(estimator), **state, **added, "classifier": inner}
    return fields, arrays | prefixed(more, CLASSIFIER_PREFIX)


def _is_tuned(classifier: Any) -> bool:
    """Return whether the score of a classifier, or of one inside, was rescaled by the search that tuned its cuts."""
    last = classifier[-1] if type(classifier) is Pipeline else classifier
    folds = getattr(last, "calibrated_classifiers_", ())
    rescaled = (getattr(last, "score_scale_", 1.0), getattr(last, "score_shift_", 0.0)) != (1.0, 0.0)
    return rescaled or any(_is_tuned(one.estimator) for one in folds)


def _parts_inside(classifier: Any, rejector: str) -> Parts:
    """Return the fields and arrays of the classifier of a rejector; an error if a file cannot contain it."""
    last = classifier[-1] if type(classifier) is Pipeline else classifier
    tuned = rejector == GUARDED and type(last) is ThresholdRejector
    if not tuned and classifiers.codec_of(last, CLASSIFIERS) is None:
        allowed = [*CLASSIFIERS, REJECTOR] if rejector == GUARDED else CLASSIFIERS
        way = "fit it around its best_estimator_, or" if hasattr(last, "best_estimator_") else "use"
        way_out = f"{way} one of {', '.join(allowed)}, and Pipelines that end in one of these"
        raise unsupported(f"is a {rejector} around a {type(last).__name__}", way_out)
    return parts(classifier, CLASSIFIERS)


def _parts_of_guarded(estimator: NoveltyRejector) -> Parts:
    check_detector(estimator)
    classifier, more = _parts_inside(estimator.estimator_, GUARDED)
    detector, others = parts(estimator.guard_.detector)
    state, arrays = guard_parts(estimator)
    arrays = arrays | prefixed(others, DETECTOR_PREFIX)
    fields = {"kind": GUARDED, "parameters": parameters_of(estimator), **state, "detector": detector}
    return fields | {"classifier": classifier}, prefixed(arrays, GUARD_PREFIX) | prefixed(more, CLASSIFIER_PREFIX)


def restored(state: Any, arrays: Arrays) -> Any:
    """Make the fitted estimator from fields and arrays; `parts` must give the same fields and arrays for it."""
    estimator = _restored(state, arrays)
    written, rewritten = parts(estimator)
    if odd := _difference(state, written, "model"):
        raise ModelFileError(f"the {odd} differs from what the library writes for this model.")
    refuse([*arrays] != [*rewritten], "its arrays are not in the order in which the library writes them.")
    for name, array in arrays.items():
        again = rewritten[name]
        if again is not array and (again.dtype, again.tobytes()) != (array.dtype, array.tobytes()):
            raise ModelFileError(f"the array {name!r} differs from what the library writes for this model.")
    return estimator


def _difference(given: Any, written: Any, where: str) -> str:
    """Name the first field that differs in value, type or position; `parameters_from` has compared the parameters."""
    if where == "parameters" or json.dumps(given) == json.dumps(written):
        return ""
    if not isinstance(given, dict) or not isinstance(written, dict) or [*given] != [*written]:
        return f"field {where!r}"
    return next(filter(None, (_difference(given[name], written[name], name) for name in given)), "")


def _restored(state: Any, arrays: Arrays, around: str = "", classes: Any = None) -> Any:
    """Make an estimator; inside a rejector, `classes` are those of the rejector."""
    fields = Fields(state, "classifier" if around in (REJECTOR, GUARDED) else around or "model")
    kind = fields.take("kind", one_of(KINDS[around]))
    if kind in MODELS or kind in CLASSIFIERS:
        return classifiers.classifier_from(kind, MODELS | CLASSIFIERS, fields, arrays, classes)
    if kind == REJECTOR:
        return _rejector(fields, arrays)
    if kind == GUARDED:
        return _guarded(fields, arrays)
    inner = fields.take(ESTIMATOR, dict)
    refuse(inner.get("kind") == PIPELINE, "its Pipeline is inside another Pipeline.")
    prefix = STEPS_PREFIX if "steps" in fields else TABLE_PREFIX
    others = beside(arrays, prefix)
    last = _restored(inner, others, around, classes)
    if prefix == STEPS_PREFIX:
        return _pipeline(fields, within(arrays, prefix), last)
    preprocessing = fields.take("preprocessing", dict)
    fields.end()
    return table_from(preprocessing, within(arrays, prefix), last)


def _pipeline(fields: Fields, arrays: Arrays, last: Any) -> Pipeline:
    """Make a Pipeline of any supported steps around a fitted estimator."""
    columns, pool = Columns.taken(fields), PoolReader(arrays)
    pipeline, made = pipeline_from(fields, pool, columns, last)
    pool.end()
    made.check_match(last)
    return pipeline


def _rejector(fields: Fields, arrays: Arrays) -> Any:
    parameters = parameters_from(ThresholdRejector, fields.take("parameters", dict))
    classes, _ = classes_and_cuts(fields.peek("rule"))
    classifier = _restored(fields.take("classifier", dict), within(arrays, CLASSIFIER_PREFIX), REJECTOR, classes)
    sigmoid = type(classifier) is CALIBRATED.kind and fields.take("sigmoid_added", bool)
    if _is_tuned(classifier) and not fields.maybe("tuned_score", bool):
        raise ModelFileError(
            "its thresholds are on the score of a search before its cuts were tuned, as earlier versions had it; fit "
            "and save it again."
        )
    given = inside(classifier) if sigmoid else classifier
    prefit = parameters.get("cv") == "prefit" if isinstance(parameters.get("cv"), str) else False
    estimator = ThresholdRejector(given if prefit else clone(given), **parameters)
    estimator._validate_params()
    own = beside(arrays, CLASSIFIER_PREFIX)
    estimator._fitted_ = rejector_from(estimator, fields, own, classifier)
    fields.end()
    return estimator


def _guarded(fields: Fields, arrays: Arrays) -> NoveltyRejector:
    parameters = parameters_from(NoveltyRejector, fields.take("parameters", dict))
    guard = within(arrays, GUARD_PREFIX)
    detector = _restored(fields.take("detector", dict), within(guard, DETECTOR_PREFIX), "detector")
    classes = guarded_classes(fields.peek("rule"))
    classifier = _restored(fields.take("classifier", dict), within(arrays, CLASSIFIER_PREFIX), GUARDED, classes)
    flags = ("rate_is_stated", "is_frozen", "detector_is_given")
    stated, frozen, given = (fields.take(name, bool) for name in flags)
    estimator = NoveltyRejector(FrozenEstimator(classifier) if frozen else clone(classifier), **parameters)
    if given:
        estimator.detector = clone(detector[-1] if type(detector) is Pipeline else detector)
    if not stated and estimator.rate == DEFAULT_RATE:
        estimator.rate = DEFAULT_RATE
    estimator._validate_params()
    own = beside(guard, DETECTOR_PREFIX)
    estimator._fitted_ = guard_from(estimator, fields, own, classifier, detector)
    fields.end()
    return estimator
