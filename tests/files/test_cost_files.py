"""Every kind of costs in model files: what is saved comes back, and a file that contradicts itself is refused."""

import copy

import numpy as np
import pytest

from abstain import Actions, Costs, RejectSVC, RejectSVCCV, save
from abstain.candidates.search import MachineSearch
from abstain.estimators.unwrap import FittedClassifier
from abstain.files.format.errors import ModelFileError
from abstain.files.format.values import from_json, to_json
from action_cases import CREDIT
from files.forging import both, field, lacking, opened, refused
from files.kinds import CALLS, COST_KINDS, ESTIMATORS, GENERAL, TRIAGE, cell, two
from files.sameness import again, assert_same, written
from looping import looped

MIXED = Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3})
LONE = Actions({0: {0: 0, 1: 1}, "ask": 0.3})  # nothing to force: the cut is nan


@looped(costs=COST_KINDS, estimator=ESTIMATORS)
def test_it_comes_back_the_same(costs, estimator):
    model, X, given = cell(costs, estimator)
    loaded = again(model)
    assert_same(loaded.rule_, model.rule_)
    assert loaded.get_params()["costs" if "costs" in model.get_params() else "estimator__costs"] == COST_KINDS[costs][1]
    assert_same(vars(loaded.decide(X, **given)), vars(model.decide(X, **given)))
    np.testing.assert_array_equal(loaded.predict_forced(X, **given), model.predict_forced(X, **given))
    assert written(loaded) == written(model)
    if COST_KINDS[costs][1] is not None:
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        return
    for one in (model, loaded):
        with pytest.raises(ValueError, match="pass row_costs"):
            one.predict(X)


@pytest.mark.parametrize("make", [RejectSVC, lambda costs: RejectSVCCV(costs, Cs=[1.0, 100.0], gammas=[0.5], cv=2)])
@pytest.mark.parametrize("given", [{}, {"pos_label": 0}], ids=["last", "first"])
@pytest.mark.parametrize("costs", [CALLS, LONE, Costs(1, 3, (0.2, 0.4))], ids=["calls", "lone", "costs"])
def test_whatever_is_positive(costs, given, make):
    X, y = two()
    model = make(costs).set_params(**given).fit(X, y)
    loaded = again(model)
    assert_same(loaded.rule_, model.rule_)
    np.testing.assert_array_equal(loaded.decide(X).expected_cost, model.decide(X).expected_cost)


def test_a_search_among_machines_is_refused_with_the_way_out(tmp_path):
    X, y = two()
    found = MachineSearch(Costs(1, 3, 0.3), ("logistic",), cv=2).fit(X, y)
    with pytest.raises(ValueError, match=r"is a MachineSearch, .* cannot contain; save its best_estimator_"):
        save(found, tmp_path / "model")
    assert not [*tmp_path.iterdir()]
    np.testing.assert_array_equal(again(found.best_estimator_).predict(X), found.predict(X))


@pytest.mark.parametrize("costs", [CREDIT, MIXED, LONE, TRIAGE, GENERAL], ids=lambda costs: f"{costs.values.shape}")
def test_costs_as_json(costs):
    assert from_json(to_json("costs", costs)) == costs


def content(costs, change):
    """The JSON of costs, with its list of parts changed."""
    ((tag, parts),) = copy.deepcopy(to_json("costs", costs)).items()
    return {tag: change(parts)}


def without_a_cost(parts):
    parts[1][1].pop()
    return parts


FORGED_COSTS = {
    "a part less": (CREDIT, lambda parts: parts[:2]),
    "one class": (CREDIT, lambda parts: [["bad"], *parts[1:]]),
    "a class less": (TRIAGE, lambda parts: [parts[0][:2], *parts[1:]]),
    "a class twice": (TRIAGE, lambda parts: [[0, 0, 2], *parts[1:]]),
    "no costs": (CREDIT, lambda parts: [parts[0], [row[:2] for row in parts[1]], parts[2]]),
    "a cost less": (TRIAGE, without_a_cost),
    "a negative cost": (TRIAGE, lambda parts: [parts[0], [["wait", -1.0, 1.0, 2.0], *parts[1]], parts[2]]),
    "a cost that is text": (TRIAGE, lambda parts: [parts[0], [["wait", "0", 1.0, 2.0], *parts[1]], parts[2]]),
    "an action twice": (CREDIT, lambda parts: [parts[0], [parts[1][0], *parts[1]], parts[2]]),
    "a list as a name": (CREDIT, lambda parts: [parts[0], [[[1], 0.1, 0.2], *parts[1]], parts[2]]),
    "rejects of no action": (CREDIT, lambda parts: [*parts[:2], ["phone"]]),
    "never the cheapest": (TRIAGE, lambda parts: [parts[0], [["worse", 9.0, 9.0, 9.0], *parts[1]], parts[2]]),
    "a row less": (GENERAL, lambda parts: [parts[0], {"tuple": parts[1]["tuple"][:2]}, parts[2]]),
    "no reject of a class": (GENERAL, lambda parts: [*parts[:2], {"dict": [[0, 0.2]]}]),
}


