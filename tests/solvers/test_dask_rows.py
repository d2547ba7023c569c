"""Sums over dask's blocks against the same sums in memory; certificates that forged multipliers cannot improve."""

from __future__ import annotations

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import Task
from abstain.losses.tangent_hinge import double_hinge
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.linear import LocalSums, first_penalty

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
pytest.importorskip("dask.array", reason="the extra dask is not installed")
dask_rows = pytest.importorskip("abstain.solvers.dask_rows")
SIZES = (30, 1, 70, 19) * 3  # more than one task can add
SIGMA, POINT, DIRECTION = 0.7, np.array([0.5, -0.2, 0.1, 0.3]), np.array([-0.1, 0.4, 0.2, -0.5])


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    n = sum(SIZES)
    X = rng.standard_normal((n, 3)) + 2.0
    y = np.where(X[:, 0] + rng.standard_normal(n) > 2.5, 1, -1).astype(np.int8)
    return LinearProblem(X, X.mean(axis=0), y, rng.uniform(0, 2, n), double_hinge(Costs(1, 3, 0.3)))


@pytest.fixture
def sums(problem):
    at = np.cumsum(SIZES)[:-1]
    code = (problem.sign > 0).astype(np.intp)
    parts = zip(np.split(code, at), np.split(problem.weight, at), strict=True)
    rows = [dask_rows.BlockRows(*part, None) for part in parts]
    blocks = [dask.delayed(part) for part in np.split(problem.X, at)]
    pose = dask_rows.Pose(problem.centre, Task(1, None, problem.loss), dense=False)
    return dask_rows.DaskSums(blocks, [dask.delayed(part, traverse=False) for part in rows], pose, len(code))


@pytest.fixture
def local(problem):
    return LocalSums(problem)


def test_all_sums_are_those_of_the_rows_in_memory(problem, sums, local):
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)  # noqa: E731
    close(sums.first_penalty(), first_penalty(problem))
    for each in (sums, local):
        each.score(POINT)
        each.gradient(SIGMA, afresh=True)
        each.accept()  # multipliers other than 0
        each.along(DIRECTION)
        each.move(0.5)
    close(sums.gradient(SIGMA, afresh=True), local.gradient(SIGMA, afresh=True))
    assert 0 < sums.between() == local.between() < len(problem.sign)
    close(sums.hessian(10**9, everything=False), local.hessian(10**9, everything=False))
    close(sums.hessian(10**9, everything=True), local.hessian(10**9, everything=True))
    close(sums.hessian_times(DIRECTION), local.hessian_times(DIRECTION))
    close(sums.hessian_diagonal(False), local.hessian_diagonal(False))
    close(sums.hessian_diagonal(True), local.hessian_diagonal(True))
    steps = np.array([0.1, 1.0, 3.0])
    close(sums.slopes(SIGMA, steps), local.slopes(SIGMA, steps))
    close((sums.loss(), sums.shift()), (local.loss(), local.shift()))
    assert sums.shift() > 0
    close(sums.dual(1.0, 1.0), local.dual(1.0, 1.0))
    for scale in ((0.5, 1.0), (1.0, 0.99), (0.0, 0.0)):
        assert sums.dual(*scale) <= local.dual(*scale) + 1e-12


def test_the_certificate_is_that_of_the_rows_in_memory(problem, sums, local):
    machine = LinearMachine(POINT[:-1], problem.centre, float(POINT[-1]))
    for each in (sums, local):
        each.score(POINT)
        each.gradient(SIGMA, afresh=True)
    found = sums.certificate_sums(machine).certificate(POINT[:-1])
    expected = problem.certify(machine, local.gamma())
    for name, value in vars(expected).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-10), name
    rng = np.random.default_rng(1)
    for forge in (lambda n: rng.uniform(-5, 5, n), lambda n: np.full(n, 1e9), np.zeros):
        sums.now = [dask.delayed(({}, forge(size))) for size in SIZES]
        forged = sums.certificate_sums(machine).certificate(POINT[:-1])
        assert forged.primal == pytest.approx(expected.primal)
        assert forged.dual <= expected.primal
        assert forged.relative_gap > 1e-3


def test_estimated_hessians_are_near_the_sum(sums, monkeypatch):
    sums.score(POINT)
    sums.gradient(SIGMA, afresh=True)
    exact = sums.hessian(1, everything=False)
    monkeypatch.setattr("abstain.solvers.linear.PRODUCTS", 0.0)
    monkeypatch.setattr("abstain.solvers.linear.SAMPLED", 10)
    sums.gradient(SIGMA, afresh=True)
    estimate = sums.hessian(1, everything=False)
    assert np.linalg.norm(estimate - exact) < 0.5 * np.linalg.norm(exact)
    assert (estimate != exact).any()
