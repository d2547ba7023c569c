"""Costs of two classes: Bayes' thresholds against brute force, and rejects that can never pay."""

import pickle
from math import isfinite, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from looping import looped

prices = st.floats(1e-3, 1e3)
shares = st.floats(0.01, 0.98)


@st.composite
def paying(draw):
    """Costs whose rejects can pay: r_neg / c_fp + r_pos / c_fn < 1."""
    c_fp, c_fn, total, part = draw(prices), draw(prices), draw(shares), draw(shares)
    return Costs(c_fp, c_fn, (total * part * c_fp, total * (1 - part) * c_fn))


@given(costs=paying())
def test_thresholds_minimise_the_expected_cost(costs):
    p = np.linspace(0, 1, 1001)
    p_low, p_high = costs.thresholds().lower, costs.thresholds().upper
    # The truth by brute force: each decision's price averaged over the two classes.
    r_neg, r_pos = costs.reject_negative, costs.reject_positive
    expected = np.stack([p * costs.false_negative, p * r_pos + (1 - p) * r_neg, (1 - p) * costs.false_positive])
    clear = (np.abs(p - p_low) > 1e-9) & (np.abs(p - p_high) > 1e-9)
    assert_allclose(costs.expected(p), expected.T, rtol=1e-12, atol=1e-12)
    assert (costs.thresholds().decide(p) == expected.argmin(axis=0) - 1)[clear].all()


@given(costs=paying())
def test_score_thresholds_are_the_log_odds_of_the_thresholds(costs):
    p, delta = costs.thresholds(), costs.score_thresholds()
    assert_allclose(1 / (1 + np.exp([-delta.lower, -delta.upper])), [p.lower, p.upper], rtol=1e-12)
    assert delta.lower < costs.cut < delta.upper


@given(costs=paying())
def test_the_cut_is_where_the_two_classes_cost_the_same(costs):
    p = 1 / (1 + np.exp(-costs.cut))
    negative, _, positive = costs.expected(p)
    assert_allclose(negative, positive, rtol=1e-9)


def test_symmetric_costs_reject_between_r_and_1_minus_r():
    costs = Costs(reject=0.2)
    assert costs.thresholds() == Thresholds(0.2, 0.8)
    assert_allclose([costs.score_thresholds().lower, costs.score_thresholds().upper], [-log(4), log(4)])
    assert costs.cut == 0.0


def test_thresholds_of_unequal_rejects_by_hand():
    # r_neg = 0.4, r_pos = 0.1: p_low = 0.4 / (2 - 0.1 + 0.4), p_high = 0.6 / (0.6 + 0.1)
    thresholds = Costs(1, 2, (0.4, 0.1)).thresholds()
    assert_allclose([thresholds.lower, thresholds.upper], [0.4 / 2.3, 0.6 / 0.7], rtol=1e-15)


@pytest.mark.parametrize("costs", [Costs(), Costs(1, 5, 5 / 6), Costs(3, 1, (2.7, 0.1)), Costs(reject=0.5 + 4e-13)])
def test_at_equality_nothing_is_rejected(costs):
    assert not costs.rejects
    p = costs.false_positive / (costs.false_positive + costs.false_negative)
    assert_allclose(costs.thresholds().lower, p, rtol=1e-15)
    assert costs.thresholds().lower == costs.thresholds().upper
    assert costs.score_thresholds() == Thresholds(costs.cut, costs.cut)


def test_just_inside_equality_something_is_rejected():
    costs = Costs(reject=0.5 - 1e-11)
    assert costs.rejects
    assert costs.thresholds().rejects
    assert costs.score_thresholds().rejects


@pytest.mark.parametrize(
    ("arguments", "largest"),
    [
        ((1, 1, 0.6), "0.5"),
        ((1, 5, 0.9), "0.833333333333"),
        ((1, 1, (0.9, 0.6)), r"\(0.6, 0.4\)"),
        ((2, 4, 2), "1.33333333333"),
    ],
)
def test_rejecting_that_never_pays_is_refused_with_the_largest_price_that_would(arguments, largest):
    with pytest.raises(ValueError, match=f"can never pay.*> 1.*largest reject.*{largest}") as refusal:
        Costs(*arguments)
    named = str(refusal.value).rstrip(".").split("is ")[-1].split("are ")[-1]
    limit = tuple(float(number) for number in named.strip("()").split(", "))
    Costs(arguments[0], arguments[1], limit if len(limit) == 2 else limit[0])  # the way out is one


