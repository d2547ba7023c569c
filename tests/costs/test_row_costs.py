"""Costs per row of two classes as columns: read, checked row by row, and equal to `Costs` on each row."""

# ruff: noqa: PD011 (.values is that of a table of costs)

import numpy as np
import pandas as pd
import pytest

from abstain.costs.actions import Actions
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table, warn_if_never
from abstain.labels import Labels

ROWS = [[1.0, 5.0, 0.4], [2.0, 1.0, 0.1], [3.0, 3.0, 1.5]]  # the last one is never rejected: 1.5/3 + 1.5/3 = 1


LAST, FIRST = (Labels.of(["a", "b"], pos_label=label, rejects=True) for label in ("b", "a"))


def read(rows, labels=LAST, n=None):
    return row_table(rows, labels, None, n)


def one_of(rows, row):
    return Costs(*rows[row][:2], rows[row][2] if len(rows[row]) == 3 else tuple(rows[row][2:]))


def test_a_frame_is_read_by_its_names():
    frame = pd.DataFrame(ROWS, columns=["false_positive", "false_negative", "reject"], index=[7, 8, 9])
    again = read(frame[["reject", "false_negative", "false_positive"]])
    np.testing.assert_array_equal(again.values, read(ROWS).values)
    both = frame.rename(columns={"reject": "reject_negative"}).assign(reject_positive=0.2)
    np.testing.assert_array_equal(read(both).values[0], Costs(1, 5, (0.4, 0.2)).values)


@pytest.mark.parametrize("labels", [LAST, FIRST], ids=["last positive", "first positive"])
@pytest.mark.parametrize("columns", [3, 4])
def test_each_row_is_a_costs(columns, labels):
    rows = np.column_stack([ROWS, [0.3, 0.2, 1.5]])[:, :columns]
    costs = read(rows, labels)
    for row in range(3):
        one = one_of(rows.tolist(), row).named(labels)
        np.testing.assert_array_equal(costs.values[row], one.values)
        assert costs.answers == one.answers
        assert costs.can_hand_on[row] == one.can_hand_on
        p = np.array([0.2, 0.5, 0.9])  # of the positive class, whichever that is
        assert costs.expected(p)[row] == pytest.approx(one.expected(p[row]))


def test_a_score_on_a_threshold_is_decided_as_everywhere():
    levels = read(ROWS).levels()
    for at in (levels.lower, levels.upper):
        each = [one_of(ROWS, row).levels().decide(at[row]) for row in range(3)]
        assert levels.decide(at).tolist() == [int(choice) for choice in each]


def test_exchanging_the_classes_negates_the_thresholds():
    rows = np.column_stack([ROWS, [0.3, 0.2, 1.5]])
    last, first = read(rows, LAST), read(rows, FIRST)
    np.testing.assert_array_equal(first.levels().lower, -last.levels().upper)
    np.testing.assert_array_equal(first.levels(forced=True).cuts, -last.levels(forced=True).cuts)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[1, 5, 0.4], [1, -2, 0.4]], "false_negative=-2 at row 1"),
        ([[1, 5, np.nan]], "reject=nan at row 0"),
        ([[1, 5, 0.4], [1, 5]], r"shape \(n, 3\) or \(n, 4\); its shape is \(2,\)"),
        ([1, 5, 0.4], r"shape \(n, 3\) or \(n, 4\); its shape is \(3,\)"),
        ([[1, 1, 0.1], ["a", 1, 2]], "must be positive and finite numbers, got false_positive=a at row 1"),
        (pd.DataFrame({"false_positive": [1, 1], "false_negative": [1, pd.NA], "reject": [0.1, 0.1]}), "<NA> at row 1"),
        (pd.DataFrame({"fp": [1], "fn": [1], "reject": [0.1]}), r"it has \['fp', 'fn', 'reject'\]. Rename"),
        (pd.DataFrame({"false_positive": [1], "false_negative": [None], "reject": [1]}), "negative=None at row 0"),
        (np.ma.masked_equal([[1, 5, 0.4], [1, 7, 0.4]], 7), "false_negative=nan at row 1"),
        (np.array([[1, 5 + 2j, 0.4]]), r"false_positive=\(1\+0j\) at row 0"),
        ([[[0, 1, 0.4], [5, 0, 0.4]]], r"the actions \['a', 'reject', 'b'\], an array in this order"),
    ],
)
def test_errors_name_the_row_and_the_way_out(given, said):
    with pytest.raises(ValueError, match=said):
        read(given)


def test_a_column_twice_or_of_two_cells_is_an_error():
    cells = {"a:a": 0, "a:b": 1, "a:reject": 0.2, "b:a": 2, "b:b": 0, "b:reject": 0.2}
    frame = pd.DataFrame([cells])
    with pytest.raises(ValueError, match="must have a column for each of the classes"):
        read(pd.concat([frame, frame[["a:b"]]], axis=1))
    labels = Labels.of(["a", "a:b"], rejects=False)
    actions = Actions({"b:c": {"a": 0, "a:b": 2}, "c": {"a": 2, "a:b": 0}}, rejects=())
    frame = pd.DataFrame([{"a:b:c": 1.0, "a:c": 2.0, "a:b:b:c": 3.0}])
    with pytest.raises(ValueError, match="'a:b:c' could be two of the classes"):
        row_table(frame, labels, actions)
    pairs = pd.DataFrame([{("a", "b:c"): 0.0, ("a", "c"): 2.0, ("a:b", "b:c"): 3.0, ("a:b", "c"): 1.0}])
    assert row_table(pairs, labels, actions).values.tolist() == [[[0.0, 2.0], [3.0, 1.0]]]


def test_the_number_of_rows_is_checked():
    with pytest.raises(ValueError, match="each of the 4 rows of X; it has 3 rows"):
        read(ROWS, n=4)


def test_a_row_whose_reject_can_never_pay_is_decided_at_its_forced_cut():
    limit = 1 / (1 / 2 + 1 / 3)
    for reject in (limit, limit * (1 + 1e-13), 1.3, 2.0, 50.0, 1e300):
        costs = read([[1, 5, 0.4], [2, 3, reject]])
        levels = costs.levels()
        assert levels.lower[1] == levels.upper[1] == pytest.approx(np.log(2 / 3))
        assert costs.can_hand_on.tolist() == [True, False]
        for p in (0.01, 0.3, 0.399, 0.401, 0.9):  # the cheapest of the three, by hand
            cheapest = int(np.argmin([p * 3, reject, (1 - p) * 2]))
            assert levels.decide(np.full(2, np.log(p / (1 - p))))[1] == cheapest
    # the control: just below the limit there is a band
    below = read([[2, 3, 0.99 * limit]]).levels()
    assert below.lower[0] < np.log(2 / 3) < below.upper[0]


def test_a_warning_if_no_row_can_be_rejected():
    with pytest.warns(UserWarning, match=r"no row whose reject can pay.*row 0 has .* = 3/1 \+ 3/2 = 4.5 > 1"):
        warn_if_never(read([[1, 2, 3], [1, 1, 3]]))
    warn_if_never(read([[1, 2, 3], [1, 1, 0.5]]))  # the control: one at the limit, stated on purpose
