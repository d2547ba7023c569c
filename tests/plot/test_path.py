"""The picture of a path: what it stores is what the path says, and drawing changes nothing of it."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from abstain import Costs, reject_svc_path
from abstain.plot import PathDisplay
from abstain.solvers.path import follow_path
from problems import random_problem

mpl.use("Agg")


def rows(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, np.newaxis], y


def path(costs=Costs(reject=0.2), weight=None):  # noqa: B008 (a frozen value)
    return reject_svc_path(*rows(), costs, sample_weight=weight)


def draw(kind, followed=None, **options):
    return PathDisplay.from_path(followed or path(), kind, ax=Figure().subplots(), **options)


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_sizes_are_those_of_the_sets():
    followed = path()
    display = draw("sets", followed, points=20)
    assert display.values.shape == (20, 5)
    assert (display.values.sum(axis=1) == 40).all()
    for C, sizes in zip(display.C, display.values, strict=True):
        codes = followed.sets_at(C).tolist()
        assert sizes.tolist() == [codes.count(code) for code in range(5)]


def test_coefficients_are_those_of_the_path_over_C():
    followed = path()
    display = draw("coefficients", followed, points=20)
    assert display.values.shape == (20, 40)
    for C, values in zip(display.C, display.values, strict=True):
        np.testing.assert_allclose(values * C, followed.at(C)[0], atol=1e-12 * C)


@pytest.mark.parametrize("kind", ["sets", "coefficients"])
def test_C_runs_from_end_to_end_on_a_logarithmic_axis(kind):
    display = draw(kind)
    assert (display.C[0], display.C[-1]) == (1e-2, 1e3)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlim() == (1e-2, 1e3)
    assert display.ax_.get_xlabel() == "C"
    np.testing.assert_allclose(np.diff(np.log(display.C)), np.log(1e5) / 399)


def test_areas_lie_on_one_another_and_fill_the_frame():
    display = draw("sets", points=30)
    areas = display.ax_.collections
    assert len(areas) == 5
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in areas]
    assert tops == sorted(tops)
    assert tops[-1] == 40 == display.ax_.get_ylim()[1]


@pytest.mark.parametrize(
    ("costs", "words"),
    [(None, ["above the knot", "on it", "below it"]), (Costs(reject=0.2), ["τ", "τ", "ρ and τ", "ρ", "ρ"])],
    ids=str,
)
def test_the_legend_says_what_the_sets_are(costs, words):
    shown = labels(draw("sets", path(costs)))
    assert len(shown) == len(words)
    assert all(label.endswith(word) for label, word in zip(shown, words, strict=True))


def test_sets_of_more_knots_have_numbers():
    problem = next(p for p in map(random_problem, range(100)) if p.loss.n_knots == 4)
    display = draw("sets", follow_path(problem, 0.1, 10.0))
    assert labels(display) == [f"set {code}" for code in range(9)]


def test_neighbouring_areas_differ_without_colour():
    areas = draw("sets").ax_.collections
    colours = np.array([area.get_facecolor()[0][:3] for area in areas])
    grey = colours @ [0.299, 0.587, 0.114]  # as a printer or a television without colour shows them
    assert np.abs(np.diff(grey)).min() > 0.2
    # I_B and I_D are alike in grey
    assert [bool(area.get_hatch()) for area in areas] == [False, False, False, False, True]
    assert len(np.unique(colours, axis=0)) == 5


def test_each_class_has_its_colour_and_stroke_and_side_of_zero():
    display = draw("coefficients")
    lines = [line for line in display.ax_.lines if len(line.get_xdata()) == 400]
    above = [line for line in lines if line.get_ydata().max() > 0]
    below = [line for line in lines if line.get_ydata().min() < 0]
    assert len(above) == len(below) == 20
    assert not set(above) & set(below)
    assert {line.get_linestyle() for line in above} == {"-"}
    assert {line.get_linestyle() for line in below} == {"--"}
    assert above[0].get_color() != below[0].get_color()
    assert labels(display) == ["positive class: 20 rows", "negative class: 20 rows"]


def test_rows_without_weight_are_left_out():
    weight = np.ones(40)
    weight[:6] = 0
    assert (draw("sets", path(weight=weight)).values.sum(axis=1) == 34).all()
    assert draw("coefficients", path(weight=weight)).values.shape == (400, 34)


@pytest.mark.parametrize("kind", ["sets", "coefficients"])
def test_drawing_changes_nothing_that_is_stored(kind):
    display = draw(kind)
    C, values = display.C.copy(), display.values.copy()
    ax = Figure().subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(display.C, C)
    np.testing.assert_array_equal(display.values, values)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind='size' must be one of sets, coefficients\."):
        draw("size")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"abstain\[plot\]"):
        PathDisplay.from_path(path())
