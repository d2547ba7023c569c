"""A comparison as a text table, in words, and as a table for notebooks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.costs.answers import MOST
from abstain.html import html_table, percent

if TYPE_CHECKING:
    from abstain.comparison.result import Comparison

# The rates of a table of counts that have another name in a text than in a data frame.
_WORDS = {
    "reject_rate": "rejected",
    "error_rate": "errors",
    "selective_error": "selective error",
    "positive_predictivity": "predictivity",
    "worst_class_error": "worst class",
}
SIGNIFICANT = "All differences from the best are significant."
_MACHINES = (
    "All intervals are for the machines fitted on these folds and do not include variation between training sets."
)
_HINDSIGHT = "The cheapest is chosen on these rows, so its mean cost on new ones is a little higher."


def as_text(comparison: Comparison) -> str:
    """The models from the cheapest to the most expensive, with notes on the intervals."""
    lines = aligned(_table(comparison), left=(0, 3))
    notes = [*_notes(comparison), *missing_rules(comparison)]
    return "\n".join([_title(comparison), "", *lines, "", *judged(comparison), *notes])


def judged(comparison: Comparison) -> list[str]:
    """The verdict as a sentence; none if the labels are unknown."""
    return [] if comparison.verdict is None else [comparison.verdict.sentence]


def missing_rules(comparison: Comparison) -> list[str]:
    """One sentence for each rule left out."""
    return [f"Left out: {name}; {reason}." for name, reason in comparison.left_out]


def as_html(comparison: Comparison) -> str:
    """The same table for notebooks, with the significant differences in words."""
    head, *rows = ((*row[:4], *row[5:7]) for row in _table(comparison))
    words = " ".join([in_words(comparison), *judged(comparison), *comparison.cautions])
    return html_table(_title(comparison), ("model", *head[1:]), rows, words)


def _table(comparison: Comparison) -> list[tuple[str, ...]]:
    """The head, the models from the cheapest, and the alternatives of the verdict that are not models themselves."""
    rates = [_WORDS.get(rate, rate.removeprefix("share_")[:20]) for rate in comparison.tables[0].rates]
    head = ("", "mean cost", _interval(comparison), "difference from best", "", *rates, "fit", "predict")
    order = np.argsort(comparison.mean_cost, kind="stable").tolist()
    found = () if comparison.verdict is None else comparison.verdict.alternatives
    further = [(name, f"{cost:.4g}", *[""] * (len(head) - 2)) for name, cost in found if name not in comparison.names]
    return [head, *(_line(comparison, at) for at in order), *further]


def in_words(comparison: Comparison) -> str:
    """Which model costs least, and which ones cost significantly more."""
    at = comparison.names.index(comparison.best)
    low, high = comparison.mean_cost_interval[at]
    cost = f"{comparison.mean_cost[at]:.4g} per row ({_interval(comparison)} {low:.3g} to {high:.3g})"
    if len(comparison.names) == 1:
        return f"{comparison.best} costs {cost}."
    found: dict[bool, list[str]] = {True: [], False: []}
    for other in np.argsort(comparison.mean_cost, kind="stable").tolist():
        name, (low, high) = comparison.names[other], comparison.difference_interval[other]
        significant = name not in comparison.not_told_apart
        by = f", by {comparison.difference[other]:.3g} ({low:.3g} to {high:.3g})" if significant else ""
        if other != at:
            found[significant].append(f"{name}{by}")
    openings = {True: "Significantly more than that", False: "Not significantly more"}
    words = [f"{opening}: {'; '.join(found[which])}." for which, opening in openings.items() if found[which]]
    return " ".join([f"{comparison.best} costs least: {cost}.", *words, _HINDSIGHT])


def _interval(comparison: Comparison) -> str:
    return f"{100 * comparison.confidence:.4g}% interval"


def _line(comparison: Comparison, at: int) -> tuple[str, ...]:
    name, (low, high) = comparison.names[at], comparison.mean_cost_interval[at]
    least, most = comparison.difference_interval[at]
    seconds = (comparison.fit_seconds[at], comparison.predict_seconds[at])
    return (
        name,
        f"{comparison.mean_cost[at]:.4g}",
        f"{low:.3g} to {high:.3g}",
        "best" if name == comparison.best else f"{comparison.difference[at]:+.3g} ({least:+.3g} to {most:+.3g})",
        "~" if name in comparison.not_told_apart and name != comparison.best else "",
        *("-" if math.isnan(rate) else f"{percent(rate)}%" for rate in comparison.tables[at].rates.values()),
        *(f"{second:.2f} s" if second >= 1 else f"{1e3 * second:.3g} ms" for second in seconds),
    )


def _title(comparison: Comparison) -> str:
    counts = comparison.tables[0].counts.sum(axis=1)
    labels = [f" {str(label)[:60]!r}" for label in comparison.classes] or [""] * len(counts)
    sides = (" negative", " positive") if comparison.costs.pair else [""] * len(counts)
    named = [f"{count:,.0f}{side}{label}" for count, side, label in zip(counts, sides, labels, strict=True)][:MOST]
    if len(counts) > MOST:
        named.append(f"{counts[MOST:].sum():,.0f} of {len(counts) - MOST} more classes")
    return (
        f"{len(comparison.names)} models on {len(comparison.rows):,} rows ({', '.join(named)}), "
        f"{comparison.n_splits} folds; {comparison.costs.in_words()}"
    )


def _notes(comparison: Comparison) -> list[str]:
    level, ties = f"{100 * comparison.confidence:.4g}%", len(comparison.not_told_apart) - 1
    others = len(comparison.names) - 1
    if not others:
        notes = [f"The interval is for the machines fitted on these folds, with {level} confidence."]
    else:
        significance = f"~ no significant difference from the best ({ties} of {others})." if ties else SIGNIFICANT
        paired = f"Differences are paired by row; intervals hold for all pairs at once with {level} confidence."
        notes = [f"{significance} {paired}", f"{_MACHINES} {_HINDSIGHT}"]
    return [*notes, *comparison.cautions]


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """Return rows of text as lines with columns of the same width: some aligned to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    formats = [f"{'<' if column in left else '>'}{width}" for column, width in enumerate(widths)]
    return ["  ".join(map(format, row, formats)).rstrip() for row in rows]
