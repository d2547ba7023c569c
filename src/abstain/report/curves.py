"""The two curves with their bands: rows rejected in the order in which a falling reject price takes them.

Let a, b be the largest prices of rejecting that can pay, in the stated proportion: a / c_fp + b / c_fn = 1. At the
share t of them, r_neg = t a and r_pos = t b, Bayes' thresholds on the log-odds s (MATH.md 1) reject the row if and only
if

    t <= t*(s) = min( c_fp / (a + b e^s),  c_fn / (a e^-s + b) )

which is the expected cost of the cheaper class over the expected price of rejecting at t = 1. So -log t* is a
confidence whose curves pass through the operating point of every price; it is |s| itself, up to a monotone map, for
equal costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs import Costs
from abstain.metrics.bands import CurveBand, bootstrap_band
from abstain.metrics.curves import accuracy_reject_curve, cost_curve

# Prices, as shares of the largest, at which the cost curve is resampled; the page interpolates between them.
_SHARES = (0.001, 0.25, 0.5, 0.75, 1.0)
# Resamples are drawn while rows times resamples stay near this; beyond the last size a band is thinner than its line.
_DRAWS, _FEWEST, _MOST, _BAND_ROWS = 4_000_000, 100, 500, 200_000


@dataclass(frozen=True, eq=False)
class Curves:
    """What the page draws.

    Attributes
    ----------
    accuracy : CurveBand
        Accuracy among the accepted against the reject rate; it does not depend on the price.
    shares : tuple of float
        Prices of rejecting at which the cost curve was read, as shares of the largest that can pay; increasing.
    cost : tuple of CurveBand
        Mean cost against the reject rate at each of them.
    n_resamples : int
        Behind each band; 0 where there are so many rows that none was drawn.
    """

    accuracy: CurveBand
    shares: tuple[float, ...]
    cost: tuple[CurveBand, ...]
    n_resamples: int


def share_of(costs: Costs) -> float:
    """T = r_neg / c_fp + r_pos / c_fn, the stated price as a share of the largest that can pay."""
    return min(costs.reject_negative / costs.false_positive + costs.reject_positive / costs.false_negative, 1.0)


def at_share(costs: Costs, t: float) -> Costs:
    """The same costs of errors with the price of rejecting at the share t, in the stated proportion."""
    factor = t / share_of(costs)
    reject = (factor * costs.reject_negative, factor * costs.reject_positive)
    return Costs(costs.false_positive, costs.false_negative, reject)


def price_confidence(costs: Costs, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log t* of each log-odds, with the sign of the cheaper class."""
    largest = at_share(costs, 1.0)
    log_a, log_b = np.log([largest.reject_negative, largest.reject_positive])
    above = np.logaddexp(log_a, score + log_b) - np.log(costs.false_positive)
    below = np.logaddexp(log_a - score, log_b) - np.log(costs.false_negative)
    confidence = np.maximum(np.maximum(above, below), 0.0)  # rounding may go below 0 next to the cut
    # what lies above the cut stays above 0, so that the forced choice is the same for the new score
    return np.where(score > costs.cut, np.maximum(confidence, np.finfo(np.float64).tiny), -confidence)


def curves_of(sign: NDArray[np.int8], score: NDArray[np.float64], costs: Costs, cut: float) -> Curves:
    """Read both curves, and resample them where that shows anything."""
    n = len(sign)
    resamples = int(np.clip(_DRAWS // n, _FEWEST, _MOST)) if n <= _BAND_ROWS else 0
    shares = tuple(sorted({*_SHARES, share_of(costs)}))
    arguments: dict[str, Any] = {"cut": cut, "pos_label": 1}
    accuracy = _band("accuracy_reject", (sign, score), resamples, arguments)
    cost = tuple(_band("cost", (sign, score, at_share(costs, t)), resamples, arguments) for t in shares)
    return Curves(accuracy, shares, cost, resamples)


def _band(curve: str, rows: tuple[Any, ...], resamples: int, arguments: dict[str, Any]) -> CurveBand:
    if resamples:
        return bootstrap_band(curve, *rows, n_resamples=resamples, **arguments)
    grid = np.arange(100 if curve == "accuracy_reject" else 101) / 100.0
    read: Any = accuracy_reject_curve if curve == "accuracy_reject" else cost_curve
    estimate = read(*rows, **arguments).at(grid)
    return CurveBand(curve, grid, estimate, estimate, estimate, level=0.0, n_resamples=0)
