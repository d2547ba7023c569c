"""Curves against their definitions at every confidence, and what must not change them."""

import dataclasses
import pickle
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from abstain import Costs, Thresholds
from abstain.metrics import accuracy_reject_curve, cost_curve, error_reject_curve, mean_cost, risk_coverage_curve
from looping import looped
from metrics.definitions import accepted_at, cost_at, errors_of, levels, rows, weight_of

PRICES = {"c_fp": Fraction(1), "c_fn": Fraction(5), "r_neg": Fraction(1, 2), "r_pos": Fraction(3, 4)}
COSTS = Costs(1, 5, (0.5, 0.75))
CURVES = {
    "risk_coverage": risk_coverage_curve,
    "accuracy_reject": accuracy_reject_curve,
    "error_reject": error_reject_curve,
    "cost": lambda y, score, **options: cost_curve(y, score, COSTS, **options),
}
every_curve = looped(kind=CURVES)  # inside a test with random rows: the four share their rows
WEIGHTED = rows(largest=12, weights=(0, 4))


def arrays_of(curve, without=()):
    fields = {field.name: getattr(curve, field.name) for field in dataclasses.fields(curve)}
    return {name: value for name, value in fields.items() if isinstance(value, np.ndarray) and name not in without}


def floats(fractions):
    return [float(value) for value in fractions]


@settings(max_examples=100)
@given(data=WEIGHTED)
def test_curves_are_their_definitions_at_every_confidence(data):
    y, score = data.arrays
    options = {"pos_label": 1, "sample_weight": data.weight}
    kept = [accepted_at(data, level) for level in levels(data)]
    total = Fraction(sum(data.weight))
    risk_coverage = risk_coverage_curve(y, score, **options)
    assert_array_equal(risk_coverage.confidence, levels(data))
    assert_allclose(risk_coverage.coverage, floats(weight_of(some) / total for some in kept), rtol=1e-14)
    assert_allclose(risk_coverage.risk, floats(errors_of(some) / weight_of(some) for some in kept), atol=1e-14)

    kept.reverse()
    accuracy_reject = accuracy_reject_curve(y, score, **options)
    assert_array_equal(accuracy_reject.confidence, levels(data)[::-1])
    assert_allclose(accuracy_reject.reject_rate, floats(1 - weight_of(some) / total for some in kept), atol=1e-14)
    assert_allclose(
        accuracy_reject.accuracy, floats(1 - errors_of(some) / weight_of(some) for some in kept), atol=1e-14
    )

    kept.append([])
    error_reject = error_reject_curve(y, score, **options)
    assert_array_equal(error_reject.confidence, [*levels(data)[::-1], np.inf])
    assert_allclose(error_reject.reject_rate, floats(1 - weight_of(some) / total for some in kept), atol=1e-14)
    assert_allclose(error_reject.error_rate, floats(errors_of(some) / total for some in kept), atol=1e-14)
    newly_wrong = [(errors_of(a) - errors_of(b)) / (weight_of(a) - weight_of(b)) for a, b in pairwise(kept)]
    assert_allclose(error_reject.slope, [-float(share) for share in newly_wrong], atol=1e-14)

    curve = cost_curve(y, score, COSTS, **options)
    cost = [cost_at(data, level, **PRICES) for level in [*levels(data)[::-1], np.inf]]
    assert_allclose(curve.reject_rate, error_reject.reject_rate, rtol=0)
    assert_allclose(curve.mean_cost, floats(cost), rtol=1e-14)
    assert curve.chosen == cost.index(min(cost))
    assert curve.total_weight == sum(data.weight)


@settings(max_examples=100)
@given(data=rows(largest=12))
def test_the_operating_point_is_reached_by_its_thresholds(data):
    y, score = data.arrays
    curve = cost_curve(y, score + 0.5, COSTS, cut=0.5, pos_label=1)
    point = curve.operating_point
    choice = point.thresholds.decide(score + 0.5)
    y_pred = np.where(choice == 0, -1, choice > 0)
    assert mean_cost(y, y_pred, COSTS, pos_label=1, reject_label=-1) == pytest.approx(point.mean_cost, rel=1e-14)
    assert np.mean(choice == 0) == pytest.approx(point.reject_rate)
    assert point.mean_cost == pytest.approx(curve.mean_cost.min(), rel=1e-14)


