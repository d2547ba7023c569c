"""Numbers to keep: the cost of each method in each setting, which is a set and costs, and their comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness.ranks import ranked
from harness.trials import as_ratio, over_sets
from measure_ours import OURS
from measure_rivals import RIVALS
from measure_sets import GENERATED, SETS
from measure_split import MORE, MOST_ROWS, TEST_SHARE, TWO, Array, Codes, costs_of, table_of, unpacked

ALL = SETS | GENERATED
DEFAULT, BOOSTING = "command line", "boosting"
METHODS = (*OURS, *RIVALS, "rejecting all", "one answer for all")
LARGE = 20_000  # rows
ERRORS = 2.0  # standard errors within which a method counts as no worse


@dataclass(frozen=True, eq=False)
class Measured:
    """A method in a setting: the cost of each test row of all splits, mean seconds of a fit, share of rejects."""

    paid: Array
    seconds: float
    rejected: float


Settings = dict[tuple[str, str], dict[str, Measured]]  # (set, costs) -> method
Truths = dict[str, dict[int, dict[str, Any]]]  # set -> seed -> the classes of its test rows, and which rows these are


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers; sets and methods that were not measured are left out."""
    truths = truths_of(answers)
    found = measured(answers, truths)
    rows = {name: np.concatenate([item["rows"] for item in own.values()]) for name, own in truths.items()}
    sets = [name for name in ALL if name in truths]
    methods = [method for method in METHODS if all(method in here for here in found.values())]
    blocks = [
        block(name, costs, {method: found[name, costs][method] for method in methods}, rows[name])
        for name in sets
        for costs in costs_of(name)
    ]
    return {
        "costs": {"two": TWO, "more": MORE},
        "protocol": {"test_share": TEST_SHARE, "most_rows": MOST_ROWS, "large": LARGE, "errors": ERRORS},
        "sets": [described(name, truths[name]) for name in sets],
        "methods": methods,
        "blocks": blocks,
        "overall": {method: overall(blocks, sets, method) for method in methods},
        "ranks": ranks(blocks, sets, methods),
        "large": large(blocks, sets, found, rows),
        "chosen": chosen(answers),
    }


def truths_of(answers: Mapping[str, Any]) -> Truths:
    """The test rows of each split."""
    found: Truths = {}
    for key in sorted(key for key in answers if key.startswith("truth/")):
        _, name, seed = key.split("/")
        found.setdefault(name, {})[int(seed)] = answers[key]
    return found


def measured(answers: Mapping[str, Any], truths: Truths) -> Settings:
    """What every method costs in every setting; each has the splits of the truth in the same order."""
    parts: dict[tuple[str, str, str], dict[int, dict[str, Any]]] = {}
    for key, answer in answers.items():
        name, seed = key.split("/")[1:3]
        for method, by_costs in answer["methods"].items():
            for costs, item in by_costs.items():
                parts.setdefault((name, costs, method), {})[int(seed)] = item
    found: Settings = {}
    for (name, costs, method), items in parts.items():
        if items.keys() != truths[name].keys():
            raise ValueError(f"{method} has other splits of {name} than the truth; measure the missing ones first.")
        choice = np.concatenate([unpacked(items[seed]["choice"]) for seed in truths[name]])
        code = np.concatenate([unpacked(item["truth"]) for item in truths[name].values()])
        K = len(ALL[name].classes)
        seconds, rejected = float(np.mean([item["seconds"] for item in items.values()])), float(np.mean(choice == K))
        found.setdefault((name, costs), {})[method] = Measured(table_of(costs, K)[code, choice], seconds, rejected)
    return found


def chosen(answers: Mapping[str, Any]) -> dict[str, int]:
    """How many fits of the default chose each machine."""
    every = [item for answer in answers.values() for costs in answer["methods"].values() for item in costs.values()]
    return dict(Counter(item["machine"] for item in every if "machine" in item))


def described(name: str, splits: Mapping[int, Any]) -> dict[str, Any]:
    """What a set is."""
    item = ALL[name]
    facts = {"data": name, "title": item.title, "package": item.package, "rows": item.rows, "columns": item.columns}
    facts |= {"classes": len(item.classes), "positive": item.positive, "why": item.why}
    return {**facts, "splits": len(splits), "trained": next(iter(splits.values()))["trained"]}


