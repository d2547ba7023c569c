"""ONNX graphs decide as Python does, row by row: 100,000 rows, near the origin and far from it."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector, Thresholds, to_onnx
from abstain.files.onnx import check as onnx_check
from abstain.preprocessing import default_pipeline
from abstain.rules.deciders import Cuts
from looping import quick
from onnx_cases import CASES, judged, run

COSTS = Costs(1, 2, 0.3)


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(100_300, 4, n_informative=4, n_redundant=0, flip_y=0.2, class_sep=1.2, random_state=0)
    return X[:300], y[:300], X[300:]


# sigmoid is not positive semidefinite and poly is nearly flat far from the origin; their fits are compared all the same
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", quick(CASES, *(case for case in CASES if case.shift)), ids=str)
def test_no_label_of_100_000_rows_changes(case):
    found = judged(case)
    assert (found.labels_changed, found.rejects_changed) == (0, 0)
    assert found.worst <= (1e-5 if case.cancels else 1e-9)
    assert found.decisions == 3, "all three decisions are made, or the test says little"


def test_without_centring_labels_would_change(rows):
    """The control: the same graph without its subtraction of a centre gives other scores far from the origin."""
    X, y, new = rows
    clf = RejectSVC(COSTS, gamma=0.2).fit(X + 1e4, y)
    model = to_onnx(clf)
    near = run(model, {"X": new + 1e4})[1]
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    (sub,) = [node for node in model.graph.node if node.op_type == "Sub" and node.input[0] == "X"]
    gemm, _ = [node for node in model.graph.node if node.op_type == "Gemm"]  # the second sums over the vectors
    last = next(node for node in model.graph.node if node.op_type == "Min").input[0]
    (norms,) = [node.input[1] for node in model.graph.node if last in node.output]
    shifted = clf.support_vectors_ * np.sqrt(0.2)
    for name, value in (
        (sub.input[1], np.zeros(4)),
        (gemm.input[1], 2 * shifted),
        (norms, np.einsum("ij,ij->i", shifted, shifted)),
    ):
        tensors[name].CopyFrom(onnx.numpy_helper.from_array(value, name))
    assert np.abs(run(model, {"X": new + 1e4})[1] - near).max() > 1e-9


@pytest.mark.parametrize("costs", [None, COSTS], ids=["no costs", "costs"])
@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ((0, 1), np.int64),
        ((-1.0, 1.0), np.float64),
        (("</script>", "ünï"), object),
        ((False, True), None),
        ((2**62, 2**62 + 1), np.int64),
    ],
    ids=["integers", "floats", "texts", "booleans", "large"],
)
def test_labels_keep_their_kind(labels, dtype, costs, data):
    X, y = data
    clf = RejectSVC(costs, pos_label=labels[0]).fit(X, np.array(labels)[y])
    label, _, rejected = run(to_onnx(clf), {"X": X})
    assert label.dtype == (dtype or (bool if costs is None else np.int64))
    assert label.tolist() == clf.predict(X).tolist()
    assert rejected.dtype == bool
    assert rejected.tolist() == clf.reject_mask(X).tolist()
    assert rejected.any() == (costs is not None)


def altered(clf, thresholds=None, **values):
    """The classifier with other thresholds, or another machine."""
    rule = clf.rule_
    if thresholds is not None:
        rule = replace(rule, decider=Cuts.at(thresholds, rule.cut, rule.answers))
    clf._fitted_ = replace(clf._fitted_, rule=rule, machine=replace(clf.machine_, **values))
    return clf


@pytest.mark.parametrize("thresholds", [(-0.5, 1.0), (0.25, 0.25), (-np.inf, np.inf)])
def test_scores_exactly_on_a_threshold(thresholds):
    # f(x) = x, so that scores are chosen at will
    clf = RejectSVC(Costs(reject=0.2), kernel="linear").fit([[-1.0], [1.0]], [0, 1])
    clf = altered(clf, coef=np.array([-0.5, 0.5]), bias=0.0, thresholds=Thresholds(*thresholds))
    edges = [edge for edge in thresholds if np.isfinite(edge)]
    x = np.array([[s] for edge in [*edges, 0.0] for s in (np.nextafter(edge, -9), edge, np.nextafter(edge, 9))])
    assert clf.decision_function(x).tolist() == x[:, 0].tolist()
    label, score, rejected = run(to_onnx(clf), {"X": x})
    assert score.tolist() == x[:, 0].tolist()
    choice = Thresholds(*thresholds).decide(x[:, 0])
    assert label.tolist() == np.array([0, -1, 1])[choice + 1].tolist()
    assert rejected.tolist() == (choice == 0).tolist()


def test_sparse_support_vectors_and_a_search(data):
    X, y = data
    clf = RejectSVCCV(COSTS, Cs=2, gammas=2, cv=2).fit(sparse.csr_array(X), y)
    label, score, _ = run(to_onnx(clf), {"X": X})
    assert label.tolist() == clf.predict(X).tolist()
    np.testing.assert_allclose(score, clf.decision_function(X), rtol=0, atol=1e-10)


def feeds(frame, numeric, categorical):
    names = {"score": "column:score"}
    numbers = {names.get(name, name): frame[[name]].to_numpy(dtype=np.float64) for name in numeric}
    return numbers | {name: frame[[name]].astype(object).fillna("").to_numpy(dtype=object) for name in categorical}


@pytest.mark.parametrize("parts", [(["age", "score"], ["city"]), (["score"], []), ([], ["city"])])
def test_pipelines(parts, table):
    X, y = table
    model = default_pipeline(RejectSVC(Costs(1, 2, 0.3)), *parts).fit(X, y)
    graph = to_onnx(model)
    new = pd.concat([X, X.assign(city="never seen", age=np.nan), X.assign(age=1e6)])
    label, score, rejected = run(graph, feeds(new, *parts))
    assert label.tolist() == model.predict(new).tolist()
    np.testing.assert_allclose(score, model.decision_function(new), rtol=0, atol=1e-10)
    assert rejected.tolist() == (model.predict(new) == "reject").tolist()


def test_a_pipeline_fitted_to_polars(table, polars):
    X, y = table
    model = default_pipeline(RejectSVC(), ["age", "score"], ["city"]).fit(polars.from_pandas(X), y)
    assert run(to_onnx(model), feeds(X, ["age", "score"], ["city"]))[0].tolist() == model.predict(X).tolist()


def test_a_graph_that_disagrees_is_not_returned(data, monkeypatch):
    clf = RejectSVC(COSTS).fit(*data)
    model = to_onnx(clf)
    onnx_check.compare(model, clf)
    altered(clf, bias=clf.machine_.bias + 1e-6)
    with pytest.raises(RuntimeError, match="differ from Python's: scores by up to 1e-06"):
        onnx_check.compare(model, clf)
    for other in (EmbeddedRejectSVC(0.2), EmbeddedRejectSVC(0.2, kernel="rbf"), ThresholdRejector(clf, COSTS)):
        model = to_onnx(other.fit(*data))
        altered(other, Thresholds(other.thresholds_.lower - 0.1, other.thresholds_.upper))
        with pytest.raises(RuntimeError, match="of 200 decisions; no graph is returned"):
            onnx_check.compare(model, other)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # not installed: nothing to compare with
    onnx_check.compare(model, clf)


def test_factors_are_not_rounded_to_float32(rows):
    """onnxruntime's own optimisations must not cost precision: with them and without, the scores agree."""
    X, y, new = rows
    model = to_onnx(RejectSVC(COSTS, gamma=0.3).fit(X, y))
    plain = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    optimised, unoptimised = (run(model, {"X": new[:1000]}, **s)[1] for s in ({}, {"graph_optimization_level": plain}))
    np.testing.assert_allclose(optimised, unoptimised, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LogisticRegression(), "estimator is a LogisticRegression, which has no ONNX graph here; use skl2onnx"),
        (
            RejectSVC(kernel=lambda X, Y: X @ Y.T),
            "a callable kernel has no ONNX graph; use linear, rbf, laplacian, poly",
        ),
        (EmbeddedRejectSVC(kernel=lambda X, Y: X @ Y.T), "a callable kernel has no ONNX graph; use linear, rbf"),
        (ThresholdRejector(SVC(), COSTS), "around a SVC, which has no ONNX graph here; use skl2onnx"),
        (ThresholdRejector(GaussianNB(), COSTS, method="chow"), "around a GaussianNB, which has no ONNX graph here"),
        (
            make_pipeline(PowerTransformer(), RejectSVC()),
            "has a PowerTransformer, which has no ONNX graph here; transform the rows before",
        ),
    ],
    ids=["other", "callable", "embedded callable", "rejector", "probabilities", "pipeline"],
)
def test_what_has_no_graph_is_refused(estimator, message, data):
    with pytest.raises(ValueError, match=message):
        to_onnx(estimator.fit(*data))


