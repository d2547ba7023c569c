"""Classifiers made of others as fields and arrays, and back: an average of machines, and calibrated classifiers.

Each machine of an average has a letter of its own before the names of its arrays. A CalibratedClassifierCV has
classifiers, and what makes probabilities of their scores; the classifiers of its folds have arrays of the same names,
which are joined: a file has few members.
"""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, _CalibratedClassifier, _SigmoidCalibration
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from abstain.candidates.average import MachineAverage
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Arrays, Fields, Parts, beside, fitting, layout, one_of, prefixed, stored, within
from abstain.files.sklearn_codecs.classifiers import INSIDE, Codec, classifier_from, classifier_parts, codec_of, table
from abstain.files.sklearn_codecs.steps_codec import Columns, asked, parameters_of
from abstain.files.sklearn_codecs.trees_codec import MOST_TREES, apart

FOLD = "fold."
MOST_FOLDS, MOST_CURVES = 100, 10_000  # a curve takes three kilobytes of Python objects, however few its points
# f folds with m calibrators each: one for two classes, otherwise one per class; p points of all curves
SIGMOID = layout(slope="f8 f m", intercept="f8 f m")
ISOTONIC = layout(lengths="i8 f m", scores="f8|f4 p", probabilities="f8|f4 p")


def inside(calibrated: Any) -> Any:
    """The classifier that was given to a CalibratedClassifierCV, also if it was frozen."""
    given = calibrated.estimator
    return given.estimator if type(given) is FrozenEstimator else given


def calibrated_parts(calibrated: Any) -> Parts:
    """Return the fields and arrays of a fitted CalibratedClassifierCV."""
    frozen, folds = type(calibrated.estimator) is FrozenEstimator, calibrated.calibrated_classifiers_
    given = inside(calibrated)
    codec = codec_of(given, INSIDE)
    if codec is None:
        what = type(folds[0].estimator if given is None else given).__name__
        raise unsupported(f"has a CalibratedClassifierCV around a {what}", f"use one of {', '.join(INSIDE)}")
    if calibrated.method not in ("sigmoid", "isotonic"):
        what = f"has a CalibratedClassifierCV with method={calibrated.method!r}"
        raise unsupported(what, "use 'sigmoid' or 'isotonic' and fit it again")
    if len(folds) > (1 if frozen else MOST_FOLDS):
        what = f"has a CalibratedClassifierCV with {len(folds)} classifiers, more than {MOST_FOLDS}, or 1 if frozen"
        raise unsupported(what, "use ensemble=False and fit it again")
    states, arrays = zip(*(_fold_parts(calibrated, fold, codec) for fold in folds), strict=True)
    features = Columns.read_by(calibrated).state
    refuse(any(state | features != state for state in states), "the features of its classifiers differ from its own.")
    single = calibrated.ensemble is False
    refuse(single and len(states) != 1, "it has more than one classifier although ensemble is False.")
    lengths, joined = _joined(arrays)
    state = {"frozen": frozen, "classifiers": list(states), "lengths": lengths}
    return state, _curves(calibrated) | prefixed(joined, FOLD)


def _fold_parts(calibrated: Any, fold: Any, codec: Codec) -> Parts:
    fitted = fold.estimator
    if type(calibrated.estimator) is FrozenEstimator:
        fitted = fitted.estimator if fitted is calibrated.estimator else None
    if type(fitted) is not codec.kind or fold.method != calibrated.method:
        raise ModelFileError("its estimator or method differs from that of its fitted classifiers.")
    if fitted.classes_.tolist() != calibrated.classes_.tolist():
        what = "has a CalibratedClassifierCV with a fold in which a class did not occur"
        raise unsupported(what, "use fewer folds or ensemble=False and fit it again")
    state, arrays = classifier_parts(fitted, codec)
    if state["parameters"] != parameters_of(inside(calibrated)):
        raise ModelFileError("the parameters of its estimator differ from those of its fitted classifiers.")
    return state, arrays


