"""Machines with Actions in model files: they come back the same, and forged actions are refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Actions, RejectSVC, RejectSVCCV, ThresholdRejector
from abstain.files.format.errors import ModelFileError
from abstain.files.format.values import from_json, to_json
from action_cases import CREDIT
from files.sameness import again, assert_same
from looping import looped

rng = np.random.default_rng(2)
X = rng.normal(size=(80, 2))
Y = np.where(X[:, 0] + rng.normal(size=80) > 0, "good", "bad")
MIXED = Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3})
LONE = Actions({"good": {"good": 0, "bad": 1}, "ask": 0.3})  # nothing to force: the cut is nan
ESTIMATORS = {
    "machine": RejectSVC(CREDIT),
    "positive": RejectSVC(CREDIT, pos_label="bad"),
    "lone": RejectSVC(LONE, kernel="linear"),
    "search": RejectSVCCV(CREDIT, Cs=[1.0, 100.0], gammas=[0.5], cv=2),
    "lone search": RejectSVCCV(LONE, Cs=[1.0, 100.0], gammas=[0.5], cv=2),
    "rejector": ThresholdRejector(LogisticRegression(), CREDIT, method="chow"),
}


@looped(name=ESTIMATORS)
def test_it_comes_back_the_same(name, tmp_path):
    estimator = ESTIMATORS[name].fit(X, Y)
    loaded = again(estimator, tmp_path)
    assert_same(loaded.rule_, estimator.rule_)
    assert loaded.costs == estimator.costs
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))
    np.testing.assert_array_equal(loaded.decide(X).expected_cost, estimator.decide(X).expected_cost)


@pytest.mark.parametrize("actions", [CREDIT, MIXED, LONE])
def test_actions_as_json(actions):
    assert from_json(to_json("costs", actions)) == actions


CONTENT = to_json("costs", CREDIT)["Actions"]


@pytest.mark.parametrize(
    "content",
    [
        CONTENT[:2],
        [["bad"], *CONTENT[1:]],
        [CONTENT[0], [row[:2] for row in CONTENT[1]], CONTENT[2]],
        [CONTENT[0], [CONTENT[1][0], *CONTENT[1]], CONTENT[2]],
        [CONTENT[0], [[[1], 0.1, 0.2], *CONTENT[1]], CONTENT[2]],
        [*CONTENT[:2], ["phone"]],
        [CONTENT[0], [["worse", 9.0, 9.0], *CONTENT[1]], CONTENT[2]],
    ],
)
def test_forged_actions_are_refused(content):
    with pytest.raises((ModelFileError, ValueError)):
        from_json({"Actions": content})
