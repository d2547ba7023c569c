"""Numbers to keep: means and intervals by set and costs, ranks, and comparisons with the best of the other rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness.ranks import ranked
from harness.trials import corrected_p, holm, over_splits
from measure import BAYES, BUDGETS, CS, CURVE, TUNED, WIDTHS
from measure_others import FOLDS_OF_TREES, LEAVES, LEVELS, NODES, SHARES, STAGES, TREES
from measure_sets import FOLDS, GENES, PRICES, SETS, rows_of

FORCED = "SVC, forced"
METHODS = (
    TUNED,
    BAYES,
    "SVC + lead",
    "SVC + Platt",
    "SVC + temperature",
    "forest + Chow",
    "boosting + Chow",
    "conformal sets",
)
Values = dict[tuple[str, str, str], list[dict[str, Any]]]  # (set, costs, method) -> by split


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers; sets that were not measured are left out."""
    values = collected(answers)
    names = [name for name in SETS if any(name == data for data, _, _ in values)]
    keys = [(name, costs) for name in names for costs in _costs(values, name)]
    blocks = [block(values, name, costs) for name, costs in keys]
    even = [[one for one in blocks if one["data"] == name and one["costs"] in _prices()] for name in names]
    means = [[[one["methods"][m]["cost"]["mean"] for m in METHODS] for one in here] for here in even]
    ranks = ranked(np.array(means))
    return {
        "protocol": {
            "prices": PRICES, "Cs": CS, "widths": WIDTHS, "folds": FOLDS, "genes": GENES, "trees": TREES,
            "leaves": LEAVES, "shares": SHARES, "nodes": NODES, "stages": STAGES, "levels": LEVELS,
            "folds_of_trees": FOLDS_OF_TREES, "curve": CURVE,
        },
        "sets": [described(values, name) for name in names],
        "methods": METHODS,
        "blocks": blocks,
        "ranks": {**ranks, "mean": dict(zip(METHODS, ranks["mean"], strict=True))},
        "against_best": {method: against_best(values, keys, method) for method in (TUNED, BAYES)},
        "pairs": {method: pair(values, keys, method) for method in METHODS if method != TUNED},
        "budgets": {"shares": BUDGETS, **{name: budgets(values, name) for name in names}},
    }  # fmt: skip


def collected(answers: Mapping[str, Any]) -> Values:
    """The answers by set, costs and method; every method has the same splits in the same order."""
    found: Values = {}
    for key in sorted(answers, key=lambda key: (key.split("/")[0], int(key.split("/")[1]))):
        for row in answers[key]:
            found.setdefault((key.split("/")[0], row["costs"], row["method"]), []).append(row)
    return found


def _prices() -> list[str]:
    return [f"{r:g}" for r in PRICES]


def _costs(values: Values, name: str) -> list[str]:
    return [costs for data, costs, method in values if data == name and method == TUNED]


def described(values: Values, name: str) -> dict[str, Any]:
    """Rows, classes and splits of a set."""
    rows, (X, y) = values[name, CURVE, TUNED], rows_of(name)
    counts = np.bincount(y)
    return {
        "data": name, "title": SETS[name].title, "classes": len(counts), "features": X.shape[1], "rows": len(y),
        "smallest": int(counts.min()), "training_rows": rows[0]["trained"], "test_rows": rows[0]["tested"],
        "splits": len(rows), "blocks": SETS[name].blocks,
    }  # fmt: skip


def costs_by_split(values: Values, name: str, costs: str, method: str) -> Any:
    """The mean cost of each split."""
    return np.array([row["cost"] for row in values[name, costs, method]])


def block(values: Values, name: str, costs: str) -> dict[str, Any]:
    """One set at one of the costs."""
    found = {}
    for method in (*METHODS, FORCED):
        rows = values[name, costs, method]
        found[method] = {
            "cost": over_splits([row["cost"] for row in rows], SETS[name].shared),
            "rejected": float(np.mean([row["rejected"] for row in rows])),
            "wrong": float(np.mean([row["wrong"] for row in rows])),
        }
    return {"data": name, "costs": costs, "methods": found}


def against_best(values: Values, keys: list[tuple[str, str]], method: str) -> dict[str, Any]:
    """In each block, the cost minus that of the best of the other rules, ours left out; Holm's correction over blocks.

    The best is the one of least mean cost on these very test rows, which favours it.
    """
    rivals = [name for name in METHODS if name not in (TUNED, BAYES)]
    gaps, best = [], []
    for key in keys:
        by = {name: costs_by_split(values, *key, name) for name in rivals}
        best.append(min(rivals, key=lambda name: float(by[name].mean())))
        gaps.append(costs_by_split(values, *key, method) - by[best[-1]])
    return _tested(keys, gaps) | {"best": best}


def pair(values: Values, keys: list[tuple[str, str]], method: str) -> dict[str, Any]:
    """A method's cost minus that of ours with tuned cuts in each block, and the geometric mean of their ratio."""
    gaps = [costs_by_split(values, *key, method) - costs_by_split(values, *key, TUNED) for key in keys]
    logs = []
    for key in keys:
        rows = values[*key, TUNED]
        least = 1.0 / sum(row["tested"] for row in rows) * min(PRICES)  # so that the ratio is finite
        a, b = (max(float(costs_by_split(values, *key, name).mean()), least) for name in (method, TUNED))
        logs.append(np.log(a / b))
    return _tested(keys, gaps) | {"ratio": float(np.expm1(np.mean(logs)))}


def _tested(keys: list[tuple[str, str]], gaps: list[Any]) -> dict[str, Any]:
    shares = [SETS[name].shared for name, _ in keys]
    adjusted = holm([corrected_p(gap, share) for gap, share in zip(gaps, shares, strict=True)])
    means = [float(gap.mean()) for gap in gaps]
    return {
        "gaps": [over_splits(gap, share) | {"p": p} for gap, share, p in zip(gaps, shares, adjusted, strict=True)],
        "more": sum(p < 0.05 and mean > 0 for p, mean in zip(adjusted, means, strict=True)),
        "less": sum(p < 0.05 and mean < 0 for p, mean in zip(adjusted, means, strict=True)),
        "blocks": len(keys),
    }


def budgets(values: Values, name: str) -> dict[str, Any]:
    """The share of errors among accepted rows at each share of rejects, and its difference to ours with tuned cuts."""
    errors = {method: np.array([row["at_budgets"] for row in values[name, CURVE, method]]) for method in METHODS}
    share = SETS[name].shared
    return {
        method: {
            "error": [over_splits(column, share) for column in found.T],
            "minus_tuned": [over_splits(column, share) for column in (found - errors[TUNED]).T],
        }
        for method, found in errors.items()
    }
