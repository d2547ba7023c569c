"""Reports of several classes, of actions and of costs per row: every number counted anew, on paper and on screens."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from abstain import Actions, Costs, RejectSVC, RejectSVCCV, ThresholdRejector, compare
from abstain.metrics import mean_cost
from abstain.report import Report, render, report_for
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, paid
from problems import random_row_costs

NAMES = np.array(["cold", "flu", "pneumonia", "reject"])
X, CODE = gaussians(150)
Y = NAMES[CODE]
COSTS = Costs.from_matrix(GENERAL, labels=NAMES[:3].tolist(), reject=0.4)
CLF = RejectSVC(COSTS, C=100).fit(X, Y)
TWO, SIGN = make_classification(120, 4, flip_y=0.2, random_state=5)
CREDITS = np.array(["bad", "good"])[SIGN]
ROWS = random_row_costs(np.random.default_rng(1), 120)


@pytest.fixture(scope="module")
def reports():
    actions = RejectSVC(CREDIT, C=10).fit(TWO, CREDITS)
    rows = RejectSVC(pos_label=0, C=10).fit(TWO, SIGN, row_costs=ROWS)
    return {
        "classes": report_for(CLF, X, Y),
        "actions": report_for(actions, TWO, CREDITS),
        "rows": report_for(rows, TWO, SIGN, row_costs=ROWS),
    }


def test_the_numbers_of_classes(reports):
    report, predicted = reports["classes"], CLF.predict(X)
    choice = np.array([NAMES.tolist().index(label) for label in predicted])
    counts = [[int(np.sum((k == CODE) & (choice == j))) for j in range(4)] for k in range(3)]
    assert [list(one.counts) for one in report.classes] == counts
    assert report.choices == ("cold", "flu", "pneumonia", "reject")
    assert report.mean_cost == pytest.approx(paid(GENERAL, 0.4, CODE, choice))
    for k, one in enumerate(report.classes):
        mine, answered = k == CODE, choice == k
        assert one.coverage == pytest.approx(np.mean(choice[mine] < 3))
        assert one.selective_error == pytest.approx(np.mean(choice[mine & (choice < 3)] != k))
        assert one.predictivity == pytest.approx(np.mean(CODE[answered] == k))
        assert one.mean_cost == pytest.approx(paid(GENERAL, 0.4, CODE[mine], choice[mine]))
        assert one.kinds == tuple("reject" if j == 3 else "right" if j == k else "wrong" for j in range(4))
    everywhere = paid(GENERAL, 0.4, CODE, np.ones(150, dtype=int))
    assert dict(report.verdict.alternatives)["deciding 'flu' for every row"] == pytest.approx(everywhere)


def test_the_numbers_of_actions(reports):
    report = reports["actions"]
    assert report.choices == CREDIT.names
    table = np.array([[5, 0, 0.3, 0.2], [0, 1, 0.3, 0.4]])
    counts = np.array([one.counts for one in report.classes])
    assert report.mean_cost == pytest.approx((counts * table).sum() / 120)
    assert report.classes[0].kinds == ("wrong", "right", "reject", "reject")
    assert report.classes[1].kinds == ("right", "wrong", "reject", "reject")
    assert report.classes[1].coverage == pytest.approx(counts[1, :2].sum() / counts[1].sum())
    assert [plot.title for plot in report.plots] == ["cost per row"]  # actions are not right or wrong
    assert "taking &#39;visit&#39; for every row" in render(report)


def test_the_right_action_is_the_cheapest_of_those_that_answer():
    """Also where handing the case on costs less than any answer."""
    table = {"sell": {"bad": 0.1, "good": 0.5}, "keep": {"bad": 5, "good": 0}, "ask": {"bad": 0.05, "good": 3}}
    report = Report.of_decisions(["bad", "good"], ["sell", "ask"], Actions(table, rejects=["ask"]))
    assert [one.kinds for one in report.classes] == [("right", "wrong", "reject"), ("wrong", "right", "reject")]
    assert [one.coverage for one in report.classes] == [1.0, 0.0]


def test_the_numbers_of_rows_with_their_own_costs(reports):
    report = reports["rows"]
    clf = RejectSVC(pos_label=0, C=10).fit(TWO, SIGN, row_costs=ROWS)
    predicted = clf.predict(TWO, row_costs=ROWS)
    assert report.mean_cost == pytest.approx(mean_cost(SIGN, predicted, row_costs=ROWS, pos_label=0))
    forced = clf.predict_forced(TWO, row_costs=ROWS)
    assert report.forced_cost == pytest.approx(mean_cost(SIGN, forced, row_costs=ROWS, pos_label=0))
    assert [one.name for one in report.classes] == ["1", "0"]  # the negative class first
    assert report.choices == ("1", "reject", "0")
    accuracy = float(re.search(r"M[\d.]+,([\d.]+)L", report.plots[0].line)[1])
    ticks = [(float(text.removesuffix(" %")) / 100, at) for text, at in report.plots[0].y_ticks]
    slope = (ticks[-1][0] - ticks[0][0]) / (ticks[-1][1] - ticks[0][1])
    assert ticks[0][0] + slope * (accuracy - ticks[0][1]) == pytest.approx(np.mean(forced == SIGN), abs=0.002)


TUNED = RejectSVCCV(COSTS, Cs=[1, 10], gammas=[0.5])
LEAD = ThresholdRejector(LogisticRegression(), COSTS, method="roc")  # a cut for each class answered
CHOW = ThresholdRejector(LogisticRegression(), COSTS, method="chow")


@pytest.mark.parametrize("clf", [CLF, RejectSVC(Costs(reject=0.2), C=100), TUNED, LEAD, CHOW], ids=str)
def test_the_machine_lies_on_its_own_curves(clf):
    report = report_for(clf.fit(X, Y), X, Y)
    for plot in report.plots:
        points = np.array([pair.split(",") for pair in plot.line[1:].split("L")], dtype=float)
        x, y = plot.rings[plot.point]
        assert np.interp(x, *points.T) == pytest.approx(y, abs=3.0)
    assert len(report.plots) == 2


def test_rows_may_lack_a_class(reports):
    some = CODE > 0
    report = report_for(CLF, X[some], Y[some])
    assert report.classes[0].rows == 0
    assert np.isnan(report.classes[0].coverage)
    assert [one.counts for one in report.classes[1:]] == [one.counts for one in reports["classes"].classes[1:]]
    assert "n/a" in render(report)
    with pytest.raises(ValueError, match="'measles', which is not one of the classes"):
        report_for(CLF, X, np.where(CODE == 0, "measles", Y))


def test_refusals():
    for call, text in (
        (lambda: report_for(RejectSVC().fit(X, Y), X, Y), "a report needs costs: pass them"),
        (lambda: report_for(CLF, X, Y, pos_label="flu"), "pos_label='flu' is for two classes"),
        (lambda: report_for(CLF, X, Y, row_costs=ROWS), r"row_costs must have shape \(n, 3, 4\)"),
        (lambda: Report.of_decisions(Y, Y[:5], COSTS), "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    rows = RejectSVC().fit(TWO, SIGN, row_costs=ROWS)
    with pytest.raises(ValueError, match="not the positive class of the machine, 1"):
        report_for(rows, TWO, SIGN, row_costs=ROWS, pos_label=0)


def test_names_cannot_run_code():
    hostile = np.array(["<script>alert(1)</script>", "b", "c"])[CODE]
    page = render(report_for(RejectSVC(Costs(reject=0.2), C=100).fit(X, hostile), X, hostile, row_names=["<b>"] * 150))
    assert "<script>alert" not in page
    assert "<b>&" not in page
    assert "&lt;script&gt;" in page
    labels = render(Report.of_decisions(hostile, hostile[::-1], Costs(reject=0.2)))
    assert "<script" not in labels  # without an order of review there is nothing to run
    assert "script-src &#39;none&#39;" in labels


def test_wide_tables_scroll_and_the_page_does_not(open_report, reports):
    many = np.arange(40) % 20
    names = np.array([f"a class with a long name {k}" for k in range(20)])
    wide = Report.of_decisions(names[many], names[many[::-1]], Costs(reject=0.2), comparison=_comparison())
    for report in (*reports.values(), wide):
        seen = open_report(report, width=360)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        seen.page.set_viewport_size({"width": 1280, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert seen.page.locator(".matrix tbody tr").count() == len(report.classes)
    box = "document.querySelector('.matrix').parentElement"
    assert seen.page.evaluate(f"{box}.scrollWidth > {box}.clientWidth + 100")
    assert seen.page.evaluate(f"getComputedStyle({box}).overflowX") == "auto"
    assert "rejecting costs" in seen.page.locator("body").inner_text()


def _comparison():
    return compare({"rejecting": RejectSVC(COSTS, C=10)}, X, Y, COSTS, cv=3)
