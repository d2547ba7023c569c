"""The picture of a loss: tangents of the likelihood, the band of the costs, and rows under the loss of their class."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from abstain.costs.costs import Costs
from abstain.estimators.svm.svc import RejectSVC
from abstain.losses.tangent_hinge import tangent_hinge_at
from abstain.plot import LossDisplay

mpl.use("Agg")
COSTS = Costs(false_positive=1, false_negative=3, reject=0.25)
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
SCORE = 2 * X[:, 0]
Y = np.where(SCORE + rng.normal(size=120) > 0, "yes", "no")


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_loss_is_below_the_likelihood_and_touches_it_at_the_thresholds():
    shown = LossDisplay(tangent_hinge_at([0.4, 0.8]), likelihood=True).plot(Figure().subplots())  # GRKC08, figure 1
    for sign, line in shown.lines_.items():
        f, loss = line.get_data()
        likelihood = np.log1p(np.exp(-sign * f))
        assert (loss <= likelihood + 1e-12).all()
        gap = np.interp([np.log(0.4 / 0.6), np.log(0.8 / 0.2)], f, likelihood - loss)
        assert (np.abs(gap) < 1e-3).all()
        assert np.interp(0.0, f, likelihood - loss) > 1e-2  # and nowhere else


def test_the_band_of_the_loss_picture_is_that_of_the_costs():
    shown = LossDisplay.from_costs(COSTS, ax=Figure().subplots())
    thresholds = COSTS.thresholds()
    wanted = [np.log(p / (1 - p)) for p in (thresholds.lower, thresholds.upper)]
    box = shown.ax_.patches[0].get_extents().transformed(shown.ax_.transData.inverted())
    np.testing.assert_allclose((box.x0, box.x1), wanted)
    assert not LossDisplay.from_costs(None, ax=Figure().subplots()).ax_.patches


def test_one_class_alone_can_be_drawn():
    shown = LossDisplay.from_costs(COSTS).plot(Figure().subplots(), classes=(-1,))  # A14's figures 2 and 3, turned
    assert list(shown.lines_) == [-1]


@pytest.mark.parametrize("pos_label", [None, "no"])
def test_rows_lie_under_the_loss_of_their_class(pos_label):
    model = RejectSVC(COSTS, pos_label=pos_label).fit(X, Y)
    shown = LossDisplay.from_estimator(model, X, Y, ax=Figure().subplots())
    direction = -1 if pos_label == "no" else 1
    np.testing.assert_allclose(shown.score, direction * model.decision_function(X))
    np.testing.assert_array_equal(shown.sign, np.where((pos_label or "yes") == Y, 1, -1))
    assert f"scores of {np.sum((pos_label or 'yes') == Y)} rows" in legend(shown)


def test_drawing_a_loss_changes_nothing_that_is_stored():
    shown = LossDisplay.from_predictions(Y, SCORE, COSTS, ax=Figure().subplots())
    before = (shown.loss, shown.sign.copy(), shown.score.copy())
    shown.plot(Figure().subplots())
    assert shown.loss == before[0]
    np.testing.assert_array_equal(shown.sign, before[1])
    np.testing.assert_array_equal(shown.score, before[2])


def test_rows_outside_the_frame_are_counted():
    shown = LossDisplay.from_predictions(["no", "yes", "yes"], [0.0, 1.0, 99.0], COSTS, ax=Figure().subplots())
    assert "scores of 2 rows, 1 outside the plot" in legend(shown)


def test_the_rule_of_bartlett_and_wegkamp_has_its_own_units():
    shown = LossDisplay.from_costs(Costs(reject=0.25), "bartlett-wegkamp", ax=Figure().subplots())
    f, loss = shown.lines_[1].get_data()
    np.testing.assert_allclose(loss, np.maximum.reduce([np.zeros_like(f), 1 - f, 1 - 3 * f]))
    assert len(shown.ax_.lines) == 4  # two losses and their knots, no likelihood


def test_another_classifier_has_no_loss_to_draw():
    with pytest.raises(ValueError, match="does not have one of our losses; pass a RejectSVC"):
        LossDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y)
