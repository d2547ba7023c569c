"""What every picture of a curve keeps: it draws what it stores, changes nothing, and takes more models."""

import dataclasses
import sys
import warnings

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain.costs.costs import Costs
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.metrics import RejectTable
from abstain.plot import (
    AccuracyRejectDisplay,
    CostCurveDisplay,
    ErrorRejectDisplay,
    LossDisplay,
    RiskCoverageDisplay,
)

mpl.use("Agg")
DISPLAYS = [AccuracyRejectDisplay, CostCurveDisplay, ErrorRejectDisplay, RiskCoverageDisplay]
COSTS = Costs(false_positive=1, false_negative=3, reject=0.25)
every = pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)


def rows(n=120, seed=0):
    """Scores in halves, so that many tie; labels that follow them loosely."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(size=n) * 2) / 2 + 0.25
    return np.where(score + rng.normal(size=n) > 0, "yes", "no"), score


Y, SCORE = rows()
X = np.column_stack([SCORE, np.random.default_rng(1).normal(size=len(SCORE))])


def draw(display, y=Y, score=SCORE, costs=COSTS, ax=None, **options):
    return display.from_predictions(y, score, costs, ax=ax or Figure().subplots(), **options)


def by_definition(display, y, score, costs, threshold):
    """The picture's point where rows with |score| < threshold are rejected, counted anew."""
    rejected, said = np.abs(score) < threshold, np.where(score > 0, "yes", "no")
    wrong, accepted = (said != y) & ~rejected, ~rejected
    if display is CostCurveDisplay:
        error = np.where(y == "yes", costs.false_negative, costs.false_positive)
        return rejected.mean(), np.where(rejected, costs.reject_negative, np.where(wrong, error, 0.0)).mean()
    return {
        AccuracyRejectDisplay: (rejected.mean(), 1 - wrong.sum() / max(accepted.sum(), 1)),
        ErrorRejectDisplay: (rejected.mean(), wrong.mean()),
        RiskCoverageDisplay: (accepted.mean(), wrong.sum() / max(accepted.sum(), 1)),
    }[display]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@every
def test_the_line_passes_through_every_point_of_the_definition(display):
    x, y = draw(display).line_.get_data()
    for threshold in np.unique(np.abs(SCORE)):
        point = by_definition(display, Y, SCORE, COSTS, threshold)
        at = np.argmin(np.abs(x - point[0]))
        np.testing.assert_allclose((x[at], y[at]), point, atol=1e-12)


@every
def test_the_judge_has_teeth(display):
    x, y = draw(display, score=-SCORE).line_.get_data()  # decides the other way
    point = by_definition(display, Y, SCORE, COSTS, np.median(np.abs(SCORE)))
    at = np.argmin(np.abs(x - point[0]))
    assert abs(y[at] - point[1]) > 0.05


@every
def test_the_marked_point_is_where_the_costs_are_least(display):
    thresholds = np.append(np.unique(np.abs(SCORE)), np.inf)
    prices = [by_definition(CostCurveDisplay, Y, SCORE, COSTS, threshold)[1] for threshold in thresholds]
    best = thresholds[int(np.argmin(prices))]
    shown = draw(display)
    np.testing.assert_allclose(shown.chosen, by_definition(display, Y, SCORE, COSTS, best), atol=1e-12)
    np.testing.assert_allclose(np.ravel(shown.marks_[0].get_data()), shown.chosen)
    assert 0 < np.min(np.abs(SCORE)) < best < np.inf  # not at an end, where any rule would be right


@every
def test_without_costs_nothing_is_marked_and_a_cost_curve_asks_for_them(display):
    if display is CostCurveDisplay:
        with pytest.raises(ValueError, match="costs=None must be a Costs"):
            draw(display, costs=None)
    else:
        assert draw(display, costs=None).marks_ == []


