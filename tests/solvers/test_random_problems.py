"""A thousand small problems against a general QP solver: 1 to 5 knots, ties, duplicate rows, rows without weight.

And one search of more rows than a block has.
"""

import numpy as np
import pytest

from abstain import _native
from abstain.costs.costs import Costs
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem, native_task
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge
from abstain.solvers.native import SMO, native_rows
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


def test_short_and_long_fits_of_a_search_beyond_one_block_reach_the_tolerance():
    rng, n = np.random.default_rng(0), 2100
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    held_out = np.arange(n) % 5 == 0
    problem = DualProblem(Kernel("rbf", gamma=0.2), X, y, double_hinge(Costs(reject=0.2)), np.where(held_out, 0.0, 1.0))
    task = native_task(y, problem.loss, problem.weight) | {"scales": np.array([1.0, 30.0])}
    limits = {"tol": 1e-3, "max_iter": 10_000_000, "seconds": np.inf, "cache_size": 500.0, "threads": 1}
    fits = _native.solve_many(
        **native_rows(problem),
        **limits,
        gammas=np.array([0.2]),
        tasks=[task],
        method="search",
        coefficients=True,
        report=None,
    )
    beta = fits["beta"].reshape(2, n)
    short, long = fits["iterations"]
    assert short < 2 * n < long  # policy.hpp: blocks follow after two steps a row
    assert fits["status"] == ["optimal", "optimal"]
    assert max(fits["violation"]) <= 1e-3
    assert not beta[:, held_out].any()
    assert np.abs(beta @ problem.kernel(X) - fits["expansion"].reshape(2, n)).max() < 5e-4
