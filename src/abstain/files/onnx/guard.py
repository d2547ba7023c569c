"""The guard of a NoveltyRejector as ONNX nodes: the detector's score of each row, its p-value, and which are novel.

::

    s(x) = -score_samples(x);  p(x) = (1 + #{calibration scores >= s(x)}) / (m + 1);  novel if p(x) <= rate

Scores that differ by rounding count as equal (`Guard.levels`): a calibration row itself has the same p-value as in
Python, whichever way its score is rounded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from abstain.estimators.novelty.guard import Guard, largest_cell
from abstain.estimators.novelty.novelty_detector import FAINTEST, FAR, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.files.format.errors import no_graph
from abstain.files.onnx.scores import Scoring
from abstain.files.onnx.steps import Table, through, transformers_in

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Value


def split(estimator: Any) -> tuple[list[Any], Any]:
    """Return the transformers before the last step, and the last step; of anything but a Pipeline, itself."""
    if type(estimator) is not Pipeline:
        return [], estimator
    return [step for _, step in estimator.steps[:-1]], estimator.steps[-1][1]


def detector_scoring(guard: Guard) -> Scoring:
    """Return the sums that show how usual a row is; an error for detectors without a graph."""
    _, last = split(guard.detector)
    found = Scoring.of(last.machine_) if type(last) in (NoveltyDetector, OneClassSVM) else None
    if found is None:
        what = f"has a {type(last).__name__} as detector of novel rows"
        raise no_graph(what, "; leave detector=None, or give an abstain.OneClassSVM")
    return replace(found, biases=np.zeros(1))


def guard_nodes(guard: Guard, table: Table) -> tuple[Value, Value]:
    """Return the p-value of each row, and whether it is novel."""
    scoring = detector_scoring(guard)
    before, last = split(guard.detector)
    X = through(before, table).numbers()
    unusual = _unusual(last._fitted_, scoring, X) if type(last) is NoveltyDetector else -scoring.score(X)
    overflown = unusual.apply("IsNaN") | unusual.apply("IsInf")
    beyond = ~(abs(X) <= largest_cell(last))  # as `Guard` requires it
    known = ~(overflown | beyond.any().column())
    unusual = known.where(unusual, np.inf)
    low, high = guard.levels
    above = _count_below(high, unusual)
    p_value = (np.int64(1 + guard.m) - above).cast("f") / (guard.m + 1.0)
    reached = _count_below(np.nextafter(low, -np.inf), unusual)
    tied = known & (reached > above)  # as unusual as a calibration row
    p_value = tied.where(p_value.at_least(guard.least_known), p_value)
    return p_value, p_value <= guard.rate


def _unusual(now: FittedDetector, scoring: Scoring, X: Value) -> Value:
    """Return what `FittedDetector.unusual` does."""
    columns = now.columns
    logged = columns.floor > 0.0
    x, f = X - columns.origin, np.where(logged, columns.floor, 1.0)
    below = (x - f).at_most(0.0) / f
    log = x.at_least(f).apply("Log") + below
    u = X.graph.constant(logged).where(log, x)
    z = (u - columns.centre) / columns.spread
    residual = abs(z.apply("Gemm", np.ascontiguousarray(now.residuals))).across("ReduceMax").column()
    near = scoring.score(z.at_most(FAR).at_least(-FAR)) / float(scoring.coef.sum())
    near = near.at_most(1.0).at_least(FAINTEST)
    sizes = residual, (-near.apply("Log")).apply("Sqrt")
    units = zip(sizes, now.units.tolist(), now.excess.tolist(), strict=True)
    first, second = ((size / unit).apply("Log") / excess for size, unit, excess in units)
    v = first.at_least(second)
    return v.at_most(0.0).apply("Exp") + v.at_least(0.0)


def _count_below(scores: Any, values: Value) -> Value:
    """The number of the increasing `scores` below each value, by halving: no matrix of rows and scores is made."""
    depth = len(scores).bit_length()
    padded = values.graph.constant(np.append(scores, np.full(2**depth - len(scores), np.inf)))
    found = values.apply("IsNaN").cast("i")  # 0 for every row
    for half in reversed(range(depth)):
        further = found + np.int64(2**half)
        passed = (further - np.int64(1)).of(padded) < values
        found = passed.where(further, found)
    return found


def check_encoders(before: list[Any], detector: Any) -> None:
    """Raise an error if the detector's own encoders do not know all categories of the classifier's and would refuse.

    Python rejects a row with such a category as novel; in a graph it would be a row of no category.
    """
    for known, fewer in zip(_encoders(before), _encoders(split(detector)[0]), strict=False):
        lists = [repr([column.tolist() for column in one.categories_]) for one in (known, fewer)]
        if fewer.handle_unknown == "error" and lists[0] != lists[1]:
            raise ValueError(
                f"the {type(fewer).__name__} of the detector of novel rows was fitted to fewer rows and does not know "
                "all categories of the classifier's, which has no ONNX graph; use handle_unknown='ignore' (of an "
                "OrdinalEncoder 'use_encoded_value'), or list the categories."
            )


def _encoders(steps: list[Any]) -> list[Any]:
    return [one for step in steps for one in transformers_in(step) if hasattr(one, "categories_")]
