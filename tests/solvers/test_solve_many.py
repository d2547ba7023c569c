"""Many tasks in one native call give what single solves give, in the same bits for any number of threads."""

import threading
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from abstain import _native
from abstain.costs.costs import Costs
from abstain.dual.certificate import best_bias, certify
from abstain.dual.problem import DualProblem, Task
from abstain.dual.solution import Status
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers.cross_validation import Folds, KernelFits, Limits
from abstain.solvers.native import SMO, ActiveSet, native_rows, native_task
from looping import looped
from problems import random_problem

SCALES = np.array([0.3, 2.0, 10.0])
LOSSES = [hinge(), double_hinge(Costs(reject=0.2)), double_hinge(Costs(1, 5, 0.3))]


def classes(rows=90, storage="dense", kernel=None):
    """One problem per class against the rest, with its own loss and weights, over the same rows."""
    rng = np.random.default_rng(rows)
    label = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, 3)) + 1.2 * np.eye(3)[label]
    kernel = kernel or Kernel("rbf", gamma=0.4)
    if storage == "sparse":
        X = csr_array(np.where(np.abs(X) < 0.3, 0.0, X))
    if storage == "precomputed":
        X, kernel = kernel(X), Kernel("precomputed")
    return [
        DualProblem(kernel, X, np.where(label == k, 1, -1).astype(np.int8), loss, rng.uniform(0.5, 1.5, rows))
        for k, loss in enumerate(LOSSES)
    ]


def flat(solutions):
    return list(chain.from_iterable(solutions))


def at(problem, scale):
    return replace(problem, weight=scale * problem.weight)


def call(problems, **changes):
    """The native call itself, with what a test changes."""
    tasks = [native_task(problem.sign, problem.loss, problem.weight) | {"scales": SCALES} for problem in problems]
    settings = {
        "gammas": np.array([problems[0].kernel.gamma]),
        "tasks": tasks,
        "method": "auto",
        "tol": 1e-3,
        "max_iter": 10_000_000,
        "seconds": np.inf,
        "cache_size": 500.0,
        "threads": 1,
        "coefficients": True,
        "report": None,
    }
    return _native.solve_many(**(native_rows(problems[0]) | settings | changes))


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


def test_problems_over_other_rows_are_refused():
    one, other = classes(90)[0], classes(80)[0]
    with pytest.raises(ValueError, match="must share X and their kernel; use one call for each"):
        SMO().solve_many([one, other])


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


class TestOneFailingTask:
    """What becomes of one task is nothing to the others."""

    @pytest.mark.parametrize("threads", [1, 2])
    def test_that_runs_out_of_iterations(self, threads):
        problems = classes(600)
        rng = np.random.default_rng(3)
        hopeless = replace(problems[1], weight=1e7 * rng.uniform(size=600))
        settings = {"method": "smo", "max_iter": 30_000, "threads": threads}
        well = call([problems[0], problems[2]], **settings)
        ill = call([problems[0], hopeless, problems[2]], **settings)
        assert "iteration_limit" in ill["status"][3:6]
        assert ill["status"][:3] + ill["status"][6:] == well["status"] == ["optimal"] * 6
        for name in ("beta", "expansion"):
            kept = np.delete(ill[name].reshape(9, -1), [3, 4, 5], axis=0)
            assert kept.tobytes() == well[name].tobytes()

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"weight": np.full(90, np.nan)}, "weight must be finite"),
            ({"weight": np.full(90, -1.0)}, "weight must be finite and >= 0"),
            ({"weight": np.ones(89)}, "must have an entry per row"),
            ({"sign": np.zeros(90, np.int8)}, "sign must be -1 or 1"),
            ({"kind": np.full(90, 2, np.int32)}, "kind must name a row"),
            ({"kind": np.full(90, -1, np.int32)}, "kind must name a row"),
            ({"kind": np.zeros(89, np.int32)}, "must have an entry per row"),
            ({"knots": np.ones((2, 60)), "slopes": np.ones((2, 60))}, r"shape \(L, K\) with 1 <= K < 60"),
            ({"knots": np.ones((3, 1))}, r"shape \(L, K\)"),
            ({"scales": np.array([1.0, 1.0])}, "scales must be positive and ascend"),
            ({"scales": np.array([0.0, 1.0])}, "scales must be positive and ascend"),
            ({"scales": np.array([np.nan])}, "scales must be positive and ascend"),
            ({"start": np.ones(91)}, "start must have an entry per row"),
            ({"kernel": 1}, "kernel must be an index into gammas"),
        ],
        ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
    )
    def test_that_makes_no_sense_is_refused_before_anything_runs(self, change, text):
        problems = classes()
        tasks = [native_task(problem.sign, problem.loss, problem.weight) | {"scales": SCALES} for problem in problems]
        tasks[1] |= change
        with pytest.raises(ValueError, match=text):
            call(problems, tasks=tasks)

    def test_of_the_wrong_type_is_named(self):
        problems = classes()
        task = native_task(problems[0].sign, problems[0].loss, problems[0].weight) | {"scales": SCALES}
        with pytest.raises(TypeError, match="weight must be an aligned, C-contiguous array"):
            call(problems, tasks=[task | {"weight": np.ones(90, np.float32)}])
        with pytest.raises(TypeError, match="kind must be an aligned, C-contiguous array"):
            call(problems, tasks=[task | {"kind": np.ones(90, np.int64)}])
        del task["scales"]
        with pytest.raises(ValueError, match="scales is missing"):
            call(problems, tasks=[task])


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


