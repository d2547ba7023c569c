"""Measures of predictions against sums over the rows, and what they say where nothing is accepted."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from abstain import Costs, metrics
from abstain.metrics import RejectTable, mean_cost, reject_confusion_matrix

COSTS = Costs(2, 5, (0.5, 1.0))
MEASURES = [
    "coverage",
    "error_rate",
    "positive_predictivity",
    "reject_rate",
    "selective_accuracy",
    "selective_error",
    "sensitivity",
]
Y_TRUE = ["b", "b", "b", "b", "a", "a", "a"]
Y_PRED = ["b", "reject", "a", "b", "b", "reject", "a"]

# (truth, decision, weight), "r" for a reject
decisions = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("abr"), st.integers(0, 3)), min_size=1, max_size=9
)


def share(rows, part, whole):
    """Weight of the rows in `part` over that of the rows in `whole`, by counting; nan where there is none."""
    below = sum(w for y, p, w in rows if whole(y, p))
    return sum(w for y, p, w in rows if part(y, p)) / below if below else math.nan


DEFINITIONS = {
    "coverage": lambda rows: share(rows, lambda _, p: p != "r", lambda *_: True),
    "reject_rate": lambda rows: share(rows, lambda _, p: p == "r", lambda *_: True),
    "error_rate": lambda rows: share(rows, lambda y, p: p not in (y, "r"), lambda *_: True),
    "selective_error": lambda rows: share(rows, lambda y, p: p not in (y, "r"), lambda _, p: p != "r"),
    "selective_accuracy": lambda rows: share(rows, lambda y, p: p == y, lambda _, p: p != "r"),
    "sensitivity": lambda rows: share(rows, lambda y, p: y == p == "b", lambda y, p: y == "b" and p != "r"),
    "positive_predictivity": lambda rows: share(rows, lambda y, p: y == p == "b", lambda _, p: p == "b"),
}


@settings(max_examples=100)
@given(rows=decisions.filter(lambda rows: any(w for *_, w in rows)))
def test_measures_are_their_definitions(rows):
    y_true, y_pred, weight = map(list, zip(*rows, strict=True))
    options = {"pos_label": "b", "reject_label": "r", "sample_weight": weight}
    table = RejectTable.of(y_true, y_pred, **options)
    for name in MEASURES:
        expected = DEFINITIONS[name](rows)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            got = getattr(metrics, name)(y_true, y_pred, **options)
        assert got == pytest.approx(expected, nan_ok=True)
        assert [w.category for w in caught] == [UndefinedMetricWarning] * math.isnan(expected)
        assert getattr(table, name) == pytest.approx(expected, nan_ok=True)
    price = {("a", "b"): 2, ("b", "a"): 5, ("a", "r"): 0.5, ("b", "r"): 1.0}
    expected = sum(w * price.get((y, p), 0) for y, p, w in rows) / sum(weight)
    assert mean_cost(y_true, y_pred, COSTS, **options) == pytest.approx(expected)


def test_the_six_outcomes_stand_where_the_costs_do():
    expected = [[1, 1, 1], [1, 1, 2]]  # "a" is negative: right, rejected, wrong; "b": missed, rejected, found
    assert_array_equal(reject_confusion_matrix(Y_TRUE, Y_PRED), expected)
    counts = reject_confusion_matrix(Y_TRUE, Y_PRED)
    assert counts.dtype.kind == "i"
    assert mean_cost(Y_TRUE, Y_PRED, COSTS) == pytest.approx(np.sum(counts * COSTS.table()) / 7)
    weighted = reject_confusion_matrix(Y_TRUE, Y_PRED, sample_weight=[1, 2, 3, 4, 5, 6, 7.5])
    assert_array_equal(weighted, [[7.5, 6, 5], [3, 2, 5]])


def test_with_the_other_class_positive_everything_changes_sides():
    turned = reject_confusion_matrix(Y_TRUE, Y_PRED, pos_label="a")
    assert_array_equal(turned, reject_confusion_matrix(Y_TRUE, Y_PRED)[::-1, ::-1])
    # "a" positive: one of its two accepted rows is found, one of the two decisions for it is right
    assert metrics.sensitivity(Y_TRUE, Y_PRED, pos_label="a") == 0.5
    assert metrics.sensitivity(Y_TRUE, Y_PRED) == pytest.approx(2 / 3)
    assert mean_cost(Y_TRUE, Y_PRED, COSTS, pos_label="a") == pytest.approx((5 + 2 + 2 * 0.5 + 1 - 0.5) / 7)


@pytest.mark.parametrize("name", MEASURES)
def test_everything_rejected_gives_nan_and_one_warning(name):
    undefined = name not in ("coverage", "error_rate", "reject_rate")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = getattr(metrics, name)([0, 1, 1], [-1, -1, -1])
    assert math.isnan(value) is undefined
    assert len(caught) == undefined
    if undefined:
        assert caught[0].category is UndefinedMetricWarning
        assert str(caught[0].message).startswith(f"{name} is undefined and set to nan: ")
        assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("selective_error", "every row is rejected"),
        ("selective_accuracy", "every row is rejected"),
        ("sensitivity", "no row of the positive class is accepted"),
        ("positive_predictivity", "no decision is for the positive class"),
    ],
)
def test_the_warning_says_what_is_missing(name, text):
    with pytest.warns(UndefinedMetricWarning, match=text):
        getattr(metrics, name)([0, 1], [-1, -1])


def test_only_what_is_missing_is_undefined():
    assert metrics.selective_error([0, 0, 1], [0, 0, -1]) == 0.0
    with pytest.warns(UndefinedMetricWarning, match="sensitivity"):
        assert math.isnan(metrics.sensitivity([0, 0, 1], [0, 1, -1]))
    with pytest.warns(UndefinedMetricWarning, match="positive_predictivity"):
        assert math.isnan(metrics.positive_predictivity([0, 0, 1], [0, 0, -1]))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"y_pred": [0, 1]}, "inconsistent numbers of samples"),
        ({"y_pred": [0, 1, 7]}, "contains 7, which is not one of the classes 0, 1 nor reject_label=-1; if it is"),
        ({"reject_label": 1}, "reject_label=1 is one of the classes"),
        ({"y_true": [1, 1, 1]}, "which does not determine the reject label; pass"),
        ({"pos_label": 2}, "pos_label=2 is not one of the classes"),
        ({"sample_weight": [1, 1, -1]}, "sample_weight must be finite and >= 0, got -1 at row 2"),
        ({"sample_weight": [0, 0, 0]}, "sample_weight is zero for every row"),
    ],
)
@pytest.mark.parametrize("name", [*MEASURES, "reject_confusion_matrix"])
def test_invalid_arguments_of_a_measure_are_refused(name, options, text):
    arguments = {"y_true": [0, 1, 1], "y_pred": [0, 1, -1], **options}
    with pytest.raises(ValueError, match=text):
        getattr(metrics, name)(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


@pytest.mark.parametrize("costs", [None, 0.3, [[0, 1], [5, 0]]])
def test_a_mean_cost_needs_costs(costs):
    with pytest.raises(ValueError, match=r"must be a Costs, not a .*; write Costs\(false_positive="):
        mean_cost([0, 1], [0, 1], costs)


def test_a_mean_cost_of_extreme_costs_is_finite():
    assert mean_cost([0, 0, 0, 1], [1, 1, 1, 0], Costs(1e308, 1e308, 1e300)) == 1e308


def test_the_table_is_frozen_and_makes_a_frame():
    table = RejectTable.of(Y_TRUE, Y_PRED)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0] = 7
    reject_confusion_matrix(Y_TRUE, Y_PRED)[0, 0] = 7  # a plain array, the caller's own
    frame = table.to_frame()
    assert frame.loc["positive", "reject"] == 1
    assert frame.loc["negative", "positive"] == 1
    assert frame.loc["positive", "positive"] == 2
    assert (table.total, table.accepted, table.rejected, table.errors) == (7, 5, 2, 2)
