"""The targets set before the work, and the results of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import linear_report
import shapes_report

Aim = tuple[str, float, str, bool]  # the target, the value reached, the bound as text, whether it is met


def _named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(row for row in rows if row["name"] == name)


def fits(results: dict[str, Any]) -> Iterator[Aim]:
    """Speed and memory of single fits; geometric means over the sets."""
    fit, predict = results["fit"]["means"], results["predict"]["means"]
    one, two = _named(fit, "RejectSVC hinge, 1 thread"), _named(fit, "RejectSVC hinge, 2 threads")
    double = _named(fit, "RejectSVC double hinge, 1 thread")
    yield from (
        at_least("plain hinge on one thread, times as fast as `SVC`", 10, 1 / one["ratio"]),
        at_most("the same, time over the floor", 3, one["over_floor"]),
        at_least("double hinge on one thread, times as fast as `SVC`'s plain hinge", 5, 1 / double["ratio"]),
    )
    for loss, mean, least in zip(
        ("hinge", "double hinge"), results["hard"]["means"], results["hard"]["least"], strict=True
    ):
        yield at_least(f"hard fits, {loss}, times as fast as `SVC`, geometric mean", 5, mean)
        yield at_least(f"hard fits, {loss}, times as fast as `SVC`, worst case", 2.5, least)
    rival = [row for row in fit if row["name"] == "sklearnex SVC, 2 threads"]
    if rival:
        speed = rival[0]["ratio"] / two["ratio"]
        yield at_least("plain hinge on two threads, times as fast as sklearnex on two", 5, speed)
    quick = 1 / _named(predict, "RejectSVC hinge, 1 thread")["ratio"]
    yield at_least("`decision_function` of 4,000 rows, times as fast as `SVC`'s", 15, quick)
    yield at_most("100,000 x 50, peak memory in GB", 2, results["memory"]["peak_mb"] / 1000)


def searches(results: dict[str, Any]) -> Iterator[Aim]:
    """Paths, and C and gamma by cross-validation."""
    yield at_most("the whole path in C, in exact fits, worst case", 20, results["path"]["worst_ratio"])
    for measured in results["model_selection"]["sets"]:
        aim = 20 if measured["rows"] < 1000 else 12 if measured["set"].startswith("generated") else 10
        for loss in ("hinge", "double hinge"):
            found = _named(measured["searches"], f"RejectSVCCV {loss}")
            place = f"search on {measured['set']} ({measured['rows']:,} rows), {loss}"
            yield at_least(f"{place}, times as fast as `GridSearchCV(SVC())`", aim, found["speedup"])
            words = f"mean cost of the pair chosen there above brute force's best, in standard errors, {loss}"
            yield at_most(words, 1, max(0.0, found["excess_cost"] / found["fold_noise"]))


def large_searches(results: dict[str, Any]) -> Iterator[Aim]:
    """C and gamma on large sets, if measured."""
    for measured in results.get("large_search", {"sets": []})["sets"]:
        halving, *others = measured["fits"]
        place = f"search by halving on {measured['set']}"
        yield at_most(f"{place}, seconds", 60, halving["seconds"])
        for full in (row for row in others if row["name"] == "RejectSVCCV, full"):
            excess = -full["difference"] / full["difference_error"] if full["difference_error"] else 0.0
            yield at_most(f"{place}, mean cost above the full search's, in standard errors", 1, max(0.0, excess))


def classes(results: dict[str, Any]) -> Iterator[Aim]:
    """More than two classes, if measured: fits on the largest set."""
    for measured in results.get("classes", {"sets": []})["sets"]:
        if not measured["set"].startswith("Letter"):
            continue
        _, pairs, costs = measured["contenders"]
        place = f"{measured['set']}, C = {measured['C']:g}"
        yield at_least(f"{place}, pairs of classes, times as fast as `SVC`", 5, pairs["fit_ratio"])
        yield at_least(f"{place}, with costs, times as fast as `SVC`", 1, costs["fit_ratio"])


def one_class(results: dict[str, Any]) -> Iterator[Aim]:
    """The machine of one class, if measured."""
    if "one_class" in results:
        mean = results["one_class"]["mean"]
        yield at_least("one class, times as fast as `sklearn.svm.OneClassSVM`, geometric mean", 10, mean)


def guards(results: dict[str, Any]) -> Iterator[Aim]:
    """What the guard of novel rows adds, if measured."""
    if "guard" in results:
        for what in ("fit", "predict"):
            for words, ratios in (("geometric mean", "means"), ("worst case", "largest")):
                reached = results["guard"][ratios][what]
                yield at_most(f"{what} with a guard, time over that without, {words}", 2, reached)


def large_tables(results: dict[str, Any]) -> Iterator[Aim]:
    """The linear machine and low ranks, if measured."""
    if "linear" in results:
        for words, bound, side, reached in linear_report.aims(results["linear"]):
            yield (at_least if side == "least" else at_most)(words, bound, reached)
    for row in results.get("low_rank", {"machines": []})["machines"]:
        if row["name"] == "1000 landmarks":
            yield at_most(f"1,000 landmarks, {row['rows']:,} rows, seconds", 300, row["seconds"])


def shapes(results: dict[str, Any]) -> Iterator[Aim]:
    """Small and unusual tables, the map of shapes and the command line, if measured."""
    for words, bound, side, reached in shapes_report.aims(results):
        yield (at_least if side == "least" else at_most)(words, bound, reached)


def embedded(results: dict[str, Any]) -> Iterator[Aim]:
    """FR02's machine."""
    if "fits" in results["embedded"]:
        largest = results["embedded"]["fits"]["largest"]
        yield at_most("embedded machine, time over linear `SVC`, worst case", 5, largest["primal / SVC"])
        yield at_most("its dual solver, time over the primal one, worst case", 10, largest["dual / primal"])
    yield at_most("its growth with the number of rows, exponent", 1, results["embedded"]["growth"]["exponent"])


def at_least(words: str, aim: float, reached: float) -> Aim:
    """More is better."""
    return words, reached, f"{aim:g} or more", reached >= aim


def at_most(words: str, aim: float, reached: float) -> Aim:
    """Less is better."""
    return words, reached, f"{aim:g} or less", reached <= aim


def rows(results: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """The rows of the table: target, bound, reached, verdict."""
    measured = (fits, classes, one_class, guards, searches, large_searches, large_tables, shapes, embedded)
    found = [aim for part in measured for aim in part(results)]
    return [(words, bound, f"{reached:.3g}", "met" if met else "**missed**") for words, reached, bound, met in found]
