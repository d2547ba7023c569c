"""Numbers to keep: means and intervals by data set and costs, then comparisons over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from harness.ranks import ranked
from harness.trials import as_ratio, corrected_p, holm, over_sets, over_splits
from measure_sets import SETS, TEST_SHARE, rows_of, split
from measure_trial import CANDIDATES, COSTS, FOLDS
from numpy.typing import NDArray

BAYES, TUNED = "RejectSVCCV", "RejectSVCCV, tuned"
FORCED = ", forced"
METHODS = (
    BAYES,
    TUNED,
    "SVM + Chow, by cost",
    "SVM + Chow",
    "SVM + ROC",
    "SVM + symmetric",
    "logistic + Chow",
    "forest + Chow",
    "boosting + Chow",
)

Values = dict[tuple[str, str, str], dict[str, NDArray[np.float64]]]  # (set, costs, method) -> measure -> by split


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers; sets and methods that were not measured are left out."""
    values = collected(answers)
    found = {method for _, _, method in values}
    sets = [name for name in SETS if any(name == data for data, _, _ in values)]
    methods = [method for method in METHODS if method in found]
    forced = sorted(method for method in found if method.endswith(FORCED))
    blocks = [block(values, data, costs, methods, forced) for data in sets for costs in COSTS]
    references = [method for method in (BAYES, TUNED) if method in found]
    compared = [(a, b) for b in references for a in methods if a != b and (a, b) != (BAYES, TUNED)]
    return {
        "costs": {key: [c.false_positive, c.false_negative, c.reject] for key, c in COSTS.items()},
        "protocol": {"folds": FOLDS, "candidates": CANDIDATES, "test_share": TEST_SHARE, "splits": splits_of(values)},
        "sets": [described(name) for name in sets],
        "methods": methods,
        "forced": forced,
        "blocks": blocks,
        "overall": overall(blocks, methods),
        "ranks": ranks(blocks, methods),
        "pairs": {f"{a} against {b}": pair(values, sets, a, b) for a, b in compared},
        "bias": {method: bias(values, sets, method) for method in references},
    }


def collected(answers: Mapping[str, Any]) -> Values:
    """The answers by set, costs and method; every method has the same splits in the same order."""
    rows: dict[tuple[str, str, str], dict[int, dict[str, Any]]] = {}
    for key, answer in answers.items():
        _, data, seed = key.split("/")
        for row in answer:
            rows.setdefault((data, row["costs"], row["method"]), {})[int(seed)] = row
    seeds = {tuple(sorted(by_seed)) for by_seed in rows.values()}
    if len(seeds) > 1:
        raise ValueError(f"methods have different splits: {sorted(seeds)}; measure the missing ones first.")
    return {
        key: {
            name: np.array([by_seed[seed][name] for seed in sorted(by_seed)])
            for name in ("cost", "rejected", "wrong", "estimate", "least")
            if name in next(iter(by_seed.values()))
        }
        for key, by_seed in rows.items()
    }


def splits_of(values: Values) -> int:
    """The number of splits."""
    return len(next(iter(values.values()))["cost"])


@cache
def described(name: str) -> dict[str, Any]:
    """Rows, features as the machines see them, and the share of the positive class."""
    X, sign, _, s_test = split(name, 0)
    every = rows_of(name)[1]
    facts = {"data": name, "title": SETS[name].title, "rows": len(every), "features": X.shape[1]}
    return {**facts, "positive": float((every > 0).mean()), "training_rows": len(sign), "test_rows": len(s_test)}


def block(values: Values, data: str, costs: str, methods: list[str], forced: list[str]) -> dict[str, Any]:
    """One set at one of the costs: every method's means, also relative to the best machine that may not reject."""
    here = {method: values[data, costs, method] for method in (*methods, *forced)}
    best = min(forced, key=lambda method: float(here[method]["cost"].mean()))
    n = splits_of(values)
    level = {method: floored(float(item["cost"].mean()), data, costs, n) for method, item in here.items()}
    share, price = float((rows_of(data)[1] > 0).mean()), COSTS[costs]
    trivial = min(price.false_positive * (1 - share), price.false_negative * share, float(price.reject_negative))
    return {
        "data": data,
        "costs": costs,
        "one_decision_for_all": trivial,
        "best_forced": {"method": best, "cost": float(here[best]["cost"].mean())},
        "methods": {
            method: {
                "cost": over_splits(item["cost"], TEST_SHARE),
                "rejected": float(item["rejected"].mean()),
                "wrong": float(item["wrong"].mean()),
                "relative": level[method] / level[best],
            }
            for method, item in here.items()
        },
    }


