"""ONNX graphs of several classes and of actions decide as Python does, also where two classes tie."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils.multiclass import _ovr_decision_function

from abstain import Actions, Costs, RejectSVC, RejectSVCCV, ThresholdRejector, to_onnx
from abstain.files.onnx import check as onnx_check
from abstain.files.onnx.graph import Graph
from abstain.files.onnx.rules import decision_nodes
from abstain.files.onnx.scores import _ovr_values
from abstain.labels import Labels
from abstain.preprocessing import default_pipeline
from abstain.rules.class_deciders import Cheapest, Confidence, Margins, Sets
from abstain.rules.readouts import Ladders, Softmax, Unknown
from abstain.rules.rule import Rule, bayes_rule
from abstain.rules.tuning.sigmoid import Lead
from action_cases import CREDIT, with_crossings
from class_cases import ANSWERS, GENERAL, table_costs
from files.onnx_tables import CODES, NAMED, NEW, TRIAGE, X, Y
from looping import quick
from onnx_cases import run


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # sigmoid is not positive semidefinite
@pytest.mark.parametrize("kernel", quick(["linear", "rbf", "laplacian", "poly", "sigmoid"], "linear", "rbf"))
@pytest.mark.parametrize(
    "estimator",
    [
        RejectSVC(),
        RejectSVC(Costs(reject=0.3)),
        RejectSVC(NAMED),
        RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3], cv=2),
        RejectSVCCV(NAMED, Cs=[1.0], gammas=[0.3], cv=2),
        RejectSVC(TRIAGE),
        RejectSVCCV(TRIAGE, Cs=[1.0], gammas=[0.3], cv=2),
        ThresholdRejector(RejectSVC(), reject_rate=0.2),
        ThresholdRejector(RejectSVC(Costs(reject=0.5)), reject_rate={"ant": 0.1, "cow": 0.3}),
    ],
    ids=["votes", "cuts", "ladders", "tuned", "tuned by name", "actions", "tuned actions", "lead", "leads"],
)
def test_no_label_of_5000_rows_changes(estimator, kernel):
    rejector = isinstance(estimator, ThresholdRejector)
    clf = estimator.set_params(**{"estimator__kernel" if rejector else "kernel": kernel}).fit(X, Y)
    label, score, rejected = run(to_onnx(clf), {"X": NEW})
    found = clf.decide(NEW)
    assert label.tolist() == found.label.tolist()
    assert rejected.tolist() == found.rejected.tolist()
    assert rejected.any() == (rejector or clf.costs is not None)
    assert score.shape == (5000, 3)
    np.testing.assert_allclose(score, found.score, rtol=0, atol=1e-9)


def test_labels_without_costs_are_those_of_SVC():
    model = to_onnx(RejectSVC(gamma=0.3).fit(X, Y))
    assert run(model, {"X": NEW})[0].tolist() == SVC(gamma=0.3).fit(X, Y).predict(NEW).tolist()


def nodes(rule, scores):
    """Label and rejected by the nodes of a rule, with the scores as the input."""
    graph, columns = Graph(), np.atleast_2d(scores.T).T
    values = graph.input("X", "f", columns.shape[1], "scores")
    if scores.ndim == 1:
        values = values.apply("Squeeze", np.array([1]))
    label, rejected, kind = decision_nodes(rule, values)
    for name, type_, value in (("label", kind, label), ("rejected", "b", rejected)):
        graph.output(name, type_, value)
    graph.output("score", "f", values.apply("Identity"), None if scores.ndim == 1 else scores.shape[1])
    label, _, rejected = run(graph.model("0", "a rule"), {"X": columns})
    return label, rejected


NAMES = ["ant", "bee", "cow"]
LABELS = Labels.of(NAMES, rejects=True)
LADDERS = Ladders(np.array([[-1.0, -1.0, 1.0], [-1.0, 0.0, 0.0], [-3.0, 0.5, 1.0]]))
TIES = np.array(list(product([-3.0, -1.0, 0.0, 0.5, 1.0, np.nextafter(1.0, 2.0), 3.0, 9.0], repeat=3)))


def rule(costs, cuts=None, lead=None):
    decider = Cheapest() if cuts is None else Margins(cuts)
    return Rule(costs.labels_of(NAMES, rejects=True), costs, replace(LADDERS, lead=lead), decider)


EVEN = Costs.from_matrix(1 - np.eye(3), labels=["ant", "bee", "cow"], reject=0.25)
BY_ANSWER = Costs.from_matrix(ANSWERS, labels=["ant", "bee", "cow"], reject=0.25)


@pytest.mark.parametrize(
    "rule",
    [
        rule(EVEN, np.ones(3)),
        rule(EVEN, np.array([1.0, 0.5, 0.0])),
        rule(BY_ANSWER, np.array([-1.0, 0.5, 1.0])),  # often several classes pass
        rule(EVEN),
        rule(EVEN, lead=Lead(5.0)),
        rule(EVEN, lead=Lead(5.0, 0.5, -0.3)),
        rule(TRIAGE),
        rule(TRIAGE, lead=Lead(5.0)),
        replace(rule(TRIAGE), readout=Softmax()),
        Rule(LABELS, None, Unknown(), Confidence(np.array([0.5, 1.0, 0.0]))),
        Rule(LABELS, None, Softmax(), Confidence(np.array([1.0, np.inf, -np.inf]), by="highest")),
        Rule(LABELS, None, Unknown(), Sets(np.array([0.5, -1.0, 0.0]))),
    ],
    ids=[
        *("equal cuts", "other cuts", "errors by answer", "ladders", "softmax", "corrected", "actions"),
        *("actions, corrected", "actions of probabilities", "lead", "highest", "sets"),
    ],
)
def test_scores_that_tie_and_scores_on_a_cut(rule):
    label, rejected = nodes(rule, TIES)
    tied = onnx_check._tied(rule, TIES) & isinstance(rule.decider, Cheapest)  # costs that differ by rounding only
    assert tied.mean() < 0.4
    assert label[~tied].tolist() == rule.predict(TIES)[~tied].tolist()
    assert rejected[~tied].tolist() == rule.is_reject(rule.choose(TIES))[~tied].tolist()
    assert 0 < rejected.sum() < len(TIES)


def test_a_score_on_a_cut_is_rejected_and_a_tie_is_the_first_class():
    on, tie, third = np.array([1.0, 1.0, 0.0]), np.array([0.0, 2.0, 2.0]), np.array([0.0, 0.0, np.nextafter(1.0, 2.0)])
    label, rejected = nodes(rule(EVEN, np.ones(3)), np.array([on, tie, third]))
    assert label.tolist() == ["reject", "bee", "cow"]
    assert rejected.tolist() == [True, False, False]


def test_votes_and_their_ties_are_those_of_SVC():
    each = np.array(list(product([-2.0, -0.0, 0.0, 0.5, 2.0], repeat=3)))
    graph = Graph()
    score = _ovr_values(graph.input("X", "f", 3, "pairs"), 3)
    label, rejected, kind = decision_nodes(bayes_rule(None, LABELS), score)
    graph.output("label", kind, label)
    graph.output("score", "f", score, 3)
    graph.output("rejected", "b", rejected)
    label, score, rejected = run(graph.model("0", "votes"), {"X": each})
    # scikit-learn's own function takes the sign as a score above 0 for the second class
    expected = _ovr_decision_function(each < 0, -each, 3)
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-15)
    first, others = (each >= 0).astype(int), (each < 0).astype(int)  # of the pairs (0, 1), (0, 2), (1, 2)
    won = np.column_stack([first[:, 0] + first[:, 1], others[:, 0] + first[:, 2], others[:, 1] + others[:, 2]])
    assert label.tolist() == np.array(["ant", "bee", "cow"])[won.argmax(axis=1)].tolist()
    assert ((won == won.max(axis=1, keepdims=True)).sum(axis=1) == 3).any(), "three classes tie somewhere"
    assert not rejected.any()


@pytest.mark.parametrize("seed", range(3))
def test_actions_on_their_cuts(seed):
    actions = with_crossings([0.1, 0.4, 0.6, 0.95], np.random.default_rng(seed))
    found = bayes_rule(actions, actions.labels_of([0, 1], rejects=True))
    cuts = np.array(found.thresholds.cuts)
    score = np.concatenate([cuts, np.nextafter(cuts, -9), np.nextafter(cuts, 9), np.linspace(-9, 9, 50)])
    label, rejected = nodes(found, score)
    assert label.tolist() == found.predict(score).tolist()
    assert rejected.tolist() == found.is_reject(found.choose(score)).tolist()
    assert len(set(label.tolist())) == 5


def test_actions_of_a_machine_behind_a_pipeline():
    import pandas as pd

    frame = pd.DataFrame(X[CODES < 2], columns=["a", "b"])
    model = default_pipeline(RejectSVCCV(CREDIT, Cs=[1.0], gammas=[0.3], cv=2), ["a", "b"], [])
    model.fit(frame, np.array(["good", "bad"])[CODES[CODES < 2]])
    label, score, rejected = run(to_onnx(model), {"a": NEW[:, :1], "b": NEW[:, 1:]})
    new = pd.DataFrame(NEW, columns=["a", "b"])
    assert label.tolist() == model.predict(new).tolist()
    assert rejected.tolist() == np.isin(label, ["call", "visit"]).tolist()
    assert score.shape == (5000,)


@pytest.mark.parametrize("costs", [Costs(reject=0.3), NAMED, TRIAGE], ids=["even", "table", "actions"])
def test_a_machine_of_rows_with_costs_decides_by_these_costs(costs):
    """The graph has no input for the costs of a row: stated costs decide, and without them it is refused."""
    named = costs.named(LABELS)
    row_costs = named.table() * np.random.default_rng(0).uniform(0.5, 2.0, (len(X), 1, 1))
    clf = RejectSVC(costs).fit(X, Y, row_costs=row_costs)
    label, _, rejected = run(to_onnx(clf), {"X": NEW})
    assert label.tolist() == clf.predict(NEW).tolist()
    assert 0 < rejected.sum() < len(NEW)
    if costs.names is None:
        with pytest.raises(ValueError, match="a graph has no input for the costs of a row"):
            to_onnx(RejectSVC().fit(X, Y, row_costs=row_costs))


def test_actions_named_by_texts_and_numbers_are_refused():
    actions = Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3})
    with pytest.raises(ValueError, match="texts and numbers, and ONNX takes one type; use strings for all of them"):
        to_onnx(RejectSVC(actions).fit(X[CODES < 2], CODES[CODES < 2]))


@pytest.mark.parametrize("labels", [[3, 5, 9], [1.0, 2.0, 3.0]], ids=["integers", "floats"])
def test_labels_keep_their_kind(labels):
    y = np.array(labels)[CODES]
    clf = RejectSVC(Costs(reject=0.3)).fit(X, y)
    label, _, _ = run(to_onnx(clf), {"X": NEW})
    assert label.dtype == y.dtype
    assert label.tolist() == clf.predict(NEW).tolist()


def test_sparse_vectors_and_no_rows():
    model = to_onnx(RejectSVC(Costs(reject=0.3), gamma=0.3).fit(sparse.csr_array(X), Y))
    dense = RejectSVC(Costs(reject=0.3), gamma=0.3).fit(X, Y)
    assert run(model, {"X": NEW})[0].tolist() == dense.predict(NEW).tolist()
    label, score, rejected = run(model, {"X": np.empty((0, 2))})
    assert (label.shape, score.shape, rejected.shape) == ((0,), (0, 3), (0,))


@pytest.mark.parametrize("costs", [None, Costs(reject=0.3), table_costs(GENERAL, 0.6)], ids=["votes", "cuts", "costs"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_graph_that_disagrees_is_not_returned(costs, kernel):
    clf = RejectSVC(costs, kernel=kernel).fit(X, CODES)
    model, good = to_onnx(clf), clf._fitted_
    clf._fitted_ = replace(good, machine=replace(good.machine, bias=good.machine.bias + np.array([0.0, 1e-6, 0.0])))
    with pytest.raises(RuntimeError, match="differ from Python's: scores by up to"):
        onnx_check.compare(model, clf)
    if costs is not None:
        turned = replace(good.rule.labels, classes=np.array([0, 2, 1]))
        clf._fitted_ = replace(good, rule=replace(good.rule, labels=turned))
        with pytest.raises(RuntimeError, match="of 200 decisions; no graph is returned"):
            onnx_check.compare(model, clf)
