"""Problems with a loss per row against a general QP solver."""

from dataclasses import replace

import numpy as np
import pytest

from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Status
from abstain.losses.tangent_hinge import row_losses, task_tangents
from abstain.solvers.native import SMO, ActiveSet
from abstain.solvers.path import follow_path
from clarabel_qp import dual_optimum, primal_optimum
from looping import looped
from problems import KERNELS, costs_of_rows, random_row_costs
from reference_solver import Reference


def problem_of(seed: int) -> DualProblem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = rng.normal(size=(n, 2))
    if seed % 3 == 0:
        X = np.round(X)  # many equal rows, with losses of their own
    sign = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    sign[:2] = 1, -1
    costs = costs_of_rows(random_row_costs(rng, n, (0.0, 0.3, 1.0)[seed % 3]))
    weight = 10.0 ** rng.uniform(-1, 3) * costs.stakes * (rng.random(n) < 0.9 if seed % 4 == 0 else 1.0)
    weight[:2] += 1.0
    return DualProblem(KERNELS[seed % len(KERNELS)], X, sign, row_losses(task_tangents(costs), sign), weight)


@looped(seed=range(24))
def test_the_native_solvers_find_the_optimum(seed):
    problem = problem_of(seed)
    _check(problem, SMO(tol=1e-8, polish=False), ActiveSet())


def test_the_reference_finds_the_optimum():
    problem = problem_of(1)
    _check(replace(problem, weight=problem.weight / problem.weight.max()), Reference())


def _check(problem, *solvers):
    optimum = dual_optimum(problem)
    assert primal_optimum(problem) == pytest.approx(optimum, rel=1e-8)
    for solver in solvers:
        solution = solver.solve(problem)
        certificate = certify(problem, solution.beta, solution.bias)
        assert solution.status is Status.OPTIMAL
        assert certificate.primal == pytest.approx(optimum, rel=1e-6)
        assert certificate.dual == pytest.approx(optimum, rel=1e-6)
        assert certificate.kkt_violation <= 1e-6
        assert set(problem.sets(solution.beta)) <= set(range(2 * problem.loss.n_knots + 1))


def test_the_judge_tells_row_losses_from_one_loss():
    problem = problem_of(1)
    shuffled = replace(problem, loss=problem.loss.take(np.arange(problem.n)[::-1]))
    assert abs(dual_optimum(shuffled) / dual_optimum(problem) - 1.0) > 1e-3


def test_the_path_passes_through_the_optimum():
    problem = problem_of(1)
    path = follow_path(problem, 0.1, 10.0)
    at = replace(problem, weight=3.0 * problem.weight)
    assert certify(at, *path.at(3.0)).primal == pytest.approx(dual_optimum(at), rel=1e-6)