def floored(cost: float, data: str, costs: str, splits: int) -> float:
    """At least the cost of one reject in all test rows of all splits, so that ratios are finite."""
    return max(cost, float(COSTS[costs].reject_negative) / (splits * described(data)["test_rows"]))


def overall(blocks: list[dict[str, Any]], methods: list[str]) -> dict[str, Any]:
    """For each method: mean log cost relative to the best forced machine, over sets; how often it costs least."""
    costs = np.array([[block["methods"][method]["cost"]["mean"] for method in methods] for block in blocks])
    cheapest = np.sum(costs <= costs.min(axis=1, keepdims=True) + 1e-12, axis=0)  # ties count for each
    found = {}
    for method, times in zip(methods, cheapest, strict=True):
        relative = np.reshape([block["methods"][method]["relative"] for block in blocks], (-1, len(COSTS)))
        trivial = [block["methods"][method]["cost"]["mean"] < block["one_decision_for_all"] for block in blocks]
        found[method] = {
            "relative": as_ratio(over_sets(np.log(relative).mean(axis=1))),
            "cheapest": int(times),
            "below_forced": int(np.sum(relative < 1)),
            "rejected": float(np.mean([block["methods"][method]["rejected"] for block in blocks])),
            "below_one_decision": sum(trivial),
        }
    return found


def ranks(blocks: list[dict[str, Any]], methods: list[str]) -> dict[str, Any]:
    """Mean ranks over sets and costs."""
    costs = [[block["methods"][method]["cost"]["mean"] for method in methods] for block in blocks]
    found = ranked(np.array(costs).reshape(-1, len(COSTS), len(methods)))
    return {**found, "sets": len(blocks) // len(COSTS), "mean": dict(zip(methods, found["mean"], strict=True))}


def pair(values: Values, sets: list[str], a: str, b: str) -> dict[str, Any]:
    """Cost of `a` minus that of `b` by block, with Holm's correction over all blocks, and their ratio over sets."""
    keys = [(data, costs) for data in sets for costs in COSTS]
    gaps = [values[*key, a]["cost"] - values[*key, b]["cost"] for key in keys]
    adjusted = holm([corrected_p(gap, TEST_SHARE) for gap in gaps])
    n, logs = splits_of(values), []
    for data in sets:
        mean = [[floored(float(values[data, c, m]["cost"].mean()), data, c, n) for m in (a, b)] for c in COSTS]
        logs.append(float(np.mean([np.log(x / y) for x, y in mean])))
    found = [
        {"data": data, "costs": costs, **over_splits(gap, TEST_SHARE), "holm_p": p}
        for (data, costs), gap, p in zip(keys, gaps, adjusted, strict=True)
    ]
    return {
        "more": sum(item["holm_p"] < 0.05 and item["mean"] > 0 for item in found),
        "less": sum(item["holm_p"] < 0.05 and item["mean"] < 0 for item in found),
        "mean_above": sum(item["mean"] > 1e-12 for item in found),
        "mean_below": sum(item["mean"] < -1e-12 for item in found),
        "ratio": as_ratio(over_sets(logs)),
        **({"blocks": found} if (a, b) == (TUNED, BAYES) else {}),  # the page shows these
    }


def bias(values: Values, sets: list[str], method: str) -> dict[str, Any]:
    """What the search says its decisions cost, minus their cost on test rows, in units of the reject cost.

    "estimate" is minus `best_score_`, "least" the least mean cost of the search. `of_cost` divides the mean bias by the
    mean cost on test rows in the same units.
    """
    unit = {key: float(c.reject_negative) for key, c in COSTS.items()}
    cost = float(np.mean([values[data, c, method]["cost"].mean() / unit[c] for data in sets for c in COSTS]))
    found = {}
    for name in ("estimate", "least"):
        by_set = []
        for data in sets:
            here = {c: values[data, c, method] for c in COSTS}
            by_set.append(float(np.mean([(item[name] - item["cost"]).mean() / unit[c] for c, item in here.items()])))
        item = over_sets(by_set)
        found[name] = {**item, "of_cost": {key: item[key] / cost for key in ("mean", "low", "high")}}
    return {**found, "cost": cost}
