from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import certified
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.dual import certificate as certificates
from abstain.dual.certificate import Measures, certify, most_rounding, rounding, stretch
from abstain.dual.problem import DualProblem, set_names
from abstain.kernels import Kernel
from abstain.losses.margin_loss import MarginLoss, PiecewiseLinear
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers.native import SMO, best_bias
from clarabel_qp import dual_optimum, primal_optimum
from looping import looped
from problems import KNOWN, double_hinge_on_rho, pose, random_loss, random_problem, with_one_sign_of_rho
from reference_solver import Reference

UNIQUE = [known for known in KNOWN if known.beta is not None]
SEEDS = range(40)

DOUBLE = MarginLoss(
    negative=PiecewiseLinear((0.0, 1.0), (-3.0, -1.0)),
    positive=PiecewiseLinear((0.0, 1.0), (-3.0, -1.0)),
    thresholds=Thresholds(0, 0),
    cut=0.0,
)


@pytest.mark.parametrize("known", UNIQUE, ids=str)
def test_an_optimum_worked_by_hand_is_certified(known):
    certificate = certify(known.problem, np.array(known.beta), known.bias)
    assert certificate.primal == pytest.approx(known.value, rel=1e-13)
    assert certificate.dual == pytest.approx(known.value, rel=1e-13)
    assert certificate.relative_gap < 1e-14
    assert certificate.kkt_violation < 1e-14


@pytest.mark.parametrize("known", UNIQUE, ids=str)
def test_a_nudged_optimum_is_not(known):
    beta = np.array(known.beta)
    nudged = beta * 0.99  # still feasible
    assert certify(known.problem, nudged, known.bias).kkt_violation > 1e-3
    assert certify(known.problem, nudged, known.bias).gap > 1e-5
    assert certify(known.problem, beta, known.bias + 2.0).gap > 1e-3


def test_infeasible_coefficients_are_not_optimal():
    known = UNIQUE[0]
    beta = np.array(known.beta)
    assert certify(known.problem, beta + np.array([0.01, 0.0]), known.bias).kkt_violation >= 0.009  # the sum is not 0
    assert certify(known.problem, beta * 3, known.bias).kkt_violation >= 0.49  # beyond C = 1
    assert certify(known.problem, -beta, known.bias).kkt_violation >= 0.49  # of the other sign


def test_one_sign_of_rho_is_another_problem():
    # A14 (10)-(14) as printed: with the same rho in margin units for both classes the asymmetric answer is wrong.
    known = double_hinge_on_rho()
    wrong = with_one_sign_of_rho(known.problem)
    assert primal_optimum(known.problem) == pytest.approx(known.value, rel=1e-8)
    assert abs(primal_optimum(wrong) - known.value) > 1e-2 * known.value
    assert certify(wrong, np.array(known.beta), known.bias).kkt_violation > 0.1


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_the_general_solver_agrees_with_the_answers_worked_by_hand(known):
    assert primal_optimum(known.problem) == pytest.approx(known.value, rel=1e-8)
    assert dual_optimum(known.problem) == pytest.approx(known.value, rel=1e-8)


@looped(seed=SEEDS)
def test_objectives_enclose_the_optimum(seed):
    problem = random_problem(seed)
    optimum = primal_optimum(problem)
    rng = np.random.default_rng(seed)
    beta = feasible(problem, rng)
    certificate = certify(problem, beta, rng.normal())
    assert certificate.dual <= optimum * (1 + 1e-7)
    assert certificate.primal >= optimum * (1 - 1e-7)
    assert_allclose(certificate.gap, certificate.primal - certificate.dual, rtol=1e-9)
    assert_allclose(certificate.relative_gap, certificate.gap / certificate.primal, rtol=1e-12)
    assert_allclose(dual_optimum(problem), optimum, rtol=1e-6)


def feasible(problem, rng):
    """Random coefficients in the box whose sum is 0."""
    tops = problem.breakpoints[:, -1]
    g = rng.random(problem.n) * tops
    positive, negative = (g[problem.sign == y].sum() for y in (1, -1))
    shrink = np.where(problem.sign > 0, min(1, negative / positive), min(1, positive / negative))
    return problem.sign * g * shrink


@looped(seed=SEEDS)
def test_the_violation_is_the_best_first_gain_of_any_pair(seed):
    problem = random_problem(seed, sizes=(4, 9))
    beta = feasible(problem, np.random.default_rng(seed))
    K, tops, step = problem.gram(), problem.breakpoints[:, -1], 1e-7 * problem.weight.max()

    def dual(b):
        return problem.dual_values(b).sum() - b @ K @ b / 2

    gains = [0.0]
    for i in range(problem.n):
        for j in range(problem.n):
            moved = beta.copy()
            moved[i] += step
            moved[j] -= step
            g = problem.sign * moved
            if (g >= 0).all() and (g <= tops).all():
                gains.append((dual(moved) - dual(beta)) / step)
    assert certify(problem, beta, 0.0).kkt_violation == pytest.approx(max(gains), rel=1e-3, abs=1e-3)


