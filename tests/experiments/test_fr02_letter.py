"""Pieces of experiments/fr02-letter with known answers: separability, thresholds, FR02's rule, C, standard errors."""

import importlib.util
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from abstain import Costs, RejectSVC

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def _loaded(*names):
    """Modules of the experiment under names of their own: other experiments call theirs the same."""
    folder = EXPERIMENTS / "fr02-letter"
    own = {path.stem for path in folder.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in own & sys.modules.keys()}
    path = list(sys.path)
    sys.path[:0] = [str(folder), str(EXPERIMENTS)]
    found = []
    try:
        for name in names:
            spec = importlib.util.spec_from_file_location(f"fr02_letter_{name}", folder / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            found.append(module)
    finally:
        for name in own & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(others)
        sys.path[:] = path
    return found


pairs, machines, curves, claims = _loaded("measure_pairs", "measure_machines", "curves", "claims")


# which pairs are separable


def test_the_table_has_its_40_27_and_11_pairs():
    assert [len(names) for names in pairs.TABLE.values()] == [40, 27, 11]
    assert len(set(pairs.PAIRS)) == 78
    assert set(pairs.PAIRS) <= set(pairs.ALL_PAIRS)
    assert len(pairs.ALL_PAIRS) == 325


CROSS = np.array([[0, 0], [2, 2], [0, 2], [2, 0]])
SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
SIGNS = np.array([1, 1, -1, -1])


def _squares(shift):
    return np.vstack([SQUARE, SQUARE + np.array(shift)])


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        (CROSS, SIGNS, False),
        (np.array([[0, 0], [0, 2], [1, 0], [1, 2]]), SIGNS, True),
        (_squares([2, 0]), np.repeat([1, -1], 4), True),
        (_squares([1, 0]), np.repeat([1, -1], 4), False),  # they share an edge
        (_squares([1, 1]), np.repeat([1, -1], 4), False),  # they share a corner
    ],
)
def test_separable_where_a_look_tells(X, y, expected):
    assert pairs.separable(X, y) is expected
    assert pairs.separable(X, -y) is expected


def test_separable_agrees_with_the_perceptron():
    rng = np.random.default_rng(0)
    ours, other = [], []
    for _ in range(60):
        X, y = rng.integers(0, 5, size=(8, 2)), rng.permutation(np.repeat([1, -1], 4))
        ours.append(pairs.separable(X, y))
        other.append(_perceptron(X, y))
    assert ours == other
    assert {True, False} == set(ours)


def _perceptron(X, y, steps=3000):
    """Rosenblatt's rule ends if and only if there is a hyperplane; on so small a grid it ends soon."""
    Z = y[:, None] * np.column_stack([X - 2, np.ones(len(X), dtype=np.int64)])
    w = np.zeros(Z.shape[1], dtype=np.int64)
    for _ in range(steps):
        wrong = np.flatnonzero(Z @ w <= 0)
        if not wrong.size:
            return True
        w += Z[wrong[0]]
    return False


def test_the_proofs_have_teeth():
    assert pairs.separates(np.array([1.0, 0.0]), CROSS, np.array([-1, 1, -1, 1]))
    assert not pairs.separates(np.array([1.0, 0.0]), CROSS, SIGNS)
    assert pairs.meets(CROSS, SIGNS)
    apart = np.array([[0], [1], [3]])
    assert not pairs.meets(apart, np.array([1, 1, -1]))  # solvable, but only with a negative weight
    assert not pairs.meets(CROSS + np.array([[0, 0], [0, 0], [9, 0], [9, 0]]), SIGNS)  # not solvable


@pytest.mark.parametrize(
    ("name", "facts"), [("BE", (767, 371, 75217)), ("HK", (737, 371, 71909)), ("KX", (763, 384, 73436))]
)
def test_the_halves_are_those_of_the_design(name, facts):
    try:
        X, y, X_test, y_test = pairs.halves(name, 0)
    except (OSError, ImportError) as error:
        pytest.skip(f"no Letter data here: {error}")
    assert (len(y), int((y == 1).sum()), int(X.sum())) == facts
    assert len(X) - len(X_test) in (0, 1)
    assert len(y_test) == len(X_test)


