"""Pairs of classes solved together: as each by itself, whatever the threads, and with true certificates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC

from abstain import Costs, RejectSVC
from abstain.dual.certificate import certify
from abstain.estimators.fitting import pair_fit, posing
from abstain.estimators.fitting.kernel_fit import posed_tasks
from abstain.estimators.fitting.training import Training
from abstain.machines.kernel_machine import class_pairs, gram_values, kernel_bytes
from abstain.solvers.native import SMO


@pytest.fixture(scope="module")
def data():
    """Three classes of about 700 rows, so that a pair is beyond the exact method, and one of 60, so that one is not."""
    rng = np.random.default_rng(1)
    y = rng.choice(4, size=2160, p=[700 / 2160] * 3 + [60 / 2160])
    return np.array([[0, 0], [1.5, 0], [0, 1.5], [2, 2]])[y] + rng.standard_normal((2160, 2)), y


@pytest.mark.parametrize("C", [1.0, 20.0])
def test_each_machine_is_optimal_by_its_own_problem(data, C):
    X, y = data
    model = RejectSVC(C=C).fit(X, y)
    training = Training.of(model, X, y, None, validator=model)
    machine = model.machine_
    beta = np.zeros((len(machine.bias), len(y)))
    beta[:, machine.support] = machine.coef.toarray()
    whole = training.posed(C, "scale")
    for (i, j), own, bias, proof in zip(class_pairs(4), beta, machine.bias, model.proofs_, strict=True):
        posed = pair_fit.posed_pair(whole, np.flatnonzero(y == i), np.flatnonzero(y == j))
        outside = np.ones(len(y), dtype=bool)
        outside[posed.kept] = False
        assert not own[outside].any()
        certificate = certify(posed.problem, own[posed.kept], bias)
        assert certificate.relative_gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-12)
        assert certificate.kkt_violation <= 3e-3
        assert proof.status == "optimal"


def test_labels_are_those_of_svc_and_of_pairs_solved_apart(data, monkeypatch):
    X, y = data
    together = RejectSVC(tol=1e-5).fit(X, y)
    np.testing.assert_array_equal(together.predict(X), SVC(tol=1e-5).fit(X, y).predict(X))
    monkeypatch.setattr(pair_fit, "can_share_values", lambda *_: False)
    apart = RejectSVC(tol=1e-5).fit(X, y)
    np.testing.assert_array_equal(together.predict(X), apart.predict(X))
    assert together.objective_ == pytest.approx(apart.objective_, rel=1e-6)


def test_threads_do_not_change_a_bit(data):
    one, two = (RejectSVC(n_jobs=jobs).fit(*data) for jobs in (1, 2))
    np.testing.assert_array_equal(one.machine_.coef.toarray(), two.machine_.coef.toarray())
    np.testing.assert_array_equal(one.machine_.bias, two.machine_.bias)


def test_what_is_not_proven_is_certified_by_itself(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(pair_fit, "_proven", lambda known, *_: np.arange(len(known.primal)) % 2 == 0)
    model = RejectSVC().fit(X, y)
    assert model.status_ == "optimal"
    monkeypatch.undo()
    np.testing.assert_array_equal(model.predict(X), RejectSVC().fit(X, y).predict(X))


LIMITS = [({"max_iter": 20}, "iteration_limit"), ({"time_limit": 1e-9}, "time_limit")]


@pytest.mark.parametrize(("limit", "status"), LIMITS)
def test_limits_show_in_every_status(data, limit, status):
    with pytest.warns(Warning, match="stopped after"):
        model = RejectSVC(**limit).fit(*data)
    assert {proof.status for proof in model.proofs_} == {status}


def test_in_several_calls_as_in_one(data, monkeypatch):
    X, y = data
    one = RejectSVC().fit(X, y)
    monkeypatch.setattr(pair_fit, "TOGETHER", 1500)
    np.testing.assert_array_equal(RejectSVC().fit(X, y).machine_.bias, one.machine_.bias)


@pytest.fixture(scope="module")
def small():
    """Four classes of about 60 rows with some zeros."""
    rng = np.random.default_rng(2)
    y = rng.integers(4, size=240)
    X = np.eye(4)[y] @ rng.standard_normal((4, 30)) + rng.standard_normal((240, 30))
    return np.where(np.abs(X) > 1.0, X, 0.0), y


def cache(n_rows):
    """Megabytes that all kernel values of so many rows take."""
    return kernel_bytes(n_rows) / 1e6


@pytest.fixture
def read(monkeypatch):
    """How each call of the solver got kernel values: made first, given, or neither."""
    found, solve = [], SMO.solve_parts

    def watched(self, parts):
        found.append((parts.values_first, parts.gram is not None))
        return solve(self, parts)

    monkeypatch.setattr(SMO, "solve_parts", watched)
    return found


@pytest.mark.parametrize("costs", [None, Costs(reject=0.3)])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_shared_kernel_values_have_the_machines_of_each_alone(small, costs, layout, read):
    X, y = layout(small[0]), small[1]
    dense = layout is np.asarray
    least = sum(map(cache, np.bincount(y))) if dense and costs is None else cache(240)
    shared = RejectSVC(costs, tol=1e-6, cache_size=1.001 * least).fit(X, y)
    assert read == [(dense, not dense)]
    apart = RejectSVC(costs, tol=1e-6, cache_size=0.999 * least).fit(X, y)  # the values would be too many
    assert all(how == (False, False) for how in read[1:])
    np.testing.assert_allclose(shared.decision_function(X), apart.decision_function(X), atol=1e-4)
    for one, other in zip(shared.proofs_, apart.proofs_, strict=True):
        assert one.status == other.status == "optimal"
        assert one.objective == pytest.approx(other.objective, rel=1e-5)
    if costs is None:
        np.testing.assert_array_equal(shared.predict(X), SVC(tol=1e-6).fit(X, y).predict(X))
    else:
        np.testing.assert_array_equal(shared.sets_, apart.sets_)


@pytest.mark.parametrize("costs", [None, Costs(reject=0.3)])
def test_sums_of_wrong_kernel_values_prove_nothing(small, costs, monkeypatch):
    X, y = small
    right, solve = RejectSVC(costs).fit(X, y), SMO.solve_parts

    def spoilt(self, parts):
        answers = solve(self, parts)
        return replace(answers, expansion=1.001 * answers.expansion)

    monkeypatch.setattr(SMO, "solve_parts", spoilt)
    found = RejectSVC(costs).fit(X, y)
    for one, other in zip(found.proofs_, right.proofs_, strict=True):
        assert one.status == "optimal"
        assert one.objective == pytest.approx(other.objective, rel=1e-3)
    np.testing.assert_allclose(found.decision_function(X), right.decision_function(X), atol=1e-2)
    monkeypatch.setattr(posing, "SAME", 1.0)  # control: they would be believed
    believed = [proof.objective for proof in RejectSVC(costs, tol=10.0).fit(X, y).proofs_]
    assert max(abs(a - b.objective) / b.objective for a, b in zip(believed, right.proofs_, strict=True)) > 1e-4


def test_each_class_is_optimal_by_its_own_problem(small, monkeypatch):
    X, y = small
    model = RejectSVC(Costs(reject=0.3)).fit(X, y)
    training = Training.of(model, X, y, None, validator=model)
    tasks = posed_tasks(training, training.posed(1.0, "scale"), 1.0)
    for k, (posed, proof) in enumerate(zip(tasks, model.proofs_, strict=True)):
        beta = np.zeros(len(y))
        beta[model.support_] = model.dual_coef_[k]
        certificate = certify(posed.problem, beta, model.intercept_[k])
        assert certificate.relative_gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-12)
        np.testing.assert_array_equal(model.sets_[k], posed.problem.sets(beta))
    monkeypatch.setattr(pair_fit, "_proven", lambda known, *_: np.arange(len(known.primal)) % 2 == 0)
    again = RejectSVC(Costs(reject=0.3)).fit(X, y)  # those of odd classes are certified by themselves
    assert again.status_ == "optimal"
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-6)


def test_solver_and_certificate_share_the_kernel_values_of_few_wide_rows(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((150, 120)), rng.integers(2, size=150)
    made = []
    monkeypatch.setattr(posing, "gram_values", lambda *given: made.append(given) or gram_values(*given))
    shared, apart = (RejectSVC(C=5, cache_size=size).fit(X, y) for size in (cache(150), 0.99 * cache(150)))
    assert len(made) == 1
    scores = apart.decision_function(X)
    np.testing.assert_allclose(shared.decision_function(X), scores, atol=1e-9)
    assert max(shared.duality_gap_, apart.duality_gap_) < 1e-9
    monkeypatch.setattr(posing, "gram_values", lambda *given: 1.1 * gram_values(*given))
    np.testing.assert_array_equal(RejectSVC(C=5).fit(X, y).decision_function(X), scores)
    monkeypatch.setattr(posing, "SAME", 1.0)  # control: wrong values would be used
    assert np.abs(RejectSVC(C=5).fit(X, y).decision_function(X) - scores).max() > 1e-3
