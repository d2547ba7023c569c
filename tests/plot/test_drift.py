"""The picture of drift: bars are the shares of rows, at calibration and here, as counted anew."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from abstain.comparison.drift import drift
from abstain.plot import DriftDisplay
from guarded import Guarded

mpl.use("Agg")
rng = np.random.default_rng(0)
CALIBRATION = np.column_stack([rng.normal(size=200), rng.choice([0, 1, -1], p=[0.5, 0.3, 0.2], size=200)])
BATCH = np.column_stack([rng.normal(1.0, size=80), rng.choice([0, 1, -1], p=[0.3, 0.3, 0.4], size=80)])
MODEL = Guarded(CALIBRATION, rate=0.02)


def heights(bars, attribute="get_height"):
    return [getattr(bar, attribute)() for bar in bars]


def by_definition(scores):
    """Shares in tenths of the calibration rows, then of rows above the fourth largest of them: 0.02 * 201 is 4.02."""
    ordered = np.sort(CALIBRATION[:, 0])
    edges = [*ordered[19:180:20], ordered[-4], np.inf]
    return np.diff([0, *(np.sum(scores <= edge) for edge in edges)]) / len(scores)


def test_bars_of_scores_are_shares_in_tenths_of_the_calibration_rows_and_beyond():
    display = DriftDisplay.from_estimator(MODEL, BATCH, ax=Figure().subplots())
    before, here = map(heights, display.bars_["scores"])
    np.testing.assert_allclose(before, by_definition(CALIBRATION[:, 0]))
    np.testing.assert_allclose(here, by_definition(BATCH[:, 0]))
    assert abs(np.subtract(here, before)).max() > 0.1  # they differ
    assert list(display.bars_) == ["scores"]


def test_bars_of_decisions_are_their_shares():
    axes = tuple(Figure().subplots(2))
    display = DriftDisplay(drift(MODEL, BATCH)).plot(axes)
    for bars, rows in zip(display.bars_["decisions"], (CALIBRATION, BATCH), strict=True):
        np.testing.assert_allclose(heights(bars, "get_width"), [np.mean(rows[:, 1] == k) for k in (0, 1, -1)])
    assert [text.get_text() for text in axes[1].get_yticklabels()] == ["0", "1", "reject"]
    assert display.axes_ == axes


def test_a_new_figure_has_room_for_what_is_known():
    found = drift(MODEL, BATCH)
    assert len(DriftDisplay(found).plot().figure_.axes) == 2
    model = Guarded(CALIBRATION)
    model.calibration_.choices = None
    assert len(DriftDisplay.from_estimator(model, BATCH).figure_.axes) == 1
    mpl.pyplot.close("all")


def test_many_decisions_are_cut_to_those_that_differ_most():
    found = drift(MODEL, BATCH)
    counts = np.full(30, 10)
    changed = np.where(np.arange(30) == 17, 60, counts)
    object.__setattr__(found, "choices", (changed, counts))
    object.__setattr__(found, "choice_names", tuple(f"class {k}" for k in range(30)))
    axes = Figure(figsize=(3, 5)).subplots(2)
    DriftDisplay(found).plot(tuple(axes))
    names = [text.get_text() for text in axes[1].get_yticklabels()]
    assert len(names) == 12
    assert "class 17" in names
    assert "\n" in axes[1].get_title(loc="left")  # broken into lines where it is narrow


@pytest.mark.parametrize("rows", [BATCH[:0], np.full((3, 2), [[np.inf, 0.0]])])
def test_unusual_batches_are_drawn(rows):
    found = DriftDisplay.from_estimator(MODEL, rows, ax=Figure().subplots())
    assert np.sum(heights(found.bars_["scores"][1])) == pytest.approx(float(len(rows) > 0))
