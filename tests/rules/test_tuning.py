"""Thresholds of least cost, against every threshold there is."""

from fractions import Fraction

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.rules.tuning.empirical_cost import forced_cut, roc_thresholds, symmetric_thresholds
from abstain.rules.tuning.scored_rows import Line, ScoredRows
from looping import looped

CASES = range(300)


def random_case(seed):
    """Few rows, many ties, prices that are whole sixteenths: every cost is exact in floating point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    kind = seed % 3
    score = rng.integers(-4, 5, n) / 2 if kind == 0 else rng.normal(size=n) if kind == 1 else rng.integers(0, 9, n) / 8
    cut = 0.5 if kind == 2 else 0.0
    sign = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * (score - cut))), 1, -1)
    c_fp, c_fn = (float(price) for price in rng.integers(1, 65, 2) / 16)
    while True:
        r_neg, r_pos = (float(price) for price in rng.integers(1, 33, 2) / 16)
        if Fraction(r_neg) / Fraction(c_fp) + Fraction(r_pos) / Fraction(c_fn) < 1:
            return score, sign, cut, Costs(c_fp, c_fn, (r_neg, r_pos))
        c_fp, c_fn = 2 * c_fp, 2 * c_fn


def paid(score, sign, costs, thresholds, weight=None):
    """The total cost of a pair of thresholds, as an exact number, and how many rows they reject."""
    choice = thresholds.decide(score)
    weight = np.ones(len(score), dtype=int) if weight is None else weight
    table = {
        (-1, 0): costs.reject_negative,
        (1, 0): costs.reject_positive,
        (-1, 1): costs.false_positive,
        (1, -1): costs.false_negative,
    }
    total = sum(
        int(w) * Fraction(table.get((int(y), int(c)), 0.0)) for y, c, w in zip(sign, choice, weight, strict=True)
    )
    return total, int(np.sum(choice == 0))


def places(values):
    """One number in every gap between the values, on every value, and beyond them all."""
    seen = np.unique(values)
    return np.unique(np.concatenate([seen, (seen[1:] + seen[:-1]) / 2, [-np.inf, np.inf]]))


def symmetric_bands(score, cut):
    distances = places(np.abs(score - cut))
    return [Thresholds(cut - d, cut + d) for d in np.append(distances[distances >= 0], 0.0)]


def all_bands(score):
    at = places(score)
    return [Thresholds(low, high) for low in at for high in at[at >= low]]


@looped(seed=CASES)
def test_symmetric_costs_what_the_best_of_all_costs(seed):
    score, sign, cut, costs = random_case(seed)
    ours = paid(score, sign, costs, symmetric_thresholds(ScoredRows.of(score, sign > 0, cut=cut), costs))
    assert ours == min(paid(score, sign, costs, band) for band in symmetric_bands(score, cut))


@looped(seed=CASES)
def test_roc_costs_what_the_best_of_all_pairs_costs(seed):
    score, sign, cut, costs = random_case(seed)
    rows = ScoredRows.of(score, sign > 0, cut=cut)
    ours = roc_thresholds(rows, costs)
    assert paid(score, sign, costs, ours) == min(paid(score, sign, costs, band) for band in all_bands(score))
    # and the forced choice what the best single threshold costs; it lies between the two but for ties
    cuts = [Thresholds(t, t) for t in places(score)]
    forced = forced_cut(rows, costs)
    best = min(paid(score, sign, costs, one)[0] for one in cuts)
    assert paid(score, sign, costs, Thresholds(forced, forced))[0] == best
    inside = float(np.clip(forced, ours.lower, ours.upper))
    assert paid(score, sign, costs, Thresholds(inside, inside))[0] == best


def test_the_judge_has_teeth():
    # the classifier's own cut, rejecting nothing, is beaten in most cases; and two thresholds beat one distance
    nothing, one, two = 0, 0, 0
    for seed in CASES:
        score, sign, cut, costs = random_case(seed)
        rows = ScoredRows.of(score, sign > 0, cut=cut)
        symmetric, roc = symmetric_thresholds(rows, costs), roc_thresholds(rows, costs)
        nothing += paid(score, sign, costs, symmetric)[0] < paid(score, sign, costs, Thresholds(cut, cut))[0]
        two += paid(score, sign, costs, roc)[0] < paid(score, sign, costs, symmetric)[0]
        one += paid(score, sign, costs, symmetric)[0] < paid(score, sign, costs, roc)[0]
    assert nothing > 100
    assert two > 100
    assert one == 0


def test_roc_thresholds_are_tortorellas_points_of_tangency():
    # on the ROC curve (FPR, TPR) of "+1 above t", the upper threshold maximises TPR - m2 FPR, the lower TPR - m1 FPR
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(400) < 0.4, 1, -1)
    score = 1.2 * sign + rng.normal(size=400)
    costs = Costs(1, 3, (0.2, 0.5))
    found = roc_thresholds(ScoredRows.of(score, sign > 0, cut=0.0), costs)
    P, N = np.sum(sign > 0), np.sum(sign < 0)

    def line(t, slope):
        return np.mean(score[sign > 0] > t) - slope * np.mean(score[sign < 0] > t)

    for t, slope in ((found.lower, N / P * 0.2 / (3 - 0.5)), (found.upper, N / P * (1 - 0.2) / 0.5)):
        assert line(t, slope) == pytest.approx(max(line(other, slope) for other in places(score)), abs=1e-12)
    assert found.lower < found.upper


@looped(k=range(2, 61))
def test_one_error_for_k_rejects_goes_to_fewer_rejects(k):
    # the k-th row by confidence is wrong: at r = 1/k sparing it costs exactly what it saves, however 1/k is rounded
    score = np.arange(1.0, k + 4)
    sign = np.ones(len(score), dtype=int)
    sign[k - 1] = -1
    rows = ScoredRows.of(score, sign > 0, cut=0.0)
    assert not symmetric_thresholds(rows, Costs(reject=1 / k)).rejects
    roc = roc_thresholds(ScoredRows.of(score, sign > 0, cut=0.0), Costs(reject=1 / k))
    assert np.sum(roc.decide(score) == 0) == 0
    # control: a little cheaper, and they are rejected
    assert np.sum(symmetric_thresholds(rows, Costs(reject=0.999 / k)).decide(score) == 0) == k


def test_costs_of_very_different_size_do_not_round_together():
    score, sign = np.array([-3.0, -2, -1, 1, 2, 3]), np.array([1, -1, -1, -1, 1, 1])
    rows, costs = ScoredRows.of(score, sign > 0, cut=0.0), Costs(1, 1e9, 0.3)
    assert roc_thresholds(rows, costs).decide(score).tolist() == [0, 0, 0, 0, 1, 1]
    assert symmetric_thresholds(rows, costs).decide(score).tolist() == [0] * 6


@pytest.mark.parametrize("tune", [symmetric_thresholds, roc_thresholds])
def test_the_order_of_the_rows_never_matters(tune):
    rng = np.random.default_rng(5)
    score, weight = rng.integers(-6, 7, 80) / 4, rng.uniform(0.1, 3, 80)
    sign = np.where(rng.random(80) < 1 / (1 + np.exp(-score)), 1, -1)
    costs = Costs(1, 1.7, 0.31)
    found = tune(ScoredRows.of(score, sign > 0, weight, cut=0.0), costs)
    assert found.rejects
    for _ in range(20):
        mixed = rng.permutation(80)
        assert tune(ScoredRows.of(score[mixed], sign[mixed] > 0, weight[mixed], cut=0.0), costs) == found


@pytest.mark.parametrize("tune", [symmetric_thresholds, roc_thresholds])
@looped(seed=range(40))
def test_a_weight_is_a_row_given_so_many_times(tune, seed):
    score, sign, cut, costs = random_case(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(score))
    weight[0] += 1
    again = ScoredRows.of(np.repeat(score, weight), np.repeat(sign, weight) > 0, cut=cut)
    assert tune(ScoredRows.of(score, sign > 0, weight, cut=cut), costs) == tune(again, costs)


def test_a_price_at_equality_rejects_nothing():
    score, sign, _, _ = random_case(1)
    rows = ScoredRows.of(score, sign > 0, cut=0.0)
    for costs in (Costs(reject=0.5), Costs(1, 4, 0.8)):
        assert not roc_thresholds(rows, costs).rejects


class TestBands:
    def test_thresholds_lie_between_the_scores_they_part(self):
        sides = Line.of(np.array([1.0, 2, 4, 8]))
        assert sides.band(1, 2) == Thresholds(1.5, 3.0)
        assert sides.band(2, 2) == Thresholds(3.0, 3.0)
        assert sides.band(0, 4) == Thresholds(-np.inf, np.inf)

    def test_adjacent_numbers_are_parted_all_the_same(self):
        a = 1.0
        b, c = np.nextafter(a, 2), np.nextafter(np.nextafter(a, 2), 2)
        d = np.nextafter(c, 2)
        sides = Line.of(np.array([a, b, c, d]))
        assert sides.band(1, 3).decide([a, b, c, d]).tolist() == [-1, 0, 0, 1]
        assert sides.band(2, 2).decide([a, b, c, d]).tolist() == [-1, -1, 1, 1]

    @looped(seed=range(50))
    def test_symmetric_bands_reject_what_they_say_whatever_rounds(self, seed):
        rng = np.random.default_rng(seed)
        score = rng.random(30) * 10.0 ** rng.integers(-17, 0, 30)  # distances from 1/2 that round
        rows = ScoredRows.of(score, score > 0.2, cut=0.5)
        far = np.unique(rows.confidence)
        for furthest, distance in [(c, c) for c in far] + list(zip(far, (far[1:] + far[:-1]) / 2, strict=False)):
            rejected = rows.symmetric_band(distance).decide(rows.score) == 0
            np.testing.assert_array_equal(rejected, rows.confidence <= furthest)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_a_score_that_is_nan_or_infinite_is_refused(self, bad):
        with pytest.raises(ValueError, match="nan or infinite"):
            ScoredRows.of([0.0, bad], [1, 0], cut=0.0)

    def test_no_rows_at_all_are_refused(self):
        with pytest.raises(ValueError, match="thresholds cannot be tuned without rows"):
            ScoredRows.of([1.0, 2.0], [1, 0], [0.0, 0.0], cut=0.0)


def test_a_symmetric_band_is_symmetric_on_probabilities_with_few_values():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        score = rng.integers(0, 11, 40) / 10  # as of 10 nearest neighbours
        sign = np.where(rng.random(40) < score, 1, -1)
        if not 0 < np.sum(sign > 0) < 40:
            continue
        band = symmetric_thresholds(ScoredRows.of(score, sign > 0, cut=0.5), Costs(reject=0.2))
        grid = np.arange(11) / 10
        rejected = band.decide(grid) == 0
        np.testing.assert_array_equal(rejected, rejected[::-1], err_msg=f"seed {seed}")


def test_costs_whose_sum_overflows_are_refused():
    rows = ScoredRows.of([-1.0, 1.0, 2.0], [1, 0, 0], cut=0.0)
    for thresholds in (symmetric_thresholds, roc_thresholds, forced_cut):
        with pytest.raises(ValueError, match="divide all costs by the largest"):
            thresholds(rows, Costs(1e308, 1e308, 1e307))
