"""Sentences that follow from the results, whichever way the numbers fall."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.pages import share
from harness.sentences import direction, interval, listed, percent
from summary import BOOSTING, DEFAULT, FORMER


def near(results: dict[str, Any]) -> str:
    """How often the default is the cheapest or no worse."""
    overall, own = results["overall"], results["overall"][DEFAULT]
    n, errors = own["settings"], results["protocol"]["errors"]
    most = max(item["near"] for item in overall.values())
    first = [name for name, item in overall.items() if item["near"] == most]
    others = (
        f"No method has a larger share{_alike([name for name in first if name != DEFAULT])}."
        if DEFAULT in first
        else f"The largest share is that of {listed(first)}: {share(most / n, digits=0)}."
    )
    return (
        f"The command line's default is the cheapest or within {errors:g} standard errors of the cheapest in "
        f"{own['near']} of {n} settings (a set and costs), {share(own['near'] / n, digits=0)}; it is the cheapest in "
        f"{own['cheapest']}. {others}"
    )


def _alike(names: list[str]) -> str:
    return f"; {listed(names)} {'has' if len(names) == 1 else 'have'} the same" if names else ""


def regret(results: dict[str, Any]) -> str:
    """By how much the default costs more than the cheapest method of each setting."""
    overall = results["overall"]
    own, best = overall[DEFAULT]["regret"], min(overall, key=lambda name: overall[name]["regret"]["mean"])
    least = overall[best]["regret"]
    other = (
        "No method has a smaller regret."
        if best == DEFAULT
        else f"The smallest regret is that of “{best}”: {percent(least['mean'])} ({interval(least)})."
    )
    return (
        f"Its regret, the geometric mean of its cost over that of the cheapest method of each setting, minus 1, is "
        f"{percent(own['mean'])} ({interval(own)} over sets). {other}"
    )


def worst(results: dict[str, Any]) -> str:
    """The set on which the default has its largest regret, and its regret on the others."""
    titles = {item["data"]: item["title"] for item in results["sets"]}
    logs = {
        name: np.mean([np.log(item["methods"][DEFAULT]["ratio"]) for item in results["blocks"] if item["data"] == name])
        for name in titles
    }
    name = max(logs, key=logs.__getitem__)
    others = float(np.exp(np.mean([own for at, own in logs.items() if at != name])) - 1.0)
    return (
        f"The set of its largest regret is “{titles[name]}”: there it costs {np.exp(logs[name]):.3g} times as much as "
        f"the cheapest method. On the others its regret is {percent(others)}."
    )


def against_boosting(results: dict[str, Any]) -> str:
    """The default on large sets."""
    found, rows = results["large"], f"{results['protocol']['large']:,}"
    if not found["sets"]:
        return f"No set of this run has {rows} rows or more."
    n = found["settings"]
    text = (
        f"On the {found['sets']} sets with {rows} rows or more it is the cheapest or within two standard errors of the "
        f"cheapest in {found['near'][DEFAULT]} of {n} settings, tuned boosting in {found['near'][BOOSTING]}. Against "
        f"tuned boosting it costs less by more than two standard errors in {found['less']} settings and more in "
        f"{found['more']}"
    )
    ratio = found["ratio"]
    if ratio is None:
        return f"{text}."
    word = {1: "more", -1: "less", 0: "not distinguishably more or less"}[direction(ratio)]
    return f"{text}; over these sets it costs {word}: {percent(ratio['mean'])} ({interval(ratio)})."


def chosen(results: dict[str, Any]) -> str:
    """The machines that the default trained."""
    counts = sorted(results["chosen"].items(), key=lambda pair: -pair[1])
    fits = sum(count for _, count in counts)
    return f"In {fits} fits the default trained: " + ", ".join(f"{name} ({count})" for name, count in counts) + "."


def regret_of_others(results: dict[str, Any]) -> list[str]:
    """The regret without sets on which the cheapest method costs nearly nothing, if there are such sets."""
    titles, found = {item["data"]: item["title"] for item in results["sets"]}, results.get("nearly_free")
    if not found or found["overall"] is None:
        return []
    own, n = found["overall"][DEFAULT], found["overall"][DEFAULT]["settings"]
    best = min(found["overall"], key=lambda name: found["overall"][name]["regret"]["mean"])
    least = found["overall"][best]["regret"]
    other = "the smallest" if best == DEFAULT else f"the smallest is {percent(least['mean'])}, of “{best}”"
    text = (
        f"Without {listed([titles[name] for name in found['sets']])}, on which the cheapest method has nearly no cost, "
        f"its regret is {percent(own['regret']['mean'])} ({interval(own['regret'])}), {other}, and it is the cheapest "
        f"or near in {own['near']} of {n} settings."
    )
    return [text]


def against_former(results: dict[str, Any]) -> list[str]:
    """The default against the former default, on small sets and on all."""
    found = results.get("former")
    if not found:
        return []
    small, every = found["small"], found["all"]
    where = [(f"the {small['sets']} sets below {results['protocol']['small']:,} rows", small)]
    where.append((f"all {every['sets']} sets", every))
    parts = [
        f"on {place} it costs {percent(item['ratio']['mean'])} ({interval(item['ratio'])}), less by more than two "
        f"standard errors in {item['less']} of {item['settings']} settings and more in {item['more']}"
        for place, item in where
        if item["ratio"] is not None
    ]
    return [f"Relative to the former default, `{FORMER}`: {'; '.join(parts)}."] if parts else []


def guard(results: dict[str, Any]) -> list[str]:
    """How many test rows the guard of the default rejected."""
    own = [fit for item in results["blocks"] for fit in item.get("fits", []) if fit.get("guard") is not None]
    if not own:
        return []
    tested = sum(item["tested"] for item in results["blocks"])
    novel = sum(fit["novel"] for item in results["blocks"] for fit in item["fits"] if "novel" in fit)
    rates = sorted(fit["guard"] for fit in own)
    middle = rates[len(rates) // 2]
    text = (
        f"The guard of the default called {share(novel / tested, digits=2)} of the test rows novel; its rate was "
        f"{share(rates[0], digits=2)} to {share(rates[-1], digits=2)}, {share(middle, digits=2)} in the median fit."
    )
    return [text]


def failures(results: dict[str, Any]) -> list[str]:
    """The fits that failed."""
    found = results.get("failed")
    if not found:
        return []
    names = sorted({item["method"] for item in found})
    return [f"{len(found)} fits failed, which count as rejecting every row: of {listed(names)}."]
