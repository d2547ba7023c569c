"""A thousand small problems against a general QP solver: 1 to 5 knots, ties, duplicate rows, rows without weight."""

import numpy as np
import pytest

from abstain.dual.certificate import certify
from abstain.dual.proof import Status
from abstain.solvers.native import SMO
from clarabel_qp import dual_optimum
from looping import looped, quick
from problems import random_problem


@pytest.mark.parametrize("hundred", quick(range(10), 0, 7))
@looped(one=range(100))
def test_smo_finds_the_optimum(hundred, one):
    problem = random_problem(100 * hundred + one)
    solution = SMO(tol=1e-8).solve(problem)
    certificate = certify(problem, solution.beta, solution.bias)
    optimum = dual_optimum(problem)
    assert solution.status is Status.OPTIMAL
    assert abs(certificate.primal - optimum) <= 1e-6 * optimum
    assert abs(certificate.dual - optimum) <= 1e-6 * optimum
    assert certificate.kkt_violation <= 1e-6


def test_the_thousand_cover_what_they_promise():
    problems = [random_problem(seed) for seed in range(1000)]
    assert {problem.loss.n_knots for problem in problems} == {1, 2, 3, 4, 5}
    assert {problem.kernel.name for problem in problems} == {"linear", "rbf", "poly"}
    assert sum((problem.weight == 0).any() for problem in problems) > 100
    assert sum(len(np.unique(problem.X, axis=0)) < problem.n for problem in problems) > 200
    assert {problem.n for problem in problems} >= set(range(4, 31))
    clashes = sum(_has_clash(problem) for problem in problems)
    assert clashes > 100


def _has_clash(problem):
    """Whether two equal rows are of different classes."""
    rows = {tuple(row): sign for row, sign in zip(problem.X, problem.sign, strict=True)}
    return any(rows[tuple(row)] != sign for row, sign in zip(problem.X, problem.sign, strict=True))
