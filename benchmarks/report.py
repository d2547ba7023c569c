"""Results as Markdown, written between the two markers of README.md; the text around them is written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import aims
import linear_report
import novelty_report
import shapes_report

START, END = "<!-- results: written by run.py -->", "<!-- end of results -->"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: first column left-aligned, numbers right-aligned."""
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
        parts.append(f"The certificate takes {measured['certificate']:.0%} of the double hinge's fit on one thread.")
    means = [(row["name"], f"{row['ratio']:.2f}", f"{row['over_floor']:.1f}") for row in fit["means"]]
    parts.append("**Geometric means over the sets**\n\n" + table(("fit", "time / SVC", "time / floor"), means))
    return "\n\n".join(parts)


def hard_table(hard: dict[str, Any]) -> str:
    """Seconds, and SVC's time over ours, by problem and loss."""

    def cells(problem: dict[str, Any]) -> Iterable[str]:
        for fit in problem["fits"]:
            bound = "> " if problem["SVC_stopped"] else ""
            ended = "" if fit["status"] == "optimal" else f" ({fit['status'].replace('_', ' ')})"
            yield from (f"{fit['seconds']:.2f}{ended}", f"{bound}{fit['ratio']:.1f}", f"{fit['gap']:.0e}")

    rows = [
        (
            f"{problem['name']} ({problem['rows']:,} x {problem['features']}), C = {problem['C']:g}",
            f"{problem['SVC']:.2f}",
            *cells(problem),
        )
        for problem in hard["problems"]
    ]
    for words, ratios in (("geometric mean", hard["means"]), ("least", hard["least"])):
        rows.append((words, "", *(cell for ratio in ratios for cell in ("", f"{ratio:.1f}", ""))))
    header = ("fit", "SVC, s")
    for fit in hard["problems"][0]["fits"]:
        header += (f"{fit['name']}, s", "SVC / ours", "gap")
    return table(header, rows)


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


def classes_tables(classes: dict[str, Any]) -> str:
    """One table per set and C, then the means."""
    header = ("classes", "fit, ms", "SVC / fit", "predict, ms", "SVC / predict", "labels unlike SVC's", "largest gap")
    parts = []
    for measured in classes["sets"]:
        rows = [
            (
                row["name"],
                f"{1e3 * row['fit']:.0f}",
                f"{row['fit_ratio']:.1f}",
                f"{1e3 * row['predict']:.0f}",
                f"{row['predict_ratio']:.1f}",
                "" if row["different_labels"] is None else f"{row['different_labels']:,}",
                "" if row["gap"] is None else f"{row['gap']:.1e}",
            )
            for row in measured["contenders"]
        ]
        size = f"{measured['rows']:,} x {measured['features']}, {measured['classes']} classes"
        parts.append(f"**{measured['set']}** ({size}), C = {measured['C']:g}\n\n{table(header, rows)}")
    means = [(row["name"], f"{row['fit_ratio']:.1f}", f"{row['predict_ratio']:.1f}") for row in classes["means"]]
    parts.append("**Geometric means over the sets**\n\n" + table(("classes", "SVC / fit", "SVC / predict"), means))
    return "\n\n".join(parts)


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
    """Memory in one sentence."""
    return (
        f"{memory['rows']:,} x {memory['features']} ({memory['data_mb']:.0f} MB of data), "
        f"cache_size={memory['cache_size']:g}: {memory['before_mb']:.0f} MB before the fit, "
        f"{memory['peak_mb']:.0f} MB at its peak; {memory['seconds']:.0f} s, status {memory['status']}, "
        f"{memory['support_vectors']:,} support vectors."
    )


def path_tables(path: dict[str, Any]) -> str:
    """Paths against exact fits, then sweeps against separate fits."""
    header = ("path", "rows", "breakpoints", "path, ms", "one exact fit, ms", "path / fit")
    rows = [
        (
            f"{row['set']}, {row['kernel']}, {row['costs']}",
            f"{row['rows']:,}",
            f"{row['breakpoints']:,}",
            f"{1e3 * row['path_seconds']:.1f}",
            f"{1e3 * row['fit_seconds']:.1f}",
            f"{row['ratio']:.1f}",
        )
        for row in path["paths"]
    ]
    rows.append(("geometric mean", "", "", "", "", f"{path['mean_ratio']:.1f}"))
    sweeps = [
        (
            f"{row['set']}, {row['prices']} reject costs",
            f"{row['rows']:,}",
            *(f"{1e3 * row['seconds'][name]:.0f}" for name in ("sweep", "separate")),
            *(f"{row['iterations'][name]:,}" for name in ("sweep", "separate")),
            f"{row['ratio']:.2f}",
        )
        for row in path["sweeps"]
    ]
    swept = ("sweep", "rows", "sweep, ms", "separate, ms", "sweep, steps", "separate, steps", "sweep / separate")
    return f"{table(header, rows)}\n\n{table(swept, sweeps)}"


def model_selection_tables(selection: dict[str, Any]) -> str:
    """One table per set, then the means."""
    parts = []
    header = ("search", "seconds", "times as fast", "C", "gamma", "mean cost", "above brute force's best")
    for measured in selection["sets"]:
        rows = [
            (
                row["name"],
                f"{row['seconds']:.2f}",
                f"{row['speedup']:.1f}",
                f"{row['C']:.3g}",
                f"{row['gamma']:.3g}",
                f"{row['mean_cost']:.4f}",
                f"{row['excess_cost']:+.4f} ± {row['fold_noise']:.4f}" if "excess_cost" in row else "",
            )
            for row in measured["searches"]
        ]
        parts.append(f"**{measured['set']}** ({measured['rows']:,} x {measured['features']})\n\n{table(header, rows)}")
    means = [(row["name"], f"{row['speedup']:.1f}") for row in selection["means"]]
    parts.append("**Geometric means over the sets**\n\n" + table(("search", "times as fast"), means))
    return "\n\n".join(parts)


