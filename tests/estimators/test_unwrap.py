"""One way to ask a classifier: another positive class exchanges the costs, and a score on the cut stays where it is."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from abstain import Costs, RejectSVC, ThresholdRejector
from abstain.estimators.unwrap import FittedClassifier
from abstain.metrics import get_scorer
from abstain.plot import AccuracyRejectDisplay, CostCurveDisplay
from abstain.report import report_for

COSTS = Costs(1, 5, (0.3, 0.4))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    return X, np.where(X[:, 0] + 0.8 * rng.normal(size=120) > 0.3, "yes", "no")


@pytest.mark.parametrize("own", ["no", "yes"])
@pytest.mark.parametrize("asked", ["no", "yes"])
def test_the_cost_of_the_decisions_does_not_depend_on_the_class_called_positive(rows, own, asked):
    clf = RejectSVC(COSTS, pos_label=own).fit(*rows)
    cost = -clf.score(*rows)
    assert report_for(clf, *rows, pos_label=asked).measures()["mean_cost"] == pytest.approx(cost)
    assert CostCurveDisplay.from_estimator(clf, *rows, pos_label=asked).decided[1] == pytest.approx(cost)
    assert (FittedClassifier.of(clf, asked).costs == COSTS) is (own == asked)


def test_a_score_on_the_cut_goes_the_same_way_whichever_class_is_positive():
    X, y = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.array(["no"] * 6 + ["yes"] * 6)
    new, truth = np.array([[0.0], [1], [1], [1], [2]]), np.array(["no", "no", "no", "yes", "yes"])
    found = []
    for positive in ("no", "yes"):
        tree = ThresholdRejector(DecisionTreeClassifier(), Costs(reject=0.4), cv="train", pos_label=positive).fit(X, y)
        wrong = np.mean(tree.predict_forced(new) != truth)
        accuracy = AccuracyRejectDisplay.from_estimator(tree, new, truth).curve
        found.append((wrong, 1 - accuracy.accuracy[0], get_scorer("aurc")(tree, new, truth)))
    assert found[0] == pytest.approx(found[1])
    assert found[0][0] == pytest.approx(0.2)  # of three rows on the cut, answered "no", one is "yes"
    assert found[0][1] == pytest.approx(0.2)
