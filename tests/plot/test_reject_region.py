"""The picture of the reject region: what it stores is what the classifier says, and drawing changes nothing of it."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.estimators.svm.svc import RejectSVC
from abstain.labels import Labels
from abstain.plot import RejectRegionDisplay
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds
from abstain.rules.rule import Rule

mpl.use("Agg")

# f(x) = x0: one class left of -1, the other right of 2, the band between. Truths chosen so that every count differs.
X = np.array([[-3.0, 0], [-2, 1], [-1.5, 2], [3, 0], [0, 1], [1, 2], [4, 1], [5, 0], [-4, 1], [-5, 2], [0.5, 0]])
Y = np.array(["no", "no", "no", "no", "no", "no", "yes", "yes", "yes", "yes", "yes"])
# no: -3, -2, -1.5 right; 3 wrong; 0, 1 rejected.  yes: 4, 5 right; -4, -5 wrong; 0.5 rejected.


class Ramp:
    """A fitted classifier whose score is the first feature."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, lower=-1.0, upper=2.0, costs=None, pos_label=None):
        labels = Labels.of(self.classes_, pos_label=pos_label, rejects=True)
        cut = 0.0 if costs is None else labels.orientation * costs.cut
        named = None if costs is None else costs.named(labels)
        self.rule_ = Rule(labels, named, LogOdds(1.0), Cuts.at(Thresholds(lower, upper), cut, labels.answers))

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.rule_.predict(self.decision_function(X))


def draw(estimator=None, X=X, **options):
    return RejectRegionDisplay.from_estimator(estimator or Ramp(), X, Y, ax=Figure().subplots(), **options)


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_grid_covers_the_samples_and_holds_their_scores():
    display = draw(grid_resolution=50, margin=0.1)
    assert display.score.shape == (50, 50)
    np.testing.assert_array_equal(display.score, display.xx0)
    np.testing.assert_allclose([display.xx0.min(), display.xx0.max()], [-5 - 1.0, 5 + 1.0])
    np.testing.assert_allclose([display.xx1.min(), display.xx1.max()], [0 - 0.2, 2 + 0.2])


def test_the_legend_counts_right_wrong_and_rejected():
    assert labels(draw())[:2] == ["no: 3 correct, 1 wrong, 2 rejected", "yes: 2 correct, 2 wrong, 1 rejected"]


def test_each_class_has_its_own_marker_at_its_own_samples():
    first, second = draw().ax_.collections[-2:]
    np.testing.assert_array_equal(first.get_offsets(), X[Y == "no"])
    np.testing.assert_array_equal(second.get_offsets(), X[Y == "yes"])
    assert len(first.get_paths()[0].vertices) != len(second.get_paths()[0].vertices)


def lines_at(display):
    """Abscissae of the contour lines; the score is x0, so each level is a vertical line at its value."""
    return sorted(
        {
            round(float(path.vertices[:, 0].mean()), 6)
            for contour in display.ax_.collections
            if getattr(contour, "levels", None) is not None and not getattr(contour, "filled", True)
            for path in contour.get_paths()
        }
    )


def test_lines_run_along_the_two_thresholds_and_the_cut():
    costs = Costs(false_positive=1, false_negative=5, reject=0.3)
    assert lines_at(draw(Ramp(costs=costs))) == pytest.approx([-np.log(5), -1, 2], abs=1e-6)


def test_the_cut_turns_with_the_positive_class():
    costs = Costs(false_positive=1, false_negative=5, reject=0.3)
    assert draw(Ramp(costs=costs, pos_label="yes")).forced_cuts == pytest.approx((-np.log(5),))
    assert draw(Ramp(costs=costs, pos_label="no")).forced_cuts == pytest.approx((np.log(5),))


def test_equal_thresholds_draw_no_band():
    display = draw(Ramp(lower=0.0, upper=0.0))
    assert "reject" not in labels(display)
    assert "reject" in labels(draw())


