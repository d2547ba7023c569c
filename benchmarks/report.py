"""Results as Markdown, put between the two marks of README.md; the prose around them is written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

START, END = "<!-- results: written by run.py -->", "<!-- end of results -->"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, first column to the left, numbers to the right."""
    align = ["---", *("---:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, align, *rows))


def fit_tables(fit: dict[str, Any]) -> str:
    """One table per set, then the means."""
    parts = []
    for measured in fit["sets"]:
        rows = [
            (
                row["name"],
                f"{row['seconds']:.2f}",
                f"{row['ratio']:.2f}",
                f"{row['seconds'] / row['floor']:.1f}",
                f"{row['support_vectors']:,}",
                f"{row['relative_gap']:.1e}",
            )
            for row in measured["contenders"]
        ]
        header = ("fit", "seconds", "time / SVC", "time / floor", "support vectors", "relative gap")
        parts.append(f"**{measured['set']}** ({measured['rows']:,} x {measured['features']})\n\n{table(header, rows)}")
    means = [(row["name"], f"{row['ratio']:.2f}", f"{row['over_floor']:.1f}") for row in fit["means"]]
    parts.append("**Geometric means over the sets**\n\n" + table(("fit", "time / SVC", "time / floor"), means))
    return "\n\n".join(parts)


def predict_table(predict: dict[str, Any]) -> str:
    """Milliseconds on each set, and the mean ratio."""
    sets = predict["sets"]
    rows = [
        (
            mean["name"],
            *(f"{1e3 * measured['contenders'][k]['seconds']:.0f}" for measured in sets),
            f"{mean['ratio']:.2f}",
        )
        for k, mean in enumerate(predict["means"])
    ]
    return table(("decision_function, ms", *(measured["set"] for measured in sets), "time / SVC"), rows)


def scaling_table(scaling: dict[str, Any]) -> str:
    """Seconds by size, and the exponent."""
    header = ("seconds for n =", *(f"{size:,}" for size in scaling["sizes"]), "exponent of n")
    return table(
        header,
        (
            (name, *(f"{value:.2f}" for value in seconds), f"{scaling['exponents'][name]:.2f}")
            for name, seconds in scaling["seconds"].items()
        ),
    )


def memory_line(memory: dict[str, Any]) -> str:
    """One sentence."""
    return (
        f"{memory['rows']:,} x {memory['features']} ({memory['data_mb']:.0f} MB of data), "
        f"cache_size={memory['cache_size']:g}: {memory['before_mb']:.0f} MB before the fit, "
        f"{memory['peak_mb']:.0f} MB at its peak; {memory['seconds']:.0f} s, status {memory['status']}, "
        f"{memory['support_vectors']:,} support vectors."
    )


def markdown(results: dict[str, Any]) -> str:
    """Everything between the marks."""
    machine = "; ".join(f"{name} {value}" for name, value in results["machine"].items())
    return "\n\n".join([
        f"Measured on: {machine}.",
        f"### Fit, best of {results['fit']['repeats']}",
        fit_tables(results["fit"]),
        "### Predict",
        predict_table(results["predict"]),
        "### Growth",
        scaling_table(results["scaling"]),
        "### Memory",
        memory_line(results["memory"]),
    ])


def write(results: dict[str, Any], readme: Path) -> None:
    """Replace what stands between the marks."""
    before, _, rest = readme.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{START}\n\n{markdown(results)}\n\n{END}{after}", encoding="utf-8")
