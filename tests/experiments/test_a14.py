"""Pieces of the four A14 experiments whose answers are known beforehand."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from abstain import BartlettWegkamp, Costs, RejectSVC
from abstain.datasets import make_gaussians

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
if not EXPERIMENTS.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)


def load(folder, name):
    """A module of an experiment under a name of its own, with its neighbours importable only meanwhile."""
    path = EXPERIMENTS / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{folder.replace('-', '_')}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    before, known = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(EXPERIMENTS), str(path.parent)]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
        for other in set(sys.modules) - known:
            if other.startswith(("measure", "page", "figures", "harness")):
                del sys.modules[other]  # another experiment has modules of the same names
    return module


machines = load("a14-rates", "measure_machines")
tradeoff = load("a14-tradeoff", "measure")
regions = load("a14-regions", "measure")
regions_page = load("a14-regions", "page")
ecg = load("a14-ecg", "measure")
ecg_page = load("a14-ecg", "page")
tradeoff_page = load("a14-tradeoff", "page")


@pytest.fixture(scope="module")
def noisy():
    law = make_gaussians(2, distance=2.0, random_state=0).law
    return SimpleNamespace(train=law.sample(150, random_state=1), test=law.sample(2000, random_state=2)[0])


@pytest.mark.parametrize("rule", ["r", "half", "1-r"])
@pytest.mark.parametrize("r", [0.12, 0.3, 0.45])
def test_a_threshold_on_the_double_hinge_is_bartlett_and_wegkamps_machine(noisy, rule, r):
    delta = {"r": r, "half": 0.5, "1-r": 1 - r}[rule]
    H = machines.entropy(r)
    ours = RejectSVC(Costs(reject=r), C=2.0, gamma=0.3).fit(*noisy.train)
    theirs = RejectSVC(Costs(reject=r), C=2.0 * r**2 / H, gamma=0.3, rule=BartlettWegkamp(delta)).fit(*noisy.train)
    half_width = machines.threshold(rule, r)
    choice = machines.Thresholds(-half_width, half_width).decide(ours.decision_function(noisy.test))
    assert np.array_equal(choice, theirs.thresholds_.decide(theirs.decision_function(noisy.test)))
    assert not np.array_equal(choice, ours.thresholds_.decide(ours.decision_function(noisy.test)))  # Chow's is another


def test_chow_and_one_half_cross_where_the_mathematics_says():
    apart = [machines.threshold("chow", r) - machines.threshold("half", r) for r in (0.2414, 0.2416)]
    assert apart[0] > 0 > apart[1]


def test_outcomes_of_rows_counted_by_hand():
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    score = np.array([-3.0, -0.5, 2.0, -2.0, -0.5, 0.5, 3.0])
    #        TN, rejected negatives, FP, FN, rejected positives, TP; of the rejected only the positive at -0.5 is lost
    assert machines.outcomes(y, score, 1.0) == [1, 1, 1, 1, 2, 1, 1]
    assert machines.outcomes(y, score, 0.0) == [2, 0, 1, 2, 0, 2, 0]


def test_overlapping_halves_have_the_larger_error():
    values = np.array([1.0, 2.0, 3.0, 6.0])
    independent = values.std(ddof=1) / 2
    assert machines.standard_error(values, "synthetic") == pytest.approx(independent)
    assert machines.standard_error(values, "ecg") == pytest.approx(independent * math.sqrt(5))


def test_the_ratio_of_bayes_rule_lies_between_its_prices():
    found = tradeoff.bayes()
    assert -0.5 < found["ratio"] < -0.4
    law = make_gaussians(2, distance=2.0, random_state=0).law
    X, y = law.sample(200_000, random_state=3)
    P = law.posterior(X)
    rejected = (P >= 0.4) & (P <= 0.6)
    wrong = (P > 0.5) != (y == 1)
    assert found["ratio"] == pytest.approx(-wrong[rejected].mean(), abs=4 * 0.5 / math.sqrt(rejected.sum()))


def test_the_error_of_a_ratio_is_that_of_a_simulation():
    rng = np.random.default_rng(0)
    below = rng.normal(2.0, 0.2, (4000, 50))
    above = -0.4 * below + rng.normal(0.0, 0.1, below.shape)
    ratios, errors = zip(
        *((q, machines.standard_error(u, "synthetic")) for q, u in map(tradeoff.quotient, above, below)), strict=True
    )
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.05)
    assert math.isnan(tradeoff.quotient(np.zeros(3), np.zeros(3))[0])


def test_monotone_counts_the_steps_that_are_not():
    R, E = np.array([[0.0, 0.1, 0.2, 0.15]]), np.array([[0.3, 0.2, 0.25, 0.1]])
    assert tradeoff.monotone(R, E) == pytest.approx(1 / 3)


def test_figure_5_is_theta_1_4():
    costs, _ = regions.FIGURES["5"]
    p, f = costs.thresholds(), costs.score_thresholds()
    assert (p.lower, p.upper) == pytest.approx((0.30, 0.58))
    assert (round(f.lower, 4), round(f.upper, 5)) == (-0.8473, 0.32277)  # as printed under the figure


def test_fates_of_rows_counted_by_hand():
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    score = np.array([-2.0, -0.5, -0.4, 1.0, 2.0, 0.2, -0.5, -2.0])
    found = regions.fates(y, score, np.array([-1, 0, 0, 1, 1, 0, 0, -1], dtype=np.int8))
    assert found["missed_rejected"] == pytest.approx(2 / 3)
    assert found["alarmed_rejected"] == pytest.approx(1 / 2)
    assert (found["false_negative"], found["false_positive"], found["reject"]) == (1 / 8, 1 / 8, 4 / 8)


def test_a_larger_theta_rejects_more_would_be_false_negatives_by_bayes_rule_and_no_more_false_positives():
    equal, unequal = regions.bayes(1.0), regions.bayes(1.4)
    assert unequal["missed_rejected"] > equal["missed_rejected"]
    assert unequal["alarmed_rejected"] == pytest.approx(equal["alarmed_rejected"])
    assert equal["missed_rejected"] == pytest.approx(equal["alarmed_rejected"])  # the law is symmetric


def test_the_drawn_plane_is_the_machine():
    drawn = regions.example("synthetic")
    for figure, machine in drawn["figures"].items():
        lower, upper = machine["thresholds"]
        f = regions_page.scores(drawn, figure, drawn["X"])
        clear = np.minimum(np.abs(f - lower), np.abs(f - upper)) > 1e-6  # rounding may decide a row on the line
        choice = machines.Thresholds(lower, upper).decide(f)
        assert np.array_equal(choice[clear], np.array(machine["choice"])[clear])
        assert set(choice[clear].tolist()) == {-1, 0, 1}
        assert not np.array_equal(machines.Thresholds(lower, upper).decide(-f), choice)


@pytest.mark.parametrize(("split", "shared"), [("beat", True), ("record", False)])
def test_records_stay_whole_where_they_must_and_do_not_where_they_need_not(split, shared):
    record = np.repeat(np.arange(21), 40)
    y = np.tile([0, 0, 0, 1], 210)
    fold = ecg.fold_of_beats(split, y, record, 0, 7)
    assert sorted(set(fold.tolist())) == list(range(7))
    torn = [len(set(fold[record == one].tolist())) > 1 for one in range(21)]
    assert all(torn) if shared else not any(torn)


def test_the_measures_are_those_of_the_paper():
    counts = np.tile([80.0, 4.0, 1.0, 2.0, 3.0, 10.0], (len(ecg.PRICES), 1))
    found = ecg.measures(counts)
    r = np.array(ecg.PRICES)
    assert found["cost"] == pytest.approx((1.2 * 2 + 1 * 1 + r * 7) / 100)  # equation (23)
    assert found["sensitivity"][0] == 10 / 12
    assert found["predictivity"][0] == 10 / 11
    assert (found["reject"][0], found["error"][0]) == (0.07, 0.03)


def test_the_first_price_of_the_ecg_rejects_nothing():
    first, second = (Costs(1.0, ecg.THETA, r) for r in ecg.PRICES[:2])
    assert not first.rejects
    assert second.rejects


def test_the_cheapest_machine_at_a_fixed_price_is_found():
    share = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (len(ecg.PRICES), 1))
    share[:, 3] = 0.1  # every machine misses some, ...
    share[5, 3], share[5, 4] = 0.0, 0.1  # ... one rejects them instead
    for one in ecg.fixed_prices(share):
        assert one["best_reject"] == pytest.approx(0.1 / 1.1)
        assert one["best"] == pytest.approx(one["price"] * 0.1 / 1.1)
        assert one["none"] == pytest.approx(1.2 * 0.1 / 1.1)


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [(0.99, 0.01, "holds"), (0.97, 0.01, "cannot be judged"), (0.90, 0.01, "does not hold")],
)
def test_above_a_bound(value, error, verdict):
    assert ecg_page._above((value, error), 0.982) == verdict


@pytest.mark.parametrize(
    ("mean", "error", "verdict"),
    [
        (-0.5, 0.05, "holds"),
        (-0.3, 0.05, "does not hold"),
        (-0.58, 0.3, "cannot be judged"),
        (-0.58, math.nan, "cannot be judged"),
    ],
)
def test_a_published_ratio(mean, error, verdict):
    assert tradeoff_page._same(-0.58, {"mean": mean, "se": error}) == verdict