# the external threshold


def _exact_threshold(score, y, cost, *, exact=True):
    """Every D in turn, counted in fractions; of equals the one that rejects less. Or in floats: that is the trap."""
    size = np.abs(score)
    wrong = np.where(score > 0, 1, -1) != y
    price = Fraction(str(cost)) if exact else cost
    best = None
    for D in [0.0, *np.nextafter(np.unique(size), np.inf)]:
        rejected = size < D
        risk = price * int(rejected.sum()) + int((wrong & ~rejected).sum())
        if best is None or risk < best[0]:
            best = risk, D
    return best[1]


def _scored(seed):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=60).round(1)
    return score, np.where(rng.normal(size=60) * 0.7 + score > 0, 1, -1)


def test_external_threshold_is_the_best_of_all():
    for seed in range(20):
        score, y = _scored(seed)
        for cost in machines.REJECT_COSTS:
            assert machines.external_threshold(score, y, cost) == _exact_threshold(score, y, cost)


def test_a_tie_goes_to_fewer_rejects():
    score, y = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 2.0, -2.0]), np.array([1, 1, 1, 1, -1, 1, -1])
    assert machines.external_threshold(score, y, 0.2) == 0.0  # five rejects for one error: no gain
    assert machines.external_threshold(score, y, 0.15) == np.nextafter(0.5, np.inf)


@pytest.mark.parametrize(("computed", "cost"), [(1 - 0.9, 0.1), (1 - 0.8, 0.2)])
def test_without_rounding_the_last_digit_would_decide(computed, cost):
    assert computed < cost
    n = round(1 / cost)
    score, y = np.r_[np.linspace(0.1, 1.0, n), 2.0, -2.0], np.ones(n + 2, dtype=int)
    y[[n - 1, -1]] = -1  # to be rid of the one error costs n rejects: a tie
    assert _exact_threshold(score, y, cost) == 0.0
    assert _exact_threshold(score, y, computed, exact=False) > 0.0
    assert machines.external_threshold(score, y, computed) == 0.0


# FR02's rule


def _curve(*points):
    return tuple(np.array(points, dtype=float).T)


HIGH = _curve((0.0, 0.95), (0.1, 0.98), (0.3, 1.0))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (HIGH, _curve((0.0, 0.94), (0.2, 0.97)), "better"),
        (HIGH, _curve((0.0, 0.95), (0.1, 0.98), (0.3, 0.99)), "better"),  # equal in part
        (HIGH, HIGH, "neither"),
        (HIGH, _curve((0.0, 0.96), (0.1, 0.97)), "neither"),  # they cross
        (HIGH, _curve((0.0, 0.95), (0.05, 0.97), (0.1, 0.98)), "worse"),  # above only between the points
        (HIGH, _curve((0.05, 0.9)), "better"),  # one point below the line
        (_curve((0.0, 0.9), (0.1, 0.91)), _curve((0.2, 0.99)), "neither"),  # no common reject rate
        (HIGH, _curve((0.25, 0.9), (0.29, 0.9)), "better"),
    ],
)
def test_better_on_curves_drawn_by_hand(first, second, expected):
    turned = {"better": "worse", "worse": "better", "neither": "neither"}[expected]
    assert curves.better(first, second) == expected
    assert curves.better(second, first) == turned


def test_better_agrees_with_a_fine_grid_of_reject_rates():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        first, second = (
            (np.sort(rng.choice(31, size=4, replace=False)) / 100, np.sort(rng.integers(90, 100, size=4)) / 100)
            for _ in range(2)
        )
        low, high = max(first[0][0], second[0][0]), min(first[0][-1], second[0][-1])
        expected = "neither"
        if low <= high:
            gain = np.interp(np.linspace(low, high, 3001), *first) - np.interp(np.linspace(low, high, 3001), *second)
            up, down = (gain > 1e-9).any(), (gain < -1e-9).any()
            expected = "better" if up and not down else "worse" if down and not up else "neither"
        assert curves.better(first, second) == expected
        seen.add(expected)
    assert seen == {"better", "neither", "worse"}


