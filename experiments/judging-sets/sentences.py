"""Sentences that follow from the results, whichever way the numbers fall."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.pages import share
from harness.sentences import direction, interval, listed, percent
from summary import BOOSTING, DEFAULT


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
