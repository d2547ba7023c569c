"""The intervals against brute force, and their coverage: at least their level, where a normal interval misses it."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from sklearn.metrics import cohen_kappa_score

from abstain.review import intervals
from abstain.review.intervals import kappa, mean_interval, share_interval, share_of_batches

LEVEL = 0.95


@pytest.fixture
def _fast(monkeypatch):
    """Compute each interval of a share once: simulations ask for the same ones again and again."""
    monkeypatch.setattr(intervals, "share_interval", cache(share_interval))


def hypergeometric(k, drawn, total, K):
    return math.comb(K, k) * math.comb(total - K, drawn - k) / math.comb(total, drawn)


def normal(values, confidence=LEVEL):
    z, n = stats.norm.isf((1 - confidence) / 2), len(values)
    half = z * values.std(ddof=1) / np.sqrt(n)
    return values.mean() - half, values.mean() + half


@pytest.mark.parametrize("total", [1, 2, 5, 12, 23])
def test_the_finite_interval_has_the_shares_whose_tails_are_large_enough(total):
    for drawn in range(1, total + 1):
        for found in range(drawn + 1):
            chance = [[hypergeometric(k, drawn, total, K) for k in range(drawn + 1)] for K in range(total + 1)]
            inside = [
                K for K in range(total + 1)
                if sum(chance[K][found:]) > 0.025 * (1 + 1e-9) and sum(chance[K][: found + 1]) > 0.025 * (1 + 1e-9)
            ]  # fmt: skip
            assert share_interval(found, drawn, total) == (inside[0] / total, inside[-1] / total)


@pytest.mark.parametrize(("total", "drawn"), [(5, 3), (25, 20), (60, 10), (400, 20), (400, 1)])
def test_the_finite_interval_covers_every_share(total, drawn):
    found = [share_interval(k, drawn, total) for k in range(drawn + 1)]
    for K in range(total + 1):
        chances = stats.hypergeom.pmf(np.arange(drawn + 1), total, K, drawn)
        assert (
            sum(p for p, (low, high) in zip(chances, found, strict=True) if low <= K / total <= high) >= LEVEL - 1e-12
        )


def test_an_audit_of_all_rows_leaves_nothing_open():
    assert share_interval(3, 40, 40) == (3 / 40, 3 / 40)


@pytest.mark.parametrize(("found", "drawn"), [(0, 1), (0, 20), (3, 20), (20, 20), (7, 300)])
def test_without_end_it_is_the_interval_of_clopper_and_pearson(found, drawn):
    low, high = share_interval(found, drawn)
    if found:
        assert low == pytest.approx(brentq(lambda p: stats.binom.sf(found - 1, drawn, p) - 0.025, 1e-12, 1), rel=1e-6)
    if found < drawn:
        assert high == pytest.approx(brentq(lambda p: stats.binom.cdf(found, drawn, p) - 0.025, 0, 1 - 1e-12), rel=1e-6)
    assert share_interval(found, drawn, 10**7) == (low, high)
    finite = share_interval(found, drawn, 100_000)
    assert finite == pytest.approx((low, high), abs=2e-3)


def test_no_rows_say_nothing():
    assert share_interval(0, 0) == (0.0, 1.0)
    assert share_interval(0, 0, 30) == (0.0, 1.0)


def test_batches_that_are_known_leave_nothing_open_and_unseen_ones_all():
    assert share_of_batches([2], [2], [20], [90]) == share_interval(2, 20, 90)
    assert share_of_batches([3, 1], [3, 1], [40, 10], [40, 10]) == (4 / 50, 4 / 50)
    assert share_of_batches([3, 0], [3, 0], [40, 0], [40, 10]) == (3 / 50, 13 / 50)
    low, high = share_interval(2, 20, 90)
    both = share_of_batches([2, 5], [2, 5], [20, 10], [90, 10])
    assert both == pytest.approx((0.9 * low + 0.05, 0.9 * high + 0.05))
    low, high = share_of_batches([2, 1], [6, 1], [20, 20], [90, 400])
    assert low == share_of_batches([2, 1], [2, 1], [20, 20], [90, 400])[0]
    assert high == share_of_batches([6, 1], [6, 1], [20, 20], [90, 400])[1]


@pytest.mark.parametrize("seen", [(0, 0), (1, 0), (0, 3), (4, 2), (20, 20)])
def test_the_interval_of_batches_has_every_split_that_its_tail_allows(seen):
    """By brute force over all splits of two small batches: what the exact tail of the estimate does not exclude."""
    N, n, tail = np.array([60, 9]), np.array([20, 8]), 0.025
    k = np.minimum(seen, n)
    low, high = share_of_batches(k, k, n, N)
    estimates = N[0] / n[0] * np.arange(n[0] + 1)[:, np.newaxis] + N[1] / n[1] * np.arange(n[1] + 1)
    found = estimates[tuple(k)]
    for split in np.ndindex(*(N + 1)):
        chances = [stats.hypergeom.pmf(np.arange(m + 1), M, K, m) for m, M, K in zip(n, N, split, strict=True)]
        joint = np.outer(*chances)
        if min(joint[estimates <= found + 1e-9].sum(), joint[estimates >= found - 1e-9].sum()) > tail * (1 + 1e-9):
            assert low - 1e-9 <= sum(split) / 69 <= high + 1e-9


def costs_of(kind, total, rng):
    """The costs of all rows of a batch, and which ones are possible."""
    if kind == "one cost":
        return rng.binomial(1, 0.1, total).astype(float), np.array([0.0, 1.0])
    if kind == "rare and high":
        return rng.choice([0.0, 1.0, 20.0], p=[0.9, 0.06, 0.04], size=total), np.array([0.0, 1.0, 20.0])
    if kind == "costs of rows":
        return np.where(rng.random(total) < 0.2, rng.gamma(1.0, 10.0, total), 0.0), np.array(
            [0.0, 200.0, *rng.random(50)]
        )
    return rng.choice([-1.0, 0.0, 0.5, 2.0], p=[0.3, 0.4, 0.2, 0.1], size=total), np.array([-1.0, 0.0, 0.5, 2.0])


@pytest.mark.usefixtures("_fast")
@pytest.mark.parametrize("kind", ["one cost", "rare and high", "costs of rows", "four values"])
def test_the_interval_of_a_mean_cost_covers_in_2000_simulations(kind):
    rng, inside, by_normal, draws = np.random.default_rng(1), 0, 0, 2000
    for at in range(draws):
        total = (25, 60, 400, 3000)[at % 4]
        costs, possible = costs_of(kind, total, rng)
        seen = rng.choice(costs, size=20, replace=False)
        low, high = mean_interval([seen], [seen], possible, [total])
        inside += low - 1e-12 <= costs.mean() <= high + 1e-12
        low, high = normal(seen)
        by_normal += low - 1e-12 <= costs.mean() <= high + 1e-12
    assert inside / draws >= LEVEL
    if kind != "four values":
        assert by_normal / draws < 0.9, "the control should fail"


def test_kappa_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for K in (2, 3, 4):
        one, other = rng.integers(K, size=(2, 30))
        other = np.where(rng.random(30) < 0.5, one, other)
        table = np.zeros((K, K), dtype=int)
        np.add.at(table, (one, other), 1)
        assert kappa(table)[0] == pytest.approx(cohen_kappa_score(one, other))


def test_kappa_of_reviewers_who_always_say_the_same_is_undefined():
    found, interval = kappa(np.array([[9, 0], [0, 0]]))
    assert math.isnan(found)
    assert interval == (-1.0, 1.0)
    assert math.isnan(kappa(np.zeros((2, 2), dtype=int))[0])


@pytest.mark.usefixtures("_fast")
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.93, 0.07), (0.5, 0.3, 0.2)])
@pytest.mark.parametrize("true", [0.0, 0.4, 0.9])
def test_the_interval_of_kappa_covers_in_2000_simulations(shares, true):
    rng, p = np.random.default_rng(2), np.array(shares)
    joint, K = true * np.diag(p) + (1 - true) * np.outer(p, p), len(shares)
    covered = {}
    for n in (8, 20, 60):
        tables = rng.multinomial(n, joint.ravel(), size=667).reshape(-1, K, K)
        found = [kappa(table)[1] for table in tables]
        covered[n] = np.mean([low <= true <= high for low, high in found])
    assert min(covered.values()) >= LEVEL


def test_a_normal_interval_of_kappa_fails():
    # Fleiss, Cohen and Everitt (1969), two classes of equal share, kappa 0.9: zero width where all agree
    rng, inside, n = np.random.default_rng(3), 0, 20
    joint = 0.9 * np.eye(2) / 2 + 0.1 / 4
    for table in rng.multinomial(n, joint.ravel(), size=500).reshape(-1, 2, 2):
        P, r, c = table / n, table.sum(axis=1) / n, table.sum(axis=0) / n
        e = r @ c
        if e == 1:
            continue
        k = (np.trace(P) - e) / (1 - e)
        A = sum(P[i, i] * (1 - (r[i] + c[i]) * (1 - k)) ** 2 for i in range(2))
        B = (1 - k) ** 2 * sum(P[i, j] * (c[i] + r[j]) ** 2 for i in range(2) for j in range(2) if i != j)
        half = 1.96 * np.sqrt(max(A + B - (k - e * (1 - k)) ** 2, 0) / n) / (1 - e)
        inside += k - half <= 0.9 <= k + half
    assert inside / 500 < 0.85
