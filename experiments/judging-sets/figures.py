"""The pictures of judging-sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.rank_picture import rank_picture as drawn

STYLES = {
    "command line": ("#0072B2", "o"),
    "--no-novelty": ("#0072B2", "D"),
    "--machine svm": ("#56B4E9", "s"),
    "--machine laplacian": ("#56B4E9", "^"),
    "--machine best": ("#0072B2", "*"),
    "MachineSearch": ("#56B4E9", "P"),
    "RejectSVCCV, rbf": ("#56B4E9", "s"),
    "RejectSVCCV, laplacian": ("#56B4E9", "^"),
    "logistic": ("#666666", "x"),
    "forest": ("#009E73", "P"),
    "boosting": ("#CC79A7", "X"),
    "SVC, Platt": ("#E69F00", "s"),
    "neighbours": ("#D55E00", "v"),
    "naive Bayes": ("#D55E00", "^"),
    "rejecting all": ("#bbbbbb", "|"),
    "one answer for all": ("#bbbbbb", "_"),
}
SHOWN = ("command line", "RejectSVCCV, rbf", "logistic", "forest", "boosting")  # against the number of rows
EDGE = 3.0  # ratios beyond it are drawn there
NO_FIT = 2e-3  # seconds


def file_of(picture: str, judgement: str) -> str:
    """The file of a picture; those of the first judgement keep their names."""
    return f"{picture}.png" if judgement == "first" else f"{picture}_{judgement}.png"


def figures(judgement: str) -> dict[str, Any]:
    """The pictures of a judgement by file: functions of its results."""
    drawn = {"ranks": rank_picture, "rows": rows_picture, "time": time_picture}
    return {file_of(picture, judgement): draw for picture, draw in drawn.items()}


def rank_picture(results: dict[str, Any]) -> Any:
    """Mean ranks of all methods."""
    return drawn(results["ranks"], STYLES)


def rows_picture(results: dict[str, Any]) -> Any:
    """The cost of some methods over that of the cheapest, by the number of rows of the set."""
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    rows = {item["data"]: item["rows"] for item in results["sets"]}
    for at, method in enumerate(name for name in SHOWN if name in results["methods"]):
        places, levels = [], []
        for name, n in rows.items():
            own = [np.log(item["methods"][method]["ratio"]) for item in results["blocks"] if item["data"] == name]
            places.append(n * 1.03 ** (at - 2))
            levels.append(min(float(np.exp(np.mean(own))), EDGE))
        colour, marker = STYLES[method]
        ax.scatter(places, levels, color=colour, marker=marker, s=34, label=method, zorder=3)
    ax.axhline(1, color="#333333", linewidth=1, zorder=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ticks = [1, 1.25, 1.5, 2, EDGE]
    ax.set_ylim(0.97, EDGE * 1.05)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xlim(min(rows.values()) / 1.3, max(rows.values()) * 1.3)
    ends = [n for n in (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000) if n < 1.3 * max(rows.values())]
    ax.set_xticks(ends, [f"{n:,}" for n in ends])
    ax.minorticks_off()
    ax.set_xlabel("rows of the set")
    ax.set_ylabel("cost relative to the cheapest")
    quiet(ax)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    return figure


def time_picture(results: dict[str, Any]) -> Any:
    """The regret of each method by its seconds of training."""
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for method, item in (results["overall"] | results.get("variants", {})).items():
        if item["seconds"] > NO_FIT:
            colour, marker = STYLES[method]
            level = min(1 + item["regret"]["mean"], EDGE)
            ax.scatter(item["seconds"], level, color=colour, marker=marker, s=44, label=method, zorder=3)
    ax.set_xscale("log")
    ax.set_xlabel("seconds of CPU of a fit with its search, geometric mean over settings")
    ax.set_ylabel("cost relative to the cheapest")
    quiet(ax)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    return figure
