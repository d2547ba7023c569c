"""Short fits that narrow a grid are continued, and a search without an estimate of its own cost chooses the same."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from abstain import Costs, MachineSearch
from abstain.candidates import candidate_costs
from abstain.candidates.candidate_costs import Rows, truth_and_costs, tuned
from abstain.candidates.machines import MACHINES, Machine
from abstain.comparison.rules import Tuned
from abstain.estimators.fitting.splitting import checked_splits
from class_cases import gaussians

COSTS = Costs(reject=0.3)
X_ALL, Y_ALL = load_breast_cancer(return_X_y=True)


@pytest.fixture
def whole(whole_machines, monkeypatch):
    """The machines as users have them."""
    for name, machine in whole_machines.items():
        monkeypatch.setitem(MACHINES, name, machine)


@pytest.fixture
def continued(monkeypatch):
    """For each fit, whether it continues a short one."""
    fitted, found = Machine.fitted, []

    def watched(self, *given, short=None):
        found.append(short is not None)
        return fitted(self, *given, short=short)

    monkeypatch.setattr(Machine, "fitted", watched)
    return found


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_the_trees_are_those_of_one_fit(name, weighted, continued, monkeypatch):
    X, y = X_ALL[:150], Y_ALL[:150]
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float) if weighted else None
    truth, table = truth_and_costs(COSTS, y, None, "auto")
    rows = Rows(X, y, truth, table, checked_splits(3, y, None, truth, np.ones(150)), weight)
    given = {"seed": 0, "limit": None, "n_jobs": None, "verbose": False, "keep": True}
    if name == "boosting":  # with small steps, the last stages cost least
        slow = partial(HistGradientBoostingClassifier, early_stopping=False, learning_rate=0.01)
        monkeypatch.setitem(MACHINES, name, replace(MACHINES[name], make=slow))
    one = tuned(name, rows, **given)
    assert 0 < sum(continued) < len(continued)
    continued.clear()
    monkeypatch.setattr(candidate_costs, "FEW_ROWS", 0)
    other = tuned(name, rows, **given)
    assert not any(continued)
    np.testing.assert_array_equal(one.costs, other.costs)
    np.testing.assert_array_equal(one.kept, other.kept)
    for here, there in ((one.said, other.said), (one.held_out, other.held_out)):
        assert [*here] == [*there]
        assert all((p == q).all() for at in here for p, q in zip(here[at], there[at], strict=True))


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_under_a_time_limit_each_fit_is_begun_anew(name, continued):
    X, y = gaussians(60)
    MachineSearch(COSTS, (name,), time_limit=1e6, cv=2).fit(X, y)
    assert continued
    assert not any(continued)


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("name", ["logistic", "forest", "boosting"])
def test_without_an_estimate_the_choice_and_its_decisions_are_the_same(name):
    some, whole = (kind(COSTS, (name,), cv=3).fit(X_ALL[:150], Y_ALL[:150]) for kind in (Tuned, MachineSearch))
    assert some.choice_.chosen.best == whole.choice_.chosen.best
    np.testing.assert_array_equal(some.predict_proba(X_ALL[150:]), whole.predict_proba(X_ALL[150:]))
    assert np.isnan(some.best_score_)
    assert some.choice_.doing_nothing is None
    assert whole.best_score_ < 0


def test_several_machines_are_always_judged():
    X, y = gaussians(60)
    assert Tuned(COSTS, ("logistic", "nothing"), cv=3).fit(X, y).best_score_ < 0
