"""Pieces of the consistency experiment on cases with known answers."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from harness.paid import paid

from abstain import RejectSVC

FOLDER = Path(__file__).parents[2] / "experiments"
if not FOLDER.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)
sys.path.insert(0, str(FOLDER))


def loaded(file):
    spec = importlib.util.spec_from_file_location(
        f"consistency_{file.removesuffix('.py')}", FOLDER / "consistency" / file
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their own module
    spec.loader.exec_module(module)
    return module


measure = loaded("measure.py")
verdicts = loaded("verdicts.py")
KINDS = list(measure.COSTS)


@pytest.fixture(scope="module")
def law():
    return measure.the_law()


@pytest.mark.parametrize("kind", KINDS)
def test_excess_risk_of_rules_whose_risk_is_known(law, kind):
    costs = measure.COSTS[kind]
    X, y = law.sample(100_000, random_state=5)
    bayes = law.bayes_choice(X, costs.table())
    assert measure.excess(law, X, bayes, costs) == 0.0
    everything = costs.reject - law.bayes_risk(costs.table())  # rejecting all costs the price, whatever x
    assert measure.excess(law, X, np.zeros(len(X), dtype=np.int8), costs) == pytest.approx(everything, abs=1.5e-3)
    assert measure.excess(law, X, -bayes, costs) > everything
    drawn = paid(costs, np.where(y > 0, 1, -1), bayes)  # Bayes' risk again, from labels this time
    error = drawn.std() / math.sqrt(len(X))
    assert abs(drawn.mean() - measure.facts_of(law, costs)["bayes_risk"]) < 4 * error


@pytest.mark.parametrize("kind", KINDS)
def test_both_thresholds_matter(law, kind):
    decided = measure.facts_of(law, measure.COSTS[kind])["decided"]
    assert sum(decided.values()) == pytest.approx(1.0)
    assert min(decided.values()) > 0.1  # a law on which Bayes never decides one class would test half of the rule


def theorem_1(exponent):
    """Whether lambda_n = 1 / (2 n C(n)) falls and n lambda_n^2 / log n grows for C(n) = n^exponent."""
    n = np.logspace(3, 12, 10)
    strength = 1 / (2 * n * n**exponent)
    return bool((np.diff(strength) < 0).all() and (np.diff(n * strength**2 / np.log(n)) > 0).all())


def test_the_schedule_is_one_that_the_theorem_allows():
    assert theorem_1(measure.EXPONENT)
    assert not theorem_1(-0.4)  # too little regularisation
    assert not theorem_1(-1.0)  # lambda does not fall
    assert measure.scheduled(3.0, 1000, at=1000) == 3.0
    ratio = measure.scheduled(3.0, 32_000, at=1000) / 3.0
    assert math.log(ratio) / math.log(32) == pytest.approx(measure.EXPONENT)


def test_the_oracles_pairs_lie_on_the_grid():
    for rules in measure.ORACLE.values():
        assert list(rules) == list(measure.RULES)
        assert all(np.isclose(measure.CS, C).any() and np.isclose(measure.GAMMAS, g).any() for C, g in rules.values())


def test_the_double_hinge_decides_as_the_estimator_does(law):
    X, sign = measure.draw(law, 150, seed=3)
    costs = measure.COSTS["asymmetric"]
    choice = measure.learnt(X, sign, "double hinge", costs, C=2.0, gamma=0.3)(X)
    own = RejectSVC(costs, C=2.0, gamma=0.3).fit(X, sign).predict(X)  # labels -1, +1, and 0 for a reject
    assert np.array_equal(choice, own)
    assert 0 in own
    naive = measure.learnt(X, sign, "naive", costs, C=2.0, gamma=0.3)(X)
    assert not np.array_equal(naive, own)


def test_more_rows_bring_the_double_hinge_nearer_to_bayes(law):
    fresh, _ = law.sample(5000, random_state=9)
    costs, found = measure.COSTS["symmetric"], {}
    for n in (50, 1500):
        C, gamma = measure.scheduled(10.0, n, measure.START), 0.1
        drawn = [measure.draw(law, n, seed) for seed in range(3)]
        choices = [measure.learnt(*rows, "double hinge", costs, C=C, gamma=gamma)(fresh) for rows in drawn]
        found[n] = np.mean([measure.excess(law, fresh, choice, costs) for choice in choices])
    assert 0 < found[1500] < found[50] / 3


def point(mean, low, high):
    return {"n": 1, "mean": mean, "minus_double_hinge": {"low": low, "high": high}}


@pytest.mark.parametrize(
    ("means", "between", "own", "word"),
    [
        ([9, 5, 5, 5], (1, 2), [9, 4, 2, 1], "holds"),  # a plateau above the double hinge, which falls
        ([9, 5, 5, 5], (1, 2), [9, 4, 4, 4], "cannot be judged"),  # both have plateaus
        ([9, 5, 3, 2], (1, 2), [9, 4, 2, 1], "cannot be judged"),  # above it, but still falling
        ([9, 5, 3, 2], (-1, 2), [9, 4, 2, 1], "does not hold"),  # falling, and not significantly above
        ([9, 5, 5, 5], (-1, 2), [9, 4, 2, 1], "cannot be judged"),
        ([9, 5, 3, 2], (-2, -1), [9, 4, 4, 4], "does not hold"),
    ],
)
def test_verdicts_on_a_rivals_curve(means, between, own, word):
    rival, ours = ([point(mean, *between) for mean in curve] for curve in (means, own))
    assert verdicts.inconsistent(rival, ours) == word


@pytest.mark.parametrize(
    ("means", "word"),
    [
        ([90, 20, 10, 8], "holds"),
        ([90, 9, 8, 7], "cannot be judged"),  # far below the first, but on a plateau
        ([90, 60, 40, 20], "cannot be judged"),  # falling, but not far
        ([90, 80, 80, 90], "does not hold"),
    ],
)
def test_verdicts_on_the_double_hinges_curve(means, word):
    assert verdicts.converges([point(mean, 0, 0) for mean in means]) == word


def test_intervals_of_independent_samples():
    found = measure.sampled(np.array([1.0, 2.0, 3.0]))
    assert (found["mean"], found["standard_error"]) == pytest.approx((2.0, 1 / math.sqrt(3)))
    assert found["high"] - 2.0 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
