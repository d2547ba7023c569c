"""The verdict: who is worth using, who is not, and how often a worthless machine passes."""

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain import Actions
from abstain.comparison.intervals import interval_of_mean
from abstain.comparison.verdict import Judge, cautions, verdict_on
from abstain.costs.costs import Costs
from abstain.estimators.svm.svc import RejectSVC
from compared import COSTS, Fixed, prices, rows


def judged(own, blind, machines=None, **change):
    settings = {"reject_rate": 0.1, "largest": 1.0} | change
    return verdict_on("mine", np.asarray(own, dtype=float), blind, machines or {}, **settings)


def blind(costs, code):
    return Judge(np.array(["a", "b"])[code], np.array(code), ("a", "b"), costs).blind()


def test_the_same_decision_for_all_rows_costs_what_the_table_says():
    costs = Costs(1, 5, (0.2, 0.6))
    ways, found = [f"deciding {label!r} for every row" for label in "ab"], blind(costs, [0, 1, 1])
    assert [*found] == ["rejecting every row", *ways]
    assert np.array([*found.values()]).T.tolist() == [[0.2, 0.0, 1.0], [0.6, 5.0, 0.0], [0.6, 5.0, 0.0]]
    actions = Actions({"b": {"a": 1, "b": 0}, "call": 0.4, "a": {"a": 0, "b": 3}})
    found = blind(actions, [0, 1])
    assert np.array([*found.values()]).T.tolist() == [[1, 0.4, 0], [0, 0.4, 3]]  # in their own order
    assert [*found][1] == "taking 'call' for every row"


def test_the_interval_is_that_of_the_paired_costs_for_all_alternatives():
    rng = np.random.default_rng(0)
    own, all_rejected, other = rng.random(80), np.full(80, 0.7), rng.random(80) + 0.5
    found = judged(own, {"rejecting": all_rejected, "other": other}, confidence=0.9, n_candidates=3, largest=1.5)
    assert found.cheapest == "rejecting"
    assert found.interval == pytest.approx(interval_of_mean(0.7 - own, (0.7 - 1.5, 0.7), 1 - 0.1 / 6))
    students = stats.ttest_rel(all_rejected, own).confidence_interval(1 - 0.1 / 6)
    assert np.ptp(found.interval) == pytest.approx(np.ptp(students), rel=0.15)
    assert found.worth_using
    assert found.warnings == ()
    assert found.sentence.startswith("mine is worth using: it rejects 10.0 % of the rows and costs ")


def test_noise_is_no_verdict_and_a_loss_is():
    rng = np.random.default_rng(1)
    own = rng.random(50)
    near = judged(own, {"near": own + rng.normal(0.01, 1, 50).clip(-0.5)})
    assert near.worth_using is None
    assert "is not shown to be worth using" in near.sentence
    assert "no significant difference" in near.sentence
    worse = judged(own, {"cheap": own - 0.1 - 0.01 * rng.random(50)}, {"machine": own})
    assert worse.worth_using is False
    assert "not less than cheap" in worse.warnings[0]
    assert "significant" not in worse.sentence


def test_rejects_that_do_not_pay_are_not_held_against_the_machine():
    own = np.linspace(0, 1, 40)
    found = judged(own, {"rejecting": own + 1}, {"forced": own})
    assert found.sentence.startswith("mine is not worth using with rejects: ")
    assert "exactly as much as forced" in found.sentence
    assert found.warnings[0].endswith("at these costs it is not worth using with rejects.")


@pytest.mark.parametrize(("share", "warned"), [(0.949, False), (0.95, True), (1.0, True)])
def test_rejecting_nearly_everything_is_a_warning(share, warned):
    found = judged([0.0] * 20, {"other": np.ones(20)}, reject_rate=share)
    assert [text.startswith(f"mine rejects {100 * share:.1f} %") for text in found.warnings] == [True] * warned


def test_a_warning_does_not_say_more_than_the_costs():
    (hardly,) = cautions("mine", 0.0997, 0.5, "other", 0.1, tolerance=0.01)
    assert "costs 0.0997 per row, hardly less than other (0.1)" in hardly
    assert cautions("mine", 0.0997, 0.5, "other", 0.1) == ()
    assert cautions("mine", 0.0989, 0.5, "other", 0.1, tolerance=0.01) == ()


