"""Sentences that follow from the results, whichever way the numbers fall."""

from __future__ import annotations

from typing import Any

from harness.sentences import direction, interval, p_value, percent

BAYES, TUNED = "RejectSVCCV", "RejectSVCCV, tuned"


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
