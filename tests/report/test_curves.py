"""The order in which a falling price rejects the rows, against thresholds computed price by price."""

import numpy as np
import pytest

from abstain import Costs
from abstain.metrics import accuracy_reject_curve, cost_curve
from abstain.report.curves import at_share, curves_of, price_confidence, share_of
from report.reported import COSTS, rows


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS.keys())
def test_a_row_is_rejected_up_to_the_share_that_its_confidence_says(costs):
    score = np.linspace(-9, 9, 731)
    largest_share = np.exp(-np.abs(price_confidence(costs, score)))
    for t in (0.01, 0.2, 0.5, 0.9, 0.999):
        rejected = at_share(costs, t).score_thresholds().decide(score) == 0
        np.testing.assert_array_equal(rejected, t <= largest_share)


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS.keys())
def test_its_sign_is_the_forced_choice_and_its_size_keeps_growing(costs):
    near = [costs.cut, np.nextafter(costs.cut, 9), np.nextafter(costs.cut, -9)]
    score = np.array([*near, *np.linspace(-9, 9, 50), -800.0, -900.0, 800.0, 900.0, np.inf, -np.inf])
    confidence = price_confidence(costs, score)
    np.testing.assert_array_equal(confidence > 0, score > costs.cut)
    ordered = confidence[np.argsort(score)]
    assert (ordered[[0, -1]] == [-np.inf, np.inf]).all()
    assert (np.diff(ordered[1:-1]) >= 0).all()  # next to the cut two scores may share one confidence
    assert (np.diff(ordered[[1, 2, 3, -4, -3, -2]]) > 0).all()  # far from it none do


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS.keys())
def test_every_operating_point_lies_on_the_curves(costs):
    y, score = rows(n=500)
    sign = np.where(y == "yes", 1, -1)
    confidence = price_confidence(costs, score)
    accuracy = accuracy_reject_curve(sign, confidence)
    for t in (0.05, 0.3, 0.6, 0.95):
        priced = at_share(costs, t)
        choice = priced.score_thresholds().decide(score)
        rate, right = np.mean(choice == 0), np.mean(choice[choice != 0] == sign[choice != 0])
        assert accuracy.at(rate) == pytest.approx(right)
        assert cost_curve(sign, confidence, priced).at(rate) == pytest.approx(
            np.mean(priced.of((sign + 1) // 2, choice + 1))
        )


def test_symmetric_confidence_is_not_enough():
    # the control: with unequal costs the thresholds are not symmetric about the cut, and the plain curve misses them
    y, score = rows(n=500)
    sign, costs = np.where(y == "yes", 1, -1), Costs(1, 9, 0.3)
    choice = costs.score_thresholds().decide(score)
    plain = accuracy_reject_curve(sign, score, cut=costs.cut).at(np.mean(choice == 0))
    assert abs(plain - np.mean(choice[choice != 0] == sign[choice != 0])) > 0.005


def test_shares_of_the_largest_price():
    assert share_of(Costs(1, 5, 0.3)) == pytest.approx(0.3 + 0.06)
    assert at_share(Costs(1, 1, 0.1), 1.0).rejects is False
    moved = at_share(Costs(2, 3, (0.3, 0.8)), 0.5)
    assert moved.reject_positive / moved.reject_negative == pytest.approx(0.8 / 0.3)
    assert share_of(moved) == pytest.approx(0.5)


def test_bands_enclose_their_curves_and_the_stated_price_is_among_them():
    y, score = rows()
    read = curves_of((y == "yes").astype(int), score, Costs(1, 1, 0.13), 0.0)
    assert 0.26 in np.round(read.shares, 12)
    assert list(read.shares) == sorted(read.shares)
    for band in (read.accuracy, *read.cost):
        assert (band.lower <= band.upper).all()
        assert np.mean((band.lower <= band.estimate) & (band.estimate <= band.upper)) > 0.9


def test_beyond_the_last_size_curves_are_read_without_bands(monkeypatch):
    y, score = rows()
    sign = np.where(y == "yes", 1, -1).astype(np.int8)
    banded = curves_of(sign, score, Costs(1, 1, 0.2), 0.0)
    monkeypatch.setattr("abstain.report.curves._BAND_ROWS", 10)
    plain = curves_of(sign, score, Costs(1, 1, 0.2), 0.0)
    assert (plain.accuracy.n_resamples, plain.accuracy.level) == (0, 0.0)
    np.testing.assert_allclose(plain.accuracy.estimate, banded.accuracy.estimate)
    np.testing.assert_allclose(plain.cost[2].estimate, banded.cost[2].estimate)
