"""The tables and aims of the linear machine's benchmark."""

from __future__ import annotations

from typing import Any


def rows(linear: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each fit of each case."""
    return [
        (
            f"{case['set']}, C = {case['C']:g}",
            row["name"],
            f"{row['seconds']:.2f}",
            f"{row['ratio']:.2f}",
            f"{row['excess']:.1e}" if "excess" in row else "",
            str(row.get("steps", row.get("epochs", ""))),
        )
        for case in linear["cases"]
        for row in case["fits"]
    ]


HEADER = ("table", "fit", "seconds", "time / ours", "above the optimum", "steps or epochs")


def speedups(linear: dict[str, Any]) -> list[tuple[str, float, float, float, float | None, bool]]:
    """For each case its name, the aim against `LinearSVC` and the speed, the double hinge's and the logistic ratio."""
    found = []
    for case in linear["cases"]:
        _, double, rival, *logistic = case["fits"]
        sparse = not logistic
        ratio = 1.0 / logistic[0]["ratio"] if logistic else None
        reached = rival["excess"] <= linear["within"]
        name = f"{case['set']}, C = {case['C']:g}"
        found.append((name, 1.0 if sparse else 8.0, rival["ratio"], double["ratio"], ratio, reached))
    return found