class TestShortArrays:
    """Arrays that do not hold what they promise are refused, never read beyond their end."""

    def data(self):
        problem = classes(storage="sparse")[0]
        return problem, native_rows(problem)["data"]

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            (lambda d: {"values": d["values"][:-1].copy()}, "values must have as many entries as starts ends with"),
            (lambda d: {"columns": d["columns"][:-1].copy()}, "columns and values must have as many"),
            (lambda d: {"starts": d["starts"][:-1].copy()}, "sign, weight and kind must have an entry per row"),
            (lambda _: {"starts": np.empty(0, np.int64)}, "starts must have one entry more"),
            (lambda d: {"starts": d["starts"] + 1}, "starts must begin with 0"),
            (lambda d: {"starts": d["starts"][::-1].copy()}, "starts must"),
            (lambda d: {"starts": -d["starts"]}, "starts must not descend"),
            (lambda d: {"starts": np.where(np.arange(91) == 90, 2**63 - 1, d["starts"])}, "values must have as many"),
            (lambda d: {"columns": d["columns"] + 3}, "columns must lie between 0 and features - 1"),
            (lambda d: {"columns": d["columns"] - 1}, "columns must lie between"),
            (lambda _: {"features": 2}, "columns must lie between"),
            (lambda _: {"features": -1}, "features must not be negative"),
        ],
    )
    def test_of_compressed_rows(self, change, text):
        problem, data = self.data()
        with pytest.raises(ValueError, match=text):
            call([problem], data=data | change(data))
        keywords = {"gamma": 1.0, "start": None, "method": "auto", "tol": 1e-3, "max_iter": 10, "seconds": np.inf}
        keywords |= {"cache_size": 1.0, "threads": 1, "report": None} | native_rows(problem)
        keywords |= native_task(problem.sign, problem.loss, problem.weight)
        with pytest.raises(ValueError, match=text):
            _native.solve(**(keywords | {"data": data | change(data)}))

    def test_unharmed_they_are_taken(self):
        problem, data = self.data()
        assert call([problem], data=data)["status"] == ["optimal"] * 3
        longer = {name: np.append(data[name], data[name][:1]) for name in ("values", "columns")}
        assert call([problem], data=data | longer)["status"] == ["optimal"] * 3

    def test_of_the_other_layouts(self):
        problem = classes()[0]
        X = problem.X
        with pytest.raises(ValueError, match="must have an entry per row"):
            call([problem], data={"X": X[:-1].copy()})
        with pytest.raises(ValueError, match="gram must be square"):
            call([problem], data={"gram": X})
        with pytest.raises(TypeError, match="X must be an aligned, C-contiguous array"):
            call([problem], data={"X": X[:, ::-1]})
        with pytest.raises(ValueError, match="starts is missing"):
            call([problem], data={})


def posed(problem, weights):
    """The tasks of a problem, and folds that score all rows."""
    folds = Folds((problem.sign > 0).astype(np.intp), weights, [np.arange(problem.n)] * len(weights))
    return [Task(1, None, problem.loss)], folds


def test_a_search_is_a_list_of_tasks():
    problem = classes()[2]
    trains = np.ones((3, problem.n), np.uint8)
    for fold in range(3):
        trains[fold, fold::3] = 0
    gammas = np.array([0.1, 1.0])
    weights = trains * problem.weight
    tasks, folds = posed(problem, weights)
    found = KernelFits(problem, tasks, gammas, Limits(1e-4, 10**6, 10, 2)).scores(None, folds, SCALES)
    scores = found.scores.reshape(len(SCALES), 2, 3, problem.n)
    assert found.optimal.all()
    assert found.finished.all()
    for g, gamma in enumerate(gammas):
        for fold, train in enumerate(trains.astype(bool)):
            kernel, weight = replace(problem.kernel, gamma=gamma), np.where(train, problem.weight, 0.0)
            part = replace(problem, kernel=kernel, weight=weight)
            for c, C in enumerate(SCALES):
                alone = ActiveSet().solve(at(part, C))
                assert_allclose(scores[c, g, fold], alone.expansion + alone.bias, atol=5e-3)


def test_a_search_without_time_is_unfinished():
    problem = classes()[1]
    weights = np.ones((2, problem.n))
    tasks, folds = posed(problem, weights)
    found = KernelFits(problem, tasks, np.ones(2), Limits(1e-3, 10**6, until=0.0)).scores(None, folds, SCALES)
    assert not found.finished.any()
    assert not found.optimal.any()
    assert not found.scores.any()


@looped(seed=range(20))
def test_the_bias_is_the_one_that_the_certificate_chooses(seed):
    """Also where the optimum leaves it open: without rows between breakpoints it is the middle of an interval."""
    problem = random_problem(seed)
    weights = (0.01 if seed % 2 else 1.0) * problem.weight
    (solutions,) = SMO().solve_many([replace(problem, weight=weights)], np.array([0.1, 1.0]))
    for scale, solution in zip((0.1, 1.0), solutions, strict=True):
        expected = best_bias(replace(problem, weight=scale * weights), solution.expansion)
        assert solution.bias == pytest.approx(expected, rel=1e-9, abs=1e-9)