def test_a_given_expansion_is_believed_and_a_missing_one_computed():
    known = UNIQUE[0]
    beta = np.array(known.beta)
    honest = certify(known.problem, beta, known.bias)
    assert certify(known.problem, beta, known.bias, known.problem.gram() @ beta) == honest
    assert certify(known.problem, beta, known.bias, np.zeros(2)).primal != honest.primal


def test_nothing_to_lose_is_finite():
    certificate = certify(pose(np.eye(2), [1, -1], hinge(), weight=[0, 0]), np.zeros(2), 0.0)
    assert (certificate.primal, certificate.gap, certificate.relative_gap) == (0.0, 0.0, 0.0)
    assert certificate.kkt_violation == 0.0


def test_an_overflow_proves_nothing():
    problem = pose([[1e150], [-1e150]], [1, -1], hinge())
    certificate = certify(problem, np.array([1e100, -1e100]), 0.0)
    assert np.isfinite(certificate.relative_gap)
    assert certificate.relative_gap > 1


@looped(seed=SEEDS)
def test_no_other_bias_is_better(seed):
    problem = random_problem(seed)
    expansion = np.random.default_rng(seed).normal(size=problem.n)
    best = best_bias(problem, expansion)
    # The loss is piecewise linear in the bias: its minimum is at one of the bends.
    bends = (problem.sign[:, np.newaxis] * problem.knots - expansion[:, np.newaxis]).ravel()
    least = min(problem.losses(expansion + bend).sum() for bend in bends)
    assert problem.losses(expansion + best).sum() == pytest.approx(least, rel=1e-11)


@pytest.mark.parametrize("known", UNIQUE, ids=str)
def test_of_an_interval_of_biases_the_middle_is_given(known):
    expansion = known.problem.gram() @ np.array(known.beta)
    assert best_bias(known.problem, expansion) == pytest.approx(known.bias, abs=1e-12)


def test_the_bias_where_one_class_has_no_weight():
    # Only positives: any f >= 1 costs nothing, and the least of these is given.
    assert best_bias(pose(np.eye(2), [1, -1], hinge(), weight=[1, 0]), np.array([0.25, 5.0])) == 0.75
    assert best_bias(pose(np.eye(2), [1, -1], hinge(), weight=[0, 1]), np.array([5.0, 0.25])) == -1.25
    assert best_bias(pose(np.eye(2), [1, -1], hinge(), weight=[0, 0]), np.zeros(2)) == 0.0


def test_the_bias_does_not_depend_on_the_order_of_rows():
    problem = random_problem(8)
    expansion = np.round(np.random.default_rng(8).normal(size=problem.n))
    order = np.random.default_rng(9).permutation(problem.n)
    shuffled = pose(problem.X[order], problem.sign[order], problem.loss, weight=problem.weight[order])
    assert best_bias(shuffled, expansion[order]) == pytest.approx(best_bias(problem, expansion), abs=1e-12)


def test_sets_by_increasing_coefficient():
    g = np.array([0.0, 0.5, 1.0, 2.0, 3.0])  # breakpoints 1 and 3
    for y in (-1, 1):
        problem = pose(np.zeros((5, 1)), np.full(5, y), DOUBLE)
        assert problem.sets(y * g).tolist() == [0, 1, 2, 3, 4]
        assert problem.sets(y * (g + 1e-14)).tolist() == [0, 1, 2, 3, 4]
        assert problem.sets(y * (g - 1e-14)).tolist() == [0, 1, 2, 3, 4]
        assert problem.sets(y * (g + 1e-6)).tolist() == [1, 1, 3, 3, 4]  # beyond rounding, but for the end
        assert problem.sets(y * (g + 1e-6), atol=1e-5).tolist() == [0, 1, 2, 3, 4]


def test_rows_without_weight_are_in_the_first_set():
    assert pose(np.eye(2), [1, -1], DOUBLE, weight=[0, 1]).sets(np.zeros(2)).tolist() == [0, 0]


@pytest.mark.parametrize("n_knots", [1, 2])
def test_every_set_has_a_name(n_knots):
    assert len(set(set_names(n_knots))) == 2 * n_knots + 1


