"""The linear solver against a general QP solver, on rows made to be hard; its certificates against forged ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning

import clarabel_qp
from abstain import LinearRejectSVC
from abstain.costs.costs import Costs
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Status
from abstain.estimators.linear.linear_fit import fitted_machine, row_centre
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge, row_losses, tangent_hinge, task_tangents
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.linear import LinearNewton, LocalSums, first_penalty
from problems import costs_of_rows


def tangents(K: int):
    return tangent_hinge(logit(np.linspace(0.1, 0.9, K))) if K > 1 else hinge()


def rows_of(name: str, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, 6))
    y = np.where(X @ np.arange(6) + 3 * rng.standard_normal(n) > 0, 1, -1).astype(np.int8)
    if name == "scales":
        X = X * np.logspace(-2, 2, 6)
    if name == "large scales":
        X = X * np.logspace(0, 8, 6)
    if name == "duplicates":
        X = np.round(X)
    if name == "far away":
        X = X + 1e6
    if name == "constant column":
        X[:, 2] = 3.0
    if name == "rare":
        y = np.where(np.arange(n) < 2, 1, -1).astype(np.int8)
    if name == "separable":
        y = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    if name == "wide":
        X = rng.standard_normal((30, 60))
        y = y[:30]
    return X, y


def posed(X, y, loss, C=1.0) -> LinearProblem:
    return LinearProblem(X, row_centre(X), y, np.full(len(y), C), loss)


def optimum(problem: LinearProblem) -> float:
    X = np.asarray(problem.X.todense() if hasattr(problem.X, "todense") else problem.X, dtype=np.float64)
    centred = np.ascontiguousarray(X - X.mean(axis=0))  # which a bias that is not penalised cannot see
    return clarabel_qp.primal_optimum(
        DualProblem(Kernel("linear"), centred, problem.sign, problem.loss, problem.weight)
    )


NAMES = ["plain", "scales", "duplicates", "far away", "constant column", "rare", "separable", "wide"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", [hinge(), double_hinge(Costs(1, 5, 0.3))], ids=["hinge", "double hinge"])
def test_optimum_is_that_of_the_qp_solver(name, loss):
    problem = posed(*rows_of(name), loss)
    machine, proof = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    assert proof.status == "optimal"
    assert proof.gap <= 1e-7
    best = optimum(problem)
    assert proof.dual_objective <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= proof.objective <= best * (1 + 1e-6)
    # the control: another machine is not optimal, and its certificate says so
    moved = problem.certify(replace(machine, bias=machine.bias + 0.1), np.zeros(len(problem.sign)))
    assert moved.relative_gap > 1e-3


def test_columns_from_1_to_1e8():
    problem = posed(*rows_of("large scales"), double_hinge(Costs(reject=0.2)), C=0.01)
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-6), None)
    assert proof.status == "optimal"
    scaled = replace(problem, X=problem.X)
    assert proof.objective <= optimum(scaled) * (1 + 1e-5)


@pytest.mark.parametrize("K", range(1, 7))
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_any_number_of_knots(K, C):
    problem = posed(*rows_of("plain"), tangents(K), C)
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    assert proof.status == "optimal"
    assert proof.objective == pytest.approx(optimum(problem), rel=1e-6)


def test_a_loss_for_each_row():
    X, y = rows_of("plain")
    rng = np.random.default_rng(0)
    costs = costs_of_rows(np.column_stack([rng.uniform(1, 3, 120), rng.uniform(1, 9, 120), rng.uniform(0.1, 0.4, 120)]))
    problem = LinearProblem(X, row_centre(X), y, rng.uniform(0, 2, 120), row_losses(task_tangents(costs), y))
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    assert proof.objective == pytest.approx(optimum(problem), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
def test_rows_are_read_where_they_are(dtype, sparse):
    X, y = rows_of("plain")
    X = np.ascontiguousarray(np.where(np.abs(X) > 0.5, X, 0.0).astype(dtype))
    given = csr_array(X) if sparse else X
    problem = posed(given, y, double_hinge(Costs(reject=0.2)))
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    assert proof.objective == pytest.approx(optimum(posed(X, y, problem.loss)), rel=1e-6)


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 9))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1).astype(np.int8)
    problem = posed(X, y, double_hinge(Costs(reject=0.2)))
    machines = [fitted_machine(problem, LinearNewton(tol=1e-6), jobs)[0] for jobs in (1, 2, 3)]
    for other in machines[1:]:
        assert other.bias == machines[0].bias
        np.testing.assert_array_equal(other.weights, machines[0].weights)


def test_conjugate_gradients_find_the_same_optimum(monkeypatch):
    problem = posed(*rows_of("plain"), double_hinge(Costs(reject=0.2)))
    expected = optimum(problem)
    monkeypatch.setattr("abstain.solvers.linear.MOST_DENSE", 1)
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-6), None)
    assert proof.status == "optimal"
    assert proof.objective == pytest.approx(expected, rel=1e-5)


def test_estimated_hessians_find_the_same_optimum(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 5))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1).astype(np.int8)
    problem = posed(X, y, double_hinge(Costs(reject=0.2)))
    _, exact = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    monkeypatch.setattr("abstain.solvers.linear.PRODUCTS", 0.0)
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-6), None)
    assert proof.status == "optimal"
    assert proof.objective == pytest.approx(exact.objective, rel=1e-5)


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 1e-9}, {"progress": lambda steps, _: steps > 1}])
def test_a_limit_is_reported_with_a_true_gap(limit):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 5))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1).astype(np.int8)
    problem = posed(X, y, hinge())
    machine, proof = fitted_machine(problem, LinearNewton(tol=1e-9, **limit), None)
    assert proof.status == ("time_limit" if "time_limit" in limit else "iteration_limit")
    _, exact = fitted_machine(problem, LinearNewton(tol=1e-9), None)
    assert proof.objective - exact.dual_objective <= proof.gap * proof.objective * (1 + 1e-9)
    own = 0.5 * machine.weights @ machine.weights + np.maximum(0, 1 - y * machine.score(X)).sum()
    assert proof.objective == pytest.approx(own, rel=1e-12)


def test_multipliers_outside_their_bounds_prove_nothing():
    problem = posed(*rows_of("plain"), hinge())
    machine, proof = fitted_machine(problem, LinearNewton(tol=1e-7), None)
    rng = np.random.default_rng(0)
    for gamma in (rng.uniform(-5, 5, 120), np.full(120, 1e9), np.zeros(120)):
        certificate = problem.certify(machine, gamma)
        assert certificate.dual <= proof.objective
        assert certificate.relative_gap > 1e-3


def test_an_overflow_proves_nothing():
    X, y = rows_of("plain")
    machine, proof = fitted_machine(posed(1e150 * X, y, hinge(), C=1e300), LinearNewton(), None)
    assert (proof.status, proof.dual_objective, proof.gap) == ("inaccurate", 0.0, 1.0)
    assert proof.violation == np.linalg.norm(machine.weights)  # that of gamma = 0


def test_a_tolerance_below_rounding_gives_no_worse_machine():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 6))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1).astype(np.int8)
    _, proof = fitted_machine(posed(X, y, double_hinge(Costs(reject=0.2))), LinearNewton(tol=1e-15), None)
    assert proof.gap < 1e-10
    assert proof.status == ("optimal" if proof.gap <= 1e-15 else "inaccurate")
    assert proof.iterations < 500


def test_a_warm_start_takes_fewer_steps():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 8))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1).astype(np.int8)
    problem = posed(X, y, hinge())
    sums = LocalSums(problem)
    cold = LinearNewton(tol=1e-6).solve(sums, first_penalty(problem))
    again = LocalSums(problem)
    again.start(sums.gamma())
    warm = LinearNewton(tol=1e-6).solve(again, cold.sigma, cold.point)
    assert cold.status is warm.status is Status.OPTIMAL
    assert warm.iterations < cold.iterations / 2


class Remote(LocalSums):
    """Sums that count calls, as if each were a round of a cluster."""

    at_once, native = 12, None

    def __init__(self, problem):
        super().__init__(problem)
        self.calls = 0
        self.slopes = self.counted

    def counted(self, sigma, steps):
        self.calls += 1
        return self.block.slopes(sigma, steps)


@pytest.mark.parametrize("name", ["plain", "scales", "separable"])
def test_several_step_lengths_in_one_call(name):
    problem = posed(*rows_of(name), double_hinge(Costs(reject=0.2)))
    _, proof = fitted_machine(problem, LinearNewton(tol=1e-6), None)
    sigma, many = first_penalty(problem), Remote(problem)
    found = LinearNewton(tol=1e-6).solve(many, sigma)
    assert found.status is Status.OPTIMAL
    machine = LinearMachine(found.point[:-1], problem.centre, float(found.point[-1]))
    assert problem.certify(machine, many.gamma()).primal == pytest.approx(proof.objective, rel=1e-5)
    single = Remote(problem)
    single.at_once = 1
    steps = LinearNewton(tol=1e-6).solve(single, sigma).iterations
    assert many.calls / found.iterations < 0.8 * single.calls / steps


def test_gamma_stays_within_its_bounds():
    problem = posed(*rows_of("plain"), double_hinge(Costs(reject=0.2)))
    sums = LocalSums(problem)
    sums.score(np.linspace(-3, 3, 7))
    for sigma in (1e-3, 1.0, 1e6):
        sums.gradient(sigma, afresh=True)
        assert (sums.gamma() >= 0).all()
        assert (sums.gamma() <= problem.top * (1 + 1e-15)).all()


def test_rows_of_another_shape_cannot_be_attached():
    problem = posed(*rows_of("plain"), hinge())
    sums = LocalSums(problem)
    with pytest.raises(ValueError, match="shape"):
        sums.block.attach({"X": np.zeros((3, 6)), "centre": np.zeros(6)})
    with pytest.raises(ValueError, match="entry more"):
        sums.score(np.zeros(3))


def test_the_machine_scores_around_the_centre():
    machine = LinearMachine(np.array([1.0]), np.array([1e9]), 0.25)
    assert machine.score(np.array([[1e9 + 0.5]])) == 0.75


def test_a_limit_is_a_warning_that_names_the_gap():
    X, y = rows_of("plain", 3000)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap \S+ \(tol=1e-09\); raise max_iter=2"):
        LinearRejectSVC(tol=1e-9, max_iter=2).fit(X, y)