@every
def test_drawing_changes_nothing_that_is_stored(display):
    shown = draw(display, band=0.9, n_resamples=20)
    fields = [item.name for item in dataclasses.fields(display) if item.init]
    before = {name: getattr(shown, name) for name in fields}
    arrays = {name: value.copy() for name, value in vars(shown.curve).items() if isinstance(value, np.ndarray)}
    shown.plot(Figure().subplots())
    assert all(getattr(shown, name) is value for name, value in before.items())
    for name, value in arrays.items():
        np.testing.assert_array_equal(getattr(shown.curve, name), value)


@every
def test_the_band_is_drawn_where_it_is(display):
    shown = draw(display, band=0.9, n_resamples=50)
    corners = shown.band_.get_paths()[0].vertices
    at = len(shown.band.grid) // 2
    heights = corners[np.isclose(corners[:, 0], shown.band.grid[at]), 1]
    np.testing.assert_allclose((heights.min(), heights.max()), (shown.band.lower[at], shown.band.upper[at]))
    assert heights.min() < heights.max()
    assert "90% band" in legend(shown)[0]
    assert draw(display).band_ is None


@every
def test_models_on_one_axes_differ_in_colour_stroke_and_marker(display):
    first = draw(display, name="first")
    shown = [first, *(draw(display, *rows(seed=seed), ax=first.ax_, name=f"number {seed}") for seed in range(1, 6))]
    lines = [one.line_ for one in shown]
    assert len({line.get_color() for line in lines}) == len(lines)
    assert len({str(line._dash_pattern) for line in lines}) == len(lines)
    assert len({one.marks_[0].get_marker() for one in shown}) == len(lines)
    assert all(one.ax_ is first.ax_ for one in shown)
    assert [label for label in legend(first) if "number 3" in label]


@every
def test_of_several_models_the_legend_has_one_line_each_and_one_for_each_kind_of_mark(display):
    model = RejectSVC(COSTS, C=10).fit(X, Y)
    first = display.from_estimator(model, X, Y, name="one", ax=Figure().subplots())
    marks = ["least on the curve, in hindsight", "its own thresholds"]
    assert [label.split(":")[0] for label in legend(first)][1:3] == marks
    draw(display, ax=first.ax_, name="two")
    assert [label.split(" (")[0] for label in legend(first)] == [
        "one",
        "two",
        "least cost on the curve, in hindsight",
        "its own thresholds",
    ]


@every
def test_a_flat_curve_still_has_a_scale_that_the_next_model_may_widen(display):
    y = np.where(SCORE > 0, "yes", "no")  # no errors
    shown = draw(display, y=y)
    low, high = shown.ax_.get_ylim()
    assert high - low > 0.04
    assert low > -0.02
    second = draw(display, ax=shown.ax_)
    assert shown.ax_.get_ylim()[0] <= second.line_.get_ydata().min()
    assert shown.ax_.get_ylim()[1] >= second.line_.get_ydata().max()


def test_colours_can_be_told_apart_in_grey():
    first = draw(ErrorRejectDisplay)
    second = draw(ErrorRejectDisplay, ax=first.ax_)
    grey = [np.dot(to_rgb(one.line_.get_color()), (0.299, 0.587, 0.114)) for one in (first, second)]
    assert abs(grey[0] - grey[1]) > 0.05
    assert first.line_.get_linestyle() != second.line_.get_linestyle()


@every
def test_references_stand_beside_one_curve_only(display):
    shown = draw(display)
    alone = len(shown.ax_.lines)
    assert alone > 1 + len(shown.marks_)
    second = draw(display, ax=shown.ax_)
    assert len(shown.ax_.lines) == 2 + len(shown.marks_) + len(second.marks_)


@every
@pytest.mark.parametrize("right", [0.0, 1.0])
def test_all_right_and_all_wrong_are_no_surprise(display, right):
    y = np.where((SCORE > 0) == bool(right), "yes", "no")
    shown = draw(display, y=y)
    shown.figure_.canvas.draw()
    assert all(np.isfinite(line.get_ydata()).all() for line in shown.ax_.lines)


