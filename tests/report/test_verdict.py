"""The verdict at the top of the page, against costs counted here."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import abstain
from abstain import Costs, Thresholds
from abstain.comparison.intervals import interval_of_mean
from abstain.report import Report, render
from compared import Fixed
from report.reported import comparison_of


class Words(HTMLParser):
    """The words of the element with an id, or of the whole page."""

    def __init__(self, page, wanted=None):
        super().__init__()
        self.wanted, self.depth, self.text = wanted, 0 if wanted else 1, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if self.depth or dict(attrs).get("id") == self.wanted:
            self.depth += tag not in ("meta", "link", "input", "line", "circle")

    def handle_endtag(self, tag):
        self.depth -= bool(self.depth) and tag not in ("line", "circle")

    def handle_data(self, data):
        self.text += data if self.depth else ""


class Scores(Fixed):
    """A fixed rule whose score is that of "bad"."""

    def predict(self, X):
        choice = np.where(X[:, 0] > self.upper, "bad", np.where(X[:, 0] < self.lower, "good", "reject"))
        return np.where((choice == "reject") & (self.lower == self.upper), "good", choice)


def verdict(report):
    return re.sub(r"\s+", " ", Words(render(report), "verdict").text)


STATED = Costs(2, 5, 0.5)


def of(score, thresholds, costs=STATED, **arguments):
    """Four good rows and six bad ones, which are the positive class."""
    y = np.array(["good"] * 4 + ["bad"] * 6)
    return Report.of(y, -np.asarray(score, dtype=float), costs, thresholds, pos_label="bad", **arguments)


# Scores of "bad"; good ones first. Forced at 0: one false alarm (2) and two misses (10), so 1.2 per row.
SCORES = [-3, -3, -3, 0.5, -0.5, -0.5, 3, 3, 3, 3]


def test_one_sentence_says_what_is_rejected_and_paid_and_all_alternatives_stand_in_a_table():
    report = of(SCORES, Thresholds(-1, 1))
    words = verdict(report)
    assert "it rejects 30.0 % of the rows and costs 0.15 per row, 0.35 less than rejecting every row (0.5)" in words
    assert "the cheapest of 4 alternatives on these rows" in words
    costs = {"deciding every row without rejects": 1.2, "deciding 'bad' for every row": 0.8}
    costs |= {"rejecting every row": 0.5, "deciding 'good' for every row": 3.0}
    assert dict(report.verdict.alternatives) == pytest.approx(costs)
    table = Words(render(report), "alternatives").text
    assert all(f"{name}\n" in table.replace(f"{cost:g}", "\n") for name, cost in costs.items())


def test_nothing_rejected_and_everything_rejected_read_well():
    nothing = verdict(of(SCORES, Thresholds(0, 0)))
    assert "it rejects 0.0 % of the rows and costs 1.2 per row, 0.7 more than rejecting every row (0.5)" in nothing
    assert "without rejects" not in nothing
    everything = verdict(of(SCORES, Thresholds(-9, 9)))
    assert "rejects 100.0 % of the rows and costs 0.5 per row, exactly as much as rejecting every row" in everything


def test_the_saving_has_an_interval_for_all_alternatives():
    """Ten times four good rows and six bad ones, of which five good ones are decided as bad."""
    score = np.tile(SCORES, (10, 1))
    score[:5, 0] = 2
    paid = np.where(np.abs(score) <= 1, 0.5, 0.0)
    paid[:5, 0] = 2
    y = np.tile(["good"] * 4 + ["bad"] * 6, 10)
    report = Report.of(y, -score.ravel(), STATED, Thresholds(-1, 1), pos_label="bad")
    low, high = interval_of_mean(0.5 - paid.ravel(), (0.5 - 5, 0.5), 1 - 0.05 / 4)
    assert report.verdict.interval == pytest.approx((low, high))
    words = verdict(report)
    assert words.startswith("The machine is worth using: ") == (low > 0)
    assert words.endswith(f"(95% interval of the saving, for all alternatives at once: {low:.3g} to {high:.3g}).")
    assert [cost for _, cost in report.verdict.alternatives] == pytest.approx([0.5, 0.8, 1.3, 3.0])


def test_ten_rows_without_an_error_are_too_few():
    assert verdict(of(SCORES, Thresholds(-1, 1))).startswith("The machine is not shown to be worth using: it rejects")


def test_a_machine_that_is_not_worth_using_is_said_to_be_so_first():
    report = of(SCORES, Thresholds(-9, 9), warnings=["mine"])
    assert verdict(report).startswith("The machine is not worth using: ")
    first, second, last = report.warnings
    assert first == "The machine rejects 100.0 % of the rows: it decides hardly anything."
    assert second.startswith("The machine costs 0.5 per row, not less than rejecting every row (0.5)")
    assert last == "mine"
    assert "Read this first" in render(report)
    assert "Read this first" not in render(of(SCORES, Thresholds(-1, 1)))  # control


def test_a_page_with_a_comparison_has_one_verdict():
    """That of the comparison if it is on the decisions of the page; else their own."""
    X = np.array([[score] for score in SCORES * 3], dtype=float)
    y = np.array((["good"] * 4 + ["bad"] * 6) * 3)
    models = {"wide": Scores(-1, 1), "narrow": Scores(-0.1, 0.1), "none": Scores(0, 0)}
    compared = abstain.compare(models, X, y, STATED, pos_label="bad", cv=3)
    assert compared.verdict.name == "wide"
    settings = {"pos_label": "bad", "comparison": compared}
    same = Report.of(y, -X[:, 0], STATED, Thresholds(-1, 1), **settings)
    assert same.verdict == compared.verdict
    assert verdict(same) == compared.verdict.sentence
    assert dict(same.verdict.alternatives)["none"] == pytest.approx(compared.mean_cost[2])
    other = Report.of(y, -X[:, 0], STATED, Thresholds(-0.1, 0.1), **settings)
    assert other.verdict.name == "The machine"
    for report in (same, other):
        assert Words(render(report)).text.count("worth using:") == 1


@pytest.mark.parametrize(("unseen", "words"), [(True, "No row was used to train"), (False, "neither trained nor")])
def test_the_page_says_what_its_numbers_hold_for(unseen, words):
    page = Words(render(of(SCORES, Thresholds(-1, 1), unseen=unseen))).text
    assert (words in page, "trained nor chosen on the rows of this report" in page) == (True, not unseen)


@pytest.mark.parametrize(
    ("costs", "unit"),
    [
        (Costs(1, 1, 0.2), "Costs are in units of the cost of one error."),
        (Costs(1, 5, 0.2), "Costs are in units of the cost of deciding bad when good is true."),
        (Costs(5, 1, 0.2), "Costs are in units of the cost of deciding good when bad is true."),
        (Costs(2, 5, 0.2), "Costs are in the units in which they were stated."),
    ],
)
def test_the_unit_of_the_costs_is_said(costs, unit):
    assert unit in Words(render(of(SCORES, Thresholds(-1, 1), costs))).text


def test_rules_are_dots_with_intervals_and_words():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    rules = comparison_of({"worse": base + 1, "best": base, "alike": base + rng.normal(0.01, 1, 400)})
    report = of(SCORES, Thresholds(-1, 1), comparison=rules)
    shown = report.comparison.rules
    assert [rule.name for rule in shown] == ["best", "alike", "worse"]
    assert [rule.significant for rule in shown] == [False, False, True]
    scale = shown[0].places[0] / base.mean()
    for rule, at in zip(shown, (1, 2, 0), strict=True):
        mean, low, high = rule.places
        np.testing.assert_allclose([low, high], scale * rules.mean_cost_interval[at], atol=0.02)
        assert 0 <= low < mean < high <= 100
    page = render(report)
    assert page.count('<circle class="mean"') == page.count('<line class="interval"') == 3
    assert "best costs least" in report.comparison.words
    assert re.search(r"Significantly more than that: worse, by 1 .*Not significantly more: alike\.", page)
    assert not re.search(r"\b(True|False)\b", Words(page).text.split("Compared with other rules")[1].split("{")[0])
