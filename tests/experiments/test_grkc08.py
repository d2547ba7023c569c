"""Pieces of grkc08-table1 and grkc08-asymmetric, and of the search they share, on cases with known answers."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold

from abstain import Costs, RejectSVC, Thresholds
from abstain.losses.tangent_hinge import double_hinge

FOLDER = Path(__file__).parents[2] / "experiments"
if not FOLDER.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

from harness.paid import paid  # noqa: E402
from harness.rules import fixed, isotonic, one_cut, platt, roc, sigmoid, symmetric  # noqa: E402
from harness.search import Search  # noqa: E402
from harness.trials import over_splits  # noqa: E402


def loaded(experiment, file):
    spec = importlib.util.spec_from_file_location(f"{experiment}_{file}".replace("-", "_"), FOLDER / experiment / file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their own module
    spec.loader.exec_module(module)
    return module


table1 = loaded("grkc08-table1", "measure.py")
table1_claims = loaded("grkc08-table1", "claims.py")
asymmetric = loaded("grkc08-asymmetric", "measure.py")
verdicts = loaded("grkc08-asymmetric", "verdicts.py")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(90) < 0.4, 1, -1).astype(np.int8)
    return rng.normal(size=(90, 2)) + 0.8 * sign[:, np.newaxis], sign


def search_of(scores, sign, folds=3):
    """A search whose held-out scores are given: (gammas, Cs, rows)."""
    fold_of = np.arange(len(sign)) % folds
    gammas, Cs = np.arange(1.0, scores.shape[0] + 1), np.arange(1.0, scores.shape[1] + 1)
    return Search(Cs, gammas, sign, fold_of, scores)


# --- Bartlett & Wegkamp's machine and the double hinge's


def test_the_two_rules_meet_where_the_papers_say():
    r = table1.equal_rules()
    entropy = -r * math.log(r) - (1 - r) * math.log(1 - r)
    assert r / entropy * math.log((1 - r) / r) == pytest.approx(0.5, abs=1e-9)
    assert r == pytest.approx(0.2415, abs=5e-5)
    assert table1.chow_threshold(0.45) < 0.5 < table1.chow_threshold(0.15)


@pytest.mark.parametrize("r", [0.15, 0.45])
def test_one_search_serves_both_rules(rows, r):
    X, sign = rows
    costs, C = Costs(reject=r), 3.0
    half = table1.entropy(r) / (2 * r)
    twice = RejectSVC(costs, C=C, gamma=0.5).fit(X, sign)
    own = RejectSVC(costs, C=C * r**2 / table1.entropy(r), gamma=0.5, rule="bartlett-wegkamp").fit(X, sign)
    assert np.array_equal(Thresholds(-half, half).decide(twice.decision_function(X)), own.predict(X))
    same_C = RejectSVC(costs, C=C, gamma=0.5, rule="bartlett-wegkamp").fit(X, sign)
    scaled = same_C.decision_function(X) * 2 * half
    assert not np.allclose(scaled, twice.decision_function(X), atol=0.05)  # the control: C in the wrong units


# --- the search


def test_held_out_scores_are_of_machines_that_have_not_seen_the_row(rows):
    X, sign = rows
    costs = Costs(reject=0.3)
    search = Search.of(X, sign, double_hinge(costs), np.array([0.5, 5.0]), np.array([0.2, 1.0]), folds=4, seed=7)
    held_out, seen = np.empty(len(sign)), np.empty(len(sign))
    for train, test in StratifiedKFold(4, shuffle=True, random_state=7).split(X, sign):
        machine = RejectSVC(costs, C=5.0, gamma=0.2).fit(X[train], sign[train])
        held_out[test] = machine.decision_function(X[test])
    seen = RejectSVC(costs, C=5.0, gamma=0.2).fit(X, sign).decision_function(X)
    assert search.scores.shape == (2, 2, len(sign))
    assert np.allclose(search.scores[0, 1], held_out, atol=0.01)
    assert not np.allclose(search.scores[0, 1], seen, atol=0.1)


def test_the_cheapest_pair_wins_and_ties_go_to_the_smaller_C_then_gamma():
    sign = np.array([-1, -1, 1, 1], dtype=np.int8)
    good, bad = 2.0 * sign, -2.0 * sign
    rule, costs = fixed(Thresholds(-1.0, 1.0)), Costs(reject=0.2)
    chosen = search_of(np.array([[bad, good], [bad, good]]), sign).choose(rule, costs, cross_fit=False)
    assert (chosen.C, chosen.gamma, chosen.cost) == (2.0, 1.0, 0.0)
    unsure = search_of(np.array([[bad, 0 * good], [0 * good, bad]]), sign).choose(rule, costs, cross_fit=True)
    assert (unsure.C, unsure.gamma, unsure.cost) == (1.0, 2.0, pytest.approx(0.2))


def test_only_cross_fitting_sees_through_a_rule_that_learns_the_rows_by_heart():
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    noise = rng.normal(size=(1, 1, 300))

    def by_heart(score, signs, _costs):
        known = dict(zip(score.tolist(), signs.tolist(), strict=True))
        return lambda new: np.array([known.get(f, 1) for f in new.tolist()], dtype=np.int8)

    search, costs = search_of(noise, sign), Costs(reject=0.4)
    assert search.choose(by_heart, costs, cross_fit=False).cost == 0.0
    assert search.choose(by_heart, costs, cross_fit=True).cost == pytest.approx((sign < 0).mean())


# --- the rules


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(1)
    sign = np.where(rng.random(60) < 0.4, 1, -1).astype(np.int8)
    return rng.normal(size=60) + sign, sign


COSTS = Costs(false_positive=1, false_negative=5, reject=0.4)


def price(decide, score, sign):
    return paid(COSTS, sign, decide(score)).mean()


def test_no_thresholds_cost_less_than_those_of_the_roc_hull(scored):
    score, sign = scored
    cuts = np.concatenate([[-9.0], np.sort(score) + 1e-9])
    best = min(price(Thresholds(a, b).decide, score, sign) for a in cuts for b in cuts if b >= a)
    assert price(roc(score, sign, COSTS), score, sign) == pytest.approx(best)
    one = min(price(Thresholds(a, a).decide, score, sign) for a in cuts)
    assert price(one_cut(score, sign, COSTS), score, sign) == pytest.approx(one)
    assert best < one


@pytest.mark.parametrize("cut", [0.0, -0.7])
def test_no_band_around_the_cut_costs_less(scored, cut):
    score, sign = scored
    widths = [0.0, *(np.abs(score - cut) + 1e-9)]
    best = min(price(Thresholds(cut - D, cut + D).decide, score, sign) for D in widths)
    assert price(symmetric(cut)(score, sign, COSTS), score, sign) == pytest.approx(best)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_platts_sigmoid_is_the_maximum_of_his_likelihood(scored, unit):
    score, sign = scored
    n_pos, n_neg = (sign > 0).sum(), (sign < 0).sum()
    target = np.where(sign > 0, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(ab):
        p = 1 / (1 + np.exp(-(ab[0] * score + ab[1])))
        return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    a, b = sigmoid(unit * score, sign)
    assert (a * unit, b) == pytest.approx(best, abs=1e-4)


def test_separable_scores_have_a_sigmoid_too():
    sign = np.repeat([-1, 1], 20).astype(np.int8)
    a, b = sigmoid(3.0 * sign, sign)
    assert 1 / (1 + math.exp(-(3 * a + b))) == pytest.approx(21 / 22, abs=1e-6)


def test_chows_rule_reads_the_probabilities_that_were_fitted():
    score = np.repeat([-1.0, 0.0, 1.0], 100)
    share = np.repeat([0.02, 0.3, 0.9], 100)  # thresholds of COSTS: 0.08 and 0.6
    sign = np.where(np.tile(np.arange(100) / 100, 3) < share, 1, -1).astype(np.int8)
    for rule in (platt, isotonic):
        assert rule(score, sign, COSTS)(np.array([-1.0, 0.0, 1.0])).tolist() == [-1, 0, 1]
        assert rule(score, -sign, COSTS)(np.array([-1.0, 0.0, 1.0])).tolist() != [-1, 0, 1]


# --- measures, intervals, verdicts


def test_measures_of_ten_rows_counted_by_hand():
    sign = np.array([1, 1, 1, 1, -1, -1, -1, -1, -1, -1], dtype=np.int8)
    choice = np.array([1, 1, -1, 0, -1, -1, -1, 1, 0, 0], dtype=np.int8)
    found = table1.judged(choice, sign, Costs(reject=0.45))
    assert found == pytest.approx({"loss": 0.335, "rejected": 0.3, "errors": 0.2, "wrong_of_decided": 2 / 7})
    found = asymmetric.judged(choice, sign, Costs(1, 5, 0.4))
    assert found == pytest.approx({"cost": 0.72, "rejected": 0.3, "missed": 0.25, "false_alarms": 1 / 6})


def test_the_interval_allows_for_rows_that_splits_share():
    found = over_splits([1.0, 2.0, 3.0], 0.2)
    assert (found["mean"], found["standard_error"]) == pytest.approx((2.0, 1 / math.sqrt(3)))
    assert found["high"] - 2.0 == pytest.approx(4.302653 * math.sqrt(1 / 3 + 0.25), rel=1e-6)
    again = over_splits([1.0, 2.0, 3.0] * 1000, 0.2)  # more splits of the same rows: no more rows
    assert again["standard_error"] < 0.02
    assert again["high"] - again["mean"] > 1.96 * 0.8 * 0.5
    assert over_splits([1.0, 2.0, 3.0], 0.2, statements=7)["high"] > found["high"]


def test_the_weighted_machine_never_rejects():
    never = asymmetric.NEVER
    assert not never.rejects
    assert never.cut == pytest.approx(math.log(1 / 5))


@pytest.mark.parametrize(
    ("signs", "word"),
    [
        ([1, 1, 0], "holds"),
        ([1, 0, 0], "cannot be judged"),
        ([0, 0, 0], "cannot be judged"),
        ([1, 1, -1], "cannot be judged"),
        ([0, 0, -1], "does not hold"),
    ],
)
def test_verdicts_on_a_rival(signs, word):
    assert verdicts.verdict(signs) == word
    items = {1: {"low": 0.1, "high": 0.2}, 0: {"low": -0.1, "high": 0.2}, -1: {"low": -0.2, "high": -0.1}}
    assert [verdicts.significant_sign(items[sign]) for sign in signs] == signs


def made_up_table1(gap):
    """Results in which the rivals lose `gap` more than the double hinge, with intervals of half-width 0.01."""

    def item(mean):
        return {"mean": mean, "standard_error": 0.005, "low": mean - 0.01, "high": mean + 0.01, "trials": 100}

    level = {"naive": gap, "bartlett-wegkamp": gap, "double hinge": 0.0}
    measures = ("loss", "rejected", "errors", "wrong_of_decided")

    def one(price):
        rules = {rule: {m: item(0.2 * price + extra) for m in measures} for rule, extra in level.items()}
        return {"rules": rules, "minus_double_hinge": {k: {m: item(gap) for m in measures} for k in list(level)[:2]}}

    sets, prices = ("wdbc", "liver", "thyroid", "pima"), [0.45, 0.15]
    every = {str(r): {name: one(r) for name in sets} for r in prices}
    shapes = {name: [100, 5] for name in sets}
    thresholds = {"0.45": 0.13, "0.15": 0.62}
    facts = {"price": 0.45, "prices": prices, "shapes": shapes, "thresholds": thresholds, "equal_rules_at": 0.2415}
    return {**facts, "all": every, "ten": every["0.45"]}


@pytest.mark.parametrize(
    ("gap", "equivalent", "consistent"),
    [(0.005, "holds", "holds"), (-0.005, "holds", "does not hold"), (0.02, "does not hold", "holds")],
)
def test_verdicts_on_the_papers_words(gap, equivalent, consistent):
    found = {claim.text.split(",")[0]: claim.verdict for claim in table1_claims.claims(made_up_table1(gap))}
    assert found["equivalent average test losses"] == equivalent
    assert found["a consistent advantage of the double hinge"] == consistent
