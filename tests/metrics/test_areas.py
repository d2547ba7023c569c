"""Areas against their definitions: the mean over all orders of the rows that tie, in exact fractions."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from abstain import Costs, RejectSVC
from abstain.metrics import areas, augrc, aurc, e_aurc, risk_coverage_curve
from looping import looped
from metrics.definitions import (
    Rows,
    aurc_of_order,
    brute_augrc,
    brute_aurc,
    brute_best_aurc,
    n_orders,
    rows,
)

AREAS = [aurc, e_aurc, augrc]
TIED = Rows([1, 0, 0, 1, 1, 0], [1.0, 1.0, -1.0, -1.0, 0.5, 0.0], [1] * 6)


@settings(max_examples=100)
@given(data=rows())
def test_areas_are_the_mean_over_all_orders_of_the_ties(data):
    assume(n_orders(data) <= 800)
    y, score = data.arrays
    assert aurc(y, score, pos_label=1) == pytest.approx(float(brute_aurc(data)), abs=1e-14)
    assert augrc(y, score, pos_label=1) == pytest.approx(float(brute_augrc(data)), abs=1e-14)
    excess = brute_aurc(data) - brute_best_aurc(data)
    assert e_aurc(y, score, pos_label=1) == pytest.approx(float(excess), abs=1e-14)


def test_the_perfect_order_is_the_best_of_all():
    # the judge of e_aurc sorts the errors last; no other order does better
    each = list(zip(TIED.y, TIED.score, strict=True))
    assert brute_best_aurc(TIED) == min(aurc_of_order(order) for order in permutations(each))


def test_the_definition_depends_on_the_order_where_ties_are_not_averaged():
    each = list(zip(TIED.y, TIED.score, strict=True))
    forward, backward = (sorted(given, key=lambda row: -abs(row[1])) for given in (each, each[::-1]))
    assert aurc_of_order(forward) != aurc_of_order(backward)


@settings(max_examples=100)
@given(data=rows(largest=12, weights=(0, 4)), seed=st.integers(0, 99))
@looped(area=AREAS)
def test_a_weight_is_a_repeated_row_and_may_be_split(area, data, seed):
    y, score = data.arrays
    weight = np.array(data.weight, dtype=float)
    expected = area(*data.repeated().arrays, pos_label=1)
    assert area(y, score, pos_label=1, sample_weight=weight) == pytest.approx(expected, rel=1e-12, abs=1e-13)
    part = np.random.default_rng(seed).integers(0, 9, len(weight)) / 8 * weight
    split = (np.tile(y, 2), np.tile(score, 2))
    parts = np.append(part, weight - part)
    assert area(*split, pos_label=1, sample_weight=parts) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@settings(max_examples=100)
@given(data=rows(largest=12, weights=(0, 4)), seed=st.integers(0, 99))
@looped(area=AREAS)
def test_the_order_of_the_rows_and_the_units_of_the_confidence_never_matter(area, data, seed):
    y, score = data.arrays
    weight = np.array(data.weight) / 3
    total = weight.sum()
    assume(total > 1.1)
    before = area(y, score, pos_label=1, sample_weight=weight)
    order = np.random.default_rng(seed).permutation(len(y))
    assert area(y[order], score[order], pos_label=1, sample_weight=weight[order]) == before
    stretched = np.sign(score) * np.expm1(3 * np.abs(score))
    assert area(y, stretched, pos_label=1, sample_weight=weight) == before
    assert area(y, score + 0.5, cut=0.5, pos_label=1, sample_weight=weight) == before


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000, 200_000])
def test_long_sums_keep_their_digits(n):
    rng = np.random.default_rng(n)
    y, score = rng.integers(0, 2, n), rng.normal(size=n)  # no ties: the plain mean of running errors
    wrong = ((score > 0) != (y == 1))[np.argsort(-np.abs(score))]
    risk = np.cumsum(wrong) / np.arange(1, n + 1)
    assert aurc(y, score, pos_label=1) == pytest.approx(risk.mean(), rel=1e-12)
    assert augrc(y, score, pos_label=1) == pytest.approx(np.cumsum(wrong).mean() / n, rel=1e-12)


@looped(start=[0, 1, 30, 31, 32, 100, 10**6], length=[1, 2, 40, 1000])
def test_the_harmonic_gap_is_a_sum_of_reciprocals(start, length):
    gap = areas._harmonic_gap(np.array([float(start)]), np.array([float(length)]))[0]
    assert gap == pytest.approx(np.sum(1 / np.arange(start + 1.0, start + length + 1)), rel=1e-13, abs=0)


@looped(A=[0.3, 30.4, 31.5, 500.25], g=[1e-9, 0.25, 0.7, 3.4])
def test_the_harmonic_gap_of_fractions_obeys_the_same_recurrence(A, g):
    # h(A + 1) - h(A) = 1 / (A + 1), so that gap(A, g + 1) = gap(A, g) + 1 / (A + g + 1)
    def gap(A, g):
        return areas._harmonic_gap(np.array([A]), np.array([g]))[0]

    assert gap(A, g + 1) == pytest.approx(gap(A, g) + 1 / (A + g + 1), rel=1e-13, abs=0)
    assert gap(A, g) > 0


def test_extremes():
    y = np.array([0, 1] * 20)
    right, upside_down = np.where(y == 1, 1.0, -1.0) * np.arange(1, 41), np.where(y == 1, -1.0, 1.0) * np.arange(1, 41)
    assert [area(y, right) for area in AREAS] == [0, 0, 0]
    assert aurc(y, upside_down) == pytest.approx(1)
    assert e_aurc(y, upside_down) == pytest.approx(0, abs=1e-14)  # nothing but errors is perfectly ordered
    assert augrc(y, upside_down) == pytest.approx(41 / 80)  # mean of k / n


def test_infinite_scores_are_the_most_confident():
    y, score = np.array([0, 1, 1, 0]), np.array([np.inf, np.inf, 0.5, -np.inf])
    assert aurc(y, score) == aurc(y, np.clip(score, -9, 9))


def test_pos_label_is_the_class_that_high_scores_speak_for():
    y, score = np.array(["a", "b", "b", "a", "a"]), np.array([-2.0, 1.0, -0.5, -0.2, 3.0])
    assert aurc(y, -score, pos_label="a") == aurc(y, score) == aurc(y, score, pos_label="b")
    assert aurc(y, score, pos_label="a") != aurc(y, score)


def test_the_curve_carries_the_same_area():
    y, score = TIED.arrays
    assert risk_coverage_curve(y, score).aurc == aurc(y, score)


@pytest.mark.parametrize("area", AREAS)
def test_weights_that_cannot_be_numbers_of_rows_are_named(area):
    y, score = TIED.arrays
    with pytest.warns(UserWarning, match="sums to 1 over 6 rows.*multiply the weights by the number of rows") as caught:
        area(y, score, sample_weight=np.full(6, 1 / 6))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        area(y, score, sample_weight=np.full(6, 0.5))
        area(y[:2], score[:2], sample_weight=[0.3, 0.3])  # one confidence: the total does not matter


def test_many_small_weights_come_near_the_integral():
    # as the weights of fixed rows grow, the mean over k / n becomes the integral over the coverage
    y, score = TIED.arrays
    grid = (np.arange(100_000) + 0.5) / 100_000
    integral = risk_coverage_curve(y, score).at(grid).mean()
    assert aurc(y, score, sample_weight=np.full(6, 1e6)) == pytest.approx(integral, rel=1e-5)
    assert abs(aurc(y, score) - integral) > 0.01


def test_confidences_that_differ_by_rounding_are_ties():
    # all four rows are 0.3 from the cut and one is wrong: among tied rows every coverage has the error rate 1/4
    assert aurc([1, 0, 1, 1], [0.2, 0.2, 0.8, 0.8], cut=0.5) == pytest.approx(0.25)


def test_decisions_in_place_of_scores_are_refused_with_the_way_out():
    decisions = RejectSVC(Costs(reject=0.2)).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).decide([[0.5], [2.5]])
    with pytest.raises(TypeError, match=r"not Decisions; pass their scores, decisions\.score"):
        aurc([0, 1], decisions)
