"""Bootstrap bands against resamples drawn and measured one by one, and against many data sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from abstain import Costs
from abstain.metrics import (
    accuracy_reject_curve,
    bootstrap_band,
    cost_curve,
    error_reject_curve,
    risk_coverage_curve,
)

COSTS = Costs(1, 5, (0.5, 0.75))
CURVES = {
    "accuracy_reject": accuracy_reject_curve,
    "cost": lambda y, score, **options: cost_curve(y, score, COSTS, **options),
    "error_reject": error_reject_curve,
    "risk_coverage": risk_coverage_curve,
}
EVERY_CURVE = pytest.mark.parametrize("name", CURVES)
GRID = [0.25, 0.5, 0.8]


def band_of(name, y, score, **options):
    return bootstrap_band(name, y, score, COSTS if name == "cost" else None, **options)


def sample(n, seed, *, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    score = rng.normal(2 * y - 1, 1.5)
    return y, np.round(score) if ties else score


@EVERY_CURVE
def test_the_ends_are_quantiles_of_the_curves_of_resampled_rows(name):
    y, score = sample(60, 1)
    weight = np.random.default_rng(2).uniform(0.5, 2, 60)
    band = band_of(name, y, score, grid=GRID, n_resamples=40, level=0.8, random_state=5, sample_weight=weight)
    by_confidence = np.argsort(-np.abs(score))
    rng = np.random.default_rng(5)
    curves = []
    for _ in range(40):
        drawn = by_confidence[rng.integers(60, size=60)]
        curves.append(CURVES[name](y[drawn], score[drawn], pos_label=1, sample_weight=weight[drawn]).at(GRID))
    assert_allclose(band.lower, np.quantile(curves, 0.1, axis=0), atol=1e-13)
    assert_allclose(band.upper, np.quantile(curves, 0.9, axis=0), atol=1e-13)
    assert_allclose(band.estimate, CURVES[name](y, score, sample_weight=weight).at(GRID), atol=1e-13)


@EVERY_CURVE
def test_a_band_is_the_same_for_the_same_seed_and_any_order_of_the_rows(name):
    y, score = sample(80, 3, ties=True)
    weight = np.random.default_rng(4).integers(0, 3, 80) / 3
    order = np.random.default_rng(5).permutation(80)
    first = band_of(name, y, score, n_resamples=50, sample_weight=weight)
    again = band_of(name, y[order], score[order], n_resamples=50, sample_weight=weight[order])
    other = band_of(name, y, score, n_resamples=50, sample_weight=weight, random_state=1)
    for field in ("grid", "estimate", "lower", "upper"):
        assert_array_equal(getattr(again, field), getattr(first, field))
    assert not np.array_equal(other.lower, first.lower)


@EVERY_CURVE
def test_a_band_surrounds_the_curve_and_widens_with_the_level(name):
    y, score = sample(300, 6)
    wide, narrow = (band_of(name, y, score, n_resamples=200, level=level, grid=GRID) for level in (0.99, 0.5))
    assert (wide.lower < narrow.lower).all()
    assert (narrow.upper < wide.upper).all()
    assert ((wide.lower <= wide.estimate) & (wide.estimate <= wide.upper)).all()


@pytest.mark.long
def test_a_band_keeps_its_level_over_many_data_sets():
    # the truth, read off one very large sample of the same kind
    y, score = sample(400_000, 100)
    truth = error_reject_curve(y, score).at(0.3)
    inside = []
    for seed in range(200):
        band = band_of("error_reject", *sample(200, seed), grid=[0.3], n_resamples=200, level=0.9)
        inside.append(bool(band.lower[0] <= truth <= band.upper[0]))
    # 0.9 of 200, give or take 4 standard errors of 0.021; a band of half the level would be far outside
    assert 0.81 < np.mean(inside) < 0.985


@EVERY_CURVE
def test_by_default_the_grid_is_all_hundredths_where_the_curve_is_defined(name):
    band = band_of(name, *sample(50, 7), n_resamples=10)
    assert band.grid[0] == (0.01 if name == "risk_coverage" else 0)
    assert band.grid[-1] == (0.99 if name == "accuracy_reject" else 1)
    assert np.isfinite([band.lower, band.upper]).all()
    assert_allclose(np.diff(band.grid), 0.01)
    frame = band.to_frame()
    assert frame.columns.tolist()[0] == ("coverage" if name == "risk_coverage" else "reject_rate")
    assert_array_equal(frame["upper"], band.upper)


def test_a_band_is_frozen():
    band = band_of("cost", *sample(20, 8), n_resamples=5)
    assert (band.curve, band.level, band.n_resamples) == ("cost", 0.95, 5)
    with pytest.raises(ValueError, match="read-only"):
        band.lower[0] = 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"curve": "roc"}, "curve='roc' must be one of accuracy_reject, cost, error_reject, risk_coverage"),
        ({"curve": "cost"}, "costs=None with curve='cost'"),
        ({"costs": COSTS}, 'costs are required for "cost"'),
        ({"level": 95}, "level=95 must be strictly between 0 and 1"),
        ({"level": "0.95"}, "level='0.95' must be a real number"),
        ({"n_resamples": 0}, "n_resamples=0 must be an integer >= 1"),
        ({"n_resamples": 2.5}, "n_resamples=2.5 must be an integer >= 1"),
        ({"grid": [0, 0.5]}, r"coverages in \(0, 1\]"),
        ({"grid": [0.5, 1.0], "curve": "accuracy_reject"}, r"reject rates in \[0, 1\)"),
        ({"grid": [0.5, 1.5], "curve": "error_reject"}, r"reject rates in \[0, 1\]"),
        ({"grid": []}, "grid=.* must be a list"),
    ],
)
def test_invalid_arguments_of_a_band_are_refused(options, text):
    arguments = {"curve": "risk_coverage", "y_true": [0, 1], "score": [-1.0, 1.0], "n_resamples": 2, **options}
    with pytest.raises(ValueError, match=text):
        bootstrap_band(**arguments)
