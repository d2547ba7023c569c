"""Rows, steps and bars, counted one by one here."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from abstain.report import rows as module
from abstain.report.rows import Histogram, Steps, called, values_of


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(module, "EXACT_ROWS", 50)
    monkeypatch.setattr(module, "STEPS", 12)
    rng = np.random.default_rng(0)
    score = np.round(rng.normal(size=300), 1)  # many ties, also on the marks
    return (rng.random(300) < 0.4).astype(int), score


def test_few_rows_are_all_there():
    steps = Steps.of(np.array([1, 0, 1]), np.array([2.0, -1.0, 0.5]), (0.0,))
    assert steps.exact
    assert steps.score.tolist() == [-1.0, 0.5, 2.0]
    assert (steps.below.tolist(), steps.above.tolist()) == ([1, 0, 0], [0, 1, 1])


def test_no_step_crosses_a_mark(many):
    code, score = many
    marks = (-0.7, 0.4, 0.0)
    steps = Steps.of(code, score, marks)
    assert not steps.exact
    assert len(steps.score) <= 12 + 2 * len(marks)
    assert (steps.below.sum(), steps.above.sum()) == (np.sum(code == 0), np.sum(code == 1))
    for mark in marks:
        for side in (np.less, np.equal, np.greater):
            assert steps.above[side(steps.score, mark)].sum() == np.sum((code == 1) & side(score, mark))
            assert steps.below[side(steps.score, mark)].sum() == np.sum((code == 0) & side(score, mark))


def test_steps_without_marks_would_cross_them(many):
    # the control: evenly cut, a step mixes rows from both sides
    code, score = many
    steps = Steps.of(code, score, ())
    assert any(steps.above[steps.score < mark].sum() != np.sum((code == 1) & (score < mark)) for mark in (-0.7, 0.4))


def test_rows_without_names_are_counted_from_one():
    assert called(None, np.array([4, 0])) == (5, 1)
    assert called(["a", "b", "c"], np.array([2, 0])) == ("c", "a")


def test_values_have_the_names_of_the_columns():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    cells = {"age": [30, 40, 50], "stage": ["i", "ii", "<b>"]}
    shown = [(("age", "50"), ("stage", "<b>")), (("age", "30"), ("stage", "i"))]
    for table in (pd.DataFrame(cells, index=[7, 8, 9]), pl.DataFrame(cells)):
        assert values_of(table, np.array([2, 0])) == shown
    assert values_of([[1.5, 2.0], [3.0, 0.25]], np.array([1])) == [(("x0", "3"), ("x1", "0.25"))]
    for other in (None, csr_array(np.eye(3)), ["text"] * 3):
        assert values_of(other, np.array([1, 2])) == [(), ()]


@pytest.mark.parametrize("score", [[0.0] * 5, [-np.inf, np.inf, 0, 1, 2], [1e-300] * 5, [1e6, 2e6, 0, 0, 0]])
def test_every_row_is_in_a_bar(score):
    code = np.array([1, 1, 0, 0, 1])
    bars = Histogram.of(code, np.array(score), (-np.inf, 0.5))
    assert (bars.below.sum(), bars.above.sum()) == (2, 3)
    assert np.isfinite(bars.edges).all()
    assert (np.diff(bars.edges) > 0).all()
    assert bars.edges[0] < 0.5 < bars.edges[-1]
