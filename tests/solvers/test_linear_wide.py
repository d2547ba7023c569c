"""Linear machines by the Gram matrix and by coordinate descent: the optimum of a general solver, limits, interrupts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from abstain import Costs, LinearRejectSVC, LinearRejectSVCCV
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.proof import Status
from abstain.estimators.fitting.posing import centrable
from abstain.estimators.linear.linear_fit import fitted_machine, fitted_machines, linear_rows, row_centre, scattered
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers import linear_wide
from abstain.solvers.linear import LinearNewton
from abstain.solvers.linear_wide import WideRows
from linear_cases import LOSSES, NAMES, beside, optimum, posed


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("name", NAMES)
def test_all_solvers_find_the_optimum(name, loss, sparse):
    problem = posed(name, loss, sparse=sparse)
    rows, settings = WideRows(problem.X, problem.centre), LinearNewton(tol=1e-6)
    best = optimum(problem)
    for ways in (
        {"few": True, "one_by_one": False},
        {"few": False, "one_by_one": True},
        {"few": True, "one_by_one": True},
        {"few": False, "one_by_one": False, "steps_cost": 0.0},
        None,
    ):
        if ways is not None:
            vars(rows).update(ways)
        _, proof = (
            fitted_machine(problem, settings, None)
            if ways is None
            else fitted_machines(problem, settings, None, rows)[0]
        )
        assert proof.status == "optimal"
        assert proof.gap <= 1e-6
        assert best * (1 - 1e-5) <= proof.objective <= best * (1 + 1e-5) + 1e-12
        assert proof.dual_objective <= best * (1 + 1e-5) + 1e-12


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_gram_matrix_is_exact_and_descent_reaches_its_gap(sparse):
    problem = posed("wide", hinge(), sparse=sparse)
    rows = WideRows(problem.X, problem.centre)
    exact = rows.exact([problem], LinearNewton(), None)[0]
    machine = problem.machine(exact.point)
    assert problem.certify(machine, exact.gamma).relative_gap < 1e-10
    [found] = rows.descended(problem, LinearNewton(tol=1e-5))
    assert found.status is Status.OPTIMAL
    assert problem.certify(problem.machine(found.point), found.gamma).relative_gap <= 1.001e-5
    # from its own solution it has nothing to do
    [again] = rows.descended(problem, LinearNewton(tol=1e-5), (found.point[np.newaxis], found.gamma))
    assert again.iterations < found.iterations


@pytest.mark.parametrize("count", [2, 9, 11])  # one group of eight, and two
@pytest.mark.parametrize("name", ["wide", "duplicates", "zero rows", "weights 0", "single"])
def test_problems_side_by_side_have_their_own_optima(name, count):
    rng = np.random.default_rng(count)
    loss = double_hinge(Costs(1, 5, 0.3))
    first = posed(name, loss, sparse=True)
    ones = [
        replace(first, sign=np.where(rng.random(60) < 0.4, 1, -1).astype(np.int8), weight=first.weight * (1.0 + k))
        for k in range(count)
    ]
    rows, settings = WideRows(first.X, first.centre), LinearNewton(tol=1e-7)
    problem = beside(ones)
    found = rows.descended(problem, settings)
    assert len(found) == problem.count == count
    machine, gamma = problem.machine(np.stack([at.point for at in found])), np.concatenate([at.gamma for at in found])
    for k, (one, at, certificate) in enumerate(zip(ones, found, problem.certificates(machine, gamma), strict=True)):
        assert at.status is Status.OPTIMAL
        best = optimum(one)
        assert best * (1 - 1e-6) <= certificate.primal <= best * (1 + 1e-5)
        assert certificate.dual <= best * (1 + 1e-6)
        alone = one.certify(one.machine(at.point), at.gamma)  # the same certificate as that of one problem
        np.testing.assert_allclose((certificate.primal, certificate.dual), (alone.primal, alone.dual), rtol=1e-12)
        # control: the multipliers of another problem prove less
        other = one.certify(one.machine(at.point), found[k - 1].gamma)
        assert other.relative_gap > 10 * certificate.relative_gap


def test_a_start_is_taken_for_each_problem():
    problem = beside([posed("wide", hinge(), sparse=True)] * 3)
    rows = WideRows(problem.X, problem.centre)
    found = rows.descended(problem, LinearNewton(tol=1e-6))
    start = np.stack([at.point for at in found]), np.concatenate([at.gamma for at in found])
    again = rows.descended(problem, LinearNewton(tol=1e-6), start)
    assert max(at.iterations for at in again) < min(at.iterations for at in found)


def test_steps_over_rows_between_breakpoints_save_epochs():
    rng = np.random.default_rng(0)
    X = csr_array(random_array((300, 60), density=0.1, rng=rng, data_sampler=rng.standard_normal))
    y = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    problem = LinearProblem(X, row_centre(X), y, np.full(300, 10.0), hinge())
    [found] = WideRows(X, problem.centre).descended(problem, LinearNewton(tol=1e-4))
    assert found.status is Status.OPTIMAL
    assert problem.certify(problem.machine(found.point), found.gamma).relative_gap <= 1.001e-4
    # epochs alone take more than 1,000
    assert found.iterations < 500


def test_a_search_has_the_scores_of_newton_steps(monkeypatch):
    problem = posed("wide", hinge(), sparse=False)
    labels = np.where(np.arange(60) % 3 > 0, 1, 0)
    search = LinearRejectSVCCV(Costs(reject=0.2), Cs=[0.01, 1.0], cv=3, tol=1e-8)
    wide = search.fit(problem.X, labels).cv_results_["mean_test_score"]
    monkeypatch.setattr(WideRows, "solve", lambda *_: [])
    np.testing.assert_allclose(search.fit(problem.X, labels).cv_results_["mean_test_score"], wide, atol=1e-12)


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 1e-9}, {"progress": lambda *_: True}])
def test_a_limit_of_descent_is_reported_with_a_true_gap(limit):
    rng = np.random.default_rng(0)
    X = csr_array(random_array((3000, 4000), density=0.01, rng=rng))
    y = np.where(rng.random(3000) < 0.5, 1, -1).astype(np.int8)
    problem = LinearProblem(X, row_centre(X), y, np.full(3000, 100.0), hinge())
    rows = WideRows(X, problem.centre)
    assert rows.one_by_one
    assert not rows.few
    _, proof = fitted_machines(problem, replace(LinearNewton(tol=1e-9), **limit), None, rows)[0]
    assert proof.status == ("time_limit" if "time_limit" in limit else "iteration_limit")
    _, exact = fitted_machines(problem, LinearNewton(tol=1e-4), None, rows)[0]
    assert exact.status == "optimal"
    assert exact.dual_objective <= proof.objective
    assert proof.objective - exact.dual_objective <= proof.gap * proof.objective * (1 + 1e-9) + 1e-4 * exact.objective


@pytest.mark.parametrize("limit", [{"time_limit": 1e-9}, {"max_iter": 1}])
def test_a_limit_on_the_gram_matrix_is_reported(limit):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((900, 800)), np.arange(900) % 2
    with pytest.warns(UserWarning, match="raise"):
        clf = LinearRejectSVC(C=100.0, **limit).fit(X, y)
    assert clf.status_ == ("time_limit" if "time_limit" in limit else "iteration_limit")
    assert clf.duality_gap_ > 1e-4


def test_newton_steps_go_on_where_descent_was_too_slow(monkeypatch):
    monkeypatch.setattr(linear_wide, "PASSES", (1.0, 1.0))
    problem = posed("wide", hinge(), sparse=True)
    rows = WideRows(problem.X, problem.centre)
    vars(rows).update(few=False, one_by_one=True)
    assert rows.solve(problem, LinearNewton())[0].status is Status.INACCURATE
    _, proof = fitted_machines(problem, LinearNewton(), None, rows)[0]
    assert proof.status == "optimal"


def test_rows_that_are_surely_near_the_origin_are_not_looked_at_again():
    X = csr_array(random_array((50, 40), density=0.1, rng=np.random.default_rng(0)))
    full = csr_array(np.ones((50, 2)) * 1e9 + np.arange(100).reshape(50, 2))
    assert scattered(X)
    assert centrable(Kernel("linear"), X) is X
    assert not scattered(full)
    assert not hasattr(linear_rows(full)[0], "indptr")
    assert not scattered(X.toarray())
