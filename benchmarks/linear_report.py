"""The tables and aims of the linear machine's benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
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


def aims(linear: dict[str, Any]) -> Iterator[tuple[str, float, str, float]]:
    """Each aim in words, its bound, whether it is the least or the most, and what was reached."""
    for case in linear["cases"]:
        _, double, rival, *logistic = case["fits"]
        name = f"linear machine on {case['set']}, C = {case['C']:g}"
        got = "" if rival["excess"] <= linear["within"] else ", which does not get there"
        bound = 8.0 if logistic else 1.0
        yield f"{name}, times as fast as `LinearSVC` at equal objective{got}", bound, "least", rival["ratio"]
        yield f"{name}, double hinge, time over that of the hinge", 2.0, "most", double["ratio"]
        for row in logistic:
            yield f"{name}, time over that of `LogisticRegression` (newton-cholesky)", 2.0, "most", 1.0 / row["ratio"]


LOW_RANK_HEADER = ("machine", "rows", "seconds", "processor seconds", "gap", "cost of a held-out row", "rejected")


def low_rank_rows(low_rank: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each machine."""
    return [
        (
            row["name"],
            f"{row['rows']:,}",
            f"{row['seconds']:.0f}",
            f"{row['processor_seconds']:.0f}",
            f"{row['gap']:.0e}",
            f"{row['cost']:.4f}",
            f"{100 * row['reject_rate']:.1f} %",
        )
        for row in low_rank["machines"]
    ]


DASK_HEADER = (
    "place",
    "rows",
    "chunks",
    "worker's memory, MB",
    "seconds",
    "rounds",
    "seconds a round",
    "of which scheduling",
    "gap",
)


def dask_rows(dask: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each place, and one for the large table."""
    return [
        (
            row["place"],
            f"{row['rows']:,} ({row['data_mb']:,.0f} MB)",
            str(row["chunks"]),
            f"{row['memory_mb']:,.0f}" if row["memory_mb"] else "",
            f"{row['seconds']:.1f}",
            str(row["rounds"]),
            f"{row['round_seconds']:.2f}",
            f"{100 * row['scheduling_share']:.0f} %",
            f"{row['gap']:.0e}",
        )
        for row in (*dask["places"], dask["large"])
    ]


SPARK_HEADER = ("fit", "rows", "seconds", "time / ours", "above the optimum", "iterations")


def spark_rows(spark: dict[str, Any]) -> list[tuple[str, ...]]:
    """Ours, then Spark's with several limits on its iterations."""
    size = f"{spark['rows']:,} x {spark['features']}"
    ours = ("LinearRejectSVC, hinge", size, f"{spark['seconds']:.2f}", "1.0", f"{spark['gap']:.0e} or less", "")
    return [
        ours,
        *(
            (
                "Spark's LinearSVC",
                size,
                f"{row['seconds']:.1f}",
                f"{row['ratio']:.1f}",
                f"{row['excess']:.0e} or less",  # above our dual value, a lower bound
                str(row["iterations"]),
            )
            for row in spark["spark"]
        ),
    ]


def tables(results: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """The title, the header and the rows of each table that has been measured."""
    parts = (
        ("linear", "Millions of rows", HEADER, rows),
        ("low_rank", "Low rank", LOW_RANK_HEADER, low_rank_rows),
        ("linear_dask", "On Dask", DASK_HEADER, dask_rows),
        ("linear_spark", "Beside Spark, two threads", SPARK_HEADER, spark_rows),
    )
    for name, title, header, rows_of in parts:
        if name in results:
            yield f"### {title}, once each", header, rows_of(results[name])
