"""The laplacian kernel in every machine: the one of its Gram matrix, with a certificate that a judge confirms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics.pairwise import laplacian_kernel

import adversary_cases
from abstain import (
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    load,
    reject_price_sweep,
    reject_svc_path,
    save,
    to_onnx,
)
from abstain.dual.certificate import certify
from abstain.gammas import resolve_gamma
from adversary_controls import controls, judge
from looping import looped

COSTS = Costs(1, 3, 0.3)
GAMMA = 0.7


def called(A, B):
    return laplacian_kernel(A, B, gamma=GAMMA)


@pytest.fixture(scope="module")
def rows():
    return make_moons(160, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def words():
    """Sparse rows with both signs, few entries each, and one row without any."""
    X = csr_array(random_array((150, 400), density=0.03, format="csr", rng=np.random.default_rng(0)))
    X.data = np.where(X.indices % 3, X.data, -X.data)
    X = csr_array(np.vstack([X.toarray(), np.zeros((1, 400))]))
    y = np.asarray(X[:, :200].sum(axis=1) > X[:, 200:].sum(axis=1)).astype(int)
    return X, y


@pytest.mark.parametrize("kernel", [called, "precomputed"], ids=["callable", "precomputed"])
@pytest.mark.parametrize("solver", ["auto", "smo", "active-set"])
def test_it_is_the_machine_of_its_gram_matrix(kernel, solver, rows):
    X, y = rows
    new = X[:40] + 0.1
    named = RejectSVC(COSTS, kernel="laplacian", gamma=GAMMA, tol=1e-8, solver=solver).fit(X, y)
    gram = isinstance(kernel, str)
    other = RejectSVC(COSTS, kernel=kernel, tol=1e-8).fit(called(X, X) if gram else X, y)
    expected = other.decision_function(called(new, X) if gram else new)
    assert named.status_ == "optimal"
    np.testing.assert_allclose(named.decision_function(new), expected, atol=1e-7)
    # control: another kernel of the same gamma is another machine
    assert np.abs(RejectSVC(COSTS, gamma=GAMMA).fit(X, y).decision_function(new) - expected).max() > 0.1


@pytest.mark.parametrize("costs", [None, Costs(reject=0.2)], ids=["votes", "costs"])
def test_several_classes(costs, rows):
    X, y = rows
    y = y + 2 * (X[:, 0] > 0.5)
    named, other = (
        RejectSVC(costs, kernel=kernel, gamma=GAMMA, tol=1e-8).fit(X, y) for kernel in ("laplacian", called)
    )
    np.testing.assert_allclose(named.decision_function(X), other.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("costs", [None, COSTS])
def test_sparse_rows(costs, words):
    X, y = words
    sparse, dense = (RejectSVC(costs, kernel="laplacian", tol=1e-8).fit(rows, y) for rows in (X, X.toarray()))
    assert sparse.status_ == dense.status_ == "optimal"
    for new in (X, X.toarray()):
        np.testing.assert_allclose(sparse.decision_function(new), dense.decision_function(new), atol=1e-8)
    twice = X.copy()  # each entry as two halves
    twice = csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    np.testing.assert_array_equal(sparse.decision_function(twice), sparse.decision_function(X))
    again = RejectSVC(costs, kernel="laplacian", tol=1e-8).fit(twice, y)
    np.testing.assert_array_equal(again.dual_coef_, sparse.dual_coef_)


def test_single_precision_is_certified_in_double():
    X, y = make_classification(1500, 12, n_informative=8, flip_y=0.1, random_state=0)
    gamma = resolve_gamma("scale", X, kernel="laplacian")
    named = RejectSVC(COSTS, kernel="laplacian", C=3.0).fit(X, y)
    exact = RejectSVC(COSTS, kernel="precomputed", C=3.0, tol=1e-8).fit(laplacian_kernel(X, gamma=gamma), y)
    assert named.status_ == "optimal"
    assert abs(named.objective_ - exact.objective_) <= 2.0 * named.duality_gap_ * exact.objective_ + 1e-6


@looped(seed=range(40))
def test_random_problems_report_their_true_gap(seed):
    """The problems of the judge with another kernel: scales, offsets up to 1e7, duplicates, outliers, sparse rows."""
    case = adversary_cases.random_case(seed)
    if case.options["kernel"] == "precomputed":
        return
    case.options["kernel"] = "laplacian"
    case.options.pop("gamma", None)
    assert adversary_cases.check_fit(case).faults == []


def test_the_judge_has_teeth():
    case, machines = controls("laplacian")
    faulty = {name: bool(judge(case, clf).faults) for name, clf in machines.items()}
    assert not faulty.pop("unchanged")
    assert all(faulty.values()), faulty


def test_search_path_and_sweep(rows):
    X, y = rows
    search = RejectSVCCV(COSTS, kernel="laplacian", Cs=[1.0, 30.0], gammas=3, cv=3).fit(X, y)
    scale = resolve_gamma("scale", X, kernel="laplacian")
    np.testing.assert_allclose(np.unique(search.cv_results_["param_gamma"]), scale * np.array([1 / 16, 1, 16]))
    by_hand = RejectSVCCV(
        COSTS, kernel=lambda A, B: laplacian_kernel(A, B, gamma=search.gamma_), Cs=[1.0, 30.0], cv=3
    ).fit(X, y)
    assert by_hand.C_ == search.C_
    assert by_hand.best_score_ == pytest.approx(search.best_score_, abs=0.02)
    path = reject_svc_path(X, y, COSTS, kernel="laplacian", gamma=GAMMA, C_max=10)
    assert certify(path.problem_at(3.0), *path.at(3.0)).relative_gap < 1e-9
    fitted = RejectSVC(COSTS, kernel="laplacian", gamma=GAMMA, C=3.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(path.at(3.0)[0][fitted.support_], fitted.dual_coef_[0], atol=1e-5)
    sweep = reject_price_sweep(RejectSVC(COSTS, kernel="laplacian", gamma=GAMMA), X, y, [0.2, 0.3])
    assert len(sweep) == 2


def test_one_class(rows, words):
    X = rows[0]
    named, other = (OneClassSVM(kernel=kernel, gamma=GAMMA, nu=0.2).fit(X) for kernel in ("laplacian", called))
    assert named.status_ == "optimal"
    np.testing.assert_allclose(named.score_samples(X), other.score_samples(X), rtol=1e-7)
    sparse, dense = (OneClassSVM(kernel="laplacian", nu=0.2).fit(kind) for kind in (words[0], words[0].toarray()))
    np.testing.assert_allclose(sparse.score_samples(words[0]), dense.score_samples(words[0]), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_low_rank(kind, words):
    X, y = words
    low = LinearRejectSVC(COSTS, kernel="laplacian", n_components=151, random_state=0, tol=1e-7)
    low.fit(kind(X.toarray()), y)
    exact = RejectSVC(COSTS, kernel="laplacian", tol=1e-8).fit(X, y)
    assert low.status_ == "optimal"
    assert low.objective_ == pytest.approx(exact.objective_, rel=1e-5)


def test_embedded(rows):
    X, y = rows
    options = {"gamma": GAMMA, "n_starts": 2, "random_state": 0}
    named, other = (EmbeddedRejectSVC(0.2, kernel=kernel, **options).fit(X, y) for kernel in ("laplacian", called))
    assert named.objective_ == pytest.approx(other.objective_, rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_files_and_graphs(sparse, words, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = words
    X = X if sparse else X.toarray()[:, :40]
    for estimator in (
        RejectSVC(COSTS, kernel="laplacian"),
        RejectSVCCV(COSTS, kernel="laplacian", Cs=[1.0], gammas=["scale"], cv=2),
        LinearRejectSVC(COSTS, kernel="laplacian", n_components=20, random_state=0),
        NoveltyRejector(RejectSVC(COSTS, kernel="laplacian"), 0.1, OneClassSVM(kernel="laplacian"), random_state=0),
    ):
        fitted = estimator.fit(X, y)
        save(fitted, tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
        graph = to_onnx(loaded).SerializeToString()
        session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        rows = X.toarray() if sparse else X
        for some in (rows, rows[:1], rows[:0]):
            label, score = session.run(["label", "score"], {"X": some})
            assert len(label) == len(some)
        np.testing.assert_allclose(score, fitted.decision_function(rows)[:0], atol=1e-12)
        label, score = session.run(["label", "score"], {"X": rows})
        np.testing.assert_allclose(score, fitted.decision_function(rows), atol=1e-12)
        np.testing.assert_array_equal(label, fitted.predict(rows))
