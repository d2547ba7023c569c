"""Sentences that follow from the results, whichever way the numbers fall."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed

BAYES, TUNED = "RejectSVCCV", "RejectSVCCV, tuned"
EPS = 1e-9


def p_value(p: float) -> str:
    """A p value with two digits, or a bound."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.01 else f"p = {p:.2f}"


def percent(value: float) -> str:
    """A relative difference in percent, with its sign."""
    return f"{signed(100 * value, 1)} %"


def interval(item: dict[str, Any]) -> str:
    """Low to high, in percent."""
    return f"{percent(item['low'])} to {percent(item['high'])}"


def direction(item: dict[str, Any]) -> int:
    """+1 if the interval lies above 0, -1 if below, 0 otherwise."""
    return int(item["low"] > 0) - int(item["high"] < 0)


def compared(a: str, b: str, item: dict[str, Any], blocks: int) -> str:
    """Whether one method costs more or less than another."""
    ratio = item["ratio"]
    sizes = f"{percent(ratio['mean'])} ({interval(ratio)})"
    if direction(ratio):
        word = "more" if direction(ratio) > 0 else "less"
        first = f"{a} costs {word} than {b}: {sizes} on average over the sets"
    else:
        first = f"No difference in cost between {a} and {b} can be shown over the sets: {sizes}"
    signs = f"{a} is the more expensive on {ratio['above']} and the cheaper on {ratio['below']} of {ratio['sets']} sets"
    tests = f"it costs significantly more in {item['more']} and significantly less in {item['less']} of {blocks} pairs"
    return f"{first}. {signs} (sign test: {p_value(ratio['sign_p'])}); {tests} of a set and costs."


def tuned_cuts(results: dict[str, Any]) -> str:
    """Tuned cuts against Bayes' cuts."""
    found = results["pairs"].get(f"{TUNED} against {BAYES}")
    if found is None:
        return "Tuned thresholds were not measured: the library that ran this has Bayes' thresholds only."
    return compared(f"`{TUNED}`", "Bayes' thresholds", found, len(results["blocks"]))


def best_rank(results: dict[str, Any]) -> str:
    """The method of least mean rank, and those that cannot be distinguished from it."""
    mean, critical = results["ranks"]["mean"], results["ranks"]["critical_difference"]
    order = sorted(mean, key=mean.__getitem__)
    first = order[0]
    near = [name for name in order[1:] if mean[name] - mean[first] < critical - EPS]
    far = [name for name in order[1:] if name not in near]
    text = f"{first} has the least mean rank, {mean[first]:.2f}"
    text += f"; {listed(near)} cannot be distinguished from it" if near else ""
    text += f"; {listed(far)} {'has a' if len(far) == 1 else 'have'} significantly larger {_ranks(far)}" if far else ""
    equal = "differ" if results["ranks"]["p"] < 0.05 else "cannot be shown to differ"
    return f"{text}. Taken together the methods {equal} ({p_value(results['ranks']['p'])})."


def _ranks(names: list[str]) -> str:
    return "rank" if len(names) == 1 else "ranks"


def rejecting(results: dict[str, Any], method: str) -> str:
    """A method against the best machine that may not reject."""
    item, blocks = results["overall"][method], len(results["blocks"])
    ratio = item["relative"]
    word = {1: "costs more than", -1: "costs less than", 0: "cannot be shown to differ in cost from"}[direction(ratio)]
    return (
        f"{method} {word} the best machine that may not reject: {percent(ratio['mean'])} ({interval(ratio)}) on "
        f"average over the sets, and less in {item['below_forced']} of {blocks} pairs. It costs less than the best "
        f"decision that is the same for all rows in {item['below_one_decision']} of {blocks}."
    )


def promised(results: dict[str, Any], method: str) -> str:
    """The bias of `best_score_` and of the least mean cost of the search."""
    item = results["bias"][method]
    parts = []
    for name, words in (("estimate", "Minus `best_score_`"), ("least", "The least mean cost of the search")):
        gap = item[name]["of_cost"]
        way = {1: "too high", -1: "too low", 0: "not significantly biased"}[direction(gap)]
        parts.append(f"{words} is {way}: {percent(gap['mean'])} of the cost on test rows ({interval(gap)})")
    return f"{method}. " + ". ".join(parts) + "."


def listed(names: list[str]) -> str:
    """Names in one phrase; semicolons would be lost among names with commas, so each is in quotes."""
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "none"