def test_equal_costs_go_to_the_fewest_rejects():
    tie = cost_curve([0, 1], [0.1, 0.1], Costs(reject=0.5))
    assert_allclose(tie.mean_cost, [0.5, 0.5])
    assert tie.chosen == 0
    assert tie.operating_point.thresholds == Thresholds(0.0, 0.0)
    # three errors in ten cost as much as rejecting all for 0.3, though the two sums differ in their last digits
    rounded = cost_curve([1] * 7 + [0] * 3, [0.1] * 10, Costs(reject=0.3))
    assert_allclose(rounded.mean_cost, [0.3, 0.3])
    assert rounded.chosen == 0


def test_an_operating_point_may_reject_all_or_lie_below_infinite_scores():
    point = cost_curve([0, 1], [1.0, -np.inf], Costs(reject=0.1)).operating_point
    assert (point.reject_rate, point.mean_cost) == (1.0, 0.1)
    assert point.thresholds == Thresholds(-np.inf, np.inf)
    point = cost_curve([0, 1, 1], [1e300, np.inf, -1e300], Costs(reject=0.1)).operating_point
    assert point.reject_rate == pytest.approx(2 / 3)
    assert point.thresholds.decide([1e300, np.inf, -1e300]).tolist() == [0, 1, 0]


def test_an_operating_point_may_lie_between_neighbouring_numbers():
    first = np.nextafter(1.0, 2.0)
    score = [first, np.nextafter(first, 2.0)]  # half way between them rounds up
    point = cost_curve([0, 1], score, Costs(reject=0.1)).operating_point
    assert point.reject_rate == 0.5
    assert point.thresholds.decide(score).tolist() == [0, 1]


@settings(max_examples=100)
@given(data=WEIGHTED, seed=st.integers(0, 99))
@every_curve
def test_the_order_of_the_rows_never_matters(kind, data, seed):
    curve_of = CURVES[kind]
    y, score = data.arrays
    weight = np.array(data.weight) / 7  # fractions, whose sums depend on their order
    order = np.random.default_rng(seed).permutation(len(y))
    before = arrays_of(curve_of(y, score, pos_label=1, sample_weight=weight))
    after = arrays_of(curve_of(y[order], score[order], pos_label=1, sample_weight=weight[order]))
    for name, values in before.items():
        assert_array_equal(after[name], values)


@settings(max_examples=100)
@given(data=WEIGHTED)
@every_curve
def test_increasing_transformations_of_the_confidence_change_nothing_else(kind, data):
    curve_of = CURVES[kind]
    y, score = data.arrays
    options = {"pos_label": 1, "sample_weight": data.weight}
    before = arrays_of(curve_of(y, score, **options), without=["confidence"])
    after = arrays_of(curve_of(y, np.sign(score) * np.abs(score) ** 3 - 2, cut=-2, **options), without=["confidence"])
    for name, values in before.items():
        assert_array_equal(after[name], values)


def test_a_decreasing_transformation_does_change_it():
    y, score = np.array([0, 1, 1]), np.array([-2.0, -0.5, 1.0])
    before, after = risk_coverage_curve(y, score), risk_coverage_curve(y, np.sign(score) / np.abs(score))
    assert not np.array_equal(before.risk, after.risk)


@settings(max_examples=100)
@given(data=WEIGHTED, seed=st.integers(0, 99), scale=st.floats(1e-3, 1e3))
@every_curve
def test_weights_may_be_split_scaled_and_replaced_by_repetition(kind, data, seed, scale):
    curve_of = CURVES[kind]
    y, score = data.arrays
    weight = np.array(data.weight, dtype=float)
    expected = arrays_of(curve_of(*data.repeated().arrays, pos_label=1))
    part = np.random.default_rng(seed).integers(0, 9, len(weight)) / 8 * weight
    split = curve_of(np.tile(y, 2), np.tile(score, 2), pos_label=1, sample_weight=np.append(part, weight - part))
    scaled = curve_of(y, score, pos_label=1, sample_weight=scale * weight)
    for name, values in expected.items():
        assert_allclose(arrays_of(split)[name], values, atol=1e-14)
        assert_allclose(arrays_of(scaled)[name], values, atol=1e-13)


