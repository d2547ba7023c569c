"""The two curves of a page with their bands, for a slider as numbers, without one as lines drawn without a script.

With a slider, rows are rejected in the order in which a falling reject cost rejects them.

Let a, b be the largest reject costs that can pay, in the stated ratio: a / c_fp + b / c_fn = 1. At the share t of them,
r_neg = t a and r_pos = t b, Bayes' thresholds on the log-odds s (docs/theory.md) reject the row if and only if

    t <= t*(s) = min( c_fp / (a + b e^s),  c_fn / (a e^-s + b) )

which is the expected cost of the cheaper class divided by the expected cost of rejecting at t = 1. So -log t* is a
confidence whose curves pass through the operating point of every reject cost; for equal costs it is |s| up to a
monotone map.

Lines have a frame that is 400 units wide, so that its text can be read on a phone, where it is shown at about 350
pixels.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.verdict import Judge
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.metrics.bands import CurveBand, bootstrap_band
from abstain.metrics.curves import accuracy_reject_curve, cost_curve
from abstain.metrics.ranking import has_curve
from abstain.report.review import Review
from abstain.report.text import amount, share

# Reject costs, as shares of the largest, at which the cost curve is resampled; the page interpolates between them.
_SHARES = (0.001, 0.25, 0.5, 0.75, 1.0)
# Rows times resamples stay near the first number; above the last number of rows a band is thinner than its line.
_DRAWS, _FEWEST, _MOST, _BAND_ROWS = 4_000_000, 100, 500, 200_000
# Of lines: resamples, the most rows with a band, and the frame.
_RESAMPLES, _BANDED_ROWS = 200, 50_000
WIDTH, HEIGHT = 400, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 24, 40


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of the page.

    Attributes
    ----------
    accuracy : CurveBand
        Accuracy among accepted rows against the reject rate; it does not depend on the reject cost.
    shares : tuple of float
        Reject costs at which the cost curve was computed, as shares of the largest that can pay; increasing.
    cost : tuple of CurveBand
        Mean cost against the reject rate at each of them.
    """

    accuracy: CurveBand
    shares: tuple[float, ...]
    cost: tuple[CurveBand, ...]


def share_of(costs: Costs) -> float:
    """T = r_neg / c_fp + r_pos / c_fn, the stated reject cost as a share of the largest that can pay."""
    return min(costs.reject_negative / costs.false_positive + costs.reject_positive / costs.false_negative, 1.0)


def at_share(costs: Costs, t: float) -> Costs:
    """The same error costs with the reject costs at the share t, in the stated ratio."""
    return costs.scaled(t / share_of(costs))


def are_bayes(thresholds: Thresholds, costs: Costs) -> bool:
    """Whether thresholds on the log-odds are those of the costs."""
    bayes = costs.score_thresholds()
    return bool(np.allclose([thresholds.lower, thresholds.upper], [bayes.lower, bayes.upper], rtol=1e-9, atol=1e-9))


