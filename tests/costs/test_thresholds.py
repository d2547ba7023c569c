import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.costs.cuts import Thresholds, distances

numbers = st.floats(allow_nan=False)


@given(lower=numbers, upper=numbers, score=numbers)
def test_the_rule_as_it_is_written(lower, upper, score):
    lower, upper = min(lower, upper), max(lower, upper)
    if score > upper:
        choice = 1
    elif score < lower or lower == upper:
        choice = -1
    else:
        choice = 0
    assert Thresholds(lower, upper).decide([score]) == [choice]


@pytest.mark.parametrize(
    ("thresholds", "choices"),
    [
        (Thresholds(-1, 1), [-1, 0, 0, 0, 1]),
        (Thresholds(0, 0), [-1, -1, -1, 1, 1]),
        (Thresholds(-np.inf, np.inf), [0, 0, 0, 0, 0]),
        (Thresholds(-np.inf, 0), [0, 0, 0, 1, 1]),
        (Thresholds(np.inf, np.inf), [-1, -1, -1, -1, -1]),
    ],
    ids=str,
)
def test_choices_on_and_off_the_thresholds(thresholds, choices):
    decided = thresholds.decide([-1.5, -1.0, 0.0, 1.0, 1.5])
    assert decided.tolist() == choices
    assert decided.dtype == np.int8


def test_choices_keep_the_shape_of_the_scores():
    assert Thresholds(0, 1).decide(np.zeros((2, 3))).shape == (2, 3)
    assert Thresholds(0, 1).decide([]).shape == (0,)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (1.0, 0.0, "lower=1 must not exceed upper=0"),
        (np.nan, 0.0, "lower=nan must be a number"),
        (0.0, np.nan, "upper=nan must be a number"),
        (0.0, "1", "upper='1' must be a real number, not str"),
        (True, 1.0, "lower=True must be a real number, not bool"),
    ],
)
def test_an_invalid_pair_of_thresholds_is_refused(lower, upper, text):
    with pytest.raises(ValueError, match=text):
        Thresholds(lower, upper)


def test_is_a_value():
    thresholds = Thresholds(np.float32(0.25), 1)
    assert thresholds == Thresholds(0.25, 1.0)
    assert hash(thresholds) == hash(Thresholds(0.25, 1.0))
    assert pickle.loads(pickle.dumps(thresholds)) == thresholds  # noqa: S301 (our own bytes)
    assert type(thresholds.lower) is float


class TestDistances:
    def test_the_two_sides_of_a_cut_are_equally_far(self):
        scores = np.array([0.2, 0.8, 0.1, 0.9, 0.5])
        assert abs(0.2 - 0.5) != abs(0.8 - 0.5)  # control: without care they are not
        near, far = distances(scores, 0.5)[:2], distances(scores, 0.5)[2:4]
        assert near[0] == near[1]
        assert far[0] == far[1]
        assert near[0] < far[0]
        assert distances(scores, 0.5)[4] == 0.0

    def test_of_every_grid_of_probabilities(self):
        for k in range(2, 60):
            p = np.arange(k + 1) / k
            found = distances(p, 0.5)
            np.testing.assert_array_equal(found, found[::-1], err_msg=f"k = {k}")
            assert len(np.unique(found)) == k // 2 + 1, k
            np.testing.assert_allclose(found, np.abs(p - 0.5), atol=1e-15)

    def test_differences_above_rounding_stay(self):
        scores = np.array([1.0, 1.0 + 1e-14, 1.0 - 1e-14, 1e8, 1e8 + 1e-6, np.inf, -np.inf])
        assert len(np.unique(distances(scores, 0.5))) == 6
        neighbours = np.array([1.0, np.nextafter(1.0, 2.0)])
        assert len(np.unique(distances(neighbours, 0.0))) == 2  # nothing was rounded
        assert distances(np.zeros(0), 0.0).shape == (0,)
