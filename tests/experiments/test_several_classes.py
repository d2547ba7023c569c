"""Pieces of the experiments with several classes on scores and answers made by hand."""

import numpy as np
import pytest
from scipy.special import softmax

from abstain import Costs, RejectSVCCV
from experiment_modules import experiment_modules

sets, rules, measure, summary, page = experiment_modules(
    "several-classes", "measure_sets", "measure_rules", "measure", "summary", "page"
)
cells, cell_summary, cell_page = experiment_modules("cell-types", "measure", "summary", "page")
RNG = np.random.default_rng(0)
EVEN = Costs.from_matrix(1.0 - np.eye(3), 0.2, labels=[0, 1, 2]).table()


class TestRules:
    def test_the_cut_on_the_lead_is_the_best_of_all(self):
        score, y = RNG.standard_normal((80, 3)), RNG.integers(0, 3, 80)
        y[:60] = score[:60].argmax(axis=1)
        found = rules.cost_of(y, rules.lead_cut(score, y, EVEN)(score).choice, EVEN)
        two = np.sort(score, axis=1)
        lead, answer = two[:, 2] - two[:, 1], score.argmax(axis=1)
        every = [np.where(lead >= cut, EVEN[y, answer], 0.2).mean() for cut in [*lead, np.inf]]
        assert found == pytest.approx(min(every))
        assert min(every) < min(every[-1], np.mean(y != answer))  # neither all nor nothing is rejected

    def test_a_temperature_is_found_again(self):
        score = 4.0 * RNG.standard_normal((3000, 3))
        y = np.array([RNG.choice(3, p=p) for p in softmax(0.5 * score, axis=1)])
        chosen, truth = rules.temperature(score, y, EVEN)(score), rules.chow(softmax(0.5 * score, axis=1), EVEN)
        assert np.mean(chosen.choice == truth.choice) > 0.97
        plain = rules.chow(softmax(score, axis=1), EVEN)
        assert np.mean(plain.choice == truth.choice) < 0.9

    def test_chow_takes_the_least_expected_cost(self):
        decided = rules.chow(np.array([[0.9, 0.1, 0.0], [0.5, 0.3, 0.2]]), EVEN)
        assert decided.choice.tolist() == [0, 3]
        assert decided.answer.tolist() == [0, 0]
        assert decided.confidence == pytest.approx([-0.1, -0.5])

    def test_platt_normalises(self):
        score, y = RNG.standard_normal((300, 3)), RNG.integers(0, 3, 300)
        assert (rules.platt(score, y, EVEN)(score).choice == 3).all()  # labels without meaning: all rejected


def test_bayes_cuts_are_those_of_a_search_of_their_own():
    X = RNG.standard_normal((150, 2))
    y = np.where(X[:, 0] > 0.3, 2, np.where(X[:, 1] > 0, 1, 0))
    split = sets.Split(X[:100], y[:100], X[100:], y[100:], 0)
    costs, grid = Costs.from_matrix(1.0 - np.eye(3), 0.2, labels=[0, 1, 2]), {"Cs": [0.1, 10.0], "gammas": [0.1, 1.0]}
    found = measure.ours(split, grid, costs)
    alone = RejectSVCCV(costs, **grid, cv=split.folds, cuts="bayes").fit(split.X, split.y)
    choice = alone.rule_.choose(alone.decision_function(split.X_test))
    np.testing.assert_array_equal(found[measure.BAYES].choice, choice)


def test_errors_at_a_budget():
    y = np.zeros(10, dtype=int)
    decided = rules.Decided(y, np.arange(10) // 8, -np.arange(10.0))  # the two least sure ones are wrong
    assert measure._error_at(0.0, y, decided) == pytest.approx(0.2)
    assert measure._error_at(0.1, y, decided) == pytest.approx(1 / 9)
    assert measure._error_at(0.2, y, decided) == 0.0


def made_up(extra):
    """Answers in which a method costs `extra` more than ours, with noise of the split."""
    answers = {}
    for seed in range(10):
        level = 0.1 + 0.01 * RNG.standard_normal()
        answers[f"digits/{seed}"] = [
            {"method": method, "costs": f"{price:g}", "cost": level + extra.get(method, 0.0) + 1e-4 * RNG.random(),
             "rejected": 0.1, "wrong": 0.05, "at_budgets": [0.1] * 5, "trained": 898, "tested": 899}
            for method in (*summary.METHODS, summary.FORCED)
            for price in sets.PRICES
        ]  # fmt: skip
    return answers


def test_costs_are_compared_with_the_best_other_rule():
    others = dict.fromkeys(summary.METHODS[2:], 0.02)
    found = summary.summary(made_up({**others, "SVC + lead": -0.02}))
    ours = found["against_best"][measure.TUNED]
    assert (ours["more"], ours["less"], ours["blocks"]) == (4, 0, 4)
    assert set(ours["best"]) == {"SVC + lead"}
    assert found["ranks"]["mean"]["SVC + lead"] == 1.0
    less = summary.summary(made_up(others))["against_best"][measure.TUNED]
    assert (less["more"], less["less"]) == (0, 4)
    facts = {"experiment": "several-classes", "processor_seconds": 1.0}
    facts["machine"] = dict.fromkeys(("day", "abstain", "scikit-learn"))
    text = page.page({**found, **facts})
    assert "costs significantly more than the best of the six other rules in 4 of 4" in text
    assert "“SVC + lead” is first with 1.00" in text


class TestCells:
    def test_a_budget_is_kept_for_each_type(self):
        answer, sure = RNG.integers(0, 2, 4000), RNG.standard_normal(4000)
        cuts = cells.budget_cuts((answer, sure), np.array([0.4, 0.05, 0.1]))
        shares = [np.mean(sure[answer == k] < cuts[k]) for k in (0, 1)]
        assert shares == pytest.approx([0.4, 0.05], abs=0.01)
        assert cuts[2] == -np.inf  # no cell has this answer

    def test_costs_and_accuracy_by_hand(self):
        row = {"y": [0, 0, 1, 1], "choice": [0, 1, -1, 1], "answer": [0, 1, 0, 1]}
        found = cell_summary.judged(row)
        assert found == pytest.approx({"cost": 1.3 / 4, "rejected": 0.25, "accuracy": 2 / 3, "forced": 0.5})

    @pytest.mark.parametrize(
        ("low", "high", "words"), [(0.1, 0.2, "costs more"), (-0.2, -0.1, "costs less"), (-0.1, 0.1, "no significant")]
    )
    def test_the_verdict_has_the_sign_of_the_interval(self, low, high, words):
        assert words in cell_page._words({"mean": (low + high) / 2, "low": low, "high": high}, "cost", "costs")
