"""Pictures with actions: a zone for each action that is ever chosen, where the machine chooses it."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from abstain import Actions, RejectSVC
from abstain.plot import LossDisplay, RejectRegionDisplay
from abstain.plot.palette import Zone, zones_of
from abstain.rules.rule import bayes_rule
from action_cases import CREDIT

mpl.use("Agg")
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
Y = np.where(X[:, 0] + rng.normal(size=120) > 0, "good", "bad")
SIX = Actions({f"a{k}": {"bad": k**2, "good": (5 - k) ** 2} for k in range(6)}, rejects=["a2", "a3"])


@pytest.fixture(scope="module")
def fitted():
    return RejectSVC(CREDIT, kernel="linear", C=10).fit(X, Y)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_zones_follow_the_order_of_the_actions():
    zones = zones_of(bayes_rule(CREDIT, CREDIT.labels_of(["bad", "good"], rejects=True)))
    assert [zone.name for zone in zones] == ["decline", "visit", "call", "approve"]
    assert [zone.end for zone in zones[:-1]] == [zone.start for zone in zones[1:]] == [*CREDIT.levels().cuts]
    assert len({(zone.colour, zone.alpha) for zone in zones}) == 4
    assert zones[0].words == "decline: below −1.1"
    assert Zone("follow-up", "grey", 1.0, -2.0, 0.5).words == "follow-up: −2 to 0.5"
    six = zones_of(bayes_rule(SIX, SIX.labels_of(["bad", "good"], rejects=True)))
    assert len({zone.colour for zone in six}) == 6


def test_the_region_has_a_fill_per_action_and_counts_rows(fitted):
    display = RejectRegionDisplay.from_estimator(fitted, X, Y, ax=Figure().subplots())
    words = legend(display)
    assert [name in words for name in CREDIT.names] == [True] * 4
    taken = fitted.predict(X)
    counts = [f"{np.sum((taken == name) & (Y == 'bad'))} {name}" for name in CREDIT.order]
    assert words[0] == "bad: " + ", ".join(counts)
    filled = {mpl.colors.to_hex(colour) for drawn in display.ax_.collections for colour in drawn.get_facecolor()}
    assert {zone.colour.lower() for zone in display.zones} <= filled


@pytest.mark.parametrize("pos_label", [None, "bad"])
def test_the_loss_has_a_zone_per_action_and_rows_below_their_class(fitted, pos_label):
    clf = RejectSVC(CREDIT, kernel="linear", C=10, pos_label=pos_label).fit(X, Y)
    display = LossDisplay.from_estimator(clf, X, Y, ax=Figure().subplots())
    boxes = [patch.get_extents().transformed(display.ax_.transData.inverted()) for patch in display.ax_.patches]
    np.testing.assert_allclose([box.x0 for box in boxes[1:]], CREDIT.levels().cuts, atol=1e-9)
    assert "good, y = +1" in legend(display)
    np.testing.assert_allclose(display.score, fitted.decision_function(X))
    np.testing.assert_array_equal(display.sign, np.where(Y == "good", 1, -1))


def test_a_single_deciding_action_has_no_forced_cut():
    clf = RejectSVC(Actions({"good": {"good": 0, "bad": 1}, "ask": 0.3}), kernel="linear").fit(X, Y)
    display = RejectRegionDisplay.from_estimator(clf, X, Y, ax=Figure().subplots())
    assert "cut when forced to decide" not in legend(display)


def test_forced_cuts_are_drawn_where_no_zone_begins():
    clf = RejectSVC(SIX, kernel="linear").fit(X, Y)
    display = RejectRegionDisplay.from_estimator(clf, X, Y, ax=Figure().subplots())
    # a0 to a1 and a4 to a5 change as before; without a2 and a3, a1 becomes a4 at (16 - 1) / (16 - 1), log-odds 0 ...
    assert len(SIX.levels(forced=True).cuts) == 3
    assert display.forced_cuts == ()  # ... where a2 becomes a3, too
    four = RejectRegionDisplay.from_estimator(RejectSVC(CREDIT).fit(X, Y), X, Y, ax=Figure().subplots())
    assert four.forced_cuts == pytest.approx((np.log(5),))
    assert "cut when forced to decide" in legend(four)
