"""Curves of a page without a slider, as lines in a fixed frame, drawn without a script.

The frame is 400 units wide, so that its text can be read on a phone, where it is shown at about 350 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.comparison.judges import Judge
from abstain.metrics.bands import CurveBand
from abstain.metrics.counts import Counts
from abstain.metrics.ranking import has_curve
from abstain.report.curves import band_of, rejected_first
from abstain.report.text import amount, share

__all__ = ["LinePlot", "plots_of", "tick_step"]

WIDTH, HEIGHT = 400, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 24, 40
_RESAMPLES, _BAND_ROWS = 200, 50_000


@dataclass(frozen=True)
class LinePlot:
    """A curve with its band and the point of the machine, as paths.

    Attributes
    ----------
    title, words : str
        What the curve is, and the same with its value at the machine's point.
    line, ribbon : str
        Paths; the ribbon is empty if there are too many rows to need a band.
    point : (float, float) or None
        Where the machine decides.
    x_ticks, y_ticks : tuple of (str, float)
        Labels and places.
    """

    title: str
    words: str
    line: str
    ribbon: str
    point: tuple[float, float] | None
    x_ticks: tuple[tuple[str, float], ...]
    y_ticks: tuple[tuple[str, float], ...]


def plots_of(
    judge: Judge, score: ArrayLike, table: Counts, mean_cost: float, novel: NDArray[np.bool_]
) -> tuple[LinePlot, ...]:
    """Return the accuracy among accepted rows and the cost per row, by the share rejected.

    Novel rows are rejected first. Actions that are not an answer for each class and one reject have no such curves.
    """
    y, s, costs = judge.truth, np.asarray(score, dtype=np.float64), judge.costs
    if not has_curve(costs):
        return ()
    if costs.n_classes == 2:
        cut = costs.levels(forced=True).lower
        turned = judge.positive not in (None, max(judge.classes))  # a score on the cut means the first class
        s = np.where(-s == cut, np.nextafter(0.0, 1.0), -s - cut) if turned else s - cut
    s = rejected_first(s, novel)
    count = _RESAMPLES if len(y) <= _BAND_ROWS else 0
    arguments = {"classes": judge.classes, "pos_label": judge.positive}
    accuracy, cost = (
        band_of(curve, (y, s, *prices), count, arguments)
        for curve, prices in (("accuracy_reject", ()), ("cost", (costs,)))
    )
    points = {"accuracy among accepted rows": (accuracy, table.selective_accuracy), "cost per row": (cost, mean_cost)}
    return tuple(_plot(title, band, (table.reject_rate, value)) for title, (band, value) in points.items())


def _plot(title: str, band: CurveBand, point: tuple[float, float]) -> LinePlot:
    text, banded = share if band.curve == "accuracy_reject" else amount, band.n_resamples > 0
    edges = (band.lower, band.upper) if banded else (band.estimate,)
    values = np.concatenate([band.estimate, *edges, [point[1]] if np.isfinite(point[1]) else []])
    low, high = float(values.min()), float(values.max())
    if band.curve == "cost":
        low = 0.0
    step = tick_step(max(high - low, 1e-9))
    low, high = step * np.floor(low / step), step * np.ceil(high / step)
    high = high if high > low else low + step

    def x(v: Any) -> Any:
        return _LEFT + np.asarray(v) * (WIDTH - _LEFT - _RIGHT)

    def y(v: Any) -> Any:
        return HEIGHT - _BOTTOM - (np.asarray(v) - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM)

    def path(grid: NDArray[np.float64], at: NDArray[np.float64]) -> str:
        return "L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(grid), y(at), strict=True))

    around = f"M{path(band.grid, band.upper)}L{path(band.grid[::-1], band.lower[::-1])}Z" if banded else ""
    ticks = [low + step * k for k in range(round((high - low) / step) + 1)]
    known = bool(np.isfinite(point[1]))
    return LinePlot(
        title=title,
        words=f"{title} against the share rejected; at the machine's decisions {text(point[1])} at {share(point[0])}",
        line=f"M{path(band.grid, band.estimate)}",
        ribbon=around,
        point=(round(float(x(point[0])), 1), round(float(y(point[1])), 1)) if known else None,
        x_ticks=tuple((f"{25 * k} %", float(x(k / 4))) for k in range(5)),
        y_ticks=tuple((text(float(f"{tick:.10g}")), round(float(y(tick)), 1)) for tick in ticks),
    )


def tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, with three to seven steps in the span."""
    unit = 10.0 ** np.floor(np.log10(span))
    return float(next(unit * part for part in (2.0, 1.0, 0.5, 0.2) if span / (unit * part) >= 2.5))