def price_confidence(costs: Costs, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log t* of each log-odds, with the sign of the cheaper class."""
    largest = at_share(costs, 1.0)
    log_a, log_b = np.log([largest.reject_negative, largest.reject_positive])
    above = np.logaddexp(log_a, score + log_b) - np.log(costs.false_positive)
    below = np.logaddexp(log_a - score, log_b) - np.log(costs.false_negative)
    confidence = np.maximum(np.maximum(above, below), 0.0)  # rounding may give values below 0 next to the cut
    # scores above the cut stay above 0, so that the forced choice is the same
    return np.where(score > costs.cut, np.maximum(confidence, np.finfo(np.float64).tiny), -confidence)


def rejected_first(score: NDArray[np.float64], novel: NDArray[np.bool_], cut: float = 0.0) -> NDArray[np.float64]:
    """Scores with the least confidence for novel rows, which no reject cost decides; their forced choice is the same.

    Of several classes, with a column for each, the confidence is the lead of the highest score.
    """
    if not novel.any():
        return score
    if score.ndim > 1:
        least = np.zeros_like(score)
        np.put_along_axis(least, score.argmax(axis=1)[:, np.newaxis], np.nextafter(0.0, 1.0), axis=1)
        return np.where(novel[:, np.newaxis], least, score)
    return np.where(novel, np.where(score > cut, np.nextafter(cut, np.inf), cut), score)


def curves_of(code: NDArray[np.intp], score: NDArray[np.float64], costs: Costs, cut: float) -> Curves:
    """Compute both curves, with bands unless there are too many rows."""
    n, above = len(code), code > 0  # booleans are two classes also if one of them is missing
    resamples = int(np.clip(_DRAWS // n, _FEWEST, _MOST)) if n <= _BAND_ROWS else 0
    shares = tuple(sorted({*_SHARES, share_of(costs)}))
    arguments: dict[str, Any] = {"cut": cut, "pos_label": True}
    accuracy = band_of("accuracy_reject", (above, score), resamples, arguments)
    cost = tuple(band_of("cost", (above, score, at_share(costs, t)), resamples, arguments) for t in shares)
    return Curves(accuracy, shares, cost)


def band_of(curve: str, rows: tuple[Any, ...], resamples: int, arguments: dict[str, Any]) -> CurveBand:
    """A curve with its bootstrap band, or the curve alone without resamples."""
    if resamples:
        return bootstrap_band(curve, *rows, n_resamples=resamples, **arguments)
    grid = np.arange(100 if curve == "accuracy_reject" else 101) / 100.0
    read: Any = accuracy_reject_curve if curve == "accuracy_reject" else cost_curve
    estimate = read(*rows, **arguments).at(grid)
    return CurveBand(curve, grid, estimate, estimate, estimate, level=0.0, n_resamples=0)


@dataclass(frozen=True)
class LinePlot:
    """A curve with its band, as paths, and the places of its points.

    Attributes
    ----------
    title, words : str
        What the curve is, and the same with its value at the machine's decisions.
    line, ribbon : str
        Paths; the ribbon is empty if there are too many rows to need a band.
    rings : tuple of ((float, float) or None)
        The place of each number of reviewed rows.
    point : int
        Which of them is that of the machine's decisions.
    x_ticks, y_ticks : tuple of (str, float)
        Labels and places.
    """

    title: str
    words: str
    line: str
    ribbon: str
    rings: tuple[tuple[float, float] | None, ...]
    point: int
    x_ticks: tuple[tuple[str, float], ...]
    y_ticks: tuple[tuple[str, float], ...]


def plots_of(judge: Judge, review: Review) -> tuple[LinePlot, ...]:
    """Return the accuracy among accepted rows and the cost per row, by the share rejected, in the order of review.

    Actions that are not an answer for each class and one reject have no errors, and no band around their cost.
    """
    y, rate = judge.truth, review.reviewed / len(review.order)
    if not has_curve(judge.costs):
        cost = CurveBand("cost", rate, *(review.cost,) * 3, level=0.0, n_resamples=0)
        return (_plot("cost per row", cost, review, review.cost),)
    s, count = review.ranked(judge.costs.n_classes), _RESAMPLES if len(y) <= _BANDED_ROWS else 0
    arguments = {"classes": judge.classes, "pos_label": judge.positive}
    accuracy = band_of("accuracy_reject", (y, s), count, arguments)
    cost = band_of("cost", (y, s, judge.costs), count, arguments)
    accurate = _plot("accuracy among accepted rows", accuracy, review, 1.0 - review.error)
    return accurate, _plot("cost per row", cost, review, review.cost)


def _plot(title: str, band: CurveBand, review: Review, found: NDArray[np.float64]) -> LinePlot:
    text, here = share if band.curve == "accuracy_reject" else amount, review.reviewed.tolist().index(review.rejected)
    values = np.concatenate([band.estimate, band.lower, band.upper, found[np.isfinite(found)]])
    low, high = 0.0 if band.curve == "cost" else float(values.min()), float(values.max())
    step = tick_step(max(high - low, 1e-9))
    low, high = step * np.floor(low / step), step * np.ceil(high / step)
    high = high if high > low else low + step
    rate = review.reviewed / len(review.order)

    def x(v: Any) -> Any:
        return _LEFT + np.asarray(v) * (WIDTH - _LEFT - _RIGHT)

    def y(v: Any) -> Any:
        return HEIGHT - _BOTTOM - (np.asarray(v) - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM)

    def path(grid: NDArray[np.float64], at: NDArray[np.float64]) -> str:
        return "L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(grid), y(at), strict=True))

    point = f"{text(float(found[here]))} at {share(float(rate[here]))}"
    rings = zip(x(rate).round(1).tolist(), y(found).round(1).tolist(), strict=True)
    around = f"M{path(band.grid, band.upper)}L{path(band.grid[::-1], band.lower[::-1])}Z"
    ticks = [low + step * k for k in range(round((high - low) / step) + 1)]
    return LinePlot(
        title=title,
        words=f"{title} against the share rejected; at the machine's decisions {point}",
        line=f"M{path(band.grid, band.estimate)}",
        ribbon=around if band.n_resamples else "",
        rings=tuple(ring if math.isfinite(ring[1]) else None for ring in rings),
        point=here,
        x_ticks=tuple((f"{25 * k} %", float(x(k / 4))) for k in range(5)),
        y_ticks=tuple((text(float(f"{tick:.10g}")), round(float(y(tick)), 1)) for tick in ticks),
    )


def tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, with three to seven steps in the span."""
    unit = 10.0 ** np.floor(np.log10(span))
    return float(next(unit * part for part in (2.0, 1.0, 0.5, 0.2) if span / (unit * part) >= 2.5))
