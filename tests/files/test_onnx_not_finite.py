"""Rows that are not finite, or whose scores overflow: the graph rejects where Python raises, and agrees elsewhere."""

from dataclasses import replace
from functools import cache

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    LinearRejectSVCCV,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    decide,
    to_onnx,
)
from abstain.files.onnx.graph import Graph
from abstain.files.onnx.rules import decision_nodes
from looping import quick

COSTS, ASYMMETRIC = Costs(reject=0.3), Costs(1, 2, 0.3)
TABLE = Costs.from_matrix([[0, 1, 4], [1, 0, 1], [2, 1, 0]], reject=0.4, labels=["ant", "bee", "cow"])
ACTIONS = Actions({"no": {"ant": 0.0, "bee": 5.0}, "yes": {"ant": 1.0, "bee": 0.0}, "ask": 0.3})
NEVER = Actions({"no": {"ant": 0.0, "bee": 5.0}, "yes": {"ant": 1.0, "bee": 0.0}})
KERNELS = ("linear", "rbf", "laplacian", "poly", "sigmoid")
GRID = {"Cs": [1.0], "gammas": [0.3], "cv": 2}


def kernels(kind, *args, **settings):
    return {f"{kind.__name__} {kernel}": kind(*args, kernel=kernel, **settings) for kernel in KERNELS}


def named(mark, models):
    return {f"{name}, {mark}": model for name, model in models.items()}


TWO = {
    **named("no costs", kernels(RejectSVC)),
    **named("costs", kernels(RejectSVC, ASYMMETRIC)),
    **named("actions", kernels(RejectSVC, ACTIONS)),
    **kernels(EmbeddedRejectSVC, 0.2),
    "actions without a reject": RejectSVC(NEVER),
    "linear": LinearRejectSVC(ASYMMETRIC),
    "linear, no costs": LinearRejectSVC(),
    "linear, low rank": LinearRejectSVC(ASYMMETRIC, kernel="rbf", n_components=20),
    "tuned": RejectSVCCV(ASYMMETRIC, **GRID),
    "bayes": RejectSVCCV(ASYMMETRIC, cuts="bayes", **GRID),
    "tuned actions": RejectSVCCV(ACTIONS, **GRID),
    "tuned linear": LinearRejectSVCCV(ASYMMETRIC, Cs=[1.0], cv=2),
    "rejector": ThresholdRejector(RejectSVC(kernel="linear"), ASYMMETRIC),
    "rejector of logistic": ThresholdRejector(LogisticRegression(), reject_rate=0.2),
    "guarded": NoveltyRejector(RejectSVC(ASYMMETRIC), rate=0.05, random_state=0),
    "guarded linear": NoveltyRejector(LinearRejectSVC(ASYMMETRIC), rate=0.05, random_state=0),
    "guarded logistic": NoveltyRejector(LogisticRegression(), rate=0.05, random_state=0),
    "idle guard": NoveltyRejector(RejectSVC(kernel="poly"), random_state=0),
    "scaled": make_pipeline(StandardScaler(), RejectSVC(ASYMMETRIC)),
    "clipped": make_pipeline(MinMaxScaler(clip=True), RejectSVC(ASYMMETRIC)),
    "largest": make_pipeline(MaxAbsScaler(), RejectSVC(ASYMMETRIC)),
    **{f"of {norm} 1": make_pipeline(Normalizer(norm=norm), RejectSVC(ASYMMETRIC)) for norm in ("max", "l1", "l2")},
    "guarded Pipeline": NoveltyRejector(make_pipeline(StandardScaler(), RejectSVC(ACTIONS)), 0.05, random_state=0),
}
THREE = {
    **named("votes", kernels(RejectSVC)),
    **named("cuts", kernels(RejectSVC, COSTS)),
    **named("table", kernels(RejectSVC, TABLE)),
    **named("tuned", {name: RejectSVCCV(COSTS, kernel=name, **GRID) for name in ("linear", "rbf")}),
    "bayes": RejectSVCCV(COSTS, cuts="bayes", **GRID),
    "linear": LinearRejectSVC(COSTS),
    "tuned linear": LinearRejectSVCCV(COSTS, Cs=[1.0], cv=2),
    "rejector": ThresholdRejector(RejectSVC(kernel="linear"), reject_rate=0.2),
    "rejector of logistic": ThresholdRejector(LogisticRegression(), reject_rate=0.2),
    "by class": ThresholdRejector(LogisticRegression(), class_error=0.1, random_state=0),
    "guarded": NoveltyRejector(RejectSVC(COSTS), rate=0.05, random_state=0),
    "guarded votes": NoveltyRejector(RejectSVC(kernel="linear"), rate=0.05, random_state=0),
    "scaled": make_pipeline(StandardScaler(), RejectSVC(COSTS)),
}
CASES = [(number, name) for number, models in ((2, TWO), (3, THREE)) for name in models]
VALUES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 1e103, 5e-324, -5e-324)
LARGE = 1e307  # times a weight above 17 it overflows


@cache
def data(classes):
    X, y = make_blobs(180, 3, centers=classes, cluster_std=3.0, random_state=0)
    return X, np.array(["ant", "bee", "cow"])[y]


