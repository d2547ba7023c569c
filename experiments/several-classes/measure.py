"""All methods on one split of a set, at all its costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from harness import Task
from measure_others import others
from measure_rules import Decided, cost_of
from measure_sets import SETS, Array, Codes, Split, costs_of, split

from abstain import RejectSVC, RejectSVCCV
from abstain.costs.costs import Costs

TUNED, BAYES = "RejectSVCCV, tuned", "RejectSVCCV, Bayes"
CS, WIDTHS = (1.0, 10.0, 100.0), (0.25, 1.0, 4.0)  # gammas in units of "scale"
BUDGETS = (0.0, 0.05, 0.1, 0.2, 0.3)
CURVE = "0.1"  # the price whose machines the budgets use


def ours(split: Split, grid: dict[str, Any], costs: Costs) -> dict[str, Decided]:
    """RejectSVCCV with tuned cuts and, from the same search, with Bayes' cuts."""
    tuned = RejectSVCCV(costs, **grid, cv=split.folds).fit(split.X, split.y)
    found = tuned.cv_results_  # of Bayes' cuts
    pair = found["params"][int(np.argmin(found["rank_test_score"]))]  # as cuts="bayes" would choose
    bayes = RejectSVC(costs, **pair).fit(split.X, split.y)
    return {method: _decided(clf, split.X_test) for method, clf in ((TUNED, tuned), (BAYES, bayes))}


def _decided(clf: Any, X_test: Array) -> Decided:
    score = clf.decision_function(X_test)
    choice, rule = clf.rule_.choose(score), clf.rule_
    cuts = getattr(clf, "thresholds_", None)  # none where the least expected cost decides
    sure = -rule.expected_cost(score)[:, :-1].min(axis=1) if cuts is None else (score - cuts).max(axis=1)
    return Decided(choice, rule.best(score), sure)


def trial(name: str, seed: int, fast: bool) -> list[dict[str, Any]]:
    """The mean cost, the share of rejects and of errors of each method at each of the costs."""
    here = split(name, seed)
    if fast:
        here = replace(here, X=here.X[:200], y=here.y[:200])
    scale = 1.0 / (here.X.shape[1] * here.X.var())
    grid = {"Cs": list(CS[1:2] if fast else CS), "gammas": [scale * w for w in (WIDTHS[1:2] if fast else WIDTHS)]}
    costs = costs_of(name, tuple(np.unique(here.y).tolist()))
    tables = {key: item.table() for key, item in costs.items()}
    found = others(here, grid, tables)
    for key, item in costs.items():
        for method, decided in ours(here, grid, item).items():
            found.setdefault(method, {})[key] = decided
    return [
        judged(here.y_test, decided, tables[key]) | {"method": method, "costs": key, "trained": len(here.y)}
        for method, by_costs in found.items()
        for key, decided in by_costs.items()
    ]


def judged(y: Codes, decided: Decided, table: Array) -> dict[str, Any]:
    """Cost, rejects and errors of all rows, and the share of errors among the rows accepted at each budget."""
    choice, reject = decided.choice, table.shape[0]
    return {
        "cost": cost_of(y, choice, table),
        "rejected": float((choice == reject).mean()),
        "wrong": float(((choice != reject) & (choice != y)).mean()),
        "at_budgets": [_error_at(budget, y, decided) for budget in BUDGETS],
        "tested": len(y),
    }


def _error_at(budget: float, y: Codes, decided: Decided) -> float:
    """The share of errors among the rows left when this share of rows, the least sure ones, is rejected."""
    order = np.argsort(-decided.confidence, kind="stable")
    kept = order[: len(y) - round(budget * len(y))]
    return float((decided.answer[kept] != y[kept]).mean())


def tasks(fast: bool) -> list[Task]:
    """One task for each split of each set; the longest first."""
    if fast:
        return [Task(f"digits/{seed}", trial, {"name": "digits", "seed": seed, "fast": True}) for seed in (0, 1)]
    plan = [(name, seed) for name, item in SETS.items() for seed in range(item.splits)]
    return [Task(f"{name}/{seed}", trial, {"name": name, "seed": seed, "fast": False}) for name, seed in plan]
