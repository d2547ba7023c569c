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
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.estimators.novelty.guard import LARGEST, Guard
from abstain.estimators.novelty.novelty_detector import FAINTEST, FAR, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.files.onnx.scores import Scoring, score_nodes
from abstain.files.onnx.steps import Table, graph_of, parts_of

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["check_encoders", "detector_scoring", "guard_nodes", "split"]


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
        raise ValueError(
            f"estimator has a {type(last).__name__} as detector of novel rows, which has no ONNX graph; leave "
            "detector=None, or give an abstain.OneClassSVM."
        )
    return replace(found, biases=np.zeros(1))


def guard_nodes(graph: Graph, guard: Guard, table: Table) -> tuple[str, str]:
    """Return the p-value of each row, and whether it is novel."""
    scoring = detector_scoring(guard)
    before, last = split(guard.detector)
    for step in before:
        table = graph_of(graph, step, table)
    X = table.numbers(graph)
    if type(last) is NoveltyDetector:
        unusual = _unusual_nodes(graph, last._fitted_, scoring, X)
    else:
        unusual = graph.apply("Neg", score_nodes(graph, scoring, X))
    overflown = graph.apply("Or", graph.apply("IsNaN", unusual), graph.apply("IsInf", unusual))
    beyond = graph.apply("Not", graph.apply("LessOrEqual", graph.apply("Abs", X), LARGEST))  # as `Guard` requires it
    known = graph.apply("Not", graph.apply("Or", overflown, graph.column(graph.any_of(beyond))))
    unusual = graph.apply("Where", known, unusual, np.inf)
    low, high = guard.levels
    above = _count_below(graph, high, unusual)
    at_least = graph.cast(graph.apply("Sub", np.int64(1 + guard.m), above), "f")
    p_value = graph.apply("Div", at_least, guard.m + 1.0)
    reached = _count_below(graph, np.nextafter(low, -np.inf), unusual)
    tied = graph.apply("And", known, graph.apply("Greater", reached, above))  # as unusual as a calibration row
    p_value = graph.apply("Where", tied, graph.apply("Max", p_value, guard.least_known), p_value)
    return p_value, graph.apply("LessOrEqual", p_value, guard.rate)


def _unusual_nodes(graph: Graph, now: FittedDetector, scoring: Scoring, X: str) -> str:
    """Return what `FittedDetector.unusual` does."""
    columns = now.columns
    logged = columns.floor > 0.0
    x, f = graph.apply("Sub", X, columns.origin), np.where(logged, columns.floor, 1.0)
    below = graph.apply("Div", graph.apply("Min", graph.apply("Sub", x, f), 0.0), f)
    log = graph.apply("Add", graph.apply("Log", graph.apply("Max", x, f)), below)
    u = graph.apply("Where", graph.constant(logged), log, x)
    z = graph.apply("Div", graph.apply("Sub", u, columns.centre), columns.spread)
    residual = graph.apply("Abs", graph.apply("Gemm", z, np.ascontiguousarray(now.residuals)))
    residual = graph.column(graph.across("ReduceMax", residual))
    clipped = graph.apply("Max", graph.apply("Min", z, FAR), -FAR)
    near = graph.apply("Div", score_nodes(graph, scoring, clipped), float(scoring.coef.sum()))
    near = graph.apply("Max", graph.apply("Min", near, 1.0), FAINTEST)
    parts = []
    sizes = residual, graph.apply("Sqrt", graph.apply("Neg", graph.apply("Log", near)))
    for size, unit, excess in zip(sizes, now.units.tolist(), now.excess.tolist(), strict=True):
        parts.append(graph.apply("Div", graph.apply("Log", graph.apply("Div", size, unit)), excess))
    v = graph.apply("Max", *parts)
    return graph.apply("Add", graph.apply("Exp", graph.apply("Min", v, 0.0)), graph.apply("Max", v, 0.0))


def _count_below(graph: Graph, scores: Any, values: str) -> str:
    """The number of the increasing `scores` below each value, by halving: no matrix of rows and scores is made."""
    depth = len(scores).bit_length()
    padded = graph.constant(np.append(scores, np.full(2**depth - len(scores), np.inf)))
    found = graph.cast(graph.apply("IsNaN", values), "i")  # 0 for every row
    for half in reversed(range(depth)):
        further = graph.apply("Add", found, np.int64(2**half))
        before = graph.apply("Sub", further, np.int64(1))
        passed = graph.apply("Less", graph.apply("Gather", padded, before), values)
        found = graph.apply("Where", passed, further, found)
    return found


def check_encoders(before: list[Any], detector: Any) -> None:
    """Raise an error if the detector's own encoders do not know all categories of the classifier's and would refuse.

    Python rejects a row with such a category as novel; in a graph it would be a row of no category.
    """
    own = [encoder for step in split(detector)[0] for encoder in _encoders(step)]
    for known, fewer in zip([one for step in before for one in _encoders(step)], own, strict=False):
        lists = [repr([column.tolist() for column in one.categories_]) for one in (known, fewer)]
        if fewer.handle_unknown == "error" and lists[0] != lists[1]:
            raise ValueError(
                f"the {type(fewer).__name__} of the detector of novel rows was fitted to fewer rows and does not know "
                "all categories of the classifier's, which has no ONNX graph; use handle_unknown='ignore' (of an "
                "OrdinalEncoder 'use_encoded_value'), or list the categories."
            )


def _encoders(step: Any) -> list[Any]:
    if type(step) is Pipeline:
        return [found for _, inner in step.steps for found in _encoders(inner)]
    if type(step) is ColumnTransformer:
        return [found for part, _ in parts_of(step) for found in _encoders(part)]
    return [step] if hasattr(step, "categories_") else []
