"""Actions: the lower envelope against brute force, ties, the errors, and the value itself."""

import pickle

import numpy as np
import pytest

from abstain import Actions, Costs
from action_cases import CREDIT, THREE, cheapest, with_crossings
from looping import looped

YES_NO = {"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}}
GRID = np.linspace(0, 1, 20_001)


@looped(seed=range(60))
def test_the_envelope_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0, 1, (rng.integers(2, 9), 2)).round(3)
    best, used = cheapest(costs, GRID)
    unused = [k for k in range(len(costs)) if k not in used]
    if unused:  # each alone with the used ones is an error, or so close that the grid does not show it
        excess = min(((1 - GRID) * costs[k, 0] + GRID * costs[k, 1] - best).min() for k in unused)
        if excess > 1e-3:
            with pytest.raises(ValueError, match="is never the cheapest action"):
                Actions({f"a{k}": {0: a, 1: b} for k, (a, b) in enumerate(costs)})
    if len(used) < 2:
        return
    actions = Actions({f"a{k}": {0: costs[k, 0], 1: costs[k, 1]} for k in used})
    np.testing.assert_allclose(actions.expected(GRID).min(axis=1), best, atol=1e-12)
    log_odds = np.log(GRID[1:-1]) - np.log1p(-GRID[1:-1])
    chosen = actions.levels().decide(log_odds)
    paid = np.take_along_axis(actions.expected(GRID[1:-1]), chosen[:, np.newaxis].astype(int), axis=1)[:, 0]
    np.testing.assert_allclose(paid, best[1:-1], atol=1e-12)


@looped(seed=range(10), K=range(1, 7))
def test_the_crossings_are_those_it_was_built_from(seed, K):
    rng = np.random.default_rng(seed)
    p = np.sort(rng.uniform(0.02, 0.98, K))
    actions = with_crossings(p, rng)
    np.testing.assert_allclose(actions.crossings(), p, rtol=1e-9)
    assert actions.order == tuple(f"a{k}" for k in range(K + 1))


def test_costs_are_the_case_of_two_answers_and_a_reject():
    costs = Costs.from_table({"no": {"yes": 1}, "yes": {"no": 5}}, reject=0.3)
    assert THREE.order == ("no", "ask", "yes")
    assert THREE.rejects == ("ask",)
    bayes = costs.score_thresholds()
    assert THREE.levels().cuts == (bayes.lower, bayes.upper)
    assert THREE.levels(forced=True).cuts == (costs.cut,)
    scores = [-9.0, bayes.lower, 0.0, bayes.upper, 9.0, np.nextafter(bayes.lower, -9), np.nextafter(bayes.upper, 9)]
    in_order = {-1: "no", 0: "ask", 1: "yes"}
    expected = [in_order[choice] for choice in bayes.decide(scores).tolist()]
    assert [THREE.names[at] for at in THREE.levels().decide(scores)] == expected


class TestTies:
    def test_an_action_that_only_ties_is_never_chosen(self):
        half = Actions({"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}, "ask": 0.5})
        assert half.order == ("a", "b")
        assert half.crossings() == (0.5,)
        thirds = Actions({"a": {"a": 0, "b": 0.3}, "b": {"a": 0.3, "b": 0}, "ask": {"a": 0.1, "b": 0.2}})
        assert thirds.order == ("a", "b")  # 0.1 / 0.3 + 0.2 / 0.3 is not exactly 1

    def test_a_little_cheaper_is_chosen_and_a_little_more_expensive_an_error(self):
        table = {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}}
        assert Actions({**table, "ask": 0.5 - 1e-9}).order == ("a", "ask", "b")
        with pytest.raises(ValueError, match=r"It would be used below 0\.5;"):
            Actions({**table, "ask": 0.5 + 1e-9})

    def test_of_equal_actions_the_first_is_chosen(self):
        for names in (("x", "y"), ("y", "x")):
            actions = Actions({**YES_NO, **dict.fromkeys(names, 0.3)})
            assert actions.order == ("no", names[0], "yes")

    def test_an_action_that_ties_where_one_class_is_certain_is_allowed(self):
        assert Actions({**YES_NO, "worse": {"no": 0, "yes": 6}}).order == ("no", "yes")

    def test_large_and_small_costs_do_not_hide_each_other(self):
        actions = Actions({"a": {"a": 0, "b": 1e9}, "b": {"a": 1, "b": 0}, "ask": 1e-7})
        assert actions.order == ("a", "ask", "b")


@pytest.mark.parametrize(
    ("cost", "way"),
    [
        # at p = 1/6, where both answers cost 5/6
        (0.9, r"table\['call'\]=0\.9 is never .* below 0\.83333333333\d;"),
        # the line from 0.6 to 2.6 at p = 1/6 is 0.6 + 2/6 = 0.93333 and 0.1 above 5/6; at 0 and 1 it is further above
        ({"no": 0.6, "yes": 2.6}, r"if all its costs fell by more than 0\.1(0{9}\d)?;"),
    ],
)
def test_an_action_that_is_never_used_says_what_it_would_take(cost, way):
    with pytest.raises(ValueError, match=way):
        Actions({**YES_NO, "call": cost})


def test_at_the_amount_that_the_error_names_the_action_is_used():
    excess = 0.6 * 5 / 6 + 2.6 / 6 - 5 / 6
    less = {"no": 0.6 - excess - 1e-6, "yes": 2.6 - excess - 1e-6}
    assert Actions({**YES_NO, "call": less}).order == ("no", "call", "yes")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "must map each action to its cost"),
        ([("a", 1)], "must map each action to its cost"),
        ({"a": 1, "b": 2}, "names no class: all its costs are single numbers"),
        ({**YES_NO, "x": {"no": 1, "maybe": 1}}, r"table\['no'\].* has no cost for the class 'maybe'; add it"),
        ({**YES_NO, "x": {"no": 1}}, r"table\['x'\].* has no cost for the class 'yes'; add it"),
        ({"a": {0: 0, "1": 1}, "b": {0: 1, "1": 0}}, "they must be all strings or all numbers"),
        ({**YES_NO, "x": -0.1}, r"table\['x'\]=-0.1 must be finite and >= 0"),
        ({**YES_NO, "x": {"no": np.inf, "yes": 0.1}}, r"table\['x'\]\['no'\]=inf must be finite"),
        ({**YES_NO, "x": "free"}, r"table\['x'\]='free' must be a real number"),
        ({**YES_NO, ("x",): 0.1}, "of type tuple; name it by a string"),
        ({k: {"no": k**2, "yes": (60 - k) ** 2} for k in range(61)}, "table has 61 actions; at most 60"),
        ({"a": {"no": 0, "yes": 1}, "b": {"no": 0, "yes": 1}}, "'a' is the cheapest action whatever the class"),
    ],
)
def test_what_is_not_a_table_of_actions_is_refused(table, words):
    with pytest.raises(ValueError, match=words):
        Actions(table)