@pytest.mark.parametrize("kind", [RejectSVC, EmbeddedRejectSVC])
def test_a_precomputed_kernel_is_refused(kind, data):
    X, y = data
    with pytest.raises(ValueError, match="kernel='precomputed' has no ONNX graph; use linear, rbf"):
        to_onnx(kind(kernel="precomputed").fit(X @ X.T, y))


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(RejectSVC())


def test_without_onnx_the_error_says_what_to_install():
    script = (
        "import sys; sys.modules['onnx'] = None\n"
        "from abstain import RejectSVC, to_onnx\n"
        "try:\n    to_onnx(RejectSVC().fit([[0.], [1.]], [0, 1]))\n"
        "except ImportError as error:\n    print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == "to_onnx needs onnx; install it with: pip install 'abstain[onnx]'.\n"


@pytest.mark.parametrize("estimator", [RejectSVC(COSTS), RejectSVC(kernel="linear"), EmbeddedRejectSVC(0.2)], ids=repr)
def test_no_rows_have_no_answers(estimator, data):
    label, score, rejected = run(to_onnx(estimator.fit(*data)), {"X": np.empty((0, 3))})
    assert label.shape == score.shape == rejected.shape == (0,)


@pytest.mark.parametrize("estimator", [RejectSVC(kernel="linear"), EmbeddedRejectSVC(0.2)], ids=repr)
@pytest.mark.parametrize("positives", [1, 2, 5])
def test_features_that_say_nothing(estimator, positives):
    clf = estimator.fit(np.ones((6, 2)), np.arange(6) < positives)
    assert not clf.coef_.any()
    assert run(to_onnx(clf), {"X": np.ones((2, 2))})[1].tolist() == clf.decision_function(np.ones((2, 2))).tolist()


def test_a_machine_without_support_vectors():
    clf = EmbeddedRejectSVC(0.2, kernel="poly", gamma=1.0).fit(np.zeros((6, 2)), [0, 1] * 3)
    assert len(clf.support_) == 0
    assert run(to_onnx(clf), {"X": np.ones((2, 2))})[1].tolist() == clf.decision_function(np.ones((2, 2))).tolist()