def block(name: str, costs: str, found: Mapping[str, Measured], rows: Codes) -> dict[str, Any]:
    """One setting: every method's mean cost, and its difference to the cheapest with its standard error."""
    mean = {method: float(item.paid.mean()) for method, item in found.items()}
    cheapest = min(mean, key=mean.__getitem__)
    floor = table_of(costs, len(ALL[name].classes))[0, -1] / len(rows)  # one reject, so that ratios are finite
    methods = {
        method: {
            "cost": mean[method],
            **paired(item.paid - found[cheapest].paid, rows),
            "ratio": max(mean[method], floor) / max(mean[cheapest], floor),
            "seconds": item.seconds,
            "rejected": item.rejected,
        }
        for method, item in found.items()
    }
    return {"data": name, "costs": costs, "cheapest": cheapest, "methods": methods}


def paired(difference: Array, rows: Codes) -> dict[str, Any]:
    """The mean of the differences of test rows, and its standard error.

    ::

        standard error   sqrt( G / (G - 1) sum_g (sum_{i in g} (d_i - mean))^2 ) / n

    A row that several splits test is one group g: its differences are not independent.
    """
    group = np.unique(rows, return_inverse=True)[1]
    G, mean = int(group.max()) + 1, float(difference.mean())
    sums = np.bincount(group, difference - mean)
    error = float(np.sqrt(G / (G - 1) * np.sum(sums**2)) / len(rows))
    return {"more": mean, "error": error, "near": mean <= ERRORS * error + 1e-12}


def overall(blocks: list[dict[str, Any]], sets: list[str], method: str) -> dict[str, Any]:
    """How often a method is the cheapest or near it, and its regret: the geometric mean of its ratio, minus 1."""
    own = [item["methods"][method] for item in blocks]
    logs = [np.mean([np.log(i["methods"][method]["ratio"]) for i in blocks if i["data"] == name]) for name in sets]
    return {
        "settings": len(blocks),
        "cheapest": sum(item["more"] <= 1e-12 for item in own),
        "near": sum(item["near"] for item in own),
        "regret": as_ratio(over_sets(logs)),
        "seconds": float(np.exp(np.mean([np.log(max(item["seconds"], 1e-3)) for item in own]))),
        "rejected": float(np.mean([item["rejected"] for item in own])),
    }


def ranks(blocks: list[dict[str, Any]], sets: list[str], methods: list[str]) -> dict[str, Any]:
    """Mean ranks over sets and costs; every set has the same number of costs."""
    costs = np.array([[item["methods"][method]["cost"] for method in methods] for item in blocks])
    found = ranked(costs.reshape(len(sets), -1, len(methods)))
    return {**found, "mean": dict(zip(methods, found["mean"], strict=True))}


def large(blocks: list[dict[str, Any]], sets: list[str], found: Settings, rows: Mapping[str, Codes]) -> dict[str, Any]:
    """The default against boosting in the settings of large sets."""
    names = [name for name in sets if ALL[name].rows >= LARGE]
    here = [item for item in blocks if item["data"] in names]
    gaps = [
        paired(both[DEFAULT].paid - both[BOOSTING].paid, rows[item["data"]])
        for item in here
        for both in [found[item["data"], item["costs"]]]
    ]
    logs = [
        [np.log(i["methods"][DEFAULT]["ratio"] / i["methods"][BOOSTING]["ratio"]) for i in here if i["data"] == name]
        for name in names
    ]
    return {
        "sets": len(names),
        "settings": len(here),
        "near": {method: sum(i["methods"][method]["near"] for i in here) for method in (DEFAULT, BOOSTING)},
        "less": sum(gap["more"] < -ERRORS * gap["error"] - 1e-12 for gap in gaps),
        "more": sum(not gap["near"] for gap in gaps),
        "ratio": as_ratio(over_sets([float(np.mean(own)) for own in logs])) if len(names) > 1 else None,
    }
