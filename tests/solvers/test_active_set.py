"""The active set ends at the optimum exactly: by the certificate alone, whatever C, duplicates, rank and start."""

import os
from dataclasses import replace

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.dual.certificate import certify
from abstain.dual.proof import Status
from abstain.estimators.svm.svc import RejectSVC
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers.native import SMO, ActiveSet
from clarabel_qp import dual_optimum
from looping import looped, quick
from optimality_cases import (
    COSTS,
    DATA_SETS,
    DECADES,
    KERNELS,
    PLANE,
    Case,
    covering_cases,
    exact,
    gap_allowed,
    load,
    plain_objectives,
    posed,
)
from problems import random_problem

needs_data = pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")


def each_data_set(*names):
    at_hand = ("wdbc", PLANE)
    marked = [pytest.param(name, marks=[] if name in at_hand else [needs_data]) for name in names]
    return pytest.mark.parametrize("data", marked)


def check_exact(case, *, twice=False):
    status, certificate = exact(case, twice=twice)
    assert status == "optimal", case
    assert certificate.relative_gap <= gap_allowed(case.C), case


@pytest.mark.parametrize("kernel", KERNELS)
@each_data_set(*DATA_SETS)
@looped(twice=(False, True))
def test_the_gap_is_rounding(data, kernel, twice):
    for case in covering_cases(data):
        if case.kernel == kernel:
            check_exact(case, twice=twice)


@pytest.mark.parametrize("kernel", KERNELS)
@each_data_set(*DATA_SETS, PLANE)
@looped(decade=range(len(DECADES)))
def test_the_gap_is_rounding_at_every_strength(data, kernel, decade):
    # every decade of C with every kernel and set, the costs in turn
    turn = (*DATA_SETS, PLANE).index(data) + KERNELS.index(kernel) + decade
    check_exact(Case(data, kernel, COSTS[turn % len(COSTS)], DECADES[decade]))


@pytest.mark.parametrize("costs", quick(COSTS, COSTS[-1]), ids=str)
@looped(C=DECADES, twice=(False, True))
def test_the_gap_is_rounding_at_rank_two(costs, C, twice):
    check_exact(Case(PLANE, "linear", costs, C), twice=twice)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_general_solver_and_plain_numpy_agree(kernel):
    case = Case("wdbc", kernel, COSTS[2], 1.0)
    problem = posed(case)
    solution = ActiveSet().solve(problem)
    primal, dual = plain_objectives(problem.gram(), problem.sign, case, solution.beta, solution.bias)
    assert primal - dual <= gap_allowed(case.C) * primal
    assert primal == pytest.approx(dual_optimum(problem), rel=1e-6)


@pytest.mark.parametrize("case", [Case("wdbc", "rbf", COSTS[2], 1.0), Case(PLANE, "linear", COSTS[0], 1e6)], ids=str)
def test_the_judge_has_teeth(case):
    # one part in a million of two coefficients, or of the bias, is far too much
    problem = posed(case)
    solution = ActiveSet().solve(problem)
    between = np.flatnonzero(problem.sets(solution.beta) % 2)
    step = 1e-6 * case.C
    nudged = solution.beta.copy()
    nudged[between[0]] += step
    nudged[between[-1]] -= step
    assert certify(problem, nudged, solution.bias).relative_gap > gap_allowed(case.C)
    assert certify(problem, solution.beta, solution.bias + 1e-4).relative_gap > gap_allowed(case.C)


def test_pair_steps_alone_do_not_get_there():
    # control: the same certificate on SMO's answer at the same tolerance
    case = Case("wdbc", "rbf", COSTS[2], 100.0)
    problem = posed(case)
    rough, fine = SMO(polish=False).solve(problem), ActiveSet().solve(problem)
    gaps = [certify(problem, solution.beta, solution.bias).relative_gap for solution in (rough, fine)]
    assert gaps[0] > 1e3 * gap_allowed(case.C) > gaps[1]


STARTED = Case("wdbc", "rbf", Costs(1, 5, 0.3), 10.0)


@pytest.fixture(scope="module")
def cold():
    problem = posed(STARTED)
    return problem, ActiveSet().solve(problem)