def test_a_machine_without_errors_on_few_rows_is_not_shown_to_be_worth_using():
    few, many = (judged(np.zeros(n), {"all rejected": np.full(n, 0.5)}, largest=5.0) for n in (25, 400))
    assert few.interval == pytest.approx((0.5 - 5.0 * 3 / 25, 0.5), abs=0.05)  # the rule of three
    assert (few.worth_using, many.worth_using) == (None, True)


def test_a_lucky_sample_of_rare_errors_seldom_passes():
    """In 30 rows, errors that cost as much as rejecting all are absent in every seventh sample."""
    rng, passed, naive = np.random.default_rng(0), 0, 0
    for _ in range(400):
        own, rejected = np.where(rng.random(30) < 0.06, 5.0, 0.0), np.full(30, 0.3)
        passed += judged(own, {"all rejected": rejected}, largest=5.0).worth_using is True
        naive += 0.3 - own.mean() > stats.t.isf(0.025, 29) * own.std(ddof=1) / np.sqrt(30)
    assert passed <= 400 * 0.025
    assert naive > 400 * 0.1  # control: without the bound


def test_a_worthless_machine_seldom_passes_though_the_alternative_is_chosen_on_the_same_rows():
    """Ten machines and three alternatives with the same true cost: the best of them looks cheaper; 400 data sets."""
    rng = np.random.default_rng(0)
    passed, naive = 0, 0
    for _ in range(400):
        machines, blind = rng.exponential(size=(60, 10)), rng.exponential(size=(60, 3))
        own = machines[:, machines.mean(axis=0).argmin()]
        others = dict(zip("abc", blind.T, strict=True))
        passed += judged(own, others, n_candidates=10).worth_using is True
        naive += judged(own, {"a": blind[:, 0]}).worth_using is True
    assert passed <= 400 * 0.05
    assert naive > 400 * 0.1  # control: without the correction, far too many


class Scored(Fixed):
    """A classifier that decides every row, for the comparison."""

    def predict(self, X):
        return np.where(X[:, 0] > 0, "b", "a")


def test_the_comparison_judges_the_cheapest_model_that_rejects():
    X, y = rows(300)
    models = {"rejecting": RejectSVC(COSTS, C=1), "wide": Fixed(-3.0, 3.0), "deciding": Scored()}
    found = abstain.compare(models, X, y, COSTS)
    verdict = found.verdict
    costs = dict(verdict.alternatives)
    assert verdict.name == "rejecting"
    assert verdict.cost == pytest.approx(found.mean_cost[0])
    assert costs["rejecting every row"] == pytest.approx(prices(y, np.full(300, "reject")).mean())
    for label in "ab":
        assert costs[f"deciding {label!r} for every row"] == pytest.approx(prices(y, np.full(300, label)).mean())
    assert costs["deciding"] == pytest.approx(found.mean_cost[2])
    forced = costs["rejecting, deciding every row without rejects"]
    assert forced == pytest.approx(np.mean(found.forced_prices[0]))
    assert found.forced_prices[1:] == (None, None)
    cut = np.log(COSTS.false_positive / COSTS.false_negative)
    assert forced == pytest.approx(prices(y, np.where(found.scores[0] > cut, "b", "a")).mean())
    assert len(found.to_frame()) == 3  # per model
    text = str(found)
    assert verdict.sentence in text
    assert all(name in text and name in found._repr_html_().replace("&#x27;", "'") for name in costs)


def test_a_machine_that_rejects_everything_is_not_worth_using():
    X, y = rows()
    silent = abstain.compare({"silent": Fixed(-99.0, 99.0)}, X, y, COSTS).verdict
    assert silent.worth_using is False
    assert [text.split(" ")[1] for text in silent.warnings] == ["rejects", "costs"]
    X[:, 0] += np.where(y == "b", 1.0, -1.0)
    useful = abstain.compare({"useful": Fixed(-0.5, 0.2)}, X, y, COSTS).verdict  # control
    assert useful.worth_using is True
    assert useful.warnings == ()


def test_the_machine_without_rejects_is_cut_where_the_errors_cost_the_same():
    from abstain.comparison.rules import default_rules

    machine = default_rules(COSTS)["SVM with costs, no rejects"][-1]
    X, y = rows()
    machine.set_params(cuts="bayes").fit(X, y)
    assert machine.thresholds_.lower == machine.thresholds_.upper == pytest.approx(np.log(1 / 4))
    assert set(machine.predict(X)) == {"a", "b"}
