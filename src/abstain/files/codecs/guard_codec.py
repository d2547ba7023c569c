"""The guard of a fitted NoveltyRejector as fields and arrays, without its classifier and its detector, and back.

`unusual` are the scores of the calibration rows, `choices` the decisions on them. `seen` is the `SeenColumns` of the
training rows: its arrays have an entry for each column (`present`, `missing`), for each column of numbers (`smallest`,
`largest`; 0 where no number is present) and for each category (`counts`); the names and the categories are in the
manifest. What follows from the rest is not in the file: the rule, and the number of rows that the detector learnt from.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from abstain.estimators.novelty.column_range import KEPT, LONGEST, SeenCategories, SeenColumn, SeenNumbers
from abstain.estimators.novelty.detectors import transformers_of, unique_names, unscaled
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.estimators.novelty.guarded import Guarded, machine_and_rule
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.estimators.novelty.novelty_detector import NoveltyDetector
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.files.codecs.rule_codec import rule_state
from abstain.files.format import schema
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.manifest import MOST_COLUMNS
from abstain.files.sklearn_codecs.steps_codec import Columns, asked, last_step

# m calibration rows; k decisions that a row may get, where they were counted
OWN, CHOICES = schema.layout(unusual="f8 m"), schema.layout(choices="i8 k")
FLAGS = ("rate_is_stated", "is_frozen", "detector_is_given")
SEEN = "seen."
ROUNDING = 1e-9  # of a sum of kernel values, as a share of the sum of the coefficients
WAY_OUT = "leave detector=None, or give an abstain.OneClassSVM and preprocess in the Pipeline that is estimator"


def guard_parts(estimator: NoveltyRejector) -> schema.Parts:
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
    flags = dict(zip(FLAGS, (stated, frozen, estimator.detector is not None), strict=True))
    state = {"rule": rule_state(fitted.rule), **flags, "seen": seen}
    counted = {} if calibration.choices is None else CHOICES
    own = schema.stored({"unusual": guard.scores, "choices": calibration.choices}, OWN | counted)
    return state, own | schema.prefixed(arrays, SEEN)


def guard_from(estimator: Any, fields: schema.Fields, arrays: schema.Arrays, classifier: Any, detector: Any) -> Guarded:
    """Make the fitted value from fields and arrays, around a fitted classifier and a fitted detector.

    `guard_parts` compares them with each other and with the parameters.
    """
    own = schema.beside(arrays, SEEN)
    schema.fitting(own, OWN | (CHOICES if "choices" in own else {}), "guard", {})
    scores = own["unusual"]
    machine, rule = machine_and_rule(classifier, estimator.reject_label)
    if type(last_step(detector)) not in (NoveltyDetector, OneClassSVM):
        raise ModelFileError("its detector does not end in a NoveltyDetector or a machine of one class.")
    guard = Guard(detector, scores, float(estimator.rate), last_step(detector).machine_.n_rows)
    seen = seen_from(fields.take("seen"), schema.within(arrays, SEEN))
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
    whole = transformers_of(estimator.estimator)  # files of version 0.2 have the scalers too
    allowed = [unique_names(some) for some in ([whole] if given is not None else [whole, unscaled(whole)])]
    before = next((some for some in allowed if _asked(steps[: len(some)]) == _asked(some)), None)
    if before is None:
        raise ModelFileError("its detector does not begin with the transformers of its classifier.")
    if given is not None and (len(steps) > len(before) or asked(given) != asked(last)):
        raise ModelFileError("its detector differs from the one in its parameters.")
    refuse(last.machine_.n_rows != guard.n, "its guard counts other rows than its detector learnt from.")
    scale: Any = steps[-1][1] if len(steps) > len(before) else None  # of a machine of one class
    if hasattr(scale, "with_mean") and issparse(last.machine_.vectors) == scale.with_mean:
        raise ModelFileError("its detector scales dense rows as sparse ones, or sparse rows as dense ones.")


def _asked(steps: list[tuple[str, Any]]) -> list[list[Any]]:
    return [[name, asked(step)] for name, step in steps]


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
    if not last.machine_.kernel.formula.stationary:
        return -np.inf, np.inf
    total = float(last.machine_.coef.sum())  # s = -sum_j beta_j k(x_j, x), k from 0 to 1
    return -(1.0 + ROUNDING) * total, ROUNDING * total


COLUMNS = schema.layout(present="i8 n", missing="i8 n", smallest="f8 numbers", largest="f8 numbers", counts="i8 texts")
FIELDS = {"rows": schema.whole(), "names": schema.optional(schema.TEXTS), "categories": schema.of_type(list)}
WHERE = "description of its training columns"


def seen_parts(seen: SeenColumns | None) -> tuple[dict[str, Any] | None, schema.Arrays]:
    """Return the fields and arrays of a `SeenColumns`; None and no arrays if there is none."""
    if seen is None:
        return None, {}
    columns = seen.columns
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"estimator cannot be saved: it has more than {MOST_COLUMNS:,} columns. Use fewer, or skops.")
    numbers = [column for column in columns if isinstance(column, SeenNumbers)]
    texts = [(at, column) for at, column in enumerate(columns) if isinstance(column, SeenCategories)]
    named = any(isinstance(column.name, str) for column in columns)
    state: dict[str, Any] = {"rows": seen.rows, "names": [column.name for column in columns] if named else None}
    state["categories"] = [[at, list(column.counts)] for at, column in texts]
    given = {name: [getattr(column, name) for column in columns] for name in ("present", "missing")}
    for name in ("smallest", "largest"):
        given[name] = [getattr(column, name) if column.present else 0.0 for column in numbers]
    given["counts"] = [count for _, column in texts for count in column.counts.values()]
    return state, schema.stored(given, COLUMNS)


def seen_from(given: Any, arrays: schema.Arrays) -> SeenColumns | None:
    """Make the value again; a ModelFileError if its parts contradict each other."""
    lengths = schema.fitting(arrays, {} if given is None else COLUMNS, WHERE, {})
    if given is None:
        return None
    fields, n = schema.Fields(given, WHERE), lengths["n"]
    fields.only(*FIELDS)
    refuse(n > MOST_COLUMNS, f"it has more than {MOST_COLUMNS:,} columns.")
    rows, names, texts = fields.record(FIELDS).values()
    if names is not None and (not names or len(names) != n or len({*names}) != n):
        raise _wrong("does not have one name for each column")
    names, texts = range(n) if names is None else names, _texts(texts, n)
    if lengths["numbers"] != n - len(texts) or lengths["texts"] != sum(map(len, texts.values())):
        raise _wrong("has arrays of the wrong length")
    extremes = zip(arrays["smallest"].tolist(), arrays["largest"].tolist(), strict=True)
    counts = iter(arrays["counts"].tolist())
    columns: list[SeenColumn] = []
    for at, (present, missing) in enumerate(zip(arrays["present"].tolist(), arrays["missing"].tolist(), strict=True)):
        if present < 0 or missing < 0 or present + missing != rows:
            raise _wrong("does not count every row of a column once")
        if at in texts:
            of_column = {text: next(counts) for text in texts[at]}
            columns.append(_categories(names[at], of_column, present, missing))
        else:
            columns.append(_numbers(names[at], present, missing, *next(extremes)))
    return SeenColumns(rows, tuple(columns))


def _numbers(name: str | int, present: int, missing: int, smallest: float, largest: float) -> SeenNumbers:
    if present == 0 and repr(smallest) == repr(largest) == "0.0":  # not -0.0, which is not written
        return SeenNumbers(name, 0, missing, np.inf, -np.inf)
    if present == 0 or smallest > largest or (present == 1 and smallest < largest):
        raise _wrong("has a smallest value above the largest, or values of a column without any")
    return SeenNumbers(name, present, missing, smallest, largest)


def _categories(name: str | int, counts: dict[str, int], present: int, missing: int) -> SeenCategories:
    ranked = [(-count, text) for text, count in counts.items()]
    rest = present - sum(counts.values())
    if any(count < 1 for count in counts.values()) or any(one >= two for one, two in pairwise(ranked)) or rest < 0:
        raise _wrong("has categories that are not in the order of their counts, or counts of more rows than there are")
    return SeenCategories(name, counts, rest, missing)


def _texts(given: list[Any], n: int) -> dict[int, list[str]]:
    """Return the categories of each column that has them, by its position."""
    found: dict[int, list[str]] = {}
    last = -1
    for entry in given:
        at, texts = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if type(at) is not int or not last < at < n or not isinstance(texts, list) or len(texts) > KEPT:
            raise _wrong("does not list categories by column")
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts) or len({*texts}) != len(texts):
            raise _wrong("has categories that are not different texts of ordinary length")
        found[at], last = texts, at
    return found


def _wrong(what: str) -> ModelFileError:
    return ModelFileError(f"the {WHERE} {what}.")
