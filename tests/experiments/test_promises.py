"""Pieces of the experiment with promises by true class on sets made by hand."""

import numpy as np
import pytest
from scipy import stats

from experiment_modules import experiment_modules

measure, summary, page = experiment_modules("promises", "measure", "summary", "page")


def test_misses_wrong_answers_and_rows_answered():
    sets = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [0, 1], [1, 0]], dtype=bool)
    y = np.array([0, 0, 0, 1, 1, 1])
    missed, wrong, first, answered = measure.judged(sets, y)
    assert missed == [1 / 3, 2 / 3]  # the empty set of the fourth row misses too
    assert wrong == [1 / 3, 1 / 3]
    assert first == [False, True]
    assert answered == 4 / 6


def test_intervals():
    values = np.array([0.0, 0.1, 0.2, 0.1])
    found = summary.over_orders(values)
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert [found["mean"], found["low"], found["high"]] == pytest.approx([0.1, low, high])
    exact = summary.of_rows(3, 100)
    assert stats.binom.sf(2, 100, exact["low"]) == pytest.approx(0.025)
    assert stats.binom.cdf(3, 100, exact["high"]) == pytest.approx(0.025)


def test_the_page_counts_only_intervals_above_the_rate():
    def measured(low):
        one = {"mean": low + 0.01, "low": low, "high": low + 0.02}
        return {"rate": 0.05, "missed": one, "wrong": one, "one_row": one}

    ways = {page.SPLIT: {"classes": {"a": measured(0.04), "b": measured(0.06)}}}
    above, total, worst = page._above({"sets": {"set": {"machine": ways}}}, page.SPLIT)
    assert (above, total) == (1, 2)
    assert worst["missed"]["low"] == 0.06
    assert page._missed(worst).startswith("**")
    assert not page._missed(measured(0.04)).startswith("**")