def _joined(each: Sequence[Arrays]) -> tuple[dict[str, list[int]], Arrays]:
    """The lengths of the arrays of all classifiers, by name, and the arrays one after the other."""
    kinds = [{name: (array.dtype, array.shape[1:]) for name, array in arrays.items()} for arrays in each]
    if any(kind != kinds[0] for kind in kinds):
        raise unsupported("has classifiers of different types in its folds", "fit it to float64")
    lengths = {name: [len(arrays[name]) for arrays in each] for name in each[0]}
    return lengths, {name: np.concatenate([arrays[name] for arrays in each]) for name in each[0]}


def _apart(lengths: Fields, arrays: Arrays, count: int) -> list[Arrays]:
    """The arrays of each of `count` classifiers."""
    each: list[Arrays] = [{} for _ in range(count)]
    for name, array in arrays.items():
        given = lengths.take(name, list)
        whole = len(given) == count and all(type(one) is int and 0 <= one <= len(array) for one in given)
        if not whole or sum(given) != len(array):
            raise ModelFileError(f"the lengths of the array {name!r} do not add up to that of the file's.")
        for own, part in zip(each, apart(array, given), strict=True):
            own[name] = part
    return each


def _curves(calibrated: Any) -> Arrays:
    """The slopes and intercepts of sigmoids, or the points of monotone curves."""
    folds = [fold.calibrators for fold in calibrated.calibrated_classifiers_]
    if calibrated.method == "sigmoid":
        names = {"slope": "a_", "intercept": "b_"}
        return stored({one: [[getattr(c, at) for c in fold] for fold in folds] for one, at in names.items()}, SIGMOID)
    flat = [one for fold in folds for one in fold]
    found: dict[str, Any] = {"lengths": [[len(one.X_thresholds_) for one in fold] for fold in folds]}
    found["scores"] = np.concatenate([one.X_thresholds_ for one in flat])
    found["probabilities"] = np.concatenate([one.y_thresholds_ for one in flat])
    return stored(found, ISOTONIC)


def calibrated_attributes(calibrated: Any, fields: Fields, arrays: Arrays, _: int, classes: Any) -> dict[str, Any]:
    """Return the attributes of a CalibratedClassifierCV for these classes, its estimator included."""
    frozen, states = fields.take("frozen", bool), fields.take("classifiers", list)
    m, joined, found = 1 if len(classes) <= 2 else len(classes), within(arrays, FOLD), []
    if not 1 <= len(states) <= MOST_FOLDS or len(states) * m > MOST_CURVES:
        raise ModelFileError(f"it has {len(states)} classifiers with a calibration, not from 1 to {MOST_FOLDS}.")
    refuse(any(not array.ndim for array in joined.values()), "the classifiers of its folds have an array without axes.")
    if len(joined.get("sizes", ())) > MOST_TREES:
        raise ModelFileError(f"the classifiers of its folds have more than {MOST_TREES:,} trees.")
    own = beside(arrays, FOLD)
    specs, curves_of = (SIGMOID, _sigmoids) if calibrated.method == "sigmoid" else (ISOTONIC, _monotone)
    fitting(own, specs, "calibration", {"f": len(states), "m": m})
    for state, part in zip(states, _apart(fields.inner("lengths"), joined, len(states)), strict=True):
        inner = Fields(state, "classifier")
        found.append(classifier_from(inner.take("kind", one_of(INSIDE)), INSIDE, inner, part, classes))
    if any(one.classes_.tolist() != classes.tolist() for one in found):
        raise ModelFileError("the classes of its classifiers differ from those of its rule.")
    fitted = [FrozenEstimator(one) for one in found] if frozen else found
    curves = curves_of(own)
    pairs = [
        _CalibratedClassifier(one, curves[at * m : (at + 1) * m], method=calibrated.method, classes=classes)
        for at, one in enumerate(fitted)
    ]
    estimator = fitted[0] if frozen else clone(found[0])
    return {"estimator": estimator, "classes_": classes, "calibrated_classifiers_": pairs}


