"""Metrics where rows, decisions and costs are of different kinds: right, or says what does not fit."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from abstain import Actions, Costs, RejectSVC, metrics
from abstain.metrics import get_scorer
from metrics.kinds import COSTS, TABLE


def test_rows_may_lack_a_class_that_the_costs_or_the_decisions_know(cases):
    case = cases["three"]
    some = case.y != "c"
    decisions = case.machine.decide(case.X[some])
    paid = np.mean([case.cost(row, case.taken[row]) for row in np.flatnonzero(some)])
    assert metrics.reject_confusion_matrix(case.y[some], decisions).shape == (3, 4)
    assert metrics.mean_cost(case.y[some], case.taken[some], case.costs) == pytest.approx(paid)
    for metric, costs in (("mean_cost", case.costs), ("mean_cost", Costs(reject=0.3)), ("error_rate", None)):
        assert get_scorer(metric, costs)(case.machine, case.X[some], case.y[some]) <= 0
    assert metrics.cost_curve(case.y[some], case.score[some], case.costs).total_weight == some.sum()
    assert get_scorer("aurc")(case.machine, case.X[some], case.y[some]) <= 0


def test_one_cost_for_all_errors_is_for_any_number_of_classes(cases):
    case = cases["three"]
    paid = np.mean(np.where(case.rejected, 0.2, case.taken != case.y))
    assert metrics.mean_cost(case.y, case.taken, Costs(reject=0.2)) == pytest.approx(paid)
    for call in (metrics.mean_cost, metrics.cost_curve):
        with pytest.raises(ValueError, match="differ between a positive"):
            call(case.y, case.taken if call is metrics.mean_cost else case.score, Costs(1, 5, 0.2))
    with pytest.raises(ValueError, match="must be a Costs"):
        metrics.mean_cost(case.y, case.taken, 0.2)
    with pytest.raises(ValueError, match="y_pred contains 'z', which is not one of the classes"):
        metrics.reject_rate(case.y, np.where(case.taken == "a", "z", case.taken))
    with pytest.raises(ValueError, match="each of the 3 classes"):
        metrics.aurc(case.y, np.column_stack([case.score, case.score[:, 0]]))
    best = metrics.cost_curve(case.y, case.score, case.costs).operating_point
    lead = np.sort(case.score, axis=1) @ [0, -1, 1]
    chosen = np.where(lead <= best.thresholds.upper, "reject", case.ranked()[1])
    assert best.mean_cost == pytest.approx(np.mean([case.cost(row, action) for row, action in enumerate(chosen)]))


@pytest.mark.parametrize(
    ("kind", "costs", "text"),
    [
        ("two", COSTS["actions"], "which is not one of the actions"),
        ("actions", Costs(1, 3, 0.4), "y_pred contains 'approve', 'call', 'decline'"),
        ("actions", COSTS["answers"], "which is not one of the actions"),
        ("two", 0.3, r"must be a Costs, not a float; write Costs\(false_positive="),
    ],
)
def test_costs_of_another_kind_say_what_does_not_fit(kind, costs, text, cases):
    with pytest.raises(ValueError, match=text):
        metrics.mean_cost(cases[kind].y, cases[kind].decisions, costs)


def test_decisions_on_two_classes_at_the_costs_of_three(cases):
    case = cases["two"]
    rows = zip(case.y, case.taken, strict=True)
    paid = [0.3 if said == "reject" else TABLE[truth].get(said, 0) for truth, said in rows]
    assert metrics.mean_cost(case.y, case.decisions, COSTS["three"]) == pytest.approx(np.mean(paid))


@pytest.mark.parametrize("kind", ["three", "actions"])
@pytest.mark.parametrize("name", ["mean_cost", "coverage", "aurc"])
def test_scorers_in_searches(name, kind, cases):
    case = cases[kind]
    scorer = get_scorer(name, costs=case.costs if name == "mean_cost" else None)
    assert np.isfinite(cross_val_score(RejectSVC(case.costs), case.X, case.y, scoring=scorer, cv=2)).all()
    search = GridSearchCV(RejectSVC(case.costs), {"C": [1.0, 3.0]}, scoring=scorer, cv=2).fit(case.X, case.y)
    assert search.best_params_["C"] in (1.0, 3.0)


def test_no_decisions_are_an_error_not_a_perfect_score():
    for costs in (Costs(reject=0.2), Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3})):
        for price in (metrics.mean_cost, lambda y, none, costs: costs.mean_cost(y, none)):
            with pytest.raises(ValueError, match=r"y_pred=None has no decisions; pass an array of labels"):
                price([0, 1], None, costs)
