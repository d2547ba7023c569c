"""Metrics of more than two classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from abstain import Costs, RejectSVC, metrics
from abstain.metrics import ClassTable, get_scorer
from class_cases import GENERAL, gaussians, paid, table_costs

TRUE = np.array(["a", "a", "b", "b", "c", "c", "c", "c"])
PRED = np.array(["a", "b", "b", "reject", "c", "c", "a", "reject"])


def test_the_table_counts_truth_by_choice_with_the_reject_last():
    found = metrics.reject_confusion_matrix(TRUE, PRED)
    np.testing.assert_array_equal(found, [[1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 2, 1]])
    weighted = metrics.reject_confusion_matrix(TRUE, PRED, sample_weight=np.arange(8.0))
    by_hand = [[PRED[(t == TRUE) & (p == PRED)].size for p in ("a", "b", "c", "reject")] for t in "abc"]
    np.testing.assert_array_equal(found, by_hand)
    assert weighted.sum() == 28.0


def test_ratios():
    assert metrics.reject_rate(TRUE, PRED) == 2 / 8
    assert metrics.coverage(TRUE, PRED) == 6 / 8
    assert metrics.error_rate(TRUE, PRED) == 2 / 8
    assert metrics.selective_error(TRUE, PRED) == pytest.approx(2 / 6)
    assert metrics.selective_accuracy(TRUE, PRED) == pytest.approx(4 / 6)
    assert metrics.sensitivity(TRUE, PRED, pos_label="c") == pytest.approx(2 / 3)
    assert metrics.positive_predictivity(TRUE, PRED, pos_label="a") == 1 / 2
    table = ClassTable.of(TRUE, PRED)
    np.testing.assert_allclose(table.class_coverage, [1, 1 / 2, 3 / 4])
    np.testing.assert_allclose(table.class_selective_error, [1 / 2, 0, 1 / 3])
    with pytest.raises(ValueError, match="pass the class that the metric is for"):
        metrics.sensitivity(TRUE, PRED)


def test_mean_cost():
    costs = Costs.from_matrix(GENERAL, labels=["a", "b", "c"], reject=[0.2, 0.6, 0.3])
    by_hand = (0 + 1 + 0 + 0.6 + 0 + 0 + 1 + 0.3) / 8
    assert metrics.mean_cost(TRUE, PRED, costs) == pytest.approx(by_hand)
    assert costs.mean_cost(TRUE, PRED) == pytest.approx(by_hand)
    assert metrics.mean_cost(TRUE, PRED, Costs(reject=0.2)) == pytest.approx((2 + 2 * 0.2) / 8)
    assert Costs(reject=0.2).mean_cost(TRUE, PRED) == pytest.approx((2 + 2 * 0.2) / 8)
    # the costs name the classes, so rows of two classes are enough
    assert metrics.mean_cost(TRUE[:4], PRED[:4], costs) == pytest.approx((1 + 0.6) / 4)
    with pytest.raises(ValueError, match="differ between a positive"):
        metrics.mean_cost(TRUE, PRED, Costs(1, 5, 0.2))
    with pytest.raises(ValueError, match="must be a Costs"):
        metrics.mean_cost(TRUE, PRED, 0.2)


def test_a_label_that_is_no_class_is_an_error():
    with pytest.raises(ValueError, match=r"y_pred contains 'z', which is not one of the classes"):
        metrics.reject_rate(TRUE, np.where(PRED == "a", "z", PRED))


def test_decisions_bring_their_classes():
    X, y = gaussians(90)
    clf = RejectSVC(Costs(reject=0.2), reject_label=99).fit(X, y)
    two = y < 2  # of the true classes
    decisions = clf.decide(X[two])
    assert metrics.reject_confusion_matrix(y[two], decisions).shape == (3, 4)
    assert metrics.mean_cost(y[two], decisions, Costs(reject=0.2)) == pytest.approx(-clf.score(X[two], y[two]))


def test_curves_are_those_of_the_lead():
    X, y = gaussians(120)
    score = RejectSVC(Costs(reject=0.2)).fit(X, y).decision_function(X)
    ranked = np.sort(score, axis=1)
    lead, wrong = ranked[:, -1] - ranked[:, -2], score.argmax(axis=1) != y
    order = np.argsort(-lead)
    risks = np.cumsum(wrong[order]) / np.arange(1, 121)
    curve = metrics.risk_coverage_curve(y, score)
    np.testing.assert_allclose(curve.risk, risks)
    assert metrics.aurc(y, score) == pytest.approx(risks.mean())
    assert metrics.aurc(y, score) != pytest.approx(metrics.aurc(y, score[:, [1, 0, 2]]))
    with pytest.raises(ValueError, match="each of the 3 classes"):
        metrics.aurc(y, np.column_stack([score, score[:, 0]]))


@pytest.mark.parametrize("costs", [Costs(reject=0.2), table_costs(GENERAL, [0.2, 0.6, 0.4])], ids=["equal", "named"])
def test_the_cost_curve_rejects_by_the_lead(costs):
    X, y = gaussians(120)
    score = RejectSVC(Costs(reject=0.2), C=10).fit(X, y).decision_function(X)
    ranked = np.sort(score, axis=1)
    lead, answer = ranked[:, -1] - ranked[:, -2], score.argmax(axis=1)
    curve = metrics.cost_curve(y, score, costs)
    errors, reject = (GENERAL, [0.2, 0.6, 0.4]) if costs.labels else (1 - np.eye(3), 0.2)
    for at in (0, 30, 60, -2, -1):
        choice = np.where(lead < curve.confidence[at], 3, answer)
        assert curve.mean_cost[at] == pytest.approx(paid(errors, reject, y, choice))
    best = curve.operating_point
    chosen = np.where(lead <= best.thresholds.upper, 3, answer)
    assert best.mean_cost == pytest.approx(paid(errors, reject, y, chosen))
    band = metrics.bootstrap_band("cost", y, score, costs, n_resamples=20)
    np.testing.assert_allclose(band.estimate, curve.at(band.grid))
    if costs.labels:  # they name the classes, so that the rows may lack one
        some = y > 0
        assert metrics.cost_curve(y[some], score[some], costs).total_weight == some.sum()
    with pytest.raises(ValueError, match="differ between a positive"):
        metrics.cost_curve(y, score, Costs(1, 5, 0.2))


@pytest.mark.parametrize("name", ["mean_cost", "coverage", "selective_accuracy", "aurc"])
def test_scorers(name):
    X, y = gaussians(120)
    costs = table_costs(GENERAL, 0.4)
    scorer = get_scorer(name, costs=costs if name == "mean_cost" else None)
    clf = RejectSVC(costs).fit(X, y)
    if name == "mean_cost":
        assert scorer(clf, X, y) == pytest.approx(clf.score(X, y))
    assert np.isfinite(cross_val_score(RejectSVC(costs), X, y, scoring=scorer)).all()
    assert GridSearchCV(RejectSVC(costs), {"C": [1.0, 3.0]}, scoring=scorer).fit(X, y).best_params_["C"] in (1.0, 3.0)