def _sigmoids(arrays: Arrays) -> list[Any]:
    pairs = zip(arrays["slope"].ravel(), arrays["intercept"].ravel(), strict=True)
    return [_with(_SigmoidCalibration(), a_=slope, b_=intercept) for slope, intercept in pairs]


def _monotone(arrays: Arrays) -> list[Any]:
    """Regressions that rise from point to point; the scores of each are increasing."""
    lengths, scores, probabilities = arrays["lengths"].ravel(), arrays["scores"], arrays["probabilities"]
    whole = scores.dtype == probabilities.dtype and not ((lengths < 1) | (lengths > len(scores))).any()
    if not whole or lengths.sum() != len(scores):
        raise ModelFileError("the lengths of its curves do not add up to the number of their points.")
    found = []
    for x, y in zip(apart(scores, lengths), apart(probabilities, lengths), strict=True):
        if not (x[1:] > x[:-1]).all() or not (y[1:] >= y[:-1]).all() or not 0 <= y[0] <= y[-1] <= 1:
            raise ModelFileError("its curves have scores or probabilities that do not increase, or lie outside 0 to 1.")
        one = IsotonicRegression(out_of_bounds="clip")
        one._build_f(x, y)
        found.append(_with(one, increasing_=True, X_min_=x[0], X_max_=x[-1], X_thresholds_=x, y_thresholds_=y))
    return found


def _with(estimator: Any, **attributes: Any) -> Any:
    estimator.__dict__.update(attributes)
    return estimator


CALIBRATED = Codec(CalibratedClassifierCV, calibrated_parts, calibrated_attributes)


AVERAGED = INSIDE | table(CALIBRATED)
AVERAGED_PREFIXES = tuple(f"{letter}." for letter in ascii_lowercase)  # of the arrays of each machine of an average


def average_parts(average: MachineAverage) -> Parts:
    """Return the fields and arrays of a fitted average."""
    states, arrays = [], dict[str, Any]()
    if len(average.estimators) > len(AVERAGED_PREFIXES):
        raise unsupported("has an average of more machines than letters", "average fewer")
    for at, ((name, given), part) in enumerate(zip(average.estimators, average.estimators_, strict=True)):
        codec = codec_of(part, AVERAGED)
        if codec is None:
            what = f"has an average of machines with a {type(part).__name__}"
            raise unsupported(what, f"use some of {', '.join(AVERAGED)}")
        refuse(asked(given) != asked(part), "the parameters of an averaged machine differ from those that were fitted.")
        refuse(part.classes_.tolist() != average.classes_.tolist(), "its averaged machines have different classes.")
        state, own = classifier_parts(part, codec)
        states.append([name, state])
        arrays |= prefixed(own, AVERAGED_PREFIXES[at])
    return {"machines": states}, arrays


def average_attributes(
    average: MachineAverage, fields: Fields, arrays: Arrays, n_features: int, classes: Any
) -> dict[str, Any]:
    """Return the attributes of an average for these classes, its parameter included."""
    del average
    given, parts, left = fields.take("machines", list), dict[str, Any](), arrays
    pairs = all(isinstance(one, list) and len(one) == 2 for one in given)
    if not pairs or not 1 <= len(given) <= len(AVERAGED_PREFIXES):
        raise ModelFileError(f"its average is not of 1 to {len(AVERAGED_PREFIXES)} machines, each with a name.")
    for at, (name, state) in enumerate(given):
        inner, prefix = Fields(state, "classifier"), AVERAGED_PREFIXES[at]
        refuse(not isinstance(name, str) or name in parts, "two of its averaged machines have the same name.")
        kind = inner.take("kind", one_of(AVERAGED))
        parts[name] = classifier_from(kind, AVERAGED, inner, within(left, prefix), classes)
        left = beside(left, prefix)
        same = parts[name].n_features_in_ == n_features and parts[name].classes_.tolist() == classes.tolist()
        refuse(not same, "its averaged machines differ in their features or classes.")
    refuse(bool(left), "its average has arrays of no machine.")
    return dict(vars(MachineAverage.of(parts)))


AVERAGE = Codec(MachineAverage, average_parts, average_attributes)
