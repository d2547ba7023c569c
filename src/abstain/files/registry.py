"""The estimators that a model file can contain, and how each is converted to fields and arrays and back.

The classifiers, which end a Pipeline or are inside a ThresholdRejector or NoveltyRejector, are in `classifiers`.
"""

import json
from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.forced import Forced
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.estimators.unwrap import resampling
from abstain.files.codecs.guard_codec import FLAGS, check_detector, guard_from, guard_parts
from abstain.files.codecs.rejector_codec import is_prefit, rejector_from, rejector_parts
from abstain.files.codecs.rule_codec import rule_from
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.manifest import PoolReader, PoolWriter
from abstain.files.format.schema import Arrays, Fields, Parts, beside, one_of, prefixed, within
from abstain.files.sklearn_codecs import classifiers
from abstain.files.sklearn_codecs.ensembles import AVERAGE, CALIBRATED, inside
from abstain.files.sklearn_codecs.pipeline_codec import pipeline_from, pipeline_parts
from abstain.files.sklearn_codecs.preprocessing_codec import is_default, table_from, table_parts
from abstain.files.sklearn_codecs.steps_codec import SUPPORTED, Columns, asked, identity, last_step, parameters_from
from abstain.machines.cross_machine import FoldClassifiers
from abstain.preprocessing import ESTIMATOR

REJECTOR, GUARDED, PIPELINE = "ThresholdRejector", "NoveltyRejector", "Pipeline"
MODELS = classifiers.MACHINES | classifiers.DETECTORS  # alone, or at the end of a Pipeline
# inside a rejector, which has their classes
CLASSIFIERS = classifiers.MACHINES | classifiers.OTHERS | classifiers.table(AVERAGE, CALIBRATED)
CODECS = MODELS | CLASSIFIERS
TABLE_PREFIX, CLASSIFIER_PREFIX, STEPS_PREFIX = "table.", "classifier.", "steps."
GUARD_PREFIX, DETECTOR_PREFIX = "guard.", "detector."
# what may be in a file, by what is around it; each may also end a Pipeline
KINDS: dict[str, tuple[str, ...]] = {
    "": (*MODELS, REJECTOR, GUARDED, PIPELINE),
    REJECTOR: (*CLASSIFIERS, PIPELINE),
    GUARDED: (*CLASSIFIERS, REJECTOR, PIPELINE),
    "detector": (*classifiers.DETECTORS, PIPELINE),
}


def parts(estimator: Any, around: str = "") -> Parts:
    """Return the fields and arrays of a fitted estimator; an error gives the reason if a file cannot contain it.

    `around` is the kind of the estimator that contains it.
    """
    if not around:
        check_is_fitted(estimator)
    kind = type(estimator).__name__
    if kind in KINDS[around] and (codec := classifiers.codec_of(estimator, CODECS)):
        return classifiers.classifier_parts(estimator, codec)
    if kind in KINDS[around] and (composite := classifiers.codec_of(estimator, COMPOSITES)):
        return composite.parts(estimator, around)
    raise _unsupported(estimator, around)


def _unsupported(estimator: Any, around: str) -> ValueError:
    kind, searched = type(estimator).__name__, hasattr(estimator, "best_estimator_")
    if hasattr(estimator, "steps") and (left := resampling(estimator.steps)):
        what = f"is a Pipeline with the step {left[0]!r}, which only resamples training rows"
        return unsupported(what, "use scikit-learn's Pipeline of its other fitted steps, which decides the same")
    if around:
        way = "fit it around its best_estimator_, or" if searched else "use"
        way_out = f"{way} one of {', '.join(KINDS[around][:-1])}, and Pipelines that end in one of these"
        return unsupported(f"is a {around} around a {kind}", way_out)
    if type(estimator) is Forced:
        return unsupported("is a Forced", "save its estimator_, whose predict_forced decides the same")
    if searched:
        return unsupported(f"is a {kind}", "save its best_estimator_, or put that in its place in a Pipeline")
    allowed = f"{', '.join(MODELS)}, {REJECTOR}, {GUARDED} and Pipelines that end in one of these after {SUPPORTED}"
    return unsupported(f"is a {kind}", f"use one of {allowed}")


