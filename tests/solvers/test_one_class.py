"""Problems whose coefficients add up to a total: every solver finds the same optimum, from any start."""

from dataclasses import replace

import numpy as np
import pytest

from abstain.dual.certificate import certify, feasible
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import hinge
from abstain.solvers.native import SMO, ActiveSet, OneClassSMO
from clarabel_qp import dual_optimum
from looping import looped
from problems import random_problem
from reference_solver import Reference, best_bias

SOLVERS = {"SMO": SMO(tol=1e-8), "active set": ActiveSet(tol=1e-8), "reference": Reference(), "start": OneClassSMO()}


def one_class(seed, share, kernel=None, n=40):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(n, 3)) + 2.0, rng.integers(0, 4, n).astype(float)
    weight[0] = 1.0
    kernel = Kernel("rbf", gamma=0.5) if kernel is None else kernel
    return DualProblem(kernel, X, np.ones(n, dtype=np.int8), hinge(0.0), weight, share * float(weight.sum()))


@pytest.mark.parametrize("name", SOLVERS)
@looped(share=[1e-3, 0.2, 0.9, 1.0], kernel=[Kernel("rbf", gamma=0.5), Kernel("linear"), Kernel("poly", coef0=1.0)])
def test_the_optimum(name, share, kernel):
    problem = one_class(1, share, kernel)
    solution = SOLVERS[name].solve(problem)
    certificate = certify(problem, solution.beta, solution.bias)
    assert solution.status is Status.OPTIMAL
    assert certificate.relative_gap < 1e-6
    assert solution.beta.sum() == pytest.approx(problem.total)
    assert certificate.dual == pytest.approx(dual_optimum(problem), rel=1e-5)


@pytest.mark.parametrize("name", SOLVERS)
@looped(seed=range(4), share=[-0.2, 0.3])
def test_any_loss_may_have_a_total(name, seed, share):
    problem = random_problem(seed)
    top = problem.breakpoint(problem.loss.n_knots)
    sign = 1 if share > 0 else -1
    problem = replace(problem, total=share * float(top[problem.sign == sign].sum()))
    solution = SOLVERS[name].solve(problem)
    certificate = certify(problem, solution.beta, solution.bias)
    assert certificate.gap < 1e-6 * (1.0 + abs(certificate.primal))
    assert certificate.dual == pytest.approx(dual_optimum(problem), rel=1e-5, abs=1e-6)


def test_every_start_is_made_feasible():
    problem = one_class(2, 0.3)
    best = dual_optimum(problem)
    for start in (np.zeros(40), problem.weight, 100.0 + problem.weight, -np.ones(40), 0.5 * problem.weight):
        found = SMO(tol=1e-8).solve(problem, start)
        assert certify(problem, found.beta, found.bias).dual == pytest.approx(best, rel=1e-6)
        np.testing.assert_array_equal(feasible(problem, found.beta), found.beta)
        made = feasible(problem, start)
        assert made.sum() == pytest.approx(problem.total)
        assert (made >= 0.0).all()
        assert (made <= problem.weight).all()


def test_the_certificate_counts_a_missing_total():
    problem = one_class(3, 0.3)
    found = Reference().solve(problem)
    assert certify(problem, found.beta, found.bias).kkt_violation < 1e-9
    for beta in (1.001 * found.beta, 0.0 * found.beta):
        bad = certify(problem, beta, found.bias)
        assert bad.relative_gap > 1e-6
        assert bad.kkt_violation > 1e-6
    other = certify(problem, found.beta, 1.01 * found.bias)
    assert other.relative_gap > 1e-6
    F = problem.scores(found.beta)
    assert best_bias(problem, F) == pytest.approx(found.bias)
    least, *others = (certify(problem, found.beta, found.bias * by).primal for by in (1.0, 0.5, 0.9, 0.99, 1.01, 1.5))
    assert min(others) > least


def test_scores_of_an_uncentred_linear_machine():
    problem = one_class(4, 0.5, Kernel("linear"))
    beta = SMO().solve(problem).beta
    np.testing.assert_allclose(problem.scores(beta), problem.gram() @ beta, rtol=1e-12)


def test_the_share_of_some_rows():
    problem = one_class(5, 0.25)
    part = problem.on_rows(np.arange(0, 40, 2))
    assert part.total == pytest.approx(0.25 * part.weight.sum())


def test_what_cannot_have_a_total_says_so():
    problem = one_class(6, 0.5)
    for total in (-1.0, 2.1 * problem.total, np.nan):
        with pytest.raises(ValueError, match="total must lie between"):
            replace(problem, total=total)
    with pytest.raises(ValueError, match="solved one at a time"):
        SMO().solve_many([problem])