class TestWarmStart:
    """Whatever it starts from, it ends at the same optimum, and a good start saves work."""

    def judge(self, problem, cold, start):
        warm = ActiveSet().solve(problem, start=start)
        here, there = (certify(problem, solution.beta, solution.bias) for solution in (warm, cold))
        assert warm.status is Status.OPTIMAL
        assert here.relative_gap <= gap_allowed(STARTED.C)
        assert here.primal == pytest.approx(there.primal, rel=1e-12)
        return warm

    @pytest.mark.parametrize("factor", [0.01, 0.5, 0.9, 1.1, 2.0, 100.0])
    def test_another_C(self, cold, factor):
        problem, solution = cold
        other = ActiveSet().solve(replace(problem, weight=factor * problem.weight))
        warm = self.judge(problem, solution, other.beta / factor)
        if 0.5 <= factor <= 2.0:
            assert warm.iterations < solution.iterations

    @pytest.mark.parametrize("costs", [Costs(1, 5, 0.32), Costs(1, 1, 0.2), Costs(reject=0.5), None], ids=str)
    def test_other_costs(self, cold, costs):
        # its coefficients may leave the new box, and one loss has another number of knots
        problem, solution = cold
        other = replace(problem, loss=hinge() if costs is None else double_hinge(costs))
        self.judge(problem, solution, ActiveSet().solve(other).beta)

    @pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
    def test_an_answer_of_smo(self, cold, tol):
        problem, solution = cold
        start = SMO(tol=tol, polish=False).solve(problem).beta
        assert self.judge(problem, solution, start).iterations < solution.iterations

    def test_nonsense(self, cold):
        problem, solution = cold
        rng = np.random.default_rng(0)
        self.judge(problem, solution, 1e3 * rng.normal(size=problem.n))

    def test_its_own_answer_is_kept(self, cold):
        problem, solution = cold
        again = self.judge(problem, solution, solution.beta)
        assert again.iterations <= 2
        np.testing.assert_allclose(again.beta, solution.beta, rtol=0, atol=1e-12 * STARTED.C)


@looped(seed=range(60))
def test_any_number_of_knots(seed):
    problem = random_problem(seed)
    solution = ActiveSet().solve(problem)
    certificate = certify(problem, solution.beta, solution.bias)
    assert solution.status is Status.OPTIMAL
    assert certificate.relative_gap <= gap_allowed(problem.weight.max())


@pytest.fixture(scope="module")
def machine():
    X, y = load("wdbc")
    return RejectSVC(Costs(1, 5, 0.3), C=2.0, solver="active-set").fit(X, y), X, y


class TestSets:
    """`sets_` are those of docs/theory.md, by the margin on one side and by the coefficient on the other."""

    P_LOW, P_HIGH = 0.06, 0.7  # of Costs(1, 5, 0.3)

    def test_of_the_margins(self, machine):
        clf, X, y = machine
        H_low, H_high = (-p * np.log(p) - (1 - p) * np.log(1 - p) for p in (self.P_LOW, self.P_HIGH))
        tau = np.where(y == 1, H_high / (1 - self.P_HIGH), H_low / self.P_LOW)
        sign = 2 * y - 1
        rho = sign * (H_low - H_high) / (self.P_HIGH - self.P_LOW)
        z = sign * clf.decision_function(X)
        assert set(clf.sets_.tolist()) == {0, 1, 2, 3, 4}
        assert (z[clf.sets_ == 0] > tau[clf.sets_ == 0]).all()
        np.testing.assert_allclose(z[clf.sets_ == 1], tau[clf.sets_ == 1], atol=1e-9)
        in_B = clf.sets_ == 2
        assert ((z > rho) & (z < tau))[in_B].all()
        np.testing.assert_allclose(z[clf.sets_ == 3], rho[clf.sets_ == 3], atol=1e-9)
        assert (z[clf.sets_ == 4] < rho[clf.sets_ == 4]).all()

    def test_of_the_coefficients(self, machine):
        clf, _, y = machine
        g = np.zeros(len(y))
        g[clf.support_] = np.abs(clf.dual_coef_[0])
        B = 2.0 * np.where(y == 1, 1 - self.P_HIGH, self.P_LOW)
        top = B + 2.0 * (self.P_HIGH - self.P_LOW)
        codes = clf.sets_
        assert (g[codes == 0] == 0).all()
        assert ((g > 0) & (g < B))[codes == 1].all()
        np.testing.assert_allclose(g[codes == 2], B[codes == 2], rtol=1e-14)
        assert ((g > B) & (g < top))[codes == 3].all()
        np.testing.assert_allclose(g[codes == 4], top[codes == 4], rtol=1e-14)

    def test_a_machine_stopped_early_has_others(self, machine):
        # control: SMO at a loose tolerance leaves rows off their knots
        clf, X, y = machine
        loose = RejectSVC(Costs(1, 5, 0.3), C=2.0, solver="smo", tol=0.1).fit(X, y)
        assert (loose.sets_ != clf.sets_).any()


def test_the_time_limit_is_kept_and_said():
    problem = posed(Case("wdbc", "rbf", COSTS[2], 1e6))
    assert ActiveSet(time_limit=1e-9).solve(problem).status is Status.TIME_LIMIT


def test_whoever_watches_can_stop_it():
    problem = posed(Case(PLANE, "rbf", COSTS[2], 1e6))
    told = []

    def stop(iterations, violation):
        told.append((iterations, violation))
        return True

    assert ActiveSet(progress=stop).solve(problem).status is Status.ITERATION_LIMIT
    assert len(told) == 1
