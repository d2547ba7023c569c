"""What every solver must do; one body, run on each."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix

from abstain.dual.certificate import certify
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.solvers.native import SMO, ActiveSet
from looping import looped, rarely
from problems import KNOWN, random_problem
from reference_solver import Reference

SOLVERS = {
    "reference": Reference(),
    "smo": SMO(tol=1e-8),
    "smo, not polished": SMO(tol=1e-9, polish=False),  # pair steps alone: a violation of 1e-8 leaves gaps above GAP
    "smo, two threads": SMO(tol=1e-8, n_jobs=2),
    "smo, hardly any cache": SMO(tol=1e-8, cache_size=1e-9),
    "active set": ActiveSet(),
    "active set, two threads": ActiveSet(n_jobs=2),
}
# The optimum is flat where coefficients are not unique; gaps and violations say what matters.
GAP = 1e-7
SEEDS = range(24)


# the reference in plain Python takes as long as all others, and changes least
@pytest.fixture(params=rarely(SOLVERS, "reference"), name="solver")
def each_solver(request):
    return SOLVERS[request.param]


def certified(problem, solution):
    """Judge by the coefficients alone: the expansion is computed again."""
    return certify(problem, solution.beta, solution.bias)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_known_answers(solver, known):
    solution = solver.solve(known.problem)
    certificate = certified(known.problem, solution)
    assert solution.status is Status.OPTIMAL
    assert certificate.primal == pytest.approx(known.value, rel=1e-7)
    assert certificate.kkt_violation < 2e-7
    assert solution.bias == pytest.approx(known.bias, abs=1e-7)
    if known.beta is not None:
        assert_allclose(solution.beta, known.beta, rtol=1e-7, atol=1e-7)


@looped(seed=SEEDS)
def test_reaches_the_optimum(solver, seed):
    problem = random_problem(seed)
    solution = solver.solve(problem)
    certificate = certified(problem, solution)
    assert solution.status is Status.OPTIMAL
    assert certificate.relative_gap < GAP
    assert certificate.kkt_violation < 1e-6


@looped(seed=SEEDS)
def test_the_judge_has_teeth(solver, seed):
    problem = random_problem(seed)
    # Shifting coefficients along any two rows that can move must be noticed.
    solution = solver.solve(problem)
    g, tops = problem.sign * solution.beta, problem.breakpoints[:, -1]
    step = 0.05 * tops[tops > 0].min()
    up = np.flatnonzero(np.where(problem.sign > 0, g + step < tops, g - step > 0))
    down = np.flatnonzero(np.where(problem.sign < 0, g + step < tops, g - step > 0))
    nudged = solution.beta.copy()
    i = up[0]
    j = next(row for row in down if (problem.X[row] != problem.X[i]).any())
    nudged[i] += step
    nudged[j] -= step
    before, after = certified(problem, solution), certify(problem, nudged, solution.bias)
    assert after.gap > before.gap + 1e-6 * step
    assert after.kkt_violation > 1e3 * before.kkt_violation


@looped(seed=SEEDS)
def test_the_kept_expansion_is_true(solver, seed):
    problem = random_problem(seed)
    solution = solver.solve(problem)
    scale = np.abs(problem.gram()).max() * np.abs(solution.beta).sum()
    assert_allclose(solution.expansion, problem.gram() @ solution.beta, atol=1e-9 * scale)


@looped(seed=SEEDS)
def test_coefficients_are_feasible_and_rest_exactly(solver, seed):
    problem = random_problem(seed)
    solution = solver.solve(problem)
    g = problem.sign * solution.beta
    assert (g >= 0).all()
    assert (g <= problem.breakpoints[:, -1]).all()
    assert abs(solution.beta.sum()) <= 1e-12 * problem.weight.sum()
    near = np.abs(g[:, np.newaxis] - problem.breakpoints) <= 1e-13 * problem.breakpoints[:, -1:]
    exact = g[:, np.newaxis] == problem.breakpoints
    assert (near.any(axis=1) == exact.any(axis=1)).all()


def test_rows_without_weight_stay_out(solver):
    problem = random_problem(7)
    assert (problem.weight == 0).any()
    assert (solver.solve(problem).beta[problem.weight == 0] == 0).all()


def test_rows_without_weight_change_nothing(solver):
    problem = random_problem(7)
    kept = problem.weight > 0
    smaller = replace(problem, X=problem.X[kept], sign=problem.sign[kept], weight=problem.weight[kept])
    with_them, without = (certified(p, solver.solve(p)) for p in (problem, smaller))
    assert with_them.primal == pytest.approx(without.primal, rel=1e-9)


@looped(seed=SEEDS)
def test_a_row_twice_is_a_row_of_twice_the_weight(solver, seed):
    problem = random_problem(seed)
    doubled = replace(problem, weight=2 * problem.weight)
    repeated = replace(
        problem, X=np.repeat(problem.X, 2, axis=0), sign=np.repeat(problem.sign, 2), weight=np.repeat(problem.weight, 2)
    )
    values = [certified(p, solver.solve(p)).primal for p in (doubled, repeated)]
    assert values[0] == pytest.approx(values[1], rel=GAP)


@looped(seed=SEEDS)
def test_exchanging_the_classes_negates_the_score(solver, seed):
    problem = random_problem(seed)
    loss = problem.loss
    mirrored = replace(problem, sign=-problem.sign, loss=replace(loss, negative=loss.positive, positive=loss.negative))
    here, there = solver.solve(problem), solver.solve(mirrored)
    assert certified(mirrored, there).primal == pytest.approx(certified(problem, here).primal, rel=GAP)
    assert_allclose(there.expansion + there.bias, -(here.expansion + here.bias), atol=1e-3)


@pytest.mark.parametrize("storage", ["csr_array", "csr_matrix", "int64 indices", "precomputed"])
@looped(seed=(1, 2, 3))
def test_every_storage_gives_the_same_optimum(solver, storage, seed):
    problem = random_problem(seed)
    value = certified(problem, solver.solve(problem)).primal
    if storage == "precomputed":
        other = replace(problem, kernel=Kernel("precomputed"), X=problem.gram())
    else:
        X = csr_matrix(problem.X) if storage == "csr_matrix" else csr_array(problem.X)
        if storage == "int64 indices":
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        other = replace(problem, X=X)
    assert certified(other, solver.solve(other)).primal == pytest.approx(value, rel=GAP)


@looped(seed=SEEDS)
def test_a_start_is_taken(solver, seed):
    problem = random_problem(seed)
    first = solver.solve(problem)
    again = solver.solve(problem, start=first.beta)
    assert certified(problem, again).relative_gap < GAP
    assert again.iterations <= first.iterations


def test_the_start_is_left_alone(solver):
    problem = random_problem(2)
    start = np.zeros(problem.n)
    solver.solve(problem, start=start)
    assert not start.any()


@looped(seed=SEEDS)
def test_two_runs_give_the_same_bits(solver, seed):
    problem = random_problem(seed)
    first, second = solver.solve(problem), solver.solve(problem)
    assert first.beta.tobytes() == second.beta.tobytes()
    assert first.bias == second.bias


def test_running_out_of_iterations_is_said(solver):
    problem = random_problem(11)
    hurried = replace(solver, max_iter=1, **({"polish": False} if isinstance(solver, SMO) else {}))
    solution = hurried.solve(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert certified(problem, solution).kkt_violation > solver.tol
    assert abs(solution.beta.sum()) <= 1e-12 * problem.weight.sum()


def test_an_unreachable_tolerance_ends_truly(solver):
    problem = random_problem(11)
    solution = replace(solver, tol=1e-300).solve(problem)
    assert solution.status in {Status.INACCURATE, Status.OPTIMAL}
    if solution.status is Status.OPTIMAL:
        assert certified(problem, solution).kkt_violation < 1e-10
    assert certified(problem, solution).relative_gap < GAP


def test_read_only_data_suffice(solver):
    problem = random_problem(2)
    for array in (problem.X, problem.sign, problem.weight):
        array.flags.writeable = False
    assert certified(problem, solver.solve(problem)).relative_gap < GAP
