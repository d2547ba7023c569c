"""The table of what the guard of novel rows adds to the time of a classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

HEADER = ("guard", "rows", "fit alone, ms", "guarded", "ratio", "new rows", "predict alone, ms", "guarded", "ratio")


def tables(results: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Title, header and rows, if measured."""
    if "guard" not in results:
        return
    guard = results["guard"]
    rows = [
        (row["name"], f"{row['rows']:,}", *_cells(row["fit"]), f"{row['new_rows']:,}", *_cells(row["predict"]))
        for row in guard["cases"]
    ]
    for words, ratio in (("geometric mean", guard["means"]), ("largest", guard["largest"])):
        rows.append((words, "", "", "", f"{ratio['fit']:.2f}", "", "", "", f"{ratio['predict']:.2f}"))
    yield f"### Guard, best of {guard['repeats']} or more", HEADER, rows


def _cells(seconds: dict[str, float]) -> tuple[str, ...]:
    times = (1e3 * seconds[way] for way in ("alone", "guarded"))
    return (*(f"{time:.2f}" if time < 10 else f"{time:,.0f}" for time in times), f"{seconds['ratio']:.2f}")
