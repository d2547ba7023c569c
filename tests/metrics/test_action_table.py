"""Measures of actions: counted by hand, weights as repeated rows, and the same numbers as for Costs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from abstain import RejectSVC
from abstain.metrics import (
    ActionTable,
    RejectTable,
    action_confusion_matrix,
    coverage,
    get_scorer,
    mean_cost,
    reject_rate,
)
from action_cases import CREDIT, THREE

Y = np.array(["good", "good", "bad", "bad", "bad", "good"])
TAKEN = np.array(["approve", "call", "visit", "decline", "approve", "approve"])


def test_the_table_counts_classes_by_actions():
    # columns in the order of the table: approve, decline, call, visit; rows bad, good
    expected = [[1, 1, 0, 1], [2, 0, 1, 0]]
    np.testing.assert_array_equal(action_confusion_matrix(Y, TAKEN, CREDIT), expected)
    frame = ActionTable.of(Y, TAKEN, CREDIT).to_frame()
    assert frame.loc["good", "approve"] == 2
    assert [*frame.columns] == ["approve", "decline", "call", "visit"]


def test_rates_and_costs():
    table = ActionTable.of(Y, TAKEN, CREDIT)
    assert reject_rate(Y, TAKEN, actions=CREDIT) == table.reject_rate == pytest.approx(2 / 6)
    assert coverage(Y, TAKEN, actions=CREDIT) == table.coverage == pytest.approx(4 / 6)
    expected = pytest.approx((5 + 0 + 0.2 + 0 + 0 + 0.3) / 6)
    assert mean_cost(Y, TAKEN, costs=CREDIT) == expected
    assert table.mean_cost == expected


def test_a_series_is_an_array_whatever_its_index():
    taken = pd.Series(TAKEN, index=["label", "labels", "actions", "x", "y", "z"])
    assert mean_cost(Y, taken, CREDIT) == mean_cost(Y, TAKEN, CREDIT)
    assert reject_rate(Y, taken, actions=CREDIT) == reject_rate(Y, TAKEN, actions=CREDIT)


def test_a_weight_is_a_repeated_row():
    weight = np.array([1, 0, 2, 3, 1, 1])
    again = action_confusion_matrix(np.repeat(Y, weight), np.repeat(TAKEN, weight), CREDIT)
    np.testing.assert_array_equal(action_confusion_matrix(Y, TAKEN, CREDIT, sample_weight=weight), again)
    assert mean_cost(Y, TAKEN, CREDIT, sample_weight=weight) == pytest.approx(
        mean_cost(np.repeat(Y, weight), np.repeat(TAKEN, weight), CREDIT)
    )


def test_with_two_answers_and_a_reject_it_is_the_table_of_rejects():
    rng = np.random.default_rng(0)
    y, taken = rng.choice(["no", "yes"], 50), rng.choice(["no", "yes", "ask"], 50)
    theirs = RejectTable.of(y, taken, pos_label="yes", reject_label="ask").counts
    np.testing.assert_array_equal(action_confusion_matrix(y, taken, THREE)[:, [0, 2, 1]], theirs)


def test_decisions_and_scorers_have_their_actions():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] + rng.normal(size=90) > 0, "good", "bad")
    clf = RejectSVC(CREDIT, kernel="linear").fit(X, y)
    decided = clf.decide(X)
    assert 0 < reject_rate(y, decided) == clf.reject_mask(X).mean() == pytest.approx(1 - coverage(y, decided))
    assert mean_cost(y, decided, CREDIT) == pytest.approx(-clf.score(X, y))
    assert get_scorer("reject_rate")(clf, X, y) == -reject_rate(y, decided)
    assert get_scorer("mean_cost", costs=CREDIT)(clf, X, y) == pytest.approx(clf.score(X, y))
    assert np.isfinite(cross_val_score(clf, X, y, scoring=get_scorer("mean_cost", costs=CREDIT), cv=2)).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_cost(Y, Y, CREDIT), "y_pred contains 'bad', which is not one of the actions"),
        (lambda: action_confusion_matrix(Y, TAKEN, None), "must be an Actions, not a NoneType"),
        (lambda: RejectTable.of(Y, Y).mean_cost(CREDIT), "Actions are not supported here yet"),
    ],
)
def test_what_cannot_be_measured(call, words):
    with pytest.raises(ValueError, match=words):
        call()
