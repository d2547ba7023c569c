"""Graphs of NoveltyRejectors decide as Python does, with the same p-values, on usual rows and on novel ones."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import onnxruntime
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from abstain import (
    Actions,
    Costs,
    LinearRejectSVC,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    ThresholdRejector,
    decide,
    to_onnx,
)
from abstain.estimators.novelty.guard import TIED
from abstain.files.onnx import check as onnx_check
from abstain.preprocessing import default_pipeline
from onnx_cases import CATEGORICAL, NUMERIC, features, table

COSTS = Costs(1, 2, 0.3)
OUTPUTS = ["label", "score", "rejected", "novel", "p_value"]
ACTIONS = Actions({"treat": {0: 1.0, 1: 0.0}, "send home": {0: 0.0, 1: 3.0}, "ask": 0.3})
SCALED = [StandardScaler(), RejectSVC(COSTS)]
MODELS = {
    "machine": RejectSVC(COSTS, gamma=1e-6),
    "steps": make_pipeline(*SCALED),
    "linear": make_pipeline(StandardScaler(), LinearRejectSVC(COSTS)),
    "actions": make_pipeline(StandardScaler(), RejectSVC(ACTIONS)),
    "no costs": make_pipeline(StandardScaler(), RejectSVC()),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "rejector": make_pipeline(StandardScaler(), ThresholdRejector(RejectSVC(), COSTS)),
    "rejector, steps": ThresholdRejector(make_pipeline(StandardScaler(), LogisticRegression()), reject_rate=0.1),
}


@cache
def patients():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def run(graph, feeds):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(OUTPUTS, feeds)


def assert_alike(model, graph, X, feeds):
    """Decisions, reasons and p-values are those of Python; the novel rows are returned."""
    label, score, rejected, novel, p_value = run(graph, feeds)
    found, guarded = decide(model, X), model[-1] if hasattr(model, "steps") else model
    assert label.tolist() == found.label.tolist()
    assert rejected.tolist() == found.rejected.tolist()
    assert novel.tolist() == (found.reason == "novel").tolist()
    rows = model[:-1].transform(X) if hasattr(model, "steps") else X
    assert p_value.tolist() == guarded.novelty(rows).tolist()
    size = 1.0 + np.abs(found.score)
    np.testing.assert_array_less(np.abs(score - found.score) / size, 1e-10)
    return novel


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_decides_as_python_does(name):
    X, y = patients()
    model = NoveltyRejector(MODELS[name], rate=0.05, random_state=0).fit(X[:400], y[:400])
    graph = to_onnx(model)
    assert [one.name for one in graph.graph.output] == OUTPUTS
    noisy = X * np.random.default_rng(0).uniform(0.9, 1.1, X.shape)
    for rows in (X, noisy):  # calibration rows too: their scores are ties
        novel = assert_alike(model, graph, rows, {"X": rows})
        assert 0 < novel.sum() < len(rows)
    assert assert_alike(model, graph, 10 * X, {"X": 10 * X}).all()


def test_no_decision_of_20_000_rows_changes():
    X, y = features()
    model = NoveltyRejector(RejectSVC(COSTS), rate=0.05, random_state=0).fit(X[:300], y[:300])
    novel = assert_alike(model, to_onnx(model), X[:20_000], {"X": X[:20_000]})
    assert 0.01 < novel.mean() < 0.2


def test_a_table_with_gaps_and_categories():
    X, y = table()
    columns = {"age": "novel", "dose": "p_value"}  # names of outputs
    X, numeric = X.rename(columns=columns), [columns.get(name, name) for name in NUMERIC]
    model = NoveltyRejector(default_pipeline(RejectSVC(COSTS), numeric, CATEGORICAL), rate=0.05, random_state=0)
    model.fit(X[:300], y[:300])
    graph = to_onnx(model)
    assert [one.name for one in graph.graph.input] == ["column:novel", "column:p_value", "weight", "city"]
    new = X[300:3300]
    new = new.assign(weight=np.where(np.arange(3000) % 2, 1e4, new["weight"]))
    feeds = {one: new[[one.removeprefix("column:")]].to_numpy(dtype=np.float64)
             for one in ("column:novel", "column:p_value", "weight")}  # fmt: skip
    feeds["city"] = new[["city"]].fillna("").to_numpy(dtype=object)
    novel = assert_alike(model, graph, new, feeds)
    assert novel[1::2].all()
    assert novel[::2].mean() < 0.2


def test_a_column_may_be_called_novel_where_there_is_no_guard():
    X, y = table()
    model = default_pipeline(RejectSVC(COSTS), ["novel"], []).fit(X[:300].rename(columns={"age": "novel"}), y[:300])
    assert [one.name for one in to_onnx(model).graph.input] == ["novel"]


def test_several_classes_and_a_guard_at_the_end_of_a_pipeline():
    X, y = load_wine(return_X_y=True)
    guard = NoveltyRejector(make_pipeline(StandardScaler(), RejectSVC()), rate=0.05, random_state=0)
    for model in (guard, make_pipeline(StandardScaler(), guard)):
        model.fit(X, np.array(["a", "b", "c"])[y])
        graph = to_onnx(model)
        mixed = np.random.default_rng(0).permuted(X, axis=0)
        assert 0 < assert_alike(model, graph, mixed, {"X": mixed}).sum() < len(X)
        assert assert_alike(model, graph, 10 * X, {"X": 10 * X}).all()


def test_columns_with_and_without_a_logarithm_on_both_sides_of_the_origin():
    """Rows at 0, below it and just above, where the logarithm is continued by a line."""
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), rate=0.05, random_state=0).fit(X[:400], y[:400])
    logged = model.guard_.detector.columns_.floor > 0.0
    assert 0 < logged.sum() < 30  # the others have zeros
    rng = np.random.default_rng(0)
    for at in (logged, ~logged, logged | True):
        rows = np.where(at & (rng.uniform(size=X.shape) < 0.03), X * rng.choice([-1.0, 0.0, 0.01, 0.3], X.shape), X)
        assert 0 < assert_alike(model, to_onnx(model), rows, {"X": rows}).sum() < len(rows)


def test_rows_that_python_cannot_score_are_novel():
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), rate=0.05, random_state=0).fit(X[:400], y[:400])
    far = np.vstack([X[:1] * 1e39, X[:1] * 1e200, -X[:1] * 1e300])
    assert assert_alike(model, to_onnx(model), far, {"X": far}).all()


@pytest.mark.filterwarnings("ignore:rate=0.01 needs 99 calibration rows")
def test_a_guard_that_cannot_act_rejects_nothing():
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), random_state=0).fit(X[:100], y[:100])
    assert not assert_alike(model, to_onnx(model), 10 * X, {"X": 10 * X}).any()


@pytest.mark.filterwarnings("ignore:no machine separates")
@pytest.mark.parametrize("detector", [OneClassSVM(nu=0.2), OneClassSVM(kernel="linear")], ids=repr)
def test_a_machine_of_one_class_that_was_asked_for(detector):
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), 0.05, detector, random_state=0).fit(X[:400], y[:400])
    assert 0 < assert_alike(model, to_onnx(model), X, {"X": X}).sum() < len(X)


def test_sparse_rows():
    X, y = patients()
    model = NoveltyRejector(RejectSVC(COSTS, gamma=1e-6), rate=0.05, random_state=0).fit(sparse.csr_array(X), y)
    label, _, _, novel, _ = run(to_onnx(model), {"X": X})
    found = model.decide(sparse.csr_array(X))
    assert label.tolist() == found.label.tolist()
    assert novel.tolist() == (found.reason == "novel").tolist()


def test_no_rows_have_no_answers():
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), rate=0.05, random_state=0).fit(X[:400], y[:400])
    assert [len(one) for one in run(to_onnx(model), {"X": X[:0]})] == [0] * 5


def test_a_graph_of_another_guard_is_not_returned():
    """The control of the comparison: other calibration scores, another rate and another detector are all noticed."""
    X, y = patients()
    model = NoveltyRejector(RejectSVC(COSTS, gamma=1e-6), rate=0.05, random_state=0).fit(X[:400], y[:400])
    graph, now = to_onnx(model), model._fitted_
    onnx_check.compare(graph, model)
    other = copy.deepcopy(now.guard.detector)
    other._fitted_.columns.centre[:] += other._fitted_.columns.spread
    scores = now.guard.scores * (1.0 - 1e-4)
    for change in ({"scores": scores}, {"rate": 0.5}, {"detector": other}):
        changed = copy.copy(model)
        changed._fitted_ = replace(now, guard=replace(now.guard, **change))
        with pytest.raises(RuntimeError, match="differ from Python's"):
            onnx_check.compare(graph, changed)


def test_calibration_rows_are_ties_that_rounding_would_break():
    """The control of `TIED`: without it the p-value of some calibration row would differ by 1 / (m + 1)."""
    X, y = patients()
    model = NoveltyRejector(make_pipeline(*SCALED), rate=0.05, random_state=0).fit(X[:400], y[:400])
    exact = copy.copy(model)
    now = model._fitted_
    exact._fitted_ = replace(now, guard=replace(now.guard, scores=now.guard.scores / (1.0 + TIED)))  # cancels it
    p_value = run(to_onnx(exact), {"X": X})[-1]
    assert (p_value != model.novelty(X)).any()
    assert p_value.tolist() != run(to_onnx(model), {"X": X})[-1].tolist()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NoveltyRejector(RejectSVC(COSTS), 0.05, IsolationForest(n_estimators=5)), "has a IsolationForest as detector"),
        (NoveltyRejector(RejectSVC(COSTS), 0.05, OneClassSVM(kernel=np.dot)), "a callable kernel has no ONNX graph"),
        (NoveltyRejector(HistGradientBoostingClassifier(max_iter=2), 0.05), "a NoveltyRejector around a HistGradient"),
        (OneClassSVM(), r"is a OneClassSVM, .* put it in front of a classifier, NoveltyRejector\(classifier"),
        (make_pipeline(StandardScaler(), OneClassSVM()), "is a OneClassSVM, which decides on no classes"),
    ],
    ids=["forest", "callable", "boosting", "one class", "one class after steps"],
)
def test_what_has_no_graph_is_refused(model, message):
    X, y = patients()
    if getattr(getattr(model, "detector", None), "kernel", None) is np.dot:
        model.detector.kernel = lambda first, second: first @ second.T
    with pytest.raises(ValueError, match=message):
        to_onnx(model.fit(X[:100], y[:100]))


def test_categories_that_only_the_classifier_knows_are_refused():
    rng = np.random.default_rng(0)
    X = rng.choice(["a", "b"], (200, 1)).astype(object)
    X[7] = "rare"
    y = np.where((X[:, 0] == "a") ^ (rng.uniform(size=200) < 0.2), 1, 0)

    def graph(seed):
        model = NoveltyRejector(make_pipeline(OneHotEncoder(), RejectSVC(COSTS)), 0.05, refit=True, random_state=seed)
        model.fit(X, y)
        known = "rare" in model.guard_.detector[0].categories_[0]
        if known:
            return to_onnx(model)
        with pytest.raises(ValueError, match=r"does not know all categories of the classifier's, .*='ignore'"):
            to_onnx(model)
        return None

    made = [graph(seed) for seed in range(5)]
    assert 0 < sum(one is None for one in made) < 5
