"""Costs per row: read, checked row by row, and equal to `Costs` on each row."""

import numpy as np
import pandas as pd
import pytest

from abstain.costs.costs import Costs
from abstain.costs.row_costs import RowCosts

ROWS = [[1.0, 5.0, 0.4], [2.0, 1.0, 0.1], [3.0, 3.0, 1.5]]  # the last one is never rejected: 1.5/3 + 1.5/3 = 1


def test_a_frame_is_read_by_its_names():
    frame = pd.DataFrame(ROWS, columns=["false_positive", "false_negative", "reject"], index=[7, 8, 9])
    read = RowCosts.of(frame[["reject", "false_negative", "false_positive"]])
    assert np.array_equal(read.table(), RowCosts.of(ROWS).table())
    both = frame.rename(columns={"reject": "reject_negative"}).assign(reject_positive=0.2)
    assert RowCosts.of(both).of_row(0) == Costs(1, 5, (0.4, 0.2))


@pytest.mark.parametrize("columns", [3, 4])
def test_each_row_is_a_costs(columns):
    rows = np.column_stack([ROWS, [0.3, 0.2, 1.5]])[:, :columns]
    costs = RowCosts.of(rows)
    low, high = costs.score_thresholds().lower, costs.score_thresholds().upper
    p = np.array([0.2, 0.5, 0.9])
    for row in range(3):
        one = Costs(*rows[row, :2], rows[row, 2] if columns == 3 else tuple(rows[row, 2:]))
        assert costs.of_row(row) == one
        assert (low[row], high[row]) == pytest.approx((one.score_thresholds().lower, one.score_thresholds().upper))
        assert costs.cut[row] == pytest.approx(one.cut)
        assert costs.rejects[row] == one.rejects
        assert costs.expected(p)[row] == pytest.approx(one.expected(p[row]))
        for sign in (-1, 1):
            prices = costs.prices(np.full(3, sign), np.array([[-1] * 3, [0] * 3, [1] * 3]))
            assert prices[:, row].tolist() == one.prices(np.full(3, sign), [-1, 0, 1]).tolist()


def test_a_score_on_a_threshold_is_decided_as_everywhere():
    costs = RowCosts.of(ROWS)
    for at in (costs.score_thresholds().lower, costs.score_thresholds().upper):
        each = [costs.of_row(row).score_thresholds().decide(at[row]) for row in range(3)]
        assert costs.score_thresholds().decide(at).tolist() == [int(choice) for choice in each]


def test_exchanging_the_classes_negates_the_thresholds():
    costs = RowCosts.of(np.column_stack([ROWS, [0.3, 0.2, 1.5]]))
    assert (costs.swapped().score_thresholds().lower == -costs.score_thresholds().upper).all()
    assert (costs.swapped().cut == -costs.cut).all()


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
    ],
)
def test_errors_name_the_row_and_the_way_out(given, said):
    with pytest.raises(ValueError, match=said):
        RowCosts.of(given)


def test_the_number_of_rows_is_checked():
    with pytest.raises(ValueError, match="each of the 4 rows of X; it has 3 rows"):
        RowCosts.of(ROWS, 4)


def test_a_row_whose_reject_can_never_pay_is_decided_at_its_forced_cut():
    limit = 1 / (1 / 2 + 1 / 3)
    for reject in (limit, limit * (1 + 1e-13), 1.3, 2.0, 50.0, 1e300):
        costs = RowCosts.of([[1, 5, 0.4], [2, 3, reject]])
        thresholds = costs.score_thresholds()
        assert thresholds.lower[1] == thresholds.upper[1] == pytest.approx(np.log(2 / 3))
        assert costs.rejects.tolist() == [True, False]
        for p in (0.01, 0.3, 0.399, 0.401, 0.9):  # the cheapest of the three, by hand
            cheapest = int(np.argmin([p * 3, reject, (1 - p) * 2])) - 1
            assert thresholds.decide(np.full(2, np.log(p / (1 - p))))[1] == cheapest
        assert costs.of_row(1) == Costs(2, 3, min(reject, costs.of_row(1).reject))
    # the control: just below the limit there is a band
    below = RowCosts.of([[2, 3, 0.99 * limit]]).score_thresholds()
    assert below.lower[0] < np.log(2 / 3) < below.upper[0]


def test_a_warning_if_no_row_can_be_rejected():
    with pytest.warns(UserWarning, match=r"no row whose reject can pay.*row 0 has .* = 3/1 \+ 3/2 = 4.5 > 1"):
        RowCosts.of([[1, 2, 3], [1, 1, 3]]).warn_if_never()
    RowCosts.of([[1, 2, 3], [1, 1, 0.5]]).warn_if_never()  # the control: one at the limit, stated on purpose