@pytest.mark.parametrize(
    ("rejects", "words"),
    [("call", r"write rejects=\('call',\)"), (("phone",), "names 'phone', which is not one of the actions")],
)
def test_rejects_must_be_actions(rejects, words):
    with pytest.raises(ValueError, match=words):
        Actions(CREDIT.to_dict(), rejects=rejects)


def test_by_default_the_actions_that_are_not_classes_are_rejects():
    assert Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, -1: 0.3}).rejects == (-1,)
    assert Actions(CREDIT.to_dict()).rejects == CREDIT.names
    assert Actions(CREDIT.to_dict(), rejects={"visit", "call"}).rejects == ("call", "visit")


def test_it_is_a_value():
    again = Actions(CREDIT.to_dict(), CREDIT.rejects)
    assert again == CREDIT
    assert hash(again) == hash(CREDIT)
    assert eval(repr(CREDIT)) == CREDIT  # noqa: S307 (what it says is what makes it)
    assert pickle.loads(pickle.dumps(CREDIT)) == CREDIT  # noqa: S301
    assert Actions({**CREDIT.to_dict(), "call": {"good": 0.3, "bad": 0.3}}, CREDIT.rejects) == CREDIT
    assert Actions(CREDIT.to_dict(), ("call",)) != CREDIT
    assert Actions({**CREDIT.to_dict(), "call": 0.29}, CREDIT.rejects) != CREDIT
    with pytest.raises(AttributeError):
        CREDIT.names = ()


def test_the_notebook_shows_costs_and_where_each_action_is_the_cheapest():
    shown = CREDIT._repr_html_()
    for text in ("cost if bad", "cost if good", "0.25 to 0.5", "0.94 to 1"):
        assert f"<bdi>{text}</bdi>" in shown
    assert "&lt;b&gt;" in Actions({**YES_NO, "<b>": 0.3})._repr_html_()


class TestMeanCost:
    def test_it_is_the_mean_of_the_table(self):
        y, taken = ["good", "bad", "bad", "good"], ["approve", "approve", "visit", "call"]
        assert CREDIT.mean_cost(y, taken) == pytest.approx((0 + 5 + 0.2 + 0.3) / 4)
        assert CREDIT.mean_cost(y, taken, sample_weight=[1, 0, 1, 2]) == pytest.approx((0.2 + 0.6) / 4)

    def test_names_of_two_kinds(self):
        actions = Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "ask": 0.3})
        assert actions.mean_cost([0, 1], np.array([1, "ask"], dtype=object)) == pytest.approx(0.65)

    @pytest.mark.parametrize(
        ("y", "taken", "words"),
        [
            (["good", "ugly"], ["call", "call"], "y_true contains 'ugly'"),
            (["good"], ["phone"], "y_pred contains 'phone', which is not one of the actions"),
            (["good"], ["call", "call"], "inconsistent"),
            ([], [], "y_true is empty"),
        ],
    )
    def test_what_cannot_be_priced(self, y, taken, words):
        with pytest.raises(ValueError, match=words):
            CREDIT.mean_cost(y, taken)


def test_functions_for_costs_alone_say_so():
    from abstain.metrics import cost_curve

    with pytest.raises(ValueError, match="a curve needs one answer for each class and one reject"):
        cost_curve(["bad", "good"], [0.0, 1.0], CREDIT)


def test_nan_is_not_a_name():
    with pytest.raises(ValueError, match="table has the action nan of type float; name it by a string"):
        Actions({"a": {"a": 0, "b": 5}, "b": {"a": 1, "b": 0}, float("nan"): 0.3})