def test_curve_keeps_rates_up_to_30_per_cent_and_averages_equal_ones():
    rate, accuracy = curves.curve(np.array([31, 10, 0, 10, 30]), np.array([0, 9, 5, 0, 7]), 100)
    np.testing.assert_allclose(rate, [0.0, 0.1, 0.3])
    np.testing.assert_allclose(accuracy, [0.95, 0.95, 0.9])


# C of the double hinge, and the standard errors


def test_at_one_half_the_double_hinge_is_the_plain_svm_of_the_same_C():
    X, y = make_blobs(150, centers=2, cluster_std=4.0, random_state=3)
    plain = SVC(kernel="linear", C=machines.C, tol=1e-8).fit(X, y)
    for C_of in (machines.hinge_C, machines.risk_C):
        double = RejectSVC(Costs(reject=0.5), kernel="linear", C=C_of(0.5)).fit(X, y)
        np.testing.assert_allclose(double.coef_ / (2 * np.log(2)), plain.coef_, rtol=1e-5)


@pytest.mark.parametrize(("C_of", "weight"), [("hinge_C", lambda _: 0.1), ("risk_C", lambda r: 0.2 * r)])
@pytest.mark.parametrize("r", [0.05, 0.3])
def test_C_weighs_psi_as_it_says(C_of, weight, r):
    X = np.random.default_rng(1).normal(size=(80, 4)) / 2
    sign = np.where(X[:, 0] + X[:, 1] > 0.1 * np.random.default_rng(2).normal(size=80), 1, -1)
    H = -r * np.log(r) - (1 - r) * np.log(1 - r)

    def objective(C):
        clf = RejectSVC(Costs(reject=r), kernel="linear", C=C).fit(X, sign)
        w, m = clf.coef_[0] * r / H, sign * clf.decision_function(X) * r / H
        return w @ w / 2 + weight(r) * np.maximum(0, np.maximum(1 - m, 1 - m * (1 - r) / r)).sum()

    C = getattr(machines, C_of)(r)
    assert objective(C) < min(objective(0.7 * C), objective(1.4 * C))  # another C minimises something else


def test_paired_differences_average_a_pair_s_splits_first():
    difference = np.array([[[1.0], [3.0]], [[5.0], [7.0]]])  # two pairs, two splits, one cost
    found = curves.paired(difference)
    assert found["mean"] == [4.0]
    assert found["se"] == pytest.approx([2.0])  # of 2 and 6; of all four numbers it would be 1.29
    assert found["overall"] == pytest.approx({"mean": 4.0, "se": 2.0})


def test_risks_are_w_R_R_plus_E():
    counts = np.array([[10, 3], [20, 1]])
    np.testing.assert_allclose(curves.risks(counts, np.array(100), np.array([0.5, 0.1])), [0.08, 0.03])


def test_the_reject_costs_are_round_and_fall():
    assert all(high > low for high, low in pairwise(machines.REJECT_COSTS))
    assert all(cost == round(cost, 2) for cost in machines.REJECT_COSTS)


# the verdicts


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (lambda: claims.exactly(193, 193), "holds"),
        (lambda: claims.exactly(192, 193), "does not hold"),
        (lambda: claims.counted([45, 50, 49], 40, 78), "holds"),  # 48: 8 away, two deviations are 8.8
        (lambda: claims.counted([49, 50, 51], 40, 78), "does not hold"),
        (lambda: claims.most([40, 40, 40], 78), "holds"),
        (lambda: claims.most([40, 39, 40], 78), "cannot be judged"),  # 39 is half
        (lambda: claims.most([39, 10, 39], 78), "does not hold"),
        (lambda: claims.lower({"mean": -0.3, "se": 0.1}), "holds"),
        (lambda: claims.lower({"mean": -0.1, "se": 0.1}), "cannot be judged"),
        (lambda: claims.lower({"mean": 0.3, "se": 0.1}), "does not hold"),
    ],
)
def test_verdicts_follow_their_rules(verdict, expected):
    assert verdict() == expected
