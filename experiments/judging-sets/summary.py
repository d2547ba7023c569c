"""Numbers to keep: the cost of each method in each setting, which is a set and costs, and their comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness.ranks import ranked
from harness.trials import as_ratio, over_sets
from measure_ours import DEFAULT, FIRST, SECOND
from measure_rivals import RIVALS
from measure_sets import ALL, JUDGEMENTS
from measure_split import MORE, TEST_SHARE, TWO, Array, Codes, costs_of, table_of, unpacked

BOOSTING, FORMER = "boosting", "--machine svm"
OTHERS = (*RIVALS, "rejecting all", "one answer for all")
COMPARED = {"first": (*FIRST, *OTHERS), "second": (DEFAULT, *OTHERS)}  # among these the cheapest is found
VARIANTS = {"first": (), "second": tuple(name for name in SECOND if name != DEFAULT)}  # each in the default's place
SMALL = 1_000  # rows
FREE = 0.01  # of the rows: the cost of rejecting them is nearly none
LARGE = 20_000  # rows
ERRORS = 2.0  # standard errors within which a method counts as no worse


@dataclass(frozen=True, eq=False)
class Measured:
    """A method in a setting: the cost of each test row of all splits, mean seconds of a fit, share of rejects.

    `fits` says of each split what was trained, as far as a method says it.
    """

    paid: Array
    seconds: float
    rejected: float
    fits: list[dict[str, Any]]


FACTS = ("machine", "guard", "novel")
Settings = dict[tuple[str, str], dict[str, Measured]]  # (set, costs) -> method
Truths = dict[str, dict[int, dict[str, Any]]]  # set -> seed -> the classes of its test rows, and which rows these are


def summary(judgement: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers; sets and methods that were not measured are left out."""
    truths = truths_of(answers)
    found = measured(answers, truths)
    rows = {name: np.concatenate([item["rows"] for item in own.values()]) for name, own in truths.items()}
    sets = [name for name in ALL if name in truths]
    every = (*COMPARED[judgement], *VARIANTS[judgement])
    done = [method for method in every if all(method in here for here in found.values())]
    methods = [method for method in COMPARED[judgement] if method in done]
    blocks = blocks_of(sets, found, methods, rows)
    free = nearly_free(blocks)
    protocol = {"test_share": TEST_SHARE, "most_rows": JUDGEMENTS[judgement].most_rows}
    numbers = {
        "costs": {"two": TWO, "more": MORE},
        "protocol": {**protocol, "small": SMALL, "large": LARGE, "errors": ERRORS, "free": FREE},
        "sets": [described(name, truths[name]) for name in sets],
        "methods": methods,
        "blocks": blocks,
        "overall": {method: overall(blocks, sets, method) for method in methods},
        "ranks": ranks(blocks, sets, methods),
        "large": large(blocks, sets, found, rows),
        "chosen": chosen(answers),
        "nearly_free": {"sets": free, **without(blocks, sets, methods, free)},
        "failed": failed(answers),
    }
    return numbers | {
        "variants": {
            name: in_its_place(name, sets, found, methods, rows) for name in VARIANTS[judgement] if name in done
        },
        "former": {
            "small": against(FORMER, [name for name in sets if ALL[name].rows < SMALL], found, rows),
            "all": against(FORMER, sets, found, rows),
        }
        if FORMER in done
        else None,
    }


def blocks_of(
    sets: Sequence[str], found: Settings, methods: Sequence[str], rows: Mapping[str, Codes]
) -> list[dict[str, Any]]:
    """Every setting of some sets, with these methods."""
    return [
        block(name, costs, {method: found[name, costs][method] for method in methods}, rows[name])
        for name in sets
        for costs in costs_of(name)
    ]


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
        fits = [{key: items[seed][key] for key in FACTS if key in items[seed]} for seed in truths[name]]
        paid = table_of(costs, K)[code, choice]
        found.setdefault((name, costs), {})[method] = Measured(paid, seconds, rejected, fits)
    return found


