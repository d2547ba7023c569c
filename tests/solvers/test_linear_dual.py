"""The coefficients of the linear kernel by Newton steps on the weights: against SMO, and where they hand over to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification

from abstain import Costs, RejectSVC
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge, row_losses, task_tangents
from abstain.solvers import linear_dual
from abstain.solvers.linear_dual import LinearDual, balanced, suits
from abstain.solvers.native import SMO
from problems import costs_of_rows


def problem_of(name="plain", loss=None, C=1.0):
    X, y = make_classification(1200, 6, flip_y=0.1, class_sep=0.6, random_state=2)
    sign = np.where(y == 1, 1, -1).astype(np.int8)
    if name == "separable":
        sign = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    if name == "far away":
        X = X + 1e5
    if name == "scales":
        X = X * np.logspace(-2, 2, 6)
    if name == "duplicates":
        X = np.round(X)
    if name == "rare":
        sign = np.where(np.arange(1200) < 5, 1, -1).astype(np.int8)
    if name == "sparse":
        X = csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    weight = C * (np.arange(1200) % 3 + 1.0 if name == "weights" else np.ones(1200))
    return DualProblem(Kernel("linear"), X, sign, double_hinge(Costs(1, 3, 0.3)) if loss is None else loss, weight)


NAMES = ["plain", "separable", "far away", "scales", "duplicates", "rare", "sparse", "weights"]


@pytest.fixture(autouse=True)
def only_newton(monkeypatch):
    """Fail where pair steps take over, unless a test allows them."""

    def forbidden(*_):
        raise AssertionError("pair steps took over")

    monkeypatch.setattr(SMO, "solve", forbidden)
    return monkeypatch


@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("name", NAMES)
def test_reaches_the_optimum_of_smo(name, C, only_newton):
    problem = problem_of(name, C=C)
    found = LinearDual(tol=1e-4).solve(problem)
    assert found.status is Status.OPTIMAL
    proof = certify(problem, found.beta, found.bias)
    assert proof.kkt_violation <= 1e-4
    assert abs(found.beta.sum()) <= 1e-12 * np.abs(found.beta).sum()
    only_newton.undo()
    other = SMO(tol=1e-6).solve(problem)
    best = certify(problem, other.beta, other.bias).dual
    assert abs(proof.dual - best) <= 1e-4 * abs(best) + 1e-9


@pytest.mark.parametrize("loss", ["hinge", "rows"])
def test_other_losses(loss):
    sign = problem_of().sign
    costs = costs_of_rows(np.linspace(0.5, 2.0, 3600).reshape(1200, 3) * [1.0, 1.0, 0.2])
    own = row_losses(task_tangents(costs), sign)
    problem = problem_of(loss=hinge() if loss == "hinge" else own)
    found = LinearDual(tol=1e-4).solve(problem)
    assert certify(problem, found.beta, found.bias).kkt_violation <= 1e-4
    assert set(np.unique(problem.sets(found.beta))) <= set(range(2 * problem.loss.n_knots + 1))


def test_the_judge_has_teeth():
    problem = problem_of()
    found = LinearDual().solve(problem)
    scaled = found.beta.copy()
    scaled[problem.sign > 0] *= 1.0 - 1e-6  # as a certificate would balance them: off their breakpoints
    assert certify(problem, scaled, found.bias).kkt_violation > 0.1


def test_only_rows_between_breakpoints_balance():
    problem = problem_of()
    gamma = problem.sign * LinearDual().solve(problem).beta
    free = np.flatnonzero(problem.sets(problem.sign * gamma) % 2)
    moved = gamma.copy()
    moved[free[0]] *= 1.0 + 1e-3
    again = balanced(problem, moved)
    assert abs(problem.sign @ again) <= 1e-12 * again.sum()
    assert set(np.flatnonzero(again != moved)) <= set(free)
    rest = np.where(problem.sets(problem.sign * gamma) % 2, 0.0, gamma)  # nothing to move
    np.testing.assert_array_equal(balanced(problem, rest), rest)


def test_pair_steps_go_on_where_newton_steps_end(only_newton):
    only_newton.undo()
    only_newton.setattr(linear_dual, "MOST_STEPS", 3)
    problem = problem_of()
    found = LinearDual(tol=1e-4).solve(problem)
    assert found.status is Status.OPTIMAL
    assert found.iterations > 3
    assert certify(problem, found.beta, found.bias).kkt_violation <= 2e-4


def test_a_start_saves_steps():
    problem = problem_of()
    cold = LinearDual(tol=1e-5).solve(problem)
    warm = LinearDual(tol=1e-5).solve(problem, cold.beta)
    assert warm.iterations < cold.iterations


def test_limits_and_progress():
    problem = problem_of(C=100.0)
    assert LinearDual(max_iter=2).solve(problem).status is Status.ITERATION_LIMIT
    assert LinearDual(time_limit=0.0).solve(problem).status is Status.TIME_LIMIT
    seen = []
    stopped = LinearDual(progress=lambda *given: seen.append(given) or len(seen) > 2).solve(problem)
    assert (stopped.status, len(seen)) == (Status.ITERATION_LIMIT, 3)


def test_which_problems_suit():
    problem = problem_of()
    assert suits(problem)
    assert not suits(problem.on_rows(np.arange(1000)))
    assert not suits(replace(problem, kernel=Kernel("rbf")))
    assert not suits(replace(problem, X=np.tile(problem.X, 41)))


def test_several_problems_one_after_the_other():
    first = problem_of()
    second = replace(first, sign=-first.sign)
    (one,), (two,) = LinearDual().solve_many([first, second])
    np.testing.assert_array_equal(one.beta, LinearDual().solve(first).beta)
    np.testing.assert_array_equal(two.beta, LinearDual().solve(second).beta)


def test_the_estimator_uses_it_by_default_only(only_newton):
    X, y = make_classification(1200, 6, flip_y=0.1, class_sep=0.6, random_state=2)
    auto = RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, y)
    assert auto.status_ == "optimal"
    for solver in ("smo", "active-set"):
        only_newton.undo()
        other = RejectSVC(Costs(reject=0.2), kernel="linear", solver=solver).fit(X, y)
        np.testing.assert_allclose(auto.decision_function(X), other.decision_function(X), atol=5e-3)
    several = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
    assert RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, several).status_ == "optimal"


def test_pair_steps_that_lead_away_are_not_kept(only_newton):
    only_newton.undo()
    rng = np.random.default_rng(2)
    X, sign = rng.standard_cauchy((8000, 10)), np.where(rng.standard_normal(8000) > 0, 1, -1).astype(np.int8)
    problem = DualProblem(Kernel("linear"), X, sign, double_hinge(Costs(reject=0.2)), np.ones(8000))
    assert LinearDual(tol=1e-3, max_iter=20_000).solve(problem).status is Status.OPTIMAL
    only_newton.setattr(linear_dual, "GAPS", linear_dual.GAPS[:-1])  # Newton steps that end too early
    found = LinearDual(tol=1e-3, max_iter=20_000).solve(problem)
    assert found.status is Status.ITERATION_LIMIT
    assert certify(problem, found.beta, found.bias).relative_gap < 1e-4
