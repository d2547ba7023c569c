"""The path is the optimum at every C: by the certificate, by answers worked out by hand, and by exact fits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from abstain.costs.costs import Costs
from abstain.dual.certificate import certify
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers.native import ActiveSet
from abstain.solvers.path import follow_path
from looping import looped
from problems import KNOWN, clouds, entropy, pose, random_problem, two_points

RBF = Kernel("rbf", gamma=0.5)
ASYMMETRIC, SYMMETRIC = double_hinge(Costs(1, 5, 0.3)), double_hinge(Costs(reject=0.2))
LOSSES = {"hinge": hinge(), "double hinge": ASYMMETRIC, "symmetric": SYMMETRIC}


def of_unit_weight(problem):
    return replace(problem, weight=problem.weight / problem.weight.max())


def sampled(path, seed, count=8):
    """Random C, and some breakpoints: at, just below and just above."""
    rng = np.random.default_rng(seed)
    between = np.exp(rng.uniform(np.log(path.C_min), np.log(path.C_max), count))
    turns = rng.choice(path.breakpoints, count)
    return np.clip(np.concatenate([between, turns, turns * (1 - 1e-9), turns * (1 + 1e-9)]), path.C_min, path.C_max)


def worst_gap(path, Cs):
    return max(certify(path.problem_at(C), *path.at(C)).relative_gap for C in Cs)


def check(problem, C_min=1e-2, C_max=1e3, gap=1e-9):
    """Follow the path, judge it at many C and against exact fits at a few, and hand it back."""
    path = follow_path(problem, C_min, C_max)
    Cs = sampled(path, seed=problem.n)
    assert worst_gap(path, Cs) <= gap
    for C in Cs[:3]:
        exact = ActiveSet().solve(path.problem_at(C))
        value = certify(path.problem_at(C), exact.beta, exact.bias).primal
        assert certify(path.problem_at(C), *path.at(C)).primal == pytest.approx(value, rel=1e-9)
    return path


class TestByHand:
    @pytest.mark.parametrize("known", KNOWN, ids=str)
    def test_known_answers_lie_on_it(self, known):
        C = known.problem.weight.max()
        path = follow_path(of_unit_weight(known.problem), C / 50, 50 * C)
        beta, bias = path.at(C)
        assert certify(known.problem, beta, bias).primal == pytest.approx(known.value, rel=1e-12)
        assert bias == pytest.approx(known.bias, abs=1e-9)
        if known.beta is not None:
            np.testing.assert_allclose(beta, known.beta, atol=1e-10 * C)

    def test_two_points_under_the_hinge(self):
        # g = C until w = 2 g reaches the knot 1, then g = 1/2 for ever; nothing is between breakpoints before that
        path = follow_path(two_points(hinge(), 1.0), 0.01, 100.0)
        np.testing.assert_allclose(path.breakpoints, [0.01, 0.5, 100.0], rtol=1e-12)
        for C, g in ((0.01, 0.01), (0.3, 0.3), (0.5, 0.5), (0.7, 0.5), (100.0, 0.5)):
            beta, bias = path.at(C)
            np.testing.assert_allclose(beta, [g, -g], rtol=1e-12)
            assert bias == pytest.approx(0.0, abs=1e-12)

    def test_two_points_under_the_double_hinge(self):
        # g = B = C / 5 while rho = 0 < 2 g < tau = H(1/5) / (1/5), so until C = 5 tau / 2; then g = tau / 2
        tau = entropy(0.2) / 0.2
        path = follow_path(two_points(double_hinge(Costs(reject=0.2)), 1.0), 0.01, 1000.0)
        np.testing.assert_allclose(path.breakpoints, [0.01, 2.5 * tau, 1000.0], rtol=1e-12)
        np.testing.assert_allclose(path.at(2.0)[0], [0.4, -0.4], rtol=1e-12)
        np.testing.assert_allclose(path.at(999.0)[0], [tau / 2, -tau / 2], rtol=1e-10)
        assert path.sets_at(2.0).tolist() == [2, 2]
        assert path.sets_at(999.0).tolist() == [1, 1]


class TestEveryProblem:
    @looped(seed=range(120))
    def test_random_ones_of_any_number_of_knots(self, seed):
        # grids of whole numbers, every row twice, rows without weight, both labels in one place: see problems.py
        path = follow_path(of_unit_weight(random_problem(seed)), 1e-2, 1e3)
        assert worst_gap(path, sampled(path, seed, count=5)) <= 1e-9

    @looped(seed=range(60))
    def test_random_ones_over_twelve_decades(self, seed):
        path = follow_path(of_unit_weight(random_problem(seed)), 1e-6, 1e6)
        Cs = sampled(path, seed, count=5)
        allowed = [max(1e-8, 1e-12 * C) for C in Cs]
        gaps = [certify(path.problem_at(C), *path.at(C)).relative_gap for C in Cs]
        assert (np.array(gaps) <= allowed).all()

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("kernel", [RBF, Kernel("linear"), Kernel("poly", coef0=1.0)], ids=lambda k: k.name)
    def test_overlapping_clouds(self, kernel, loss):
        check(pose(*clouds(), LOSSES[loss], kernel=kernel))

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("kernel", [RBF, Kernel("linear")], ids=lambda k: k.name)
    def test_every_row_twice(self, kernel, loss):
        X, sign = clouds(40)
        check(pose(np.repeat(X, 2, axis=0), np.repeat(sign, 2), LOSSES[loss], kernel=kernel))

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("kernel", [RBF, Kernel("linear")], ids=lambda k: k.name)
    def test_every_row_with_both_labels(self, kernel, loss):
        X, _ = clouds(30)
        check(pose(np.repeat(X, 2, axis=0), np.tile([1, -1], 30), LOSSES[loss], kernel=kernel))

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("kernel", [RBF, Kernel("linear")], ids=lambda k: k.name)
    def test_ties_of_whole_numbers(self, kernel, loss):
        X, sign = clouds(120)
        check(pose(np.round(2 * X), sign, LOSSES[loss], kernel=kernel))

    @pytest.mark.parametrize("loss", LOSSES)
    def test_weights_some_of_them_zero(self, loss):
        rng = np.random.default_rng(1)
        X, sign = clouds()
        weight = rng.exponential(size=len(sign)) * (rng.random(len(sign)) < 0.7)
        path = check(pose(X, sign, LOSSES[loss], kernel=RBF, weight=weight))
        assert all((path.at(C)[0][weight == 0] == 0).all() for C in (0.01, 1.0, 1e3))

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
    def test_balanced_and_unbalanced_classes_from_a_tiny_C(self, share, loss):
        # the objective agrees to 1e-9; the gap also holds the rounding of sum beta = 0 against a bias of C_min's size
        check(pose(*clouds(share=share), LOSSES[loss], kernel=RBF), C_min=1e-6, gap=1e-8)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_one_sample_per_class(self, loss):
        check(pose([[0.0, 1.0], [2.0, 1.0]], [1, -1], LOSSES[loss], kernel=RBF))
        check(pose([[0.0, 1.0], [0.0, 1.0]], [1, -1], LOSSES[loss], kernel=RBF))

    @pytest.mark.parametrize("loss", LOSSES)
    def test_far_from_the_origin(self, loss):
        # the core centres linear rows, and its bias with them
        X, sign = clouds()
        near, far = (check(pose(X + shift, sign, LOSSES[loss], kernel=Kernel("linear"))) for shift in (0.0, 100.0))
        for C in (0.05, 1.0, 300.0):
            np.testing.assert_allclose(far.at(C)[0], near.at(C)[0], atol=1e-8 * C)
            scores = [path.problem.scores(path.at(C)[0]) + path.at(C)[1] for path in (near, far)]
            np.testing.assert_allclose(*scores, atol=1e-7)

    @pytest.mark.parametrize("kernel", [RBF, Kernel("linear")], ids=lambda k: k.name)
    def test_every_storage(self, kernel):
        dense = pose(*clouds(), ASYMMETRIC, kernel=kernel)
        others = (replace(dense, X=csr_array(dense.X)), replace(dense, kernel=Kernel("precomputed"), X=dense.gram()))
        for other in others:
            path = check(other)
            for C in (0.05, 1.0, 300.0):
                exact = ActiveSet().solve(path.problem_at(C))
                here = certify(path.problem_at(C), *path.at(C)).primal
                assert here == pytest.approx(certify(path.problem_at(C), exact.beta, exact.bias).primal, rel=1e-9)


class TestEmptyActiveSet:
    """Nothing between breakpoints: the coefficients stand on them, and any bias in a band will do."""

    def test_balanced_classes_begin_with_all_at_the_bound(self):
        path = check(pose(*clouds(), hinge(), kernel=RBF), C_min=1e-4)
        beta, bias = path.at(1e-4)
        np.testing.assert_allclose(np.abs(beta), 1e-4, rtol=1e-12)
        assert path.sets_at(1e-4).tolist() == [2] * 80
        slack = [certify(path.problem_at(1e-4), beta, bias + step).relative_gap for step in (0.0, 0.01, -0.01)]
        assert max(slack) < 1e-12  # a band, and the middle of it

    def test_it_may_become_empty_on_the_way(self):
        # four points in two pairs far apart: between the pairs' turns nothing moves
        X = np.array([[0.0], [1.0], [100.0], [104.0]])
        path = check(pose(X, [1, -1, 1, -1], SYMMETRIC, kernel=Kernel("rbf", gamma=1.0)), C_min=1e-3)
        moving = [int(np.sum(path.sets_at(C) % 2)) for C in np.sqrt(path.breakpoints[1:] * path.breakpoints[:-1])]
        assert 0 in moving
        assert max(moving) > 0


class TestPieces:
    @pytest.fixture
    def path(self):
        return follow_path(pose(*clouds(), ASYMMETRIC, kernel=RBF), 1e-2, 1e3)

    def test_the_ends_and_the_order(self, path):
        assert path.breakpoints[0] == path.C_min == 1e-2
        assert path.breakpoints[-1] == path.C_max == 1e3
        assert (np.diff(path.breakpoints) > 0).all()
        assert len(path.breakpoints) > 50

    def test_beta_over_C_is_straight_in_one_over_C(self, path):
        for low, high in zip(path.breakpoints[:-1], path.breakpoints[1:], strict=True):
            middle = 2.0 / (1.0 / low + 1.0 / high)
            expected = 0.5 * (path.at(low)[0] / low + path.at(high)[0] / high)
            np.testing.assert_allclose(path.at(middle)[0] / middle, expected, atol=1e-9)

    def test_straight_in_C_itself_is_beta(self, path):
        # (1 - s) beta(low) + s beta(high) is the same line: C times what is straight in 1 / C is straight in C
        low, high = path.breakpoints[20:22]
        middle = 0.5 * (low + high)
        np.testing.assert_allclose(path.at(middle)[0], 0.5 * (path.at(low)[0] + path.at(high)[0]), atol=1e-9)

    def test_control_a_wrong_interpolation_is_caught(self, path):
        # beta / C taken as straight in C instead of 1 / C, at the middle of every piece
        gaps = []
        for low, high in zip(path.breakpoints[:-1], path.breakpoints[1:], strict=True):
            C = 0.5 * (low + high)
            wrong = C * 0.5 * (path.at(low)[0] / low + path.at(high)[0] / high)
            gaps.append(certify(path.problem_at(C), wrong, path.at(C)[1]).relative_gap)
            assert certify(path.problem_at(C), *path.at(C)).relative_gap < 1e-9
        assert max(gaps) > 1e-6

    def test_control_a_missed_breakpoint_is_caught(self, path):
        # the line of one piece drawn on beyond two breakpoints
        low, high, after = path.breakpoints[20:23]
        far = after * 1.5
        share = (1 / far - 1 / low) / (1 / high - 1 / low)
        beta = far * ((1 - share) * path.at(low)[0] / low + share * path.at(high)[0] / high)
        certificate = certify(path.problem_at(far), beta, path.at(far)[1])
        assert certificate.relative_gap > 1e-6 or certificate.kkt_violation > 1e-3

    def test_it_is_continuous(self, path):
        for C in path.breakpoints[1:-1]:
            below, above = path.at(C * (1 - 1e-10)), path.at(C * (1 + 1e-10))
            np.testing.assert_allclose(below[0], above[0], atol=1e-7 * C)

    def test_the_sets_change_at_breakpoints_and_only_there(self, path):
        middles = np.sqrt(path.breakpoints[1:] * path.breakpoints[:-1])
        wide = np.diff(np.log(path.breakpoints)) > 1e-6  # two events in one place leave no room between them
        codes = [path.sets_at(C) for C in middles]
        for k in np.flatnonzero(wide):
            low, high = path.breakpoints[k : k + 2]
            for C in (low * (high / low) ** 0.1, low * (high / low) ** 0.9):
                np.testing.assert_array_equal(path.sets_at(C), codes[k])
        changed = [(codes[k] != codes[k + 1]).any() for k in range(len(codes) - 1) if wide[k] and wide[k + 1]]
        assert np.mean(changed) > 0.95

    def test_the_sets_are_those_of_an_exact_fit(self, path):
        for C in np.exp(np.random.default_rng(0).uniform(np.log(1e-2), np.log(1e3), 10)):
            problem = path.problem_at(C)
            np.testing.assert_array_equal(path.sets_at(C), problem.sets(ActiveSet().solve(problem).beta, atol=1e-9))

    def test_asking_changes_nothing(self, path):
        first = path.at(3.0)[0].copy()
        path.at(3.0)[0][:] = 0
        path.at(700.0)
        np.testing.assert_array_equal(path.at(3.0)[0], first)


def test_two_threads_give_the_same_bits():
    problem = pose(*clouds(300, 5), ASYMMETRIC, kernel=RBF)
    one, two = (follow_path(problem, 1e-2, 1e3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.breakpoints, two.breakpoints)
    assert all((one.at(C)[0] == two.at(C)[0]).all() and one.at(C)[1] == two.at(C)[1] for C in (0.02, 1.0, 500.0))


def test_hardly_any_cache_will_do():
    check(pose(*clouds(), ASYMMETRIC, kernel=RBF))
    path = follow_path(pose(*clouds(), ASYMMETRIC, kernel=RBF), 1e-2, 1e3, cache_size=1e-9)
    assert worst_gap(path, sampled(path, seed=0)) <= 1e-9
