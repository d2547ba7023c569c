"""Pictures of several classes: what is drawn is what the machine decides, and the rest refuses with a way out."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.losses.tangent_hinge import task_tangents
from abstain.plot import (
    AccuracyRejectDisplay,
    CostCurveDisplay,
    ErrorRejectDisplay,
    LossDisplay,
    RejectRegionDisplay,
    RiskCoverageDisplay,
)
from abstain.plot.palette import CLASSES
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, paid, table_costs
from problems import random_row_costs

mpl.use("Agg")
CURVES = [AccuracyRejectDisplay, CostCurveDisplay, ErrorRejectDisplay, RiskCoverageDisplay]
X, Y = gaussians(120)
REJECT = 0.4
COSTS = table_costs(GENERAL, REJECT)
FITTED = {
    "Bayes' cuts": RejectSVC(Costs(reject=0.2), C=100).fit(X, Y),
    "expected cost": RejectSVC(COSTS, C=100).fit(X, Y),
    "tuned": RejectSVCCV(Costs(reject=0.2), Cs=[1, 10], gammas=[0.5]).fit(X, Y),
    "votes": RejectSVC().fit(X, Y),
    "plain": LogisticRegression().fit(X, Y),
}


def axes(width=6.4):
    return Figure(figsize=(width, 4.0)).subplots()


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("display", CURVES, ids=lambda display: display.__name__)
@pytest.mark.parametrize("name", FITTED)
def test_curves_start_at_the_forced_choice_and_mark_the_decisions(display, name):
    clf = FITTED[name]
    costs = Costs(reject=0.2) if name in ("votes", "plain") else None
    shown = display.from_estimator(clf, X, Y, costs, ax=axes())
    forced = clf.predict_forced(X) if hasattr(clf, "predict_forced") else clf.predict(X)
    wrong = np.mean(forced != Y)
    first = {
        AccuracyRejectDisplay: lambda: shown.curve.accuracy[0] == pytest.approx(1 - wrong),
        ErrorRejectDisplay: lambda: shown.curve.error_rate[0] == pytest.approx(wrong),
        RiskCoverageDisplay: lambda: shown.curve.risk[-1] == pytest.approx(wrong),
        CostCurveDisplay: lambda: (
            shown.curve.mean_cost[0]
            == pytest.approx(paid(GENERAL, REJECT, Y, forced) if name == "expected cost" else wrong)
        ),
    }
    assert first[display]()
    rejects = name not in ("votes", "plain")
    assert (shown.decided is not None) == rejects
    if rejects:
        rejected = clf.reject_mask(X).mean()
        assert shown.decided[0] == pytest.approx(1 - rejected if display is RiskCoverageDisplay else rejected)


def test_rows_may_lack_a_class():
    some = Y > 0
    shown = RiskCoverageDisplay.from_estimator(FITTED["plain"], X[some], Y[some], ax=axes())
    assert shown.curve.risk[-1] == pytest.approx(np.mean(FITTED["plain"].predict(X[some]) != Y[some]))
    assert shown.curve.total_weight == some.sum()


def test_the_region_is_the_prediction_at_every_point_and_counts_the_rows():
    clf = FITTED["expected cost"]
    shown = RejectRegionDisplay.from_estimator(clf, X, Y, grid_resolution=20, ax=axes())
    grid = np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()])
    labels = [zone.label for zone in shown.zones]
    np.testing.assert_array_equal([labels[int(at)] for at in shown.score.flat], clf.predict(grid))
    predicted = clf.predict(X)
    for label in range(3):
        of = predicted[label == Y]
        right, rejected = np.sum(of == label), np.sum(of == -1)
        words = f"{label}: {right} correct, {len(of) - right - rejected} wrong, {rejected} rejected"
        assert words in legend(shown)
    filled = {mpl.colors.to_hex(colour) for drawn in shown.ax_.collections for colour in drawn.get_facecolor()}
    assert {colour.lower() for colour, _ in CLASSES[:3]} <= filled
    assert "reject" in legend(shown)
    assert "reject" not in legend(RejectRegionDisplay.from_estimator(FITTED["votes"], X, Y, ax=axes()))


def test_the_loss_is_that_of_a_class_against_the_rest():
    clf = FITTED["expected cost"]
    shown = LossDisplay.from_estimator(clf, X, Y, label=0, ax=axes())
    np.testing.assert_array_equal(shown.score, clf.decision_function(X)[:, 0])
    np.testing.assert_array_equal(shown.sign, np.where(Y == 0, 1, -1))
    low, high = task_tangents(COSTS)[0][[0, -1]]
    f, loss = shown.lines_[1].get_data()
    gap = np.interp([low, high, (low + high) / 2], f, np.log1p(np.exp(-f)) - loss)
    assert (np.abs(gap[:2]) < 1e-3).all()  # tangent at both ends of the range in which answering begins to pay
    assert gap[2] > np.abs(gap[:2]).max()
    assert f"decided above {high:.3g}" in legend(shown)
    same = LossDisplay.from_costs(table_costs(1 - np.eye(3), 0.2), ax=axes())
    assert "the class, y = +1" in legend(same)


def test_what_has_no_meaning_refuses_with_a_way_out():
    credit = np.where(Y > 0, "good", "bad")
    actions = RejectSVC(CREDIT).fit(X, credit)
    rows = RejectSVC().fit(X, credit, row_costs=random_row_costs(np.random.default_rng(0), len(X)))
    for call, text in (
        (lambda: LossDisplay.from_costs(COSTS), "label=None must be one of the classes"),
        (lambda: LossDisplay.from_estimator(FITTED["votes"], X, Y), r"draw it by from_costs\(None\)"),
        (lambda: LossDisplay.from_estimator(rows, X, credit), "a loss for each row.*by from_costs"),
        (lambda: RiskCoverageDisplay.from_estimator(actions, X, credit), "one answer for each class and one reject"),
        (lambda: CostCurveDisplay.from_estimator(rows, X, credit), "pass row_costs for these rows"),
        (lambda: CostCurveDisplay.from_estimator(actions, X, credit, Costs(1, 5, 0.3)), "costs must be left out"),
        (lambda: RejectRegionDisplay.from_estimator(rows, X, credit), "fitted with row_costs and without costs"),
        (lambda: CostCurveDisplay.from_estimator(FITTED["plain"], X, Y), "costs=None must be a Costs"),
        (lambda: RiskCoverageDisplay.from_estimator(FITTED["plain"], X, Y, pos_label=1), "pos_label=1 is for two"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


@pytest.mark.parametrize("display", [RiskCoverageDisplay, RejectRegionDisplay])
def test_a_narrow_legend_is_not_wider_than_its_axes(display):
    for width, fits in ((3.4, True), (6.4, display is RiskCoverageDisplay)):
        shown = display.from_estimator(FITTED["tuned"], X, Y, ax=axes(width))
        shown.figure_.canvas.draw()
        box, frame = shown.ax_.get_legend().get_window_extent(), shown.ax_.get_window_extent()
        assert (box.width <= frame.width * 1.02) or not fits
        assert any("\n" in words for words in legend(shown)) == (width < 5)