@looped(case=FORGED_COSTS)
def test_forged_costs_are_refused(case):
    costs, change = FORGED_COSTS[case]
    assert from_json(content(costs, lambda parts: parts)) == costs
    with pytest.raises(ValueError, match=r"."):
        from_json(content(costs, change))


def rows_field(name, value):
    return field(("row_costs", name), value)


IMPOSSIBLE, OTHERS = "costs of its training rows are not possible", "differs from what the library writes|parameters"
TRIAGED = ("parameters", "costs", "Actions", 1, 1)
FORGERIES = {
    "a negative cost": ("rows of two", "RejectSVC", rows_field("largest", -1.0), IMPOSSIBLE),
    "a cost as text": ("rows of two", "RejectSVC", rows_field("largest", "1"), "finite number"),
    "many knots": ("rows of several", "RejectSVC", rows_field("n_knots", 10**9), IMPOSSIBLE),
    "many knots of actions": ("rows of actions of two", "RejectSVCCV", rows_field("n_knots", 10**9), IMPOSSIBLE),
    "three knots": ("rows of two", "RejectSVC", rows_field("n_knots", 3), IMPOSSIBLE),
    "no knots": ("rows of several", "RejectSVC", rows_field("n_knots", 0), "integer >= 1"),
    "too few knots": ("rows of actions of two", "RejectSVC", rows_field("n_knots", 1), "sets of training rows are out"),
    "a further field": ("rows of several", "RejectSVC", rows_field("more", 1), "unknown field"),
    "another rule": ("rows of two, and costs", "RejectSVC", field("parameters/rule", "bartlett-wegkamp"), "rule|costs"),
    "a linear cost": ("rows of several", "LinearRejectSVC", field("largest_row_cost", -1.0), IMPOSSIBLE),
    "a search above them": ("rows of several", "LinearRejectSVCCV", field("largest_row_cost", 1e-9), "highest cost"),
    "rows that it had not": ("two", "ThresholdRejector", lambda inside: inside.model.update(by_row=True), OTHERS),
    "no rows that it had": ("rows of two", "ThresholdRejector", lacking("by_row"), r"costs|its parameters|differs"),
    "rows and a method": ("rows of several", "ThresholdRejector", field("parameters/method", "roc"), "method|costs"),
    "rows, not true": ("rows of two", "ThresholdRejector", field("by_row", False), "costs|differs"),
    "other tangents": ("actions of several", "RejectSVC", lacking("spread"), "tangents of its losses are not possible"),
    "tangents by rows": ("rows of actions of several", "LinearRejectSVC", lacking("spread"), "tangents of its losses"),
    "tangents of two": ("two", "RejectSVC", lambda inside: inside.model.update(spread=True), "tangents of its losses"),
    "a cost less": ("actions of several", "RejectSVC", field(TRIAGED, lambda old: old[:-1]), "a cost for each"),
    "high": ("actions of several", "ThresholdRejector", field(TRIAGED, ["treat", 9.0, 9.0, 9.0]), "never the"),
    "actions of two for three": ("several", "RejectSVC", field("parameters/costs", to_json("", CALLS)), "class"),
    "costs of three for two": ("two", "RejectSVC", field("parameters/costs", to_json("", GENERAL)), "class"),
    "a reject label": ("actions of two", "RejectSVC", field("parameters/reject_label", 9), "reject_label=9 has no"),
    "cuts of actions": ("actions of two", "ThresholdRejector", field("rule/cuts", []), "'cuts' differs"),
    "a cut per class": ("actions of several", "ThresholdRejector", field("rule/cuts", [0.1] * 3), "'cuts' differs"),
    "a tuned score of rows": (
        *("rows of several", "RejectSVCCV"),
        both(field("rule/cuts", [-1.0, 1.0, 0.0]), field("parameters/cuts", "bayes")),
        "not possible",
    ),
    "counts of other actions": (
        *("actions of several", "NoveltyRejector"),
        lambda inside: inside.arrays.update({"guard.choices": inside.arrays["guard.choices"][:-1]}),
        "counts of decisions",
    ),
}


@looped(case=FORGERIES)
def test_a_file_that_contradicts_itself_is_refused(case, forge):
    costs, estimator, change, message = FORGERIES[case]
    model, X, given = cell(costs, estimator)
    untouched = opened(forge(model, lambda _: None))
    np.testing.assert_array_equal(untouched.predict(X, **given), model.predict(X, **given))
    refused(forge(model, change), message)


def test_without_the_costs_of_rows_there_are_no_thresholds():
    model, *_ = cell("rows of two", "RejectSVC")
    with pytest.raises(ValueError, match="pass row_costs for these rows"):
        _ = FittedClassifier.of(again(model)).thresholds
    assert again(model).set_names_ == model.set_names_


def test_refusals_are_errors_of_files():
    with pytest.raises(ModelFileError, match="a name and a cost for each"):
        from_json(content(TRIAGE, without_a_cost))