@looped(seed=SEEDS)
def test_sets_tell_where_the_margin_lies(seed):
    # docs/theory.md: on a breakpoint the margin lies between two knots, between breakpoints it sits on a knot.
    problem = random_problem(seed)
    solution = Reference(tol=1e-11).solve(problem)
    margin = problem.sign * (solution.expansion + solution.bias)
    K = problem.loss.n_knots
    fences = np.column_stack([np.full(problem.n, np.inf), problem.knots[:, ::-1], np.full(problem.n, -np.inf)])
    code, every = problem.sets(solution.beta), np.arange(problem.n)
    weighed = problem.weight > 0
    upper, lower = fences[every, (code + 1) // 2], fences[every, code // 2 + 1]
    assert (margin <= upper + 1e-7)[weighed].all()
    assert (margin >= lower - 1e-7)[weighed].all()
    assert code.max() <= 2 * K


def test_random_losses_are_of_one_to_five_knots():
    assert {random_loss(np.random.default_rng(seed)).n_knots for seed in SEEDS} == {1, 2, 3, 4, 5}


def nearly_solved(C):
    """Random labels under a narrow kernel, to a violation of 1e-3: no row needs a loss unless C is small."""
    rng = np.random.default_rng(0)
    sign = np.where(rng.integers(0, 2, 300) > 0, 1, -1).astype(np.int8)
    kernel = Kernel("rbf", gamma=20.0)
    problem = DualProblem(kernel, rng.normal(size=(300, 5)), sign, double_hinge(Costs(reject=0.2)), np.full(300, C))
    return problem, SMO(tol=1e-3, polish=False).solve(problem).beta


def test_a_stretched_machine_is_certified_where_large_C_hides_how_good_it_is():
    problem, beta = nearly_solved(1e6)
    F = problem.scores(beta)
    before = certify(problem, beta, best_bias(problem, F))
    factor = stretch(problem, beta, before.kkt_violation)
    after = certify(problem, factor * beta, best_bias(problem, factor * F))
    assert before.relative_gap > 0.1
    assert 1.0 < factor < 1.01
    assert after.relative_gap < 0.01
    assert after.kkt_violation < 3e-3


def test_nothing_is_stretched_where_rows_have_a_loss():
    problem, beta = nearly_solved(0.01)
    assert stretch(problem, beta, 1e-3) == 1.0


@looped(seed=range(20))
def test_feasible_coefficients_are_left_as_they_are(seed):
    problem = random_problem(seed)
    beta = Reference().solve(problem).beta
    assert certificates.feasible(problem, beta) is beta  # the solver's sums of them hold
    largest = int(np.argmax(np.abs(beta)))
    left = beta.copy()
    left[beta == 0.0] = 1e-14 * beta[largest]
    np.testing.assert_array_equal(certificates.feasible(problem, left) == 0.0, beta == 0.0)
    off = beta.copy()
    off[largest] *= 0.9  # control: the sums of the classes differ
    assert certificates.feasible(problem, off) is not off
    assert certificates.feasible(problem, off).sum() == pytest.approx(0.0, abs=1e-9 * np.abs(beta).max())


@looped(seed=range(5), name=["linear", "rbf", "laplacian", "poly", "sigmoid"], far=[0.0, 1e3])
def test_what_all_rows_together_may_hide_is_no_less(seed, name, far):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) + far
    sign = np.where(rng.random(30) < 0.5, 1, -1).astype(np.int8)
    problem = DualProblem(Kernel(name, gamma=0.1 + rng.random(), coef0=1.0), X, sign, DOUBLE, 1.0 + rng.random(30))
    beta = sign * problem.breakpoint(2) * rng.random(30)
    found = Measures.of(problem, beta, problem.scores(beta))
    assert rounding(problem, beta) <= most_rounding(problem, found) < np.inf


def near_and_far(problem, rng):
    """Coefficients on breakpoints, between them, outside of the box and of both signs, and one that is left of 0."""
    tops = problem.breakpoints[:, -1]
    g = np.where(rng.random(problem.n) < 0.5, problem.breakpoints[:, 1], rng.random(problem.n) * tops)
    g = np.where(rng.random(problem.n) < 0.3, 0.0, g)
    yield problem.sign * g
    yield problem.sign * (1.3 * g - 0.1 * tops)
    g[0], g[-1] = 1e-15 * tops.max(), tops[-1]
    yield problem.sign * g
    yield np.zeros(problem.n)


@looped(seed=SEEDS, share=[None, 0.0, 0.3])
def test_the_core_measures_and_corrects_as_numpy_does(seed, share):
    """With a total too, and where rows of one class only have a weight."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    if share is not None:
        tops = problem.breakpoints[:, -1]
        least, most = (float(y * tops[problem.sign == y].sum()) for y in (-1, 1))
        problem = replace(problem, total=least + share * (most - least))
    for beta in near_and_far(problem, rng):
        F, bias = problem.scores(beta), float(rng.normal())
        known = certified.measures(problem, beta, F, bias)
        assert_allclose(Measures.of(problem, beta, F, bias), known, rtol=1e-9, atol=1e-11)
        assert Measures.of(problem, beta, F).bias == best_bias(problem, F)
        lifted = Measures.of(problem, beta, F, bias, 0.5)
        assert lifted == Measures.of(problem, beta, F, bias + 0.5 * abs(bias))
        assert_allclose(certificates.feasible(problem, beta), certified.feasible(problem, beta), rtol=1e-9, atol=1e-11)


def test_numbers_that_are_none_prove_nothing():
    problem = random_problem(3)
    for odd in (np.nan, np.inf, -np.inf):
        F = np.zeros(problem.n)
        F[1] = odd
        assert certify(problem, np.zeros(problem.n), 0.0, F).relative_gap > 1.0