@settings(max_examples=100)
@given(data=rows(largest=8), k=st.integers(0, 7))
def test_between_points_ties_are_accepted_in_parts(data, k):
    # the expected errors among k rows, ties in random order, by counting: each tied row is in with the same chance
    y, score = data.arrays
    n = len(y)
    k = k % n + 1
    level = sorted(np.abs(score), reverse=True)[k - 1]
    sure, tied = (
        accepted_at(data, np.nextafter(level, 9)),
        [row for row in accepted_at(data, level) if abs(row[1]) == level],
    )
    share = Fraction(k - len(sure), len(tied))
    wrong = errors_of(sure) + share * errors_of(tied)
    assert risk_coverage_curve(y, score, pos_label=1).at(k / n) == pytest.approx(float(wrong / k), abs=1e-13)
    reject_rate = (n - k) / n
    accuracy = accuracy_reject_curve(y, score, pos_label=1).at(reject_rate)
    assert accuracy == pytest.approx(float(1 - wrong / k), abs=1e-13)
    assert error_reject_curve(y, score, pos_label=1).at(reject_rate) == pytest.approx(float(wrong / n), abs=1e-13)
    whole = [cost_at(data, at, **PRICES) for at in (np.nextafter(level, 9), level)]
    expected = float(whole[0] + share * (whole[1] - whole[0]))
    assert cost_curve(y, score, COSTS, pos_label=1).at(reject_rate) == pytest.approx(expected, abs=1e-13)


def test_a_score_on_the_cut_decides_for_the_negative_class():
    assert risk_coverage_curve([0, 1], [0.0, 0.0]).risk.tolist() == [0.5]
    assert risk_coverage_curve([0, 1], [0.5, 0.75], cut=0.5).risk.tolist() == [0.0, 0.0]
    assert risk_coverage_curve([1, 0], [0.5, 0.25], cut=0.5).risk.tolist() == [0.0, 0.5]


@every_curve
def test_results_are_frozen_pickle_and_make_frames(kind):
    curve = CURVES[kind](["a", "b", "b", "a"], [-3.0, -2.0, 1.0, -1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.confidence = None
    for name, values in arrays_of(curve).items():
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 7
        if name != "slope":
            assert_array_equal(curve.to_frame()[name], values)
    copy = pickle.loads(pickle.dumps(curve))  # noqa: S301 (our own bytes)
    assert_array_equal(copy.confidence, curve.confidence)


def test_frames_hold_the_slope_and_the_choice():
    y, score = [0, 1, 1, 0], [-3.0, -1.0, 2.0, -2.0]
    slope = error_reject_curve(y, score).to_frame()["slope"]
    assert slope[:-1].tolist() == [-1.0, 0.0, 0.0]
    assert np.isnan(slope.iloc[-1])
    assert cost_curve(y, score, Costs(reject=0.2)).to_frame()["chosen"].tolist() == [False, True, False, False]


def test_a_frame_without_pandas_is_an_import_error_with_a_reason(monkeypatch):
    curve = risk_coverage_curve([0, 1], [-1.0, 1.0])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame\(\) needs pandas; install it, or use the arrays of the result"):
        curve.to_frame()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"score": [1.0, np.nan, 0.0]}, "score contains NaN at row 1"),
        ({"score": np.ones((3, 2))}, r"shape is \(3, 2\).*proba\[:, 1\], with cut=0.5"),
        ({"score": ["a", "b", "a"]}, "score must be numbers; its dtype is <U1"),
        ({"score": [1.0, 2.0]}, "inconsistent numbers of samples"),
        ({"y_true": [0, 1, 2]}, "a column for each of the 3 classes of y_true"),
        ({"y_true": [0.0, 1.0, np.nan]}, "y_true contains NaN"),
        ({"y_true": [0, 0, 0]}, "only the class 0; pass the positive one as pos_label"),
        ({"y_true": ["a", "a", None]}, "y_true holds None"),
        ({"pos_label": 3}, "pos_label=3 is not one of the classes"),
        ({"cut": np.inf}, "cut=inf must be finite"),
        ({"cut": "0"}, "cut='0' must be a real number"),
        ({"sample_weight": [1.0, 2.0]}, r"one entry per row, shape \(3,\); its shape is \(2,\)"),
        ({"sample_weight": [1.0, -2.0, 1.0]}, "finite and >= 0, got -2 at row 1; 0 drops a row"),
        ({"sample_weight": [1.0, 1.0, np.inf]}, "finite and >= 0, got inf at row 2"),
        ({"sample_weight": [0, 0, 0]}, "sample_weight is zero for every row"),
        ({"sample_weight": [1e308, 1e308, 1]}, "sums to inf; divide the weights by their mean"),
    ],
)
@every_curve
def test_invalid_arguments_of_a_curve_are_refused(kind, options, text):
    arguments = {"y_true": [0, 1, 0], "score": [-1.0, 0.0, 2.0], **options}
    with pytest.raises(ValueError, match=text):
        CURVES[kind](arguments.pop("y_true"), arguments.pop("score"), **arguments)


