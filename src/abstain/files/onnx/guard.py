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
from abstain.files.onnx.scores import score_nodes
from abstain.files.onnx.steps import Table, graph_of, kinds, parts_of

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["check_encoders", "detecting_machine", "guard_nodes", "split"]


def split(estimator: Any) -> tuple[list[Any], Any]:
    """Give the transformers before the last step, and the last step; of anything but a Pipeline, itself."""
    if type(estimator) is not Pipeline:
        return [], estimator
    return [step for _, step in estimator.steps[:-1]], estimator.steps[-1][1]


def detecting_machine(guard: Guard) -> Any:
    """The machine whose score shows how usual a row is; an error for detectors without a graph."""
    _, last = split(guard.detector)
    if type(last) not in (NoveltyDetector, OneClassSVM):
        raise ValueError(
            f"estimator has a {type(last).__name__} as detector of novel rows, which has no ONNX graph; leave "
            "detector=None, or give an abstain.OneClassSVM."
        )
    return replace(last.machine_, bias=0.0)


def guard_nodes(graph: Graph, guard: Guard, table: Table) -> tuple[str, str]:
    """Give the p-value of each row, and whether it is novel."""
    machine = detecting_machine(guard)
    before, last = split(guard.detector)
    for step in before:
        table = graph_of(graph, step, table)
    X = table.numbers(graph)
    if type(last) is NoveltyDetector:
        unusual = _unusual_nodes(graph, last._fitted_, machine, X)
    else:
        unusual = graph.apply("Neg", score_nodes(graph, machine, X))
    overflown = graph.apply("Or", graph.apply("IsNaN", unusual), graph.apply("IsInf", unusual))
    known = graph.apply("And", _usable(graph, X), graph.apply("Not", overflown))
    unusual = graph.apply("Where", known, unusual, graph.constant(np.inf))
    low, high = guard.levels
    above = _count_below(graph, high, unusual)
    at_least = graph.apply("Sub", graph.constant(np.int64(1 + guard.m)), above)
    p_value = graph.apply("Div", graph.apply("Cast", at_least, to=kinds()["f"]), graph.constant(guard.m + 1.0))
    reached = _count_below(graph, np.nextafter(low, -np.inf), unusual)
    tied = graph.apply("And", known, graph.apply("Greater", reached, above))  # as unusual as a calibration row
    p_value = graph.apply("Where", tied, graph.apply("Max", p_value, graph.constant(guard.least_known)), p_value)
    return p_value, graph.apply("LessOrEqual", p_value, graph.constant(guard.rate))


def _unusual_nodes(graph: Graph, now: FittedDetector, machine: Any, X: str) -> str:
    """What `FittedDetector.unusual` gives."""
    zero, columns = graph.constant(0.0), now.columns
    logged = columns.floor > 0.0
    x, floor = graph.apply("Sub", X, graph.constant(columns.origin)), np.where(logged, columns.floor, 1.0)
    f = graph.constant(floor)
    below = graph.apply("Div", graph.apply("Min", graph.apply("Sub", x, f), zero), f)
    log = graph.apply("Add", graph.apply("Log", graph.apply("Max", x, f)), below)
    u = graph.apply("Where", graph.constant(logged), log, x)
    z = graph.apply("Div", graph.apply("Sub", u, graph.constant(columns.centre)), graph.constant(columns.spread))
    residual = graph.apply("Abs", graph.apply("Gemm", z, graph.constant(np.ascontiguousarray(now.residuals))))
    residual = graph.apply("ReduceMax", residual, graph.constant(np.array([1])), keepdims=0)
    clipped = graph.apply("Max", graph.apply("Min", z, graph.constant(FAR)), graph.constant(-FAR))
    near = graph.apply("Div", score_nodes(graph, machine, clipped), graph.constant(float(machine.coef.sum())))
    near = graph.apply("Max", graph.apply("Min", near, graph.constant(1.0)), graph.constant(FAINTEST))
    far = graph.apply("Sqrt", graph.apply("Neg", graph.apply("Log", near)))
    parts = []
    for size, unit, excess in zip((residual, far), now.units.tolist(), now.excess.tolist(), strict=True):
        log = graph.apply("Log", graph.apply("Div", size, graph.constant(unit)))
        parts.append(graph.apply("Div", log, graph.constant(excess)))
    v = graph.apply("Max", *parts)
    usual = graph.apply("Exp", graph.apply("Min", v, zero))
    return graph.apply("Add", usual, graph.apply("Max", v, zero))


def _usable(graph: Graph, X: str) -> str:
    """Whether all numbers of a row are finite and within float32, as `Guard` requires it."""
    bounded = graph.apply("LessOrEqual", graph.apply("Abs", X), graph.constant(LARGEST))
    least = graph.apply("Cast", bounded, to=kinds()["f"])
    least = graph.apply("ReduceMin", least, graph.constant(np.array([1])), keepdims=1)
    column = graph.apply("Gather", least, graph.constant(np.int64(0)), axis=1)
    return graph.apply("Greater", column, graph.constant(0.5))


def _count_below(graph: Graph, scores: Any, values: str) -> str:
    """The number of the increasing `scores` below each value, by halving: no matrix of rows and scores is made."""
    depth = len(scores).bit_length()
    padded = graph.constant(np.append(scores, np.full(2**depth - len(scores), np.inf)))
    found = graph.apply("Cast", graph.apply("IsNaN", values), to=kinds()["i"])  # 0 for every row
    for half in reversed(range(depth)):
        further = graph.apply("Add", found, graph.constant(np.int64(2**half)))
        before = graph.apply("Sub", further, graph.constant(np.int64(1)))
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
