"""Many tasks in one native call give what single solves give, in the same bits for any number of threads."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from abstain.dual.certificate import certify
from abstain.dual.problem import native_task
from abstain.dual.proof import Status
from abstain.kernels import Kernel
from abstain.solvers.native import SMO, ActiveSet
from looping import looped
from many_tasks import SCALES, at, call, classes, flat
from problems import random_problem
from reference_solver import best_bias


@pytest.mark.parametrize("storage", ["dense", "sparse", "precomputed"])
@pytest.mark.parametrize(
    "solver", [SMO(tol=1e-6), SMO(tol=1e-6, polish=False), ActiveSet()], ids=["auto", "smo", "set"]
)
def test_the_answers_are_those_of_single_solves(solver, storage):
    problems = classes(storage=storage)
    found = solver.solve_many(problems, SCALES)
    assert [len(solutions) for solutions in found] == [3, 3, 3]
    for problem, solutions in zip(problems, found, strict=True):
        for scale, solution in zip(SCALES, solutions, strict=True):
            alone = solver.solve(at(problem, scale))
            here, there = (certify(at(problem, scale), found.beta, found.bias) for found in (solution, alone))
            assert solution.status is Status.OPTIMAL
            assert here.relative_gap < 1e-5
            assert here.primal == pytest.approx(there.primal, rel=1e-5)
            assert_allclose(solution.expansion + solution.bias, alone.expansion + alone.bias, atol=1e-3)


def test_the_judge_has_teeth():
    # control: the answer of one scale or class is not that of another
    problems = classes()
    one, other = SMO().solve_many(problems, SCALES)[:2]
    assert certify(at(problems[0], SCALES[1]), one[0].beta, one[0].bias).relative_gap > 1e-3
    assert np.abs(one[0].expansion - other[0].expansion).max() > 0.1


@pytest.mark.parametrize("rows", [90, 1300], ids=["small", "single precision"])
@pytest.mark.parametrize("kernel", [Kernel("rbf", gamma=0.4), Kernel("linear")], ids=str)
def test_any_number_of_threads_gives_the_same_bits(rows, kernel):
    problems = classes(rows, kernel=kernel)
    one, two, three = (SMO(n_jobs=jobs).solve_many(problems, SCALES[:2]) for jobs in (1, 2, 3))
    for solutions in (two, three):
        for expected, found in zip(flat(one), flat(solutions), strict=True):
            assert expected.beta.tobytes() == found.beta.tobytes()
            assert expected.expansion.tobytes() == found.expansion.tobytes()
            assert expected.bias == found.bias


def test_hardly_any_memory_will_do():
    problems = classes(1300)
    few = SMO(cache_size=1e-9).solve_many(problems, SCALES[:1])
    for problem, (solution,) in zip(problems, few, strict=True):
        assert certify(at(problem, SCALES[0]), solution.beta, solution.bias).kkt_violation < 2e-3


def test_the_bias_goes_with_the_expansion_of_a_centred_kernel():
    problems = classes(kernel=Kernel("linear"))
    shifted = [replace(problem, X=problems[0].X + 30.0) for problem in problems[:1]]
    fits = call(shifted)
    solution = SMO().solve(at(shifted[0], SCALES[-1]))
    scores = fits["expansion"].reshape(3, -1)[-1] + fits["bias"][-1]
    assert_allclose(scores, solution.expansion + solution.bias, atol=1e-5)


def test_a_start_is_taken():
    problems = classes()
    cold = ActiveSet().solve_many(problems)
    starts = [solutions[0].beta for solutions in cold]
    warm = ActiveSet().solve_many(problems, starts=[starts[0], None, starts[2]])
    for k in (0, 2):
        assert warm[k][0].iterations <= 2
        assert_allclose(warm[k][0].beta, cold[k][0].beta, atol=1e-10)
    assert warm[1][0].iterations == cold[1][0].iterations
    assert (starts[0] == cold[0][0].beta).all()


def test_no_problems_no_answers():
    assert SMO().solve_many([]) == []
    assert call(classes(), tasks=[])["status"] == []


def test_losses_per_row():
    # a table with a line per row, in any order, says the same as one line per class
    problem = classes()[2]
    knots, slopes = problem.loss.tables()
    kind = (problem.sign > 0).astype(np.int32)
    order = np.random.default_rng(0).permutation(problem.n)
    task = native_task(problem.sign, problem.loss, problem.weight) | {"scales": SCALES}
    by_row = task | {
        "knots": np.ascontiguousarray(knots[kind][order]),
        "slopes": np.ascontiguousarray(slopes[kind][order]),
        "kind": np.argsort(order).astype(np.int32),
    }
    fits = call([problem], tasks=[task, by_row])
    beta = fits["beta"].reshape(2, -1)
    assert beta[0].tobytes() == beta[1].tobytes()


class TestLimits:
    """Interrupts and time limits hold, and what was not done says so."""

    def test_no_time(self):
        solutions = flat(SMO(time_limit=0.0).solve_many(classes(), SCALES))
        assert {solution.status for solution in solutions} == {Status.TIME_LIMIT}
        assert not any(solution.beta.any() for solution in solutions)

    def test_little_time(self):
        problems = [at(problem, 1e5) for problem in classes(4000)]
        solutions = SMO(time_limit=0.3, tol=1e-9).solve_many(problems, SCALES)
        statuses = [solution.status for solution in flat(solutions)]
        assert Status.TIME_LIMIT in statuses
        for problem, fits in zip(problems, solutions, strict=True):
            for scale, solution in zip(SCALES, fits, strict=True):  # what was reached is feasible
                g, top = problem.sign * solution.beta, at(problem, scale).breakpoints[:, -1]
                assert (g >= 0).all()
                assert (g <= top).all()

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_whoever_watches_can_stop_it(self, jobs):
        told = []

        def stop(done, violation, total):
            told.append((done, violation, total))
            return True

        problems = [at(problem, 1e5) for problem in classes(4000)]
        solutions = flat(SMO(tol=1e-9, n_jobs=jobs, progress=stop).solve_many(problems, SCALES))
        assert len(told) == 1
        assert np.isnan(told[0][1])
        assert all(solution.status is not Status.OPTIMAL for solution in solutions)

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_an_error_of_the_report_comes_through(self, jobs):
        def fail(*_):
            raise KeyError("enough")

        problems = [at(problem, 1e5) for problem in classes(4000)]
        with pytest.raises(KeyError, match="enough"):
            SMO(tol=1e-9, n_jobs=jobs, progress=fail).solve_many(problems, SCALES)

    def test_other_threads_run_meanwhile(self):
        counted = []
        done = threading.Event()

        def count():
            while not done.wait(0.001):
                counted.append(1)

        thread = threading.Thread(target=count)
        thread.start()
        SMO(tol=1e-6).solve_many(classes(1500), SCALES)
        done.set()
        thread.join()
        assert len(counted) > 1


@looped(seed=range(20))
def test_the_bias_is_the_one_that_the_certificate_chooses(seed):
    """Also where the optimum leaves it open: without rows between breakpoints it is the middle of an interval."""
    problem = random_problem(seed)
    weights = (0.01 if seed % 2 else 1.0) * problem.weight
    (solutions,) = SMO().solve_many([replace(problem, weight=weights)], np.array([0.1, 1.0]))
    for scale, solution in zip((0.1, 1.0), solutions, strict=True):
        expected = best_bias(replace(problem, weight=scale * weights), solution.expansion)
        assert solution.bias == pytest.approx(expected, rel=1e-9, abs=1e-9)
