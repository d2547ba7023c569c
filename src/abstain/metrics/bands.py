"""Bootstrap bands around the curves: how much they would vary with other rows.

A resample draws n of the n rows with replacement, together with their weights. Each curve is evaluated at the same
reject rates (coverages) in all resamples, with ties averaged; the band is the central `level` of the values at each.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import share_between, whole_number
from abstain.frames import DataFrame, ReadOnly, arrays_of, frame_of
from abstain.metrics.curve_results import KINDS, CurveKind
from abstain.metrics.ranking import RankedRows, running


@dataclass(frozen=True, eq=False)
class CurveBand(ReadOnly):
    """A pointwise bootstrap band around a curve.

    Attributes
    ----------
    curve : str
        The curve: "accuracy_reject", "cost", "error_reject" or "risk_coverage".
    grid : ndarray of shape (k,)
        Where the curve is evaluated: coverages for "risk_coverage", reject rates for the others.
    estimate : ndarray of shape (k,)
        The curve of the rows themselves.
    lower, upper : ndarray of shape (k,)
        The ends of the band.
    level : float
        The share of resampled curves inside the band, at each point of the grid separately.
    n_resamples : int
        Number of resamples.
    """

    curve: str
    grid: NDArray[np.float64]
    estimate: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    n_resamples: int

    def to_frame(self) -> DataFrame:
        """The band as a pandas DataFrame."""
        parts = arrays_of(self)
        return frame_of({KINDS[self.curve].x: parts.pop("grid"), **parts})


def bootstrap_band(
    curve: str,
    y_true: ArrayLike,
    score: ArrayLike,
    costs: Any = None,
    *,
    grid: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = 0,
    cut: float = 0.0,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    row_costs: Any = None,
) -> CurveBand:
    """Pointwise percentile bootstrap band of a curve.

    Parameters
    ----------
    curve : {"accuracy_reject", "cost", "error_reject", "risk_coverage"}
        The curve, as defined by ``risk_coverage_curve`` and so on.
    y_true, score, cut, pos_label
        As for the curve.
    costs, row_costs
        The costs, for "cost" only, as in `cost_curve`.
    grid : array-like, default=None
        Coverages in (0, 1] for "risk_coverage", reject rates in [0, 1) for "accuracy_reject" and in [0, 1] for the
        others; all hundredths by default.
    level : float, default=0.95
        Share of the resampled curves inside the band, at each point.
    n_resamples : int, default=1000
        Number of resamples.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of the resamples. The same seed gives the same band for any order of the rows; None gives a different band
        each time.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. Rows are drawn together with their weights, so a weight of 2 is not two independent rows
        here.
    classes : array-like of shape (n_classes,), default=None
        With more than two classes, those of the columns of `score`, sorted, if `y_true` may lack some of them.

    Returns
    -------
    CurveBand
        `grid`, `estimate`, `lower`, `upper`.

    Examples
    --------
    >>> from abstain.metrics import bootstrap_band
    >>> band = bootstrap_band("error_reject", [0, 1, 1, 0], [-3.0, -2.0, 1.0, -1.0], grid=[0, 0.5, 1])
    >>> band.estimate, band.lower
    (array([0.25, 0.25, 0.  ]), array([0., 0., 0.]))
    """
    if curve not in KINDS:
        raise ValueError(f"curve={curve!r} must be one of {', '.join(KINDS)}.")
    if (curve == "cost") != (costs is not None or row_costs is not None):
        raise ValueError(f'costs={costs!r} with curve={curve!r}: costs are required for "cost" and not used otherwise.')
    level = share_between("level", level, 0.95)
    n_resamples = whole_number("n_resamples", n_resamples, "an integer >= 1", 1)
    points = _checked_grid(KINDS[curve], grid)
    given = {"pos_label": pos_label, "sample_weight": sample_weight, "classes": classes, "row_costs": row_costs}
    ranked = RankedRows.of(y_true, score, cut, costs=costs, **given)
    rng, n = np.random.default_rng(random_state), len(ranked.weight)
    resampled = np.empty((n_resamples, len(points)))
    for values in resampled:
        values[:] = _at(points, curve, ranked, ranked.weight * np.bincount(rng.integers(n, size=n), minlength=n))
    lower, upper = np.quantile(resampled, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    estimate = _at(points, curve, ranked, ranked.weight)
    return CurveBand(curve, points, estimate, lower, upper, level, n_resamples)


def _at(points: NDArray[np.float64], curve: str, ranked: RankedRows, weight: NDArray[Any]) -> NDArray[np.float64]:
    """Return the curve at the points if the rows have these weights.

    A sum over the accepted rows is linear in the accepted weight between two confidences, which averages ties.
    """
    coverage, accepted = np.abs(points - KINDS[curve].nothing), running(ranked.merged(weight))
    share = weight / accepted[-1]
    change = running(ranked.merged(share * (ranked.decided - ranked.rejected)))
    value = np.sum(share * ranked.rejected) + np.interp(coverage, accepted / accepted[-1], change)
    value = value / coverage if KINDS[curve].ratio else value
    return np.asarray(1.0 - value if curve == "accuracy_reject" else value)


def _checked_grid(kind: CurveKind, grid: ArrayLike | None) -> NDArray[np.float64]:
    points = np.arange(101) / 100.0 if grid is None else np.array(grid, dtype=np.float64)
    if grid is None:
        return points[kind.defined(points)]
    if points.ndim != 1 or not points.size or not kind.defined(points).all():
        shares = "coverages in (0, 1]" if kind.x == "coverage" else f"reject rates in [0, 1{')' if kind.ratio else ']'}"
        raise ValueError(f"grid={grid!r} must be a list of {shares}.")
    return points
