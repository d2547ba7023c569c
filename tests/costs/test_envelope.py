"""Levels: with one and two cuts the rule of Thresholds, with more the number of cuts below a score."""

import numpy as np
import pytest

from abstain.costs.cuts import Levels, Thresholds
from looping import looped

SCORES = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, -np.inf, np.inf])


def test_one_and_two_cuts_are_thresholds():
    two = Levels((-1.0, 0.5), (-1, 0, 1), (True, False))
    np.testing.assert_array_equal(two.decide(SCORES), Thresholds(-1.0, 0.5).decide(SCORES))
    one = Levels((0.5,), (-1, 1), (False,))
    np.testing.assert_array_equal(one.decide(SCORES), Thresholds(0.5, 0.5).decide(SCORES))
    other = Levels((-1.0, 0.5), (-1, 0, 1), (False, False))  # control: the score on the lower cut is decided otherwise
    assert (other.decide(SCORES) != two.decide(SCORES)).tolist() == [False, True] + [False] * 7


def test_turned_levels_decide_the_negated_score():
    levels = Levels((-1.0, 0.5), (0, 1, 2), (True, False))
    np.testing.assert_array_equal(levels.turned().decide(-SCORES), levels.decide(SCORES))
    np.testing.assert_array_equal(levels.in_units(0.25).decide(4.0 * SCORES), levels.decide(SCORES))


def test_a_score_that_is_nan_is_where_a_reject_begins():
    assert Levels((-1.0, 0.5), (0, 1, 2), (True, False)).decide([np.nan]).tolist() == [1]
    rows = Levels(np.array([[-1.0, 0.5], [0.0, np.inf]]), np.array([[0, 1, 2], [0, 2, 2]]), np.eye(2) > [[0], [2]])
    assert rows.decide([np.nan, np.nan]).tolist() == [1, 0]  # the second row never rejects


@looped(seed=range(5))
def test_many_cuts_count(seed):
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.normal(size=6))
    levels = Levels(tuple(cuts.tolist()), tuple(range(7)), (True, False) * 3)
    scores = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(levels.decide(scores), (scores[..., np.newaxis] > cuts).sum(axis=-1))
    assert (levels.lower, levels.upper) == (cuts[0], cuts[-1])


def test_without_cuts_there_is_one_choice():
    assert Levels((), (3,), ()).decide([0.0, 1.0]).tolist() == [3, 3]


@pytest.mark.parametrize(("cuts", "choices"), [((1.0, 0.0), (0, 1, 2)), ((0.0,), (0,))])
def test_what_is_refused(cuts, choices):
    with pytest.raises(ValueError, match=r"must not decrease|one choice more"):
        Levels(cuts, choices, (False,) * len(cuts))