@pytest.mark.parametrize("y_true", [[False, True], ["no", "yes"], [2.0, 3.0], np.array(["no", "yes"], dtype=object)])
def test_labels_of_every_kind(y_true):
    assert risk_coverage_curve(y_true, [-1.0, 2.0]).risk.tolist() == [0.0, 0.0]
    assert risk_coverage_curve(y_true, [1.0, -1.0]).risk.tolist() == [1.0]


def test_no_label_is_mistaken_for_a_reject():
    y = ["reject", "x", "xxxxxxx", "reject"]  # no row of a score is rejected, whatever its label
    with pytest.raises(ValueError, match="3 classes"):
        risk_coverage_curve(y, [1.0, 2.0, 3.0, 4.0])
    assert risk_coverage_curve(["reject", "xxxxxx"], [-1.0, 2.0]).risk.tolist() == [0.0, 0.0]
    assert risk_coverage_curve([-1, 0], [-1.0, 2.0]).risk.tolist() == [0.0, 0.0]


@looped(kind=CURVES.keys() - {"accuracy_reject"})
def test_outside_0_to_1_there_is_no_curve(kind):
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]; got -0.5 to 2"):
        CURVES[kind]([0, 1], [-1.0, 1.0]).at([-0.5, 2.0])


def test_where_nothing_is_accepted_there_is_no_risk():
    with pytest.raises(ValueError, match="coverage must be above 0"):
        risk_coverage_curve([0, 1], [-1.0, 1.0]).at(0)
    with pytest.raises(ValueError, match="reject_rate must be below 1"):
        accuracy_reject_curve([0, 1], [-1.0, 1.0]).at(1)


def test_costs_are_asked_for_in_words():
    with pytest.raises(ValueError, match=r"costs=0.3 must be a Costs, not a float; write Costs\(false_positive="):
        cost_curve([0, 1], [-1.0, 1.0], 0.3)


def test_extreme_costs_do_not_overflow():
    curve = cost_curve([0, 1, 1], [1.0, -2.0, 3.0], Costs(1e308, 1e308, 1e-300))
    assert_allclose(curve.mean_cost, [1e308 / 3 * 2, 1e308 / 3, 2e-300 / 3, 1e-300])
    assert curve.chosen == 2


def test_the_thresholds_of_the_operating_point_cost_what_it_promises():
    costs = Costs(reject=0.3)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y, score = rng.integers(0, 2, 12), rng.integers(0, 11, 12) / 10
        point = cost_curve(y, score, costs, cut=0.5).operating_point
        choice = point.thresholds.decide(score)
        assert costs.of(y, choice + 1).mean() == pytest.approx(point.mean_cost), f"seed {seed}"
