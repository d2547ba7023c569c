"""The expected costs beside a decision are those that decided, or `costs_decide` says that they did not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    LinearRejectSVCCV,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from class_cases import ANSWERS, GENERAL, gaussians, table_costs

ODD, EVEN = Costs(1, 4, 0.4), Costs(reject=0.2)
THREE = Actions({0: {0: 0, 1: 4}, 1: {0: 1, 1: 0}, "ask": 0.4, "visit": {0: 0.5, 1: 0.3}}, rejects=["ask", "visit"])
BY_ROW = np.column_stack([np.linspace(1, 3, 300), np.linspace(4, 1, 300), np.linspace(0.2, 0.4, 300)])
SMALL = {"Cs": [1.0, 30.0], "cv": 3}
LOGISTIC = LogisticRegression()

# estimator, whether the classes are two, arguments of fit and decide
DECIDING = {
    "two classes": (RejectSVC(ODD, pos_label=1), True),
    "the first class positive": (RejectSVC(ODD, pos_label=0), True),
    "tuned": (RejectSVCCV(ODD, pos_label=1, **SMALL), True),
    "linear, tuned": (LinearRejectSVCCV(ODD, pos_label=1, **SMALL), True),
    "low rank": (LinearRejectSVC(ODD, pos_label=1, kernel="rbf", n_components=30, random_state=0), True),
    "actions": (RejectSVC(THREE), True),
    "actions, tuned": (RejectSVCCV(THREE, **SMALL), True),
    "row costs": (RejectSVC(pos_label=1), True, {"row_costs": BY_ROW}),
    "row costs and costs": (RejectSVC(ODD, pos_label=1), True, {"row_costs": BY_ROW}),
    "chow": (ThresholdRejector(LOGISTIC, ODD, method="chow", pos_label=1), True),
    "chow, the first class positive": (ThresholdRejector(LOGISTIC, ODD, method="chow", pos_label=0), True),
    "actions of a classifier": (ThresholdRejector(LOGISTIC, THREE, method="chow"), True),
    "Bartlett and Wegkamp at 1/2": (RejectSVC(Costs(reject=0.5), rule="bartlett-wegkamp"), True),
    "classes, even": (RejectSVC(EVEN), False),
    "classes, by answer": (RejectSVC(table_costs(ANSWERS, 0.4), C=30.0), False),
    "classes, by answer, underfitted": (RejectSVC(table_costs(ANSWERS, 0.4), C=0.3), False),
    "classes, any costs": (RejectSVC(table_costs(GENERAL, 0.4)), False),
    "classes, rejects by class": (RejectSVC(table_costs(GENERAL, [0.2, 0.6, 0.3])), False),
    "classes, tuned": (RejectSVCCV(table_costs(ANSWERS, 0.4), **SMALL), False),
    "linear classes": (LinearRejectSVC(table_costs(ANSWERS, 0.4)), False),
    "classes, chow": (ThresholdRejector(LOGISTIC, table_costs(GENERAL, 0.4), method="chow"), False),
}
# thresholds decide that are not Bayes' for the probabilities: the costs are for information
SHOWN = {
    "roc": (ThresholdRejector(LOGISTIC, ODD, method="roc", pos_label=1), True),
    "symmetric": (ThresholdRejector(LOGISTIC, EVEN, method="symmetric"), True),
    "Bartlett and Wegkamp": (RejectSVC(Costs(reject=0.1), rule="bartlett-wegkamp"), True),
    "classes, roc": (ThresholdRejector(LOGISTIC, table_costs(ANSWERS, 0.4), method="roc"), False),
    "classes, symmetric": (ThresholdRejector(LOGISTIC, EVEN, method="symmetric"), False),
}
# no costs, or no probabilities
UNKNOWN = {
    "embedded": (EmbeddedRejectSVC(0.2), True),
    "no costs": (RejectSVC(), True),
    "votes": (RejectSVC(), False),
    "highest score": (LinearRejectSVC(), False),
    "a budget": (ThresholdRejector(LOGISTIC, reject_rate=0.2), True),
    "a budget of classes": (ThresholdRejector(LOGISTIC, reject_rate=0.2), False),
    "promises of classes": (ThresholdRejector(LOGISTIC, class_error=0.2, random_state=0), False),
    "no probabilities": (ThresholdRejector(RejectSVC(), EVEN, method="symmetric"), True),
}


def decided(case):
    estimator, two, *given = case
    X, y = gaussians(300)
    given = given[0] if given else {}
    return estimator.fit(X, (y > 0).astype(int) if two else y, **given).decide(X, **given)


def actions_of(decisions):
    """The names of the columns of costs, and which of them answer."""
    labels, costs = decisions.labels, decisions.costs
    if costs.names is not None:
        return [*costs.names], ~costs.rejecting
    if labels.n_classes == 2:
        return [labels.negative, labels.reject_label, labels.positive], np.array([True, False, True])
    return [*labels.classes.tolist(), labels.reject_label], np.arange(labels.n_classes + 1) < labels.n_classes


def more_expensive(decisions):
    """How much the label and the forced answer cost more than the cheapest, by the costs shown."""
    names, answers = actions_of(decisions)
    rows, cost = np.arange(len(decisions)), decisions.expected_cost
    label, forced = ([names.index(one) for one in found.tolist()] for found in (decisions.label, decisions.forced))
    return cost[rows, label] - cost.min(axis=1), cost[rows, forced] - cost[:, answers].min(axis=1)


@pytest.mark.parametrize("name", DECIDING)
def test_the_label_is_the_cheapest(name):
    decisions = decided(DECIDING[name])
    assert decisions.costs_decide
    assert np.isfinite(decisions.expected_cost).all()
    for more in more_expensive(decisions):
        assert more.max() <= 1e-12  # cuts and costs round differently
    assert len({*decisions.label.tolist()}) > 1
    assert "thresholds decide" not in decisions._repr_html_()


@pytest.mark.parametrize("name", SHOWN)
def test_where_thresholds_decide_the_decisions_say_so(name):
    decisions = decided(SHOWN[name])
    assert not decisions.costs_decide
    assert more_expensive(decisions)[0].max() > 1e-3  # else the costs could as well decide
    assert "thresholds decide" in decisions._repr_html_()


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_costs_are_nan(name):
    decisions = decided(UNKNOWN[name])
    assert np.isnan(decisions.expected_cost).all()
    assert not decisions.costs_decide


@pytest.mark.parametrize("name", [name for name, case in (DECIDING | SHOWN | UNKNOWN).items() if not case[1]])
def test_a_rejected_row_is_never_one_class_alone(name):
    estimator = (DECIDING | SHOWN | UNKNOWN)[name][0]
    if name == "votes":
        return  # without costs nothing is rejected, and there are no sets
    X, y = gaussians(300)
    clf = estimator.fit(X, y)
    sizes = clf.predict_set(X)[clf.reject_mask(X)].sum(axis=1)
    assert (sizes != 1).all()