@pytest.mark.parametrize("name", ["false_positive", "false_negative", "reject"])
@looped(bad=[0, -1, np.nan, np.inf, "1", True, None, 1j])
def test_an_invalid_cost_is_refused_by_name(name, bad):
    with pytest.raises(ValueError, match=f"{name}="):
        Costs(**{name: bad})


@pytest.mark.parametrize("bad", [(0.1,), (0.1, 0.2, 0.3), (), (0.1, 0), ("a", 0.1), np.zeros((1, 2))])
def test_an_invalid_pair_of_reject_costs_is_refused(bad):
    with pytest.raises(ValueError, match="reject"):
        Costs(reject=bad)


@pytest.mark.parametrize("pair", [(0.1, 0.2), [0.1, 0.2], np.array([0.1, 0.2])])
def test_a_pair_is_negative_then_positive(pair):
    costs = Costs(reject=pair)
    assert (costs.reject_negative, costs.reject_positive) == (0.1, 0.2)


def test_is_a_value():
    costs = Costs(np.int64(1), 5, (np.float64(0.3), 0.3))
    assert costs == Costs(1.0, 5.0, 0.3)
    assert hash(costs) == hash(Costs(1.0, 5.0, 0.3))
    assert pickle.loads(pickle.dumps(costs)) == costs  # noqa: S301 (our own bytes)
    assert eval(repr(costs)) == costs  # noqa: S307 (our own text)
    with pytest.raises(AttributeError):
        costs.reject = 0.1


@given(exponent=st.integers(-300, 300), ratio=st.integers(-300, 300), share=st.floats(1e-9, 0.999))
def test_extreme_prices_keep_finite_ordered_thresholds(exponent, ratio, share):
    assume(abs(exponent + ratio) < 300)
    c_fp, c_fn = 10.0**exponent, 10.0 ** (exponent + ratio)
    r = (share * c_fp / 2, share * c_fn / 2)
    assume(min(r) > 1e-300)
    costs = Costs(c_fp, c_fn, r)
    p, delta = costs.thresholds(), costs.score_thresholds()
    assert 0 <= p.lower <= p.upper <= 1
    assert isfinite(delta.lower)
    assert isfinite(delta.upper)
    assert delta.lower <= costs.cut <= delta.upper


def test_costs_of_all_six_outcomes():
    costs = Costs(2, 5, (0.5, 1.0))
    truth, choice = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    assert costs.of(truth, choice).tolist() == [0.0, 0.5, 2.0, 5.0, 1.0, 0.0]


def test_mean_cost_prices_labels():
    costs = Costs(2, 5, (0.5, 1.0))
    y_true = ["b", "b", "b", "a", "a", "a"]
    y_pred = ["b", "reject", "a", "b", "reject", "a"]
    # "b" is positive: right, reject (1), miss (5); false alarm (2), reject (0.5), right
    assert costs.mean_cost(y_true, y_pred) == pytest.approx(8.5 / 6)
    # with "a" positive misses and false alarms change places, and so do the rejects
    assert costs.mean_cost(y_true, y_pred, pos_label="a") == pytest.approx((0.5 + 2 + 5 + 1) / 6)
    assert costs.mean_cost(y_true, y_pred, sample_weight=[0, 0, 3, 1, 0, 0]) == pytest.approx((3 * 5 + 2) / 4)


@pytest.mark.parametrize("weight", [[1.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0]])
def test_mean_cost_refuses_invalid_weights(weight):
    with pytest.raises(ValueError, match=r"sample_weight (must|is zero)"):
        Costs().mean_cost([0, 1], [0, 1], sample_weight=weight)


def test_from_matrix_reads_rows_as_actual():
    assert Costs.from_matrix([[0, 1], [5, 0]], reject=0.3) == Costs(false_positive=1, false_negative=5, reject=0.3)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        ([[0, 1, 2], [1, 0, 2]], r"2 x 2.*\(2, 3\)"),
        ([[0, 1], [5, 1]], "0 on its diagonal.*0 and 1"),
        ([[-1, 1], [5, 0]], "0 on its diagonal.*-1 and 0"),
        ([[np.nan, 1], [5, 0]], "0 on its diagonal"),
        ([[0, 0], [5, 0]], "false_positive"),
    ],
)
def test_from_matrix_refuses_invalid_matrices(matrix, text):
    with pytest.raises(ValueError, match=text):
        Costs.from_matrix(matrix, reject=0.3)
