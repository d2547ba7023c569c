"""The tables of small and unusual tables, of the map of shapes, and of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Part = tuple[str | tuple[tuple[str, ...], list[tuple[str, ...]]], ...]  # a title, perhaps a picture, header and rows
PICTURE = "![The peer's time over ours in each cell](shapes.png)"

SMALL = ("fit", "peer, ms", "ours, ms", "peer / ours", "aim", "our gap")
SORTED = ("rows sorted by class", "shuffled, s", "sorted, s", "sorted / shuffled", "aim")
LEAST = ("cells of the map with the least ratio", "table", "peer, ms", "ours, ms", "peer / ours")


def tables(results: dict[str, Any]) -> Iterator[Part]:
    """Return the parts of the page on what has been measured."""
    if "small" in results:
        cases, sorted_rows = results["small"]["cases"], results["small"]["sorted"]
        yield "### Small and unusual tables, CPU time of one thread", (SMALL, [_small(case) for case in cases])
        yield "### Rows sorted by class", (SORTED, [_sorted(case) for case in sorted_rows])
    if "shapes" in results:
        cells = sorted(results["shapes"]["cells"], key=lambda cell: cell["ratio"])
        yield f"### Map of shapes, {len(cells)} cells", PICTURE, (LEAST, [_cell(cell) for cell in cells[:10]])
    if "wide" in results:
        header = (f"CPU seconds, {results['wide']['rows']} rows", "fit", "predict", "evaluate")
        rows = [
            (f"{row['columns']:,} columns", *(f"{row[name]:.1f}" for name in header[1:]))
            for row in results["wide"]["commands"]
        ]
        yield "### Command line, wide tables", (header, rows)
    if "comparison" in results:
        rows = [(row["name"], f"{row['cpu']:.1f}", f"{row['clock']:.1f}") for row in results["comparison"]["times"]]
        yield "### Command line, the README's comparison", (("comparison", "CPU, s", "on the clock, s"), rows)


def aims(results: dict[str, Any]) -> Iterator[tuple[str, float, str, float]]:
    """Words, bound, side and value reached."""
    if "small" in results:
        for case in results["small"]["cases"]:
            yield f"{case['case']}, times as fast as the peer", case["aim"], "least", case["ratio"]
        for case in results["small"]["sorted"]:
            words = f"rows sorted by class, {case['loss']}, time over that of shuffled rows"
            yield words, case["aim"], "most", case["ratio"]
    if "shapes" in results:
        yield "map of shapes, cells below 1", 0, "most", results["shapes"]["below_1"]
        yield "map of shapes, cells below 1.5", 5, "most", results["shapes"]["below_1.5"]
    if "wide" in results:
        last = results["wide"]["commands"][-1]
        words = f"`abstain fit`, {results['wide']['rows']} rows x {last['columns']:,} columns, seconds"
        yield words, results["wide"]["aim"], "most", last["fit"]
    if "comparison" in results:
        for name, words in (("cpu", "seconds of CPU"), ("clock", "seconds on the clock")):
            place = f"`abstain compare` of the README, {results['comparison']['rows']} rows, {words}"
            yield place, results["comparison"]["aim"], "most", results["comparison"]["times"][0][name]


def _small(case: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{1e3 * case[who]:.2f}" for who in ("peer", "ours"))
    return (case["case"], *times, f"{case['ratio']:.2f}", f"{case['aim']:g}", f"{case['gap']:.0e}")


def _sorted(case: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{case[order]:.2f}" for order in ("shuffled", "sorted"))
    return (case["loss"], *times, f"{case['ratio']:.2f}", f"{case['aim']:g}")


def _cell(cell: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{1e3 * cell[who]:.2f}" for who in ("peer", "ours"))
    return (cell["row"], cell["column"], *times, f"{cell['ratio']:.2f}")
