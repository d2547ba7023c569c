"""The share of rows that the guard of `abstain fit` may reject, by what its false alarms cost."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import abstain
from abstain import Actions, Costs, NoveltyRejector, RejectSVC
from abstain.cli.training.guarding import ADDED, alarm_cost
from abstain.comparison.verdict import judge_of
from abstain.estimators.novelty.novelty import DEFAULT_RATE
from cli.running import run

REJECT = 0.2
ASKED = ("--target", "answer", "--reject", REJECT, "--machine", "svm", "--Cs", "1,10", "--gammas", "0.1,0.3")


def rows(gap, n=600, rare=0.5, seed=0):
    """Two classes whose means are `gap` standard deviations apart in each of three columns."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rare
    X = rng.normal(size=(n, 3)) + gap * y[:, np.newaxis]
    return pd.DataFrame(X, columns=list("abc")).assign(answer=np.where(y, "yes", "no"))


def fitted(folder, table, *options, asked=ASKED):
    table.to_csv(folder / "data.csv", index=False)
    result = run("fit", folder / "data.csv", *asked, *options, "-o", folder / "m", "--force", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def rate_of(facts):
    return facts["largest_share_rejected_as_novel"]


@pytest.mark.parametrize(("gap", "why"), [(2.0, "fewer than the default share of 1 %, which would cost more"),
                                          (20.0, "the smallest share that 599 calibration rows allow"),
                                          (1.0, "the default share")])  # fmt: skip
def test_false_alarms_add_at_most_2_percent_to_the_mean_cost(tmp_path, gap, why):
    facts = fitted(tmp_path, rows(gap, n=3000))
    cost, m = facts["cross_validated_mean_cost"], facts["rows_that_calibrated_it"]
    allowed = 0.02 * cost / (REJECT - cost)
    assert m == 599
    expected = 0.01 if allowed >= 0.01 else max(math.floor(allowed * 600), 1) / 600
    assert rate_of(facts) == pytest.approx(expected)
    assert (rate_of(facts) < 0.01) == (gap > 1.0)
    if why.startswith("fewer"):
        assert 2 / 600 <= expected <= 5 / 600  # neither end
    guarded = facts["cross_validated_mean_cost_with_the_guard"]
    assert guarded == pytest.approx(cost + expected * (REJECT - cost))
    assert (
        f"are rejected as novel, {why}; false alarms add about {guarded - cost:.2g} to" in facts["verdict"]["sentence"]
    )
    assert f"cost {cost:.4g} each, {guarded:.4g} with false alarms of the guard;" in facts["verdict"]["sentence"]
    model = abstain.load(tmp_path / "m")
    assert model.rate == model.guard_.rate == pytest.approx(expected)
    far = pd.DataFrame([[100.0, -100.0, 100.0]], columns=list("abc"))
    assert model.decide(far).novel.all()


def test_a_share_that_is_stated_is_taken_as_it_is(tmp_path):
    table = rows(20.0)
    assert rate_of(fitted(tmp_path, table, "--novelty", 0.01)) == 0.01
    facts = fitted(tmp_path, table, "--novelty", 0.1)
    assert rate_of(facts) == 0.1
    assert "at most 10 % are rejected as novel, as stated; false alarms add" in facts["verdict"]["sentence"]
    assert rate_of(fitted(tmp_path, table)) == 1 / 200  # control


def test_a_machine_of_unknown_cost_keeps_the_default(tmp_path):
    table = rows(20.0)
    for asked in (
        ("--target", "answer", "--reject", REJECT, "--C", 1, "--gamma", 0.3),
        ("--target", "answer", "--reject-rate", 0.1, "--C", 1, "--gamma", 0.3),
        ("--target", "answer", "--max-error", 0.3, "--C", 1, "--gamma", 0.3),
    ):
        facts = fitted(tmp_path, table, asked=asked)
        assert rate_of(facts) == 0.01
        assert facts["verdict"]["sentence"].endswith("are rejected as novel, the default share.")


def test_the_cost_of_the_guard_counts_against_doing_nothing(tmp_path):
    table = rows(1.2, rare=0.08)
    stated = fitted(tmp_path, table, "--novelty", 0.2)
    alone = fitted(tmp_path, table, "--no-novelty")
    other = alone["verdict"]["its_mean_cost"]
    assert (
        alone["cross_validated_mean_cost"] < 0.98 * other < other < stated["cross_validated_mean_cost_with_the_guard"]
    )
    assert alone["warnings"] == []
    assert "cross_validated_mean_cost_with_the_guard" not in alone
    assert "not less than" in stated["warnings"][0]
    assert "doing_nothing" in stated
    assert "doing_nothing" not in alone


X = np.random.default_rng(0).normal(size=(400, 2))
Y = np.where(X[:, 0] + X[:, 1] > 0.8, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
ACTIONS = Actions({"go": {"no": 0, "yes": 5}, "stop": {"no": 1, "yes": 0}, "ask": {"no": 0.1, "yes": 0.9},
                   "call": 0.4}, rejects=("ask", "call"))  # fmt: skip
ROW_COSTS = np.column_stack([np.ones(400), np.ones(400), np.linspace(0.1, 0.3, 400)])


@pytest.mark.parametrize(
    ("costs", "y", "row_costs", "handed_on"),
    [
        (Costs(reject=0.2), Y, None, 0.2),
        (Costs(reject=(0.1, 0.5)), Y, None, 0.1 + 0.4 * np.mean(Y == "yes")),
        (Costs(reject=0.3), THREE, None, 0.3),
        (ACTIONS, Y, None, 0.4),  # what a novel row gets, not the cheapest on average
        (None, Y, ROW_COSTS, 0.2),
    ],
)
def test_a_false_alarm_costs_what_handing_on_the_training_rows_would(costs, y, row_costs, handed_on):
    positive = "yes" if y is Y and not isinstance(costs, Actions) else None
    machine = RejectSVC(costs, pos_label=positive)
    model = NoveltyRejector(machine, random_state=0).fit(X, y, row_costs=row_costs)
    judge = judge_of(y, costs, row_costs, positive)
    for cost, k in ((0.001, 1), (0.15, 2)):
        again = clone(model).fit(X, y, row_costs=row_costs)
        assert alarm_cost(again, cost, judge) == pytest.approx(k / 200 * (handed_on - cost))
        assert again.guard_.rate == pytest.approx(k / 200)
    assert alarm_cost(model, 0.9, judge) == 0.0  # handing on costs less
    assert model.rate is DEFAULT_RATE


def test_fitted_again_it_has_the_same_calibration_rows_and_finds_the_same():
    model = NoveltyRejector(RejectSVC(Costs(reject=REJECT)), random_state=0).fit(X, Y)
    scores = model.guard_.scores
    before = model.decide(X).novel
    alarm_cost(model, 0.001, judge_of(Y, Costs(reject=REJECT)))
    again = clone(model).fit(X, Y)
    assert (again.rate, again.guard_.m) == (1 / 200, 199)
    np.testing.assert_array_equal(again.guard_.scores, scores)
    far = np.array([[30.0, -30.0]])
    assert again.decide(far).novel.all()
    assert model.decide(X).novel.sum() < before.sum() or not before.any()


def test_the_share_is_that_of_the_documents():
    assert ADDED == 0.02
