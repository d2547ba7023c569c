"""Interior point steps of linear machines: the optimum on odd rows, repeated rows, limits, and when they take over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from abstain import Costs, LinearRejectSVC
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.proof import Status
from abstain.estimators.linear.linear_fit import fitted_machines, row_centre
from abstain.losses.margin_loss import in_sequence
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers import linear_wide
from abstain.solvers.linear import LinearNewton
from abstain.solvers.linear_wide import WideRows
from linear_cases import LOSSES, NAMES, beside, optimum, posed


def noisy(n: int, d: int, density: float = 0.1, C: float = 1.0) -> LinearProblem:
    """Sparse rows with labels that nothing decides."""
    rng = np.random.default_rng(n)
    X = csr_array(random_array((n, d), density=density, rng=rng, data_sampler=rng.standard_normal))
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    return LinearProblem(X, row_centre(X), y, np.full(n, C), hinge())


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("name", NAMES)
def test_few_steps_reach_the_gap_on_odd_rows(name, loss, sparse):
    problem = posed(name, loss, sparse=sparse)
    [found] = WideRows(problem.X, problem.centre).stepped(problem, LinearNewton(tol=1e-5))
    assert found.status is Status.OPTIMAL
    assert found.iterations <= 30
    certificate = problem.certify(problem.machine(found.point), found.gamma)
    assert certificate.relative_gap <= 1.001e-5
    best = optimum(problem)
    assert best * (1 - 1e-5) <= certificate.primal <= best * (1 + 2e-5)


def test_a_weight_is_a_repeated_row():
    first = posed("wide", double_hinge(Costs(1, 5, 0.3)), sparse=False)
    times = np.arange(60) % 3 + 1
    twice = np.repeat(np.arange(60), times)
    weighted = replace(first, weight=first.weight * times)
    repeated = replace(
        first, X=np.ascontiguousarray(first.X[twice]), sign=first.sign[twice], weight=first.weight[twice]
    )
    settings = LinearNewton(tol=1e-7)
    found, again = (WideRows(one.X, one.centre).stepped(one, settings)[0] for one in (weighted, repeated))
    assert found.iterations == again.iterations
    np.testing.assert_allclose(found.point, again.point, rtol=1e-6, atol=1e-9)


def test_several_problems_are_solved_as_each_alone():
    first = posed("weights 0", double_hinge(Costs(1, 5, 0.3)), sparse=True)
    signs = np.where(np.random.default_rng(0).random((3, 60)) < 0.4, 1, -1).astype(np.int8)
    ones = [replace(first, sign=sign) for sign in signs]
    problem = replace(beside(ones), loss=in_sequence([first.loss] * 3, list(signs)))
    rows = WideRows(first.X, first.centre)
    for one, found in zip(ones, rows.stepped(problem, LinearNewton()), strict=True):
        [alone] = rows.stepped(one, LinearNewton())
        np.testing.assert_array_equal(found.point, alone.point)
        np.testing.assert_array_equal(found.gamma, alone.gamma)


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 1e-9}])
def test_a_limit_is_reported_with_a_true_gap(limit):
    problem = noisy(600, 60)
    rows = WideRows(problem.X, problem.centre)
    assert not rows.one_by_one
    _, proof = fitted_machines(problem, replace(LinearNewton(), **limit), None, rows)[0]
    assert proof.status == ("time_limit" if "time_limit" in limit else "iteration_limit")
    _, exact = fitted_machines(problem, LinearNewton(), None, rows)[0]
    assert exact.status == "optimal"
    assert proof.objective - exact.dual_objective <= proof.gap * proof.objective * (1 + 1e-9) + 1e-4 * exact.objective


def test_visits_that_would_take_long_are_left_for_steps():
    problem = noisy(1800, 250, 0.08, 10.0)
    rows = WideRows(problem.X, problem.centre)
    assert rows.one_by_one
    assert linear_wide.FEWEST_PASSES < rows.steps_cost < linear_wide.MOST_PASSES
    [patient] = rows.descended(problem, LinearNewton())
    [hasty] = rows.descended(problem, LinearNewton(), patience=rows.steps_cost)
    assert hasty.status is Status.INACCURATE
    assert hasty.iterations < 20 < patient.iterations
    [found] = rows.solve(problem, LinearNewton())
    assert found.status is Status.OPTIMAL
    assert found.iterations < 20


def test_only_the_problems_that_are_left_take_steps(monkeypatch):
    first = noisy(1500, 200, 0.1, 10.0)
    easy = replace(first, sign=np.where(np.asarray(first.X.sum(axis=1)) > 0, 1, -1).astype(np.int8))
    rows = WideRows(first.X, first.centre)
    counts = []
    stepped = WideRows.stepped

    def counted(self, problem, settings):
        counts.append(problem.count)
        return stepped(self, problem, settings)

    monkeypatch.setattr(WideRows, "stepped", counted)
    problem = beside([replace(easy, weight=0.001 * easy.weight), first])
    assert [proof.status for _, proof in fitted_machines(problem, LinearNewton(), None, rows)] == ["optimal"] * 2
    assert counts == [1]


def test_newton_steps_go_on_from_steps_that_fail():
    # a tolerance that rounding does not let them reach
    problem = noisy(200, 20, 0.3)
    rows = WideRows(problem.X, problem.centre)
    assert rows.steps_cost < np.inf
    [found] = rows.stepped(problem, LinearNewton(tol=1e-17))
    assert found.status is Status.INACCURATE
    _, proof = fitted_machines(problem, LinearNewton(tol=1e-12), None, rows)[0]
    assert proof.status == "optimal"
    assert proof.gap <= 1e-12


def test_rows_far_from_the_origin_are_centred():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 6))
    y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    near, far = LinearRejectSVC().fit(X, y), LinearRejectSVC().fit(X + 1e7, y)
    assert far.status_ == "optimal"
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_weights_beyond_all_digits_leave_finite_weights(seed):
    """One positive row, and weights that differ by up to 1e12: where a step overflows, others go on from before it."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 30)), np.where(np.arange(400) < 1, 1, -1)
    weight = 10.0 ** rng.uniform(-6, 6, 400)
    machine = LinearRejectSVC(C=22.0, tol=1e-4).fit(X, y, sample_weight=weight)
    assert np.isfinite(machine.coef_).all()
    assert machine.duality_gap_ < 1e-3


@pytest.mark.parametrize(("n", "d", "C"), [(400, 100, 5e-5), (400, 300, 2e-5), (1000, 300, 1e-5)])
def test_sparse_rows_with_one_positive_and_a_small_C_end_as_dense_ones(n, d, C):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), np.where(np.arange(n) < 1, 1, -1)
    sparse, dense = (LinearRejectSVC(C=C).fit(rows, y) for rows in (csr_array(X), X))
    assert (sparse.status_, dense.status_) == ("optimal", "optimal")
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=3e-4)