def chosen(answers: Mapping[str, Any]) -> dict[str, int]:
    """How many fits of the default chose each machine."""
    own = [item for answer in answers.values() for item in answer["methods"].get(DEFAULT, {}).values()]
    return dict(Counter(item["machine"] for item in own if "machine" in item))


def failed(answers: Mapping[str, Any]) -> list[dict[str, str]]:
    """The fits that failed, and what they said."""
    return [
        {"task": key, "method": method, "costs": costs, "error": item["error"]}
        for key, answer in answers.items()
        for method, by_costs in answer["methods"].items()
        for costs, item in by_costs.items()
        if "error" in item
    ]


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
    facts = {"tested": len(rows), "fits": found[DEFAULT].fits} if DEFAULT in found else {}
    return {"data": name, "costs": costs, "cheapest": cheapest, **facts, "methods": methods}


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


def nearly_free(blocks: list[dict[str, Any]]) -> list[str]:
    """The sets on which the cheapest method costs less than rejecting a share `FREE` of the rows, at any costs."""
    found = {
        item["data"]: None
        for item in blocks
        if item["methods"][item["cheapest"]]["cost"]
        < FREE * table_of(item["costs"], len(ALL[item["data"]].classes))[0, -1]
    }
    return list(found)


def without(blocks: list[dict[str, Any]], sets: list[str], methods: list[str], left_out: list[str]) -> dict[str, Any]:
    """How often each method is near the cheapest, and its regret, without some sets."""
    kept = [name for name in sets if name not in left_out]
    if len(kept) < 2 or not left_out:
        return {"overall": None}
    here = [item for item in blocks if item["data"] in kept]
    return {"overall": {method: overall(here, kept, method) for method in methods}}


def in_its_place(
    variant: str, sets: list[str], found: Settings, methods: list[str], rows: Mapping[str, Codes]
) -> dict[str, Any]:
    """What `overall` says of a variant that replaces the default among the methods, its rank, and its costs."""
    among = [variant if name == DEFAULT else name for name in methods]
    blocks = blocks_of(sets, found, among, rows)
    costs = [item["methods"][variant]["cost"] for item in blocks]
    free = without(blocks, sets, [variant], nearly_free(blocks))["overall"]
    return {
        **overall(blocks, sets, variant),
        "rank": ranks(blocks, sets, among)["mean"][variant],
        "regret_of_others": None if free is None else free[variant]["regret"],
        "against_default": against(variant, sets, found, rows),
        "costs": costs,
    }


def against(other: str, sets: list[str], found: Settings, rows: Mapping[str, Codes]) -> dict[str, Any]:
    """The default against one other method on some sets; the ratio is a geometric mean, of the default to the other."""
    blocks = blocks_of(sets, found, [DEFAULT, other], rows)
    gaps = [
        paired(both[DEFAULT].paid - both[other].paid, rows[item["data"]])
        for item in blocks
        for both in [found[item["data"], item["costs"]]]
    ]
    ratios: dict[str, list[float]] = {name: [] for name in sets}
    for item in blocks:
        ratios[item["data"]].append(item["methods"][DEFAULT]["ratio"] / item["methods"][other]["ratio"])
    logs = {name: float(np.log(own).mean()) for name, own in ratios.items()}
    return {
        "sets": len(sets),
        "settings": len(blocks),
        "less": sum(gap["more"] < -ERRORS * gap["error"] - 1e-12 for gap in gaps),
        "more": sum(not gap["near"] for gap in gaps),
        "ratio": as_ratio(over_sets(list(logs.values()))) if len(sets) > 1 else None,
        "by_set": {name: float(np.exp(log)) for name, log in logs.items()},
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
    return {
        **against(BOOSTING, names, found, rows),
        "near": {method: sum(i["methods"][method]["near"] for i in here) for method in (DEFAULT, BOOSTING)},
    }