def _pipeline_parts(pipeline: Pipeline, around: str) -> Parts:
    """Preprocessing as `default_pipeline` makes it has fields of its own; any other is a list of steps."""
    last = pipeline[-1]
    if type(last) is Pipeline or isinstance(last, str) or last is None:
        what = last if isinstance(last, str) else type(last).__name__
        way_out = "end in a classifier, and give the steps of an inner Pipeline to the outer one"
        raise unsupported(f"is a Pipeline whose last step is {what}", way_out)
    inner, more = parts(last, around)
    if is_default(pipeline):
        preprocessing, arrays = table_parts(pipeline[0])
        fields = {"kind": PIPELINE, "preprocessing": preprocessing, ESTIMATOR: inner}
        return fields, prefixed(arrays, TABLE_PREFIX) | more
    pool, columns = PoolWriter(), Columns.of(pipeline)
    steps, made = pipeline_parts(pipeline.steps[:-1], pool, columns)
    made.check_match(last)
    state = {**identity(pipeline), **columns.state, "steps": steps, "name": pipeline.steps[-1][0], ESTIMATOR: inner}
    return state, prefixed(pool.arrays, STEPS_PREFIX) | more


def _rejector_parts(estimator: ThresholdRejector, *_: Any) -> Parts:
    classifier = estimator.estimator_
    if isinstance(classifier, FoldClassifiers):
        raise unsupported('has a classifier for each fold (conformal="cross")', 'use conformal="split"')
    inner, more = parts(classifier, REJECTOR)
    calibrated = type(classifier) is CALIBRATED.kind
    sigmoid = calibrated and type(estimator.estimator) is not CALIBRATED.kind
    given = inside(classifier) if sigmoid else classifier
    if asked(given) != asked(estimator.estimator):
        raise ModelFileError("the parameters of its estimator differ from those of the fitted classifier.")
    state, arrays = rejector_parts(estimator, given)
    state |= {"sigmoid_added": sigmoid} if calibrated else {}
    state |= {"tuned_score": True} if _is_tuned(classifier) else {}
    fields = {**identity(estimator), **state, "classifier": inner}
    return fields, arrays | prefixed(more, CLASSIFIER_PREFIX)


def _is_tuned(classifier: Any) -> bool:
    """Return whether the score of a classifier, or of one inside, was rescaled by the search that tuned its cuts."""
    last = last_step(classifier)
    folds = getattr(last, "calibrated_classifiers_", ())
    rescaled = (getattr(last, "score_scale_", 1.0), getattr(last, "score_shift_", 0.0)) != (1.0, 0.0)
    return rescaled or any(_is_tuned(one.estimator) for one in folds)


def _guarded_parts(estimator: NoveltyRejector, *_: Any) -> Parts:
    check_detector(estimator)
    classifier, more = parts(estimator.estimator_, GUARDED)
    detector, others = parts(estimator.guard_.detector, "detector")
    state, arrays = guard_parts(estimator)
    arrays = arrays | prefixed(others, DETECTOR_PREFIX)
    fields = {**identity(estimator), **state, "detector": detector}
    return fields | {"classifier": classifier}, prefixed(arrays, GUARD_PREFIX) | prefixed(more, CLASSIFIER_PREFIX)


def restored(state: Any, arrays: Arrays) -> Any:
    """Make the fitted estimator from fields and arrays; `parts` must give the same fields and arrays for it."""
    estimator = _restored(state, arrays)
    written, rewritten = parts(estimator)
    if odd := _difference(state, written, "model"):
        raise ModelFileError(f"the {odd} differs from what the library writes for this model.")
    if unknown := arrays.keys() - rewritten.keys():
        raise ModelFileError(f"it has an unknown array {min(unknown)!r}.")
    refuse([*arrays] != [*rewritten], "its arrays are not in the order in which the library writes them.")
    for name, array in arrays.items():
        again = rewritten[name]
        if again is not array and (again.dtype, again.tobytes()) != (array.dtype, array.tobytes()):
            raise ModelFileError(f"the array {name!r} differs from what the library writes for this model.")
    return estimator


def _difference(given: Any, written: Any, where: str) -> str:
    """Say what differs first in value, type or position; `parameters_from` has compared the parameters."""
    if where == "parameters" or json.dumps(given) == json.dumps(written):
        return ""
    both = isinstance(given, dict) and isinstance(written, dict)
    if both and (odd := given.keys() ^ written.keys()):
        return f"{where}, which {'has an unknown' if min(odd) in given else 'lacks the'} field {min(odd)[:60]!r},"
    if not both or [*given] != [*written]:
        return f"field {where!r}"
    return next(filter(None, (_difference(given[name], written[name], name) for name in given)), "")


