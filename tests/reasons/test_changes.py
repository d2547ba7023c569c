"""The change that a sentence proposes settles the row, and no smaller one of one cell does."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import abstain
from abstain import Actions, Costs, LinearRejectSVC, MachineSearch, NoveltyRejector, RejectSVC, ThresholdRejector
from abstain.preprocessing import default_pipeline
from reasons_cases import NUMERIC, TEXTS, forest, mixed, unsettled

COSTS = Costs.from_table({"ill": {"ill": 0, "well": 3}, "well": {"ill": 1, "well": 0}}, reject=0.3)
ACTIONS = Actions({"treat": {"ill": 0, "well": 1}, "leave": {"ill": 3, "well": 0}, "call": 0.3}, rejects=("call",))


MACHINES = {
    "kernel": lambda: RejectSVC(COSTS),
    "polars": lambda: RejectSVC(COSTS),
    "linear": lambda: LinearRejectSVC(COSTS),
    "several classes": lambda: RejectSVC(Costs(reject=0.25)),
    "actions": lambda: RejectSVC(ACTIONS),
    "row costs": lambda: RejectSVC(COSTS),
    "guard": lambda: RejectSVC(COSTS),
}


def case(kind):
    """A fitted model, new rows, and their costs."""
    (X, y), (new, _) = mixed(500, classes=3 if kind == "several classes" else 2), mixed(800, seed=1)
    costs = np.random.default_rng(0).uniform([1, 2, 0.2], [1.2, 4, 0.4], (len(new), 3)) if kind == "row costs" else None
    if kind in MACHINES:
        model = default_pipeline(MACHINES[kind](), NUMERIC, TEXTS)
        model = (NoveltyRejector(model, rate=0.05, random_state=0) if kind == "guard" else model).fit(X, y)
        return model, pytest.importorskip("polars").from_pandas(new) if kind == "polars" else new, costs
    if kind == "texts of another library":
        model = ThresholdRejector(default_pipeline(LogisticRegression(), NUMERIC, TEXTS), COSTS, random_state=0)
        return model.fit(X, y), mixed(800, seed=1)[0], None
    old, new = (one[NUMERIC].fillna(100).to_numpy() for one in (X, new))
    if kind == "forest":
        return forest(old, y), new, None
    return MachineSearch(COSTS, ("logistic",)).fit(old / [20, 1e4, 15], y), new / [20, 1e4, 15], None


@pytest.mark.parametrize("kind", [*MACHINES, "forest", "search", "texts of another library"])
def test_the_printed_change_settles_every_row(kind):
    model, X, costs = case(kind)
    decided = abstain.decide(model, X, costs)
    found = abstain.explain(model, X, row_costs=costs, decisions=decided, rows=np.flatnonzero(decided.rejected)[:150])
    failed, count = unsettled(model, X, found, costs)
    assert failed == 0
    assert count >= 100
    half, of = unsettled(model, X, found, costs, share=0.5)
    assert half > 0.8 * of > 30  # the control
