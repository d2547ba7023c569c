"""Sentences and numbers about relative costs and ranks, whichever way they fall."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed

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


def listed(names: list[str]) -> str:
    """Names in one phrase; semicolons would be lost among names with commas, so each is in quotes."""
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "none"