OUTSIDE = [(-np.inf, np.inf), (-100.0, 100.0), (50.0, 60.0), (-60.0, -50.0), (-np.inf, 0.0)]


@pytest.mark.parametrize(("lower", "upper"), OUTSIDE)
def test_thresholds_outside_the_picture_are_not_drawn(lower, upper):
    display = draw(Ramp(lower, upper))
    display.figure_.canvas.draw()
    assert lines_at(display) == [0.0]  # the cut alone
    answers = np.array([zone.answers for zone in display.zones])[display.choice]
    assert answers.tolist() == np.array([0, -1, 1])[Thresholds(lower, upper).decide(X[:, 0]) + 1].tolist()


def test_drawing_changes_nothing_that_is_stored():
    display = draw()
    before = {name: np.copy(getattr(display, name)) for name in ("xx0", "xx1", "score", "X", "truth", "choice")}
    display.plot(Figure().subplots())
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(display, name), value)


def test_a_frame_names_the_axes_and_reaches_the_estimator_as_a_frame():
    seen = []

    class Named(Ramp):
        def decision_function(self, X):
            seen.append(list(getattr(X, "columns", ())))
            return super().decision_function(X)

    display = draw(Named(), pd.DataFrame(X, columns=["length", "width"]))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    assert all(columns == ["length", "width"] for columns in seen)
    assert len(seen) == 2


def test_a_pipeline_is_asked_as_a_whole_and_its_last_step_for_the_thresholds():
    class Doubling(Ramp):
        steps = ()

        def __getitem__(self, index):
            assert index == -1
            return SimpleNamespace(rule_=self.rule_)

        def decision_function(self, X):
            return 2 * super().decision_function(X)

    display = draw(Doubling())
    np.testing.assert_array_equal(display.score, 2 * display.xx0)


def test_other_than_two_features_is_an_error():
    with pytest.raises(ValueError, match=r"two features .* its shape is \(11, 3\)"):
        draw(X=np.column_stack([X, X[:, 0]]))


def test_a_label_that_is_no_class_is_an_error():
    with pytest.raises(ValueError, match=r"y has the label 'maybe', which is not one of the classes \['no', 'yes'\]"):
        RejectRegionDisplay.from_estimator(Ramp(), X, np.where(Y == "no", "maybe", Y), ax=Figure().subplots())


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"abstain\[plot\]"):
        RejectRegionDisplay.from_estimator(Ramp(), X, Y)


def spread():
    """Two overlapping clouds, so that all levels of a fitted score lie in the picture."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(150, 2))
    return points, np.where(points[:, 0] + 0.8 * rng.normal(size=150) > 0, "yes", "no")


def test_annotated_regions_show_the_papers_lines():
    # theta = 1.4: the thresholds 0.30 and 0.58, on the score -0.8473 and +0.32277 (A14, figure 5), and the line 0
    costs = Costs(false_positive=1, false_negative=1.4, reject=0.42)
    model = RejectSVC(costs, kernel="linear", C=10).fit(*spread())
    shown = RejectRegionDisplay.from_estimator(model, *spread(), annotate=True, ax=Figure().subplots())
    texts = {text.get_text() for text in shown.ax_.texts}
    assert {"−0.8473", "+0.3228", "0"} <= texts
    plain = RejectRegionDisplay.from_estimator(model, *spread(), ax=Figure().subplots())
    assert not plain.ax_.texts


def test_a_number_stands_on_its_line():
    model = RejectSVC(Costs(1, 3, 0.25), kernel="linear", C=10).fit(*spread())
    shown = RejectRegionDisplay.from_estimator(
        model, *spread(), annotate=True, grid_resolution=300, ax=Figure().subplots()
    )
    for text in shown.ax_.texts:
        score = model.decision_function([text.get_position()])[0]
        assert score == pytest.approx(float(text.get_text().replace("−", "-")), abs=0.02)
