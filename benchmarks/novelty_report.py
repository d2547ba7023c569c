"""The tables of the machine of one class, and of what the guard of novel rows adds to the time of a classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]

ONE_CLASS = ("one class", "sklearn, s", "ours, s", "sklearn / ours", "sklearn's gap", "our gap", "support vectors")
GUARD = ("guard", "rows", "fit alone, ms", "guarded", "ratio", "new rows", "predict alone, ms", "guarded", "ratio")


def tables(results: dict[str, Any]) -> Iterator[Table]:
    """Title, header and rows of what has been measured."""
    if "one_class" in results:
        yield f"### One class, best of {results['one_class']['repeats']}", ONE_CLASS, _one_class(results["one_class"])
    if "guard" in results:
        yield f"### Guard, best of {results['guard']['repeats']} or more", GUARD, _guard(results["guard"])


def _one_class(one_class: dict[str, Any]) -> list[tuple[str, ...]]:
    """CPU seconds and gaps by set and nu, then the mean and the least ratio."""
    rows = [
        (
            f"{fit['set']} ({fit['rows']:,} x {fit['features']}), nu = {fit['nu']:g}",
            *(f"{fit[kind]['seconds']:.3f}" for kind in ("sklearn", "abstain")),
            f"{fit['ratio']:.1f}",
            *(f"{fit[kind]['gap']:.0e}" for kind in ("sklearn", "abstain")),
            f"{fit['abstain']['support_vectors']:,}",
        )
        for fit in one_class["fits"]
    ]
    for words, of in (("geometric mean", "mean"), ("least", "least")):
        rows.append((words, "", "", f"{one_class[of]:.1f}", "", "", ""))
    return rows


def _guard(guard: dict[str, Any]) -> list[tuple[str, ...]]:
    """Milliseconds without and with the guard, and their ratio, for fit and predict."""
    rows = [
        (row["name"], f"{row['rows']:,}", *_cells(row["fit"]), f"{row['new_rows']:,}", *_cells(row["predict"]))
        for row in guard["cases"]
    ]
    for words, ratio in (("geometric mean", guard["means"]), ("largest", guard["largest"])):
        rows.append((words, "", "", "", f"{ratio['fit']:.2f}", "", "", "", f"{ratio['predict']:.2f}"))
    return rows


def _cells(seconds: dict[str, float]) -> tuple[str, ...]:
    times = (1e3 * seconds[way] for way in ("alone", "guarded"))
    return (*(f"{time:.2f}" if time < 10 else f"{time:,.0f}" for time in times), f"{seconds['ratio']:.2f}")