@every
def test_counts_units_and_weights_are_said(display):
    shown = draw(display, name="mine")
    assert legend(shown)[0].startswith("mine (120 rows")
    assert "per row" in shown.ax_.get_ylabel() or "share of" in shown.ax_.get_ylabel()
    assert "rejected" in legend(shown)[1]
    assert "weight 60.5" in legend(draw(display, sample_weight=np.append(np.full(119, 0.5), 1.0)))[0]


@every
def test_everything_rejected_marks_no_point_where_there_is_none(display):
    shown = draw(display, score=-SCORE, costs=Costs(reject=0.01))
    if display in (AccuracyRejectDisplay, RiskCoverageDisplay):
        assert shown.chosen is None
    else:
        assert shown.chosen[0] == 1.0


MODELS = {
    "RejectSVC": RejectSVC(COSTS),
    "pipeline": make_pipeline(StandardScaler(), RejectSVC(COSTS)),
    "search": GridSearchCV(RejectSVC(COSTS), {"C": [3.0, 10.0]}, cv=3),
    "turned": RejectSVC(COSTS, C=10, pos_label="no"),
    "roc": ThresholdRejector(LogisticRegression(), COSTS, method="roc"),
    "chow": ThresholdRejector(LogisticRegression(), COSTS, method="chow"),
    "turned chow": ThresholdRejector(LogisticRegression(), COSTS, method="chow", pos_label="no"),
}


@every
@pytest.mark.parametrize("name", MODELS)
def test_a_rejecting_estimator_is_drawn_with_its_forced_choice_and_its_own_decisions(display, name):
    model = MODELS[name].fit(X, Y)
    shown = display.from_estimator(model, X, Y, ax=Figure().subplots())
    positive = "no" if "turned" in name else "yes"
    final = getattr(model, "best_estimator_", model)
    forced = (final[-1] if name == "pipeline" else final).predict_forced(
        model[:-1].transform(X) if name == "pipeline" else X
    )
    table = RejectTable.of(Y, forced, pos_label=positive)
    own = RejectTable.of(Y, model.predict(X), pos_label=positive)
    start = -1 if display is RiskCoverageDisplay else 0
    wanted = {
        AccuracyRejectDisplay: ("accuracy", table.selective_accuracy, (own.reject_rate, own.selective_accuracy)),
        CostCurveDisplay: ("mean_cost", table.mean_cost(COSTS), (own.reject_rate, own.mean_cost(COSTS))),
        ErrorRejectDisplay: ("error_rate", table.error_rate, (own.reject_rate, own.error_rate)),
        RiskCoverageDisplay: ("risk", table.selective_error, (own.coverage, own.selective_error)),
    }[display]
    assert getattr(shown.curve, wanted[0])[start] == pytest.approx(wanted[1])
    assert shown.decided == pytest.approx(wanted[2])
    assert shown.name == ("RejectSVC" if name in ("RejectSVC", "pipeline", "search", "turned") else "ThresholdRejector")


@every
def test_a_classifier_that_never_rejects_is_drawn_by_its_score(display):
    model = LogisticRegression().fit(X, Y)
    shown = display.from_estimator(model, X, Y, COSTS, ax=Figure().subplots())
    assert shown.decided is None
    score = model.decision_function(X)
    np.testing.assert_allclose(shown.line_.get_data(), draw(display, score=score).line_.get_data())


def test_an_unknown_pos_label_is_an_error_that_names_the_classes():
    with pytest.raises(ValueError, match=r"pos_label='maybe' is not one of the classes \['no', 'yes'\]"):
        ErrorRejectDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y, pos_label="maybe")


@pytest.mark.parametrize("display", [*DISPLAYS, LossDisplay], ids=lambda display: display.__name__)
def test_without_matplotlib_the_error_names_the_extra(monkeypatch, display):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"abstain\[plot\]"):
        display.from_predictions(Y, SCORE, COSTS)


def test_pictures_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for display in DISPLAYS:
            draw(display, band=0.95, n_resamples=10, pos_label="yes").figure_.canvas.draw()
        LossDisplay.from_costs(COSTS).figure_.canvas.draw()
