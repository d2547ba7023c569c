"""FR02's training problem: the native objective against its definition, and what both solvers must keep."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from abstain import _native
from abstain.losses.step_loss import StepLoss
from abstain.solvers.embedded import EmbeddedDual, EmbeddedPrimal, EmbeddedProblem, hops_for, svm_starts
from embedded_cases import h2, objective


def clouds(n=150, d=3, apart=1.2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1).astype(np.int8)
    return rng.normal(size=(n, d)) * [1.0, 5.0, 0.2][:d] + apart * y[:, np.newaxis], y


def posed(w_R=0.2, strength=0.1, **options):
    X, y = clouds(**options)
    return X, y, EmbeddedProblem.of(X, y, StepLoss(w_R), strength)


def points(problem, count=5, seed=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield np.r_[rng.normal(size=problem.z.shape[1]), rng.normal(), rng.uniform()]


@pytest.mark.parametrize("w_R", [0.05, 0.2, 0.5])
def test_the_objective_is_that_of_the_paper_in_any_coordinates(w_R):
    X, y, problem = posed(w_R)
    for point in points(problem):
        u, b, eps = point[:-2], point[-2], point[-1]
        value, _ = _native.embedded_objective(**problem.native, point=point)
        expected = objective(problem.weights(u), problem.bias(u, b), eps, X, y, w_R)
        assert problem.C * value == pytest.approx(expected, rel=1e-9)


def test_the_slacks_left_out_are_the_best_ones():
    X, y, problem = posed(n=40)
    for point in points(problem):
        u, b, eps = point[:-2], point[-2], point[-1]
        w, bias = problem.weights(u), problem.bias(u, b)
        slack = 1 - y * (X @ w + bias)
        tried = slack[:, np.newaxis] + np.r_[0, np.logspace(-6, 1.5, 20_000)]  # all allowed: y f >= 1 - xi
        brute = w @ w / 2 + problem.C * h2(tried, eps, 0.2, 0.04).min(axis=1).sum()
        value, _ = _native.embedded_objective(**problem.native, point=point)
        assert problem.C * value == pytest.approx(brute, rel=1e-5)


def test_the_gradient_is_that_of_central_differences():
    _, _, problem = posed()
    for point in points(problem):
        _, gradient = _native.embedded_objective(**problem.native, point=point)
        for k, by_k in enumerate(gradient):
            high, low = point.copy(), point.copy()
            high[k] += 1e-6
            low[k] -= 1e-6
            difference = (
                _native.embedded_objective(**problem.native, point=high)[0]
                - _native.embedded_objective(**problem.native, point=low)[0]
            ) / 2e-6
            assert by_k == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(gradient).max())


def test_the_loss_of_a_margin_never_rises():
    for w_R, eps in ((0.05, 0.3), (0.2, 0.0), (0.5, 1.0)):
        margins = np.linspace(-3, 3, 601)
        phi = [
            _native.embedded_objective(
                z=np.array([[m]]),
                sign=np.ones(1, np.int8),
                penalty=np.zeros(1),
                costs=StepLoss(w_R).costs,
                point=np.array([1.0, 0.0, eps]),
            )[0]
            for m in margins
        ]
        assert (np.diff(phi) <= 1e-15).all()
        assert phi[0] > phi[-1] + 0.5


def test_the_inner_minimum_is_below_every_slack():
    rng, xi = np.random.default_rng(0), np.linspace(-0.5, 16, 200_001)
    for _ in range(60):
        w_R, eps, t = rng.uniform(0.02, 0.9), rng.choice([0.0, 0.01, rng.uniform(), 0.99, 1.0]), rng.uniform(0, 1.4)
        loss = StepLoss(w_R, rng.uniform(0.05, 0.9) * w_R)
        value, slack = _native.embedded_inner(loss.costs, eps, t)
        assert value <= (loss.value(xi, eps) - t * xi).min() + 1e-9
        assert value == pytest.approx(float(loss.value(slack, eps) - t * slack), abs=1e-12)


@pytest.mark.parametrize("w_R", [0.1, 0.5])
def test_the_primal_ends_where_nothing_goes_down(w_R):
    _, _, problem = posed(w_R)
    solution = EmbeddedPrimal().solve(problem)
    assert solution.status == "local"
    assert 0 <= solution.eps <= 1
    value, gradient = _native.embedded_objective(**problem.native, point=solution.point)
    assert solution.objective == pytest.approx(problem.C * value, rel=1e-12)
    free = gradient[: -1 if w_R >= 0.5 or solution.eps in {0.0, 1.0} else None]
    assert np.abs(free).max() < 1e-3 * np.sqrt(len(problem.sign))

    def value_and_gradient(point):
        return _native.embedded_objective(**problem.native, point=point)

    bounds = [(None, None)] * (len(solution.point) - 1) + [(0, 0) if w_R >= 0.5 else (0, 1)]
    judge = minimize(value_and_gradient, solution.point, jac=True, method="L-BFGS-B", bounds=bounds)
    assert problem.C * judge.fun > solution.objective * (1 - 1e-6)


def rugged(seed, w_R=0.5, n=120, d=5):
    """A problem with many local minima, by rows far from the others."""
    rng = np.random.default_rng(seed)
    X, sign = rng.normal(size=(n, d)), rng.choice(np.array([-1, 1], dtype=np.int8), n)
    X[:, 0] += 0.3 * sign
    X[: n // 10] *= 5
    return X, sign, EmbeddedProblem.of(X, sign, StepLoss(w_R), 1.0)


def test_the_same_seed_gives_the_same_point_and_another_may_not():
    _, _, problem = rugged(0, w_R=0.1, d=20)
    first, second = (EmbeddedPrimal(hops=6, seed=1).solve(problem) for _ in range(2))
    np.testing.assert_array_equal(first.point, second.point)
    others = [EmbeddedPrimal(hops=6, seed=seed).solve(problem).objective for seed in range(2, 8)]
    assert any(objective != first.objective for objective in others)


def test_more_hops_from_one_seed_are_never_worse():
    better = 0
    for seed in range(12):
        _, _, problem = rugged(seed, w_R=(0.5, 0.1)[seed % 2])
        found = [EmbeddedPrimal(hops=hops).solve(problem).objective for hops in (0, 5, 20, 60)]
        assert all(later <= earlier for earlier, later in pairwise(found)), seed
        better += found[-1] < 0.999 * found[0]
    assert better >= 2


def test_starts_come_after_the_hops_and_never_raise_F():
    better = 0
    for seed in range(12):
        _, _, problem = rugged(seed, w_R=0.5)
        _, _, neighbour = rugged(seed, w_R=1.0)
        start = EmbeddedPrimal(hops=30).solve(neighbour).point
        alone, helped = EmbeddedPrimal(hops=1).solve(problem), EmbeddedPrimal(hops=1).solve(problem, [start])
        assert helped.objective <= alone.objective
        better += helped.objective < alone.objective
    assert better  # the start is tried; several seeds gain


@pytest.mark.parametrize("w_R", [0.1, 0.5])
def test_rows_in_another_order_or_rotated_have_the_same_minimum(w_R):
    X, sign, problem = rugged(1, w_R, d=12)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    F = EmbeddedPrimal(hops=20).solve(problem).objective
    assert EmbeddedPrimal(hops=20, seed=1).solve(problem).objective != F  # so it depends on the way of the search
    for _ in range(3):
        order = rng.permutation(len(X))
        other = EmbeddedProblem.of(X[order] @ turn, sign[order], StepLoss(w_R), 1.0)
        assert EmbeddedPrimal(hops=20).solve(other).objective == pytest.approx(F, rel=1e-9)


def test_rounded_coordinates_do_not_depend_on_order_rotation_or_equal_variances():
    rng = np.random.default_rng(0)
    sign = rng.choice(np.array([-1, 1], dtype=np.int8), 90)
    spread = rng.normal(size=(90, 4))
    white = np.linalg.qr(spread - spread.mean(axis=0))[0] * 9  # every direction is a principal axis
    for X in (spread, white):
        plain = EmbeddedProblem.of(X, sign, StepLoss(0.2), 0.1).rounded()
        order, turn = rng.permutation(90), np.linalg.qr(rng.normal(size=(4, 4)))[0]
        other = EmbeddedProblem.of(X[order] @ turn, sign[order], StepLoss(0.2), 0.1)
        assert np.abs(other.z - EmbeddedProblem.of(X, sign, StepLoss(0.2), 0.1).z[order]).max() > 0  # rounding
        np.testing.assert_array_equal(other.rounded().z, plain.z)
        np.testing.assert_array_equal(other.rounded().sign, plain.sign)
        np.testing.assert_array_equal(other.rounded().penalty, plain.penalty)


def test_hops_are_bounded_by_the_size_of_the_problem():
    assert hops_for(50, 2) == 2000
    assert hops_for(5000, 16) < hops_for(770, 16) < hops_for(100, 16)
    assert hops_for(10**6, 100) == 48


def test_the_svm_it_starts_from_is_the_plain_svm():
    from sklearn.svm import SVC

    X, y, problem = posed()
    svm = SVC(kernel="linear", C=0.1, tol=1e-6).fit(X, y)
    starts = svm_starts(problem)
    assert [start[-1] for start in starts] == [0.1, 0.4, 0.8]
    assert len(svm_starts(posed(0.5)[2])) == 1
    u, b = starts[0][:-2], starts[0][-2]
    score = X @ problem.weights(u) + problem.bias(u, b)
    assert np.abs(score - svm.decision_function(X)).max() < 0.2  # a start, not exact


@pytest.mark.parametrize("w_R", [0.05, 0.2, 0.5])
def test_the_dual_keeps_its_constraints_and_bounds_the_primal(w_R):
    _, y, problem = posed(w_R)
    dual = EmbeddedDual().solve(problem)
    alpha = dual.multipliers
    assert abs(alpha @ y) < 1e-8
    assert (alpha >= 0).all()
    assert alpha.max() > 0
    assert len(dual.trace) > 2
    assert (np.diff(dual.trace) >= 0).all()
    assert 0 <= dual.eps <= 1
    primal = EmbeddedPrimal().solve(problem)
    assert dual.lower_bound <= primal.objective <= dual.objective * (1 + 1e-9)
    # w by equation 26
    X, _ = clouds()
    np.testing.assert_allclose(problem.weights(dual.u), (alpha * y) @ X, rtol=1e-6, atol=1e-9)


def test_the_bound_is_the_dual_value_with_eps_between_the_grid_too():
    X, y, problem = posed(0.2, n=60)
    dual = EmbeddedDual().solve(problem)
    t = dual.multipliers / problem.C
    v = (dual.multipliers * y) @ X
    inner = min(
        sum(_native.embedded_inner(problem.loss.costs, eps, ti)[0] for ti in t) for eps in np.linspace(0, 1, 2001)
    )
    W = dual.multipliers.sum() - v @ v / 2 + problem.C * inner
    assert dual.lower_bound <= W + 1e-9
    assert dual.lower_bound == pytest.approx(W, rel=1e-5)


def test_b_and_eps_recovered_are_the_best_for_the_weights():
    X, y, problem = posed(0.1)
    dual = EmbeddedDual().solve(problem)
    w, b = problem.weights(dual.u), problem.bias(dual.u, dual.b)
    tried = [
        objective(w, b + shift, eps, X, y, 0.1) for shift in np.linspace(-1, 1, 81) for eps in np.linspace(0, 1, 21)
    ]
    assert dual.objective <= min(tried) * (1 + 1e-3)


def test_limits_are_kept_and_told():
    _, _, problem = posed(n=400)
    few = EmbeddedPrimal(max_iter=7).solve(problem)
    assert few.status == "iteration_limit"
    assert few.iterations <= 8
    assert EmbeddedPrimal(time_limit=1e-9).solve(problem).status == "time_limit"
    assert EmbeddedDual(max_iter=5).solve(problem).status == "iteration_limit"
    assert EmbeddedDual(time_limit=1e-9).solve(problem).lower_bound <= EmbeddedPrimal().solve(problem).objective
    calls = []
    told = EmbeddedPrimal(hops=10**6, progress=lambda *state: calls.append(state) or len(calls) > 2).solve(problem)
    assert told.status == "iteration_limit"
    assert len(calls) == 3


def test_directions_of_no_variance_are_left_out():
    X, y = clouds()
    flat = EmbeddedProblem.of(np.c_[X, np.ones(len(X)), X[:, 0]], y, StepLoss(0.2), 0.1)
    assert flat.z.shape[1] == 3
    nothing = EmbeddedProblem.of(np.ones((6, 2)), np.array([1, -1] * 3, np.int8), StepLoss(0.2), 0.1)
    assert nothing.z.shape == (6, 0)
    assert EmbeddedPrimal().solve(nothing).status == "local"


def test_a_point_is_the_same_machine_in_both_coordinates():
    X, _, problem = posed()
    u = np.random.default_rng(0).normal(size=3)
    np.testing.assert_allclose(problem.z @ u + 0.3, X @ problem.weights(u) + problem.bias(u, 0.3), rtol=1e-10)
    assert problem.penalty @ u**2 * problem.C == pytest.approx(np.sum(problem.weights(u) ** 2))