def large_search_tables(large: dict[str, Any]) -> str:
    """One table per set: times, costs on held-out rows, and their paired differences from the search by halving."""
    header = ("fit", "seconds", "time / halving", "C", "gamma", "mean cost", "minus that of halving")
    parts = []
    for measured in large["sets"]:
        rows = [
            (
                row["name"],
                f"{row['seconds']:.1f}",
                f"{row['ratio']:.2f}",
                f"{row['C']:.3g}" if "C" in row else "",
                f"{row['gamma']:.3g}" if "gamma" in row else "",
                f"{row['cost']:.4f} ± {row['error']:.4f}",
                f"{row['difference']:+.4f} ± {row['difference_error']:.4f}" if at else "",
            )
            for at, row in enumerate(measured["fits"])
        ]
        title = f"**{measured['set']}** ({measured['rows']:,} training rows, {measured['test_rows']:,} test rows)"
        parts.append(f"{title}\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def solvers_table(solvers: dict[str, Any]) -> str:
    """Milliseconds and gap of each solver, with the status if it is not optimal."""

    def cell(measured: dict[str, Any]) -> str:
        ended = "" if measured["status"] == "optimal" else f" ({measured['status'].replace('_', ' ')})"
        return f"{1e3 * measured['seconds']:.1f}, {measured['relative_gap']:.0e}{ended}"

    names = list(solvers["cases"][0]["solvers"])
    rows = [
        (
            f"{case['rows']:,}, C = {case['C']:g}, tol = {case['tol']:g}",
            f"{case['between']:,}",
            *(cell(case["solvers"][name]) for name in names),
        )
        for case in solvers["cases"]
    ]
    return table(("rows", "between breakpoints", *(f"{name}: ms, gap" for name in names)), rows)


def embedded_tables(embedded: dict[str, Any]) -> str:
    """Fits on Letter pairs, if available, then the growth with the number of rows."""
    growth = embedded["growth"]
    header = ("seconds for n =", *(f"{size:,}" for size in growth["sizes"]), "exponent of n")
    seconds = (f"{value:.3f}" for value in growth["seconds"])
    parts = [table(header, [("EmbeddedRejectSVC, 16 features", *seconds, f"{growth['exponent']:.2f}")])]
    if "fits" in embedded:
        rows = [
            (
                f"{row['pair']} ({row['rows']} x 16), w_R = {row['reject_cost']:g}",
                *(f"{1e3 * row[name]:.1f}" for name in ("SVC", "primal", "dual")),
                *(f"{row[ratio]:.1f}" for ratio in ("primal / SVC", "dual / primal")),
            )
            for row in embedded["fits"]["rows"]
        ]
        means = embedded["fits"]["means"]
        rows.append(("geometric mean", "", "", "", *(f"{means[r]:.1f}" for r in ("primal / SVC", "dual / primal"))))
        named = ("pair", "SVC(kernel='linear', C=0.1), ms", "primal, ms", "dual, ms", "primal / SVC", "dual / primal")
        parts.insert(0, table(named, rows))
    return "\n\n".join(parts)


def markdown(results: dict[str, Any]) -> str:
    """Everything between the markers; what was added later only if it has been measured."""
    large, classes = results.get("large_search"), results.get("classes")
    machine = "; ".join(f"{name} {value}" for name, value in results["machine"].items())
    return "\n\n".join([
        f"Measured on: {machine}.",
        "### Targets set before the work, and results",
        table(("target", "bound", "reached", ""), aims.rows(results)),
        f"### Fit, best of {results['fit']['repeats']}",
        fit_tables(results["fit"]),
        "### Hard fits, once each, CPU time",
        hard_table(results["hard"]),
        "### Predict",
        predict_table(results["predict"]),
        *((f"### Several classes, best of {classes['repeats']}", classes_tables(classes)) if classes else ()),
        *(part for title, header, rows in novelty_report.tables(results) for part in (title, table(header, rows))),
        *(part for *parts, (header, rows) in shapes_report.tables(results) for part in (*parts, table(header, rows))),
        "### Growth",
        scaling_table(results["scaling"]),
        "### Memory",
        memory_line(results["memory"]),
        f"### Path, best of {results['path']['repeats']}",
        path_tables(results["path"]),
        f"### Model selection, best of {results['model_selection']['repeats']}",
        model_selection_tables(results["model_selection"]),
        *(("### Model selection on large sets, once each", large_search_tables(large)) if large else ()),
        *(part for title, header, rows in linear_report.tables(results) for part in (title, table(header, rows))),
        f"### Embedded, best of {results['embedded']['repeats']}",
        embedded_tables(results["embedded"]),
        f"### Solvers, best of {results['solvers']['repeats']}",
        solvers_table(results["solvers"]),
    ])


def write(results: dict[str, Any], readme: Path) -> None:
    """Replace the text between the markers."""
    before, _, rest = readme.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{START}\n\n{markdown(results)}\n\n{END}{after}", encoding="utf-8")