def _restored(state: Any, arrays: Arrays, around: str = "", classes: Any = None) -> Any:
    """Make an estimator; inside a rejector, `classes` are those of the rejector."""
    fields = Fields(state, "classifier" if around in (REJECTOR, GUARDED) else around or "model")
    kind = fields.take("kind", one_of(KINDS[around]))
    if kind in CODECS:
        return classifiers.classifier_from(kind, CODECS, fields, arrays, classes)
    return COMPOSITES[kind].made(fields, arrays, around, classes)


def _pipeline(fields: Fields, arrays: Arrays, around: str, classes: Any) -> Pipeline:
    inner = fields.take(ESTIMATOR, dict)
    refuse(inner.get("kind") == PIPELINE, "its Pipeline is inside another Pipeline.")
    prefix = STEPS_PREFIX if "steps" in fields else TABLE_PREFIX
    own, last = within(arrays, prefix), _restored(inner, beside(arrays, prefix), around, classes)
    if prefix == TABLE_PREFIX:
        return table_from(fields.take("preprocessing"), own, last)
    pool = PoolReader(own)
    pipeline, made = pipeline_from(fields, pool, Columns.taken(fields), last)
    pool.end()
    made.check_match(last)
    return pipeline


def _inside(around: str, fields: Fields, arrays: Arrays, counts: Callable[[int], tuple[int, ...]]) -> tuple[Any, Any]:
    """Make the classifier of a rejector, which has its classes; return the cuts of the rejector's rule too."""
    classes, cuts = rule_from(fields.take("rule"), counts)
    classifier = _restored(fields.take("classifier"), within(arrays, CLASSIFIER_PREFIX), around, classes)
    if classifier.classes_.tolist() != classes.tolist():
        raise ModelFileError("the classes of its classifier differ from those of its rule.")
    return classifier, cuts


def _rejector(fields: Fields, arrays: Arrays, *_: Any) -> ThresholdRejector:
    parameters = parameters_from(ThresholdRejector, fields)
    # three cuts for two classes, one each for more, or none
    classifier, cuts = _inside(REJECTOR, fields, arrays, lambda n: (0, 3) if n == 2 else (0, n))
    sigmoid = type(classifier) is CALIBRATED.kind and fields.take("sigmoid_added", bool)
    if _is_tuned(classifier) and not fields.maybe("tuned_score", bool):
        what = "its thresholds are on the score of a search before its cuts were tuned"
        raise ModelFileError(f"{what}; fit and save it again.")
    given = inside(classifier) if sigmoid else classifier
    estimator = ThresholdRejector(given if is_prefit(parameters.get("cv")) else clone(given), **parameters)
    estimator._validate_params()
    estimator._fitted_ = rejector_from(estimator, fields, beside(arrays, CLASSIFIER_PREFIX), classifier, cuts)
    return estimator


def _guarded(fields: Fields, arrays: Arrays, *_: Any) -> NoveltyRejector:
    parameters = parameters_from(NoveltyRejector, fields)
    guard = within(arrays, GUARD_PREFIX)
    detector = _restored(fields.take("detector"), within(guard, DETECTOR_PREFIX), "detector")
    classifier, _ = _inside(GUARDED, fields, arrays, lambda _: (0,))
    stated, frozen, given = (fields.take(name, bool) for name in FLAGS)
    estimator = NoveltyRejector(FrozenEstimator(classifier) if frozen else clone(classifier), **parameters)
    if given:
        estimator.detector = clone(last_step(detector))
    if not stated and estimator.rate == DEFAULT_RATE:
        estimator.rate = DEFAULT_RATE
    estimator._validate_params()
    estimator._fitted_ = guard_from(estimator, fields, beside(guard, DETECTOR_PREFIX), classifier, detector)
    return estimator


# estimators around others, which have no columns of their own
COMPOSITES = classifiers.table(
    classifiers.Codec(Pipeline, _pipeline_parts, _pipeline),
    classifiers.Codec(ThresholdRejector, _rejector_parts, _rejector),
    classifiers.Codec(NoveltyRejector, _guarded_parts, _guarded),
)
