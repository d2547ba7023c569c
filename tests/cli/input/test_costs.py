"""Costs from options and from cost matrices, classes by name."""

import json

import pytest

from abstain import Costs
from abstain.cli.exit_codes import DataError, UsageError
from cli.running import run, said, stated, write_table

CLASSES = ("1", "2")
PUBLISHED = "actual,pred_1_good,pred_2_bad\n1,0,1\n2,5,0\n"


@pytest.fixture
def matrix(tmp_path):
    def written(text):
        path = tmp_path / "cost.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_options_are_the_prices():
    assert stated(None, 5, "0.3", None, CLASSES) == Costs(1, 5, 0.3)
    assert stated(2, None, "0.2,0.5", None, CLASSES) == Costs(2, 1, (0.2, 0.5))


@pytest.mark.parametrize(
    ("text", "advice"),
    [("0.2,0.3", "as in 0.2; two costs with a slash, as in 0.2/0.3."), ("0,2", "as in 0.2; two costs with a slash"),
     ("0,2,0,3", "as in 0.4; two costs with a slash, as in 0.2/0.4.")],
)  # fmt: skip
def test_the_advice_for_an_ambiguous_cost_can_be_followed(text, advice):
    with pytest.raises(UsageError, match="ambiguous") as refused:
        stated(None, None, text, None, CLASSES, decimal=",")
    assert advice in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        PUBLISHED,
        "actual,pred_2_bad,pred_1_good\n2,0,5\n1,1,0\n",  # in another order
        "actual,1,2\n1,0,1\n2,5,0\n",
        "actual;pred_1;pred_2\n1;0;1\n2;5;0\n",
    ],
)
def test_a_matrix_is_read_by_names_not_places(matrix, text):
    assert stated(None, None, "0.3", matrix(text), ("1", "2")) == Costs(1, 5, 0.3)
    # the other class positive: what was a miss is now a false alarm
    assert stated(None, None, "0.3", matrix(text), ("2", "1"), pos_label="1") == Costs(5, 1, 0.3)


def test_a_longer_name_is_not_mistaken_for_a_shorter(matrix):
    text = "actual,pred_a,pred_a_b\na,0,1\na_b,5,0\n"
    assert stated(None, None, "0.3", matrix(text), ("a", "a_b")) == Costs(1, 5, 0.3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("actual,pred_1,pred_3\n1,0,1\n2,5,0\n", "line 1 must name a predicted column for each class"),
        ("actual,pred_1,pred_2\n1,0,1\n3,5,0\n", "column 'actual' must name each class once, '1' and '2'"),
        ("actual,pred_1,pred_2\n1,0,1\n", "column 'actual' must name each class once"),
        ("actual,pred_1,pred_2\n1,0.5,1\n2,5,0\n", "cost of predicting '1' for '1' must be 0, not 0.5"),
        ("actual,pred_1,pred_2\n1,0,x\n2,5,0\n", "cost of predicting '2' for '1' is 'x'; it must be a number"),
        ("actual,pred_1\n1,0\n", "line 1 has 2 columns; a cost matrix has three"),
        ("actual,pred_1,pred_2\n1,0\n2,5,0\n", "line 2 has 2 cells"),
    ],
)
def test_what_is_not_a_cost_matrix_is_refused(matrix, text, said):
    with pytest.raises(DataError, match=said):
        stated(None, None, "0.3", matrix(text), CLASSES)


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ((1, 5, None), "--reject is missing"),
        ((1, 5, "cheap"), "--reject 'cheap' must be one cost, or two"),
        ((1, 5, "1,2,3"), "--reject '1,2,3' must be one cost, or two"),
        ((1, 5, "0.9"), "can never pay.*The largest reject cost allowed is 0.8333"),
        ((1, 5, "0"), "must be positive"),
        ((1, 5, "nan"), "must be a number, not nan"),
        ((-1, 5, "0.1"), "false_positive=-1.* must be positive"),
        ((1, float("inf"), "0.1"), "must be positive and finite"),
    ],
)
def test_bad_prices_are_usage(prices, said):
    with pytest.raises(UsageError, match=said):
        stated(*prices, None, CLASSES)


def test_a_matrix_and_prices_exclude_each_other(matrix):
    with pytest.raises(UsageError, match="leave out --false-positive"):
        stated(None, 5, "0.3", matrix(PUBLISHED), CLASSES)


def test_exit_codes_tell_prices_from_files(table, matrix, tmp_path):
    arguments = ("fit", table, "--target", "answer", "-o", tmp_path / "model")
    result = run(*arguments, "--reject", 0.9)
    assert result.exit_code == 2
    assert "can never pay" in said(result)
    result = run(*arguments, "--reject", 0.3, "--cost-matrix", matrix("actual,x,y\nx,0,1\ny,1,0\n"))
    assert result.exit_code == 3
    assert "cost.csv: line 1" in said(result)


TEXT = ("bad", "good")


@pytest.mark.parametrize(
    ("prices", "text"),
    [
        ((None, 5, "0.3"), "it is the cost of deciding 'bad' for a row of 'good', with --pos-label 'bad' that of"),
        ((None, None, "0.2,0.3"), "--reject 0.2,0.3.*with --pos-label 'good' the second .* rejecting a row of 'good'"),
    ],
)
def test_the_positive_class_must_be_stated_if_the_costs_depend_on_it(prices, text):
    with pytest.raises(UsageError, match=text):
        stated(*prices, None, TEXT)
    assert not stated(*prices, None, TEXT, pos_label="good").symmetric
    assert not stated(*prices, None, ("0", "1")).symmetric
    with pytest.raises(UsageError, match="--pos-label is missing"):
        stated(*prices, None, ("10", "9"))  # numbers, the smaller one positive


def test_equal_costs_and_costs_by_name_need_no_positive_class(matrix):
    assert stated(2, 2, "0.3", None, TEXT) == Costs(2, 2, 0.3)
    named = matrix("actual,pred_good,pred_bad\ngood,0,1\nbad,5,0\n")
    assert stated(None, None, "0.3", named, TEXT) == Costs(5, 1, 0.3)
    with pytest.raises(UsageError, match=r"--pos-label is missing, and the costs differ by class \(--reject 0.2,0.3\)"):
        stated(None, None, "0.2,0.3", named, TEXT)


def test_the_option_that_needs_the_class_is_one_that_was_given():
    with pytest.raises(UsageError, match=r"\(--false-positive 2\): .* deciding 'good' for a row of 'bad', with"):
        stated(2, None, "0.3", None, TEXT)


def test_a_decimal_comma_in_a_cost_is_not_a_pair():
    with pytest.raises(UsageError, match=r"'1,5' is ambiguous .* point, as in 1\.5; two costs .* as in 1/5"):
        stated(10, 10, "1,5", None, CLASSES, decimal=",")
    with pytest.raises(UsageError, match=r"positive.* Costs are written with a point, as in 0\.4"):
        stated(None, None, "0,4", None, CLASSES)
    for text in ("1/5", "1;5"):
        assert stated(10, 10, text, None, CLASSES, decimal=",") == Costs(10, 10, (1, 5))


def test_classes_that_are_numbers_are_sorted_as_numbers(tmp_path):
    table = write_table(tmp_path / "table.csv", labels=("9", "10"))
    costs = ("--false-negative", 5, "--reject", 0.3, "--C", 10, "--gamma", 0.5)
    result = run("fit", table, "--target", "answer", *costs, "-o", tmp_path / "model", "--json")
    assert json.loads(result.stdout)["positive_class"] == "10"
