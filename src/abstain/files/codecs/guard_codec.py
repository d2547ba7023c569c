"""The guard of a fitted NoveltyRejector as fields and arrays, without its classifier and its detector, and back.

`unusual` are the scores of the calibration rows, `choices` the decisions on them, `seen` describes the training
columns. What follows from the rest is not in the file: the rule, and the number of rows that the detector learnt from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from abstain.estimators.novelty.detectors import transformers_of, unique_names
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.estimators.novelty.guarded import Guarded, machine_and_rule
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.estimators.novelty.novelty_detector import NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.files.codecs.ranges_codec import seen_from, seen_parts
from abstain.files.codecs.rule_codec import rule_from, rule_state
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Fields, beside, fitting, layout, prefixed, stored, within
from abstain.files.sklearn_codecs.steps_codec import Columns, asked, last_step

# m calibration rows; k decisions that a row may get, where they were counted
OWN, CHOICES = layout(unusual="f8 m"), layout(choices="i8 k")
FLAGS = ("rate_is_stated", "is_frozen", "detector_is_given")
SEEN = "seen."
ROUNDING = 1e-9  # of a sum of kernel values, as a share of the sum of the coefficients
WAY_OUT = "leave detector=None, or give an abstain.OneClassSVM and preprocess in the Pipeline that is estimator"


def guard_parts(estimator: NoveltyRejector) -> Parts:
    """Return the fields and arrays of a guard; an error if it contradicts the parameters or the classifier."""
    fitted: Guarded = estimator._fitted_
    guard, calibration = fitted.guard, fitted.calibration
    _, rule = machine_and_rule(fitted.estimator, estimator.reject_label)
    named, labels = fitted.rule.labels, rule.labels
    if (named.reject_label, named.rejects) != (labels.reject_label, labels.rejects):
        raise ModelFileError("its reject label does not match its parameters.")
    if guard.rate != float(estimator.rate):
        raise ModelFileError(f"its guard was made for rate={guard.rate!r}, not for the rate of its parameters.")
    frozen, stated = type(estimator.estimator) is FrozenEstimator, estimator.rate is not DEFAULT_RATE
    if frozen and estimator.estimator.estimator is not fitted.estimator:
        raise ModelFileError("its estimator is frozen, but is not the classifier.")
    if not frozen and asked(estimator.estimator) != asked(fitted.estimator):
        raise ModelFileError("the parameters of its estimator differ from those of the fitted classifier.")
    _check_detector(estimator, guard)
    _check_rows(fitted, stated=stated, frozen=frozen)
    seen, arrays = seen_parts(fitted.seen)
    state = {
        "rule": rule_state(fitted.rule),
        **dict(zip(FLAGS, (stated, frozen, estimator.detector is not None), strict=True)),
        "seen": seen,
    }
    counted = {} if calibration.choices is None else CHOICES
    own = stored({"unusual": guard.scores, "choices": calibration.choices}, OWN | counted)
    return state, own | prefixed(arrays, SEEN)


def guarded_classes(given: Any) -> NDArray[Any]:
    """Return the classes of the rule in a file."""
    return rule_from(given, lambda _: (0,))[0]


def guard_from(estimator: NoveltyRejector, fields: Fields, arrays: Arrays, classifier: Any, detector: Any) -> Guarded:
    """Make the fitted value from fields and arrays, around a fitted classifier and a fitted detector.

    `guard_parts` compares them with each other and with the parameters.
    """
    classes = guarded_classes(fields.take("rule", dict))
    if classes.tolist() != classifier.classes_.tolist():
        raise ModelFileError("the classes of its classifier differ from those of its rule.")
    own = beside(arrays, SEEN)
    fitting(own, OWN | (CHOICES if "choices" in own else {}), "guard", {})
    scores = own["unusual"]
    machine, rule = machine_and_rule(classifier, estimator.reject_label)
    if type(last_step(detector)) not in (NoveltyDetector, OneClassSVM):
        raise ModelFileError("its detector does not end in a NoveltyDetector or a machine of one class.")
    guard = Guard(detector, scores, float(estimator.rate), last_step(detector).machine_.n_rows)
    seen = seen_from(fields.take("seen"), within(arrays, SEEN))
    return Guarded(machine, rule, classifier, guard, Calibration(scores, own.get("choices")), seen)


def check_detector(estimator: NoveltyRejector) -> None:
    """Raise an error for a detector that a file cannot contain."""
    last, given = last_step(estimator._fitted_.guard.detector), estimator.detector
    for detector, allowed in ((last, (NoveltyDetector, OneClassSVM)), (given, (type(None), OneClassSVM))):
        if type(detector) not in allowed:
            raise unsupported(f"has a {type(detector).__name__} as detector of novel rows", WAY_OUT)


def _check_detector(estimator: NoveltyRejector, guard: Guard) -> None:
    """Check that the detector begins with the transformers of the classifier, and ends in what was asked for."""
    last, given = last_step(guard.detector), estimator.detector
    steps = guard.detector.steps[:-1] if type(guard.detector) is Pipeline else []
    before = unique_names(transformers_of(estimator.estimator))
    begun = [[name, asked(step)] for name, step in steps[: len(before)]]
    if begun != [[name, asked(step)] for name, step in before]:
        raise ModelFileError("its detector does not begin with the transformers of its classifier.")
    if given is not None and (len(steps) > len(before) or asked(given) != asked(last)):
        raise ModelFileError("its detector differs from the one in its parameters.")
    refuse(last.machine_.n_rows != guard.n, "its guard counts other rows than its detector learnt from.")
    scale: Any = steps[-1][1] if len(steps) > len(before) else None  # of a machine of one class
    if hasattr(scale, "with_mean") and issparse(last.machine_.vectors) == scale.with_mean:
        raise ModelFileError("its detector scales dense rows as sparse ones, or sparse rows as dense ones.")


def _check_rows(fitted: Guarded, *, stated: bool, frozen: bool) -> None:
    """Check the scores and decisions of the calibration rows, and what training had in each column."""
    guard, choices, seen = fitted.guard, fitted.calibration.choices, fitted.seen
    scores = guard.scores
    if not (scores[1:] >= scores[:-1]).all() or not np.array_equal(fitted.calibration.scores, scores):
        raise ModelFileError("the scores of its calibration rows are not in increasing order.")
    least, most = _range(last_step(guard.detector))
    known = scores[np.isfinite(scores)]
    if (known > most).any() or (known < least).any():
        raise ModelFileError("its calibration rows have scores that its detector cannot give.")
    if stated and not guard.acts:
        raise ModelFileError(f"its {guard.m} calibration rows are too few for the rate that its parameters state.")
    n = len(fitted.rule.answers)
    if choices is not None and (frozen or len(choices) != n or (choices < 0).any() or sum(choices.tolist()) > guard.m):
        raise ModelFileError("its counts of decisions on calibration rows are not possible.")
    columns = Columns.of(guard.detector)
    if not frozen and columns.count != Columns.of(fitted.estimator).count:
        raise ModelFileError("its detector reads other columns than its classifier.")
    if seen is not None and (len(seen) != columns.count or seen.rows < guard.m + guard.n):
        raise ModelFileError("its training columns or rows are not those of its detector.")
    names = [] if seen is None or columns.names is None else columns.names.tolist()
    if names and [column.name for column in seen] != names:
        raise ModelFileError("its training columns have other names than those of its detector.")


def _range(last: Any) -> tuple[float, float]:
    """The least and the largest score that a detector can give to a row."""
    if type(last) is NoveltyDetector:
        return 0.0, np.inf
    if last.machine_.kernel.name != "rbf":
        return -np.inf, np.inf
    total = float(last.machine_.coef.sum())  # s = -sum_j beta_j k(x_j, x), k from 0 to 1
    return -(1.0 + ROUNDING) * total, ROUNDING * total