def hostile():
    """Each value in one place, in two and in all."""
    base = data(2)[0][:1]
    rows = [np.where(np.arange(3) < count, value, base[0]) for value in VALUES for count in (1, 2, 3)]
    return np.array([*rows, [1e308, -1e308, 0.0], [np.inf, -np.inf, 0.0], [np.nan, np.inf, 1e308], base[0]])


def run(graph, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["label", "score", "rejected"], feeds)


def in_python(model, row):
    """Label and reject of one row; None if Python raises an error for it."""
    with np.errstate(all="ignore"):
        try:
            found = decide(model, row[np.newaxis])
        except ValueError:
            return None
    assert np.isfinite(found.score).all()
    return found.label[0], bool(found.rejected[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:rate=0.01 needs")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn's own sums at 1e308
@pytest.mark.parametrize("case", quick(CASES, *CASES[::2]), ids=lambda case: f"{case[1]} ({case[0]})")
def test_the_graph_rejects_what_python_refuses(case):
    classes, name = case
    model = {2: TWO, 3: THREE}[classes][name].fit(*data(classes))
    graph, rows = to_onnx(model), hostile()
    label, score, rejected = run(graph, {"X": rows})
    refused = 0
    for row, its_label, its_score, is_rejected in zip(rows, label, score, rejected, strict=True):
        expected = in_python(model, row)
        if np.isfinite(row).all() and np.abs(row).max() >= LARGE and (expected is None) != np.isnan(its_score).all():
            # a sum overflows in one order of its terms and not in another: one of the two refuses
            assert is_rejected or expected is None, row
        elif expected is None:
            refused += 1
            assert is_rejected, row
            assert np.isnan(its_score).all(), row
            assert its_label not in ("ant", "bee", "cow", "yes") or "without a reject" in name, row
        else:
            assert (its_label, bool(is_rejected)) == expected, row
    assert refused >= 11, "NaN and infinity, at least"
    assert refused < len(rows), "ordinary rows are decided"
    label, score, rejected = run(graph, {"X": np.empty((0, 3))})
    assert label.shape == rejected.shape == (0,)
    assert score.shape == ((0,) if classes == 2 else (0, 3))


def test_probabilities_that_overflow_are_a_reject():
    """Finite scores whose log-odds are not: the least of costs that are nan would be the first class."""
    rule = RejectSVCCV(COSTS, **GRID).fit(*data(3)).rule_
    steep = replace(rule, readout=replace(rule.readout, lead=replace(rule.readout.lead, scale=1e10)))
    score = np.array([[1e308, 1e308, 1e308], [3.0, -3.0, -3.0]])
    graph = Graph()
    scores = graph.input("X", "f", 3, "scores")
    label, rejected, kind = decision_nodes(steep, scores)
    graph.output("label", kind, label)
    graph.output("rejected", "b", rejected)
    graph.output("score", "f", scores, 3)
    label, _, rejected = run(graph.model("0", "test"), {"X": score})
    with np.errstate(all="ignore"):
        assert steep.predict(score).tolist() == label.tolist() == ["reject", "ant"]
    assert rejected.tolist() == [True, False]


@pytest.mark.parametrize(
    ("classes", "reject"),
    [((0, 1), -1), ((-1, 1), 0), ((2.0, 4.0), -1.0), (("a", "b"), "reject"), ((False, True), False),
     (("reject", "use"), "reject"), ((-(2**63), 1), -(2**63))],
    ids=str,
)  # fmt: skip
def test_a_machine_without_costs_has_a_label_for_them(classes, reject):
    """Booleans and the least integer leave no room for another label: then it is the first class, and rejected."""
    X, y = data(2)
    graph = to_onnx(RejectSVC().fit(X, np.array(classes)[(y == "bee").astype(int)]))
    label, score, rejected = run(graph, {"X": np.array([[np.nan, 0.0, 0.0], X[0]])})
    assert label[0] == reject
    assert rejected.tolist() == [True, False]
    assert np.isnan(score).tolist() == [True, False]


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OneHotEncoder(drop="first"), OrdinalEncoder()], ids=repr)
@pytest.mark.parametrize("kind", [float, object], ids=["numbers", "texts"])
def test_a_category_that_python_refuses_is_rejected(encoder, kind):
    codes = np.tile([0, 1, 2], 40)
    known = np.array([1.0, 2.0, 7.0]) if kind is float else np.array(["x", "y", "z"], dtype=object)
    X = known[codes][:, np.newaxis]
    model = make_pipeline(encoder, RejectSVC(Costs(reject=0.2))).fit(X, codes == 1)
    others = (9.0, np.nan, np.inf) if kind is float else ("never seen", "")
    new = np.array([*known, *others], dtype=kind)[:, np.newaxis]
    graph = to_onnx(model)
    label, _, rejected = run(graph, {graph.graph.input[0].name: new})
    assert label[:3].tolist() == model.predict(X[:3]).tolist()
    assert not rejected[:3].all()
    for row, is_rejected in zip(new[3:], rejected[3:], strict=True):
        with pytest.raises(ValueError, match=r"unknown categories|infinity|missing"):
            model.predict(row[np.newaxis])
        assert is_rejected
