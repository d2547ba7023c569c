"""The page in a real Chromium: the slider's numbers against Python's, its pictures, its manners."""

import math
import re

import numpy as np
import pytest

from abstain import Costs, Thresholds
from abstain.report import Report
from abstain.report import rows as report_rows
from report.reported import COSTS, counted, labels_at, measured, report_of, rows

CASES = [pytest.param(name, pos, id=f"{name}-{pos}") for name in COSTS for pos in ("no", "yes")]


def moved(costs, factor):
    pair = isinstance(costs.reject, tuple)
    reject = tuple(factor * price for price in costs.reject) if pair else factor * costs.reject
    return Costs(costs.false_positive, costs.false_negative, reject)


def first_price(costs, pos_label):
    """The price in the field: of rejecting where "no" is true."""
    return costs.reject_negative if pos_label == "yes" else costs.reject_positive


def number(text):
    """The number in a text of the page."""
    plain = text.replace("−", "-").replace("∞", "inf")
    return float(plain.removesuffix(" %")) / 100 if plain.endswith(" %") else float(plain)


def assert_shown(seen, values):
    shown = seen.texts()
    for name, value in values.items():
        if math.isnan(value):
            assert shown[name] == "n/a"
        else:  # four digits, or tenths of a per cent
            assert number(shown[name]) == pytest.approx(value, rel=6e-4, abs=6e-4), name


@pytest.mark.parametrize(("name", "pos_label"), CASES)
def test_every_number_follows_the_slider_as_python_counts_it(open_report, name, pos_label):
    y, score = rows()
    stated = COSTS[name]
    seen = open_report(report_of(stated, pos_label=pos_label))
    tables = []
    for factor in (1.0, 0.35, 0.8, 1.27, 1.0):
        costs = moved(stated, factor)
        seen.set_price(first_price(costs, pos_label))
        predicted = labels_at(costs, score, pos_label)
        assert seen.counts() == counted(y, predicted)
        assert_shown(seen, measured(y, predicted, costs, pos_label))
        assert int(seen.text("rejected")) == np.sum(predicted == "reject")
        forced = np.where(score > (costs.cut if pos_label == "yes" else -costs.cut), "yes", "no")
        everything = costs.mean_cost(y, np.full(len(y), "reject"), pos_label=pos_label)
        forced_cost = costs.mean_cost(y, forced, pos_label=pos_label)
        assert_shown(seen, {"forced_cost": forced_cost, "rejecting_cost": everything})
        tables.append(seen.counts())
    assert tables[0] == tables[-1]
    assert len({str(table) for table in tables}) == 4  # the prices were far enough apart to tell


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_the_slider_itself_moves_price_and_numbers(open_report, pos_label):
    y, score = rows()
    seen = open_report(report_of(Costs(1, 4, 0.3), pos_label=pos_label))
    slider = seen.page.locator("#price")
    slider.focus()
    for key in ("Home", "PageUp", "PageUp", "ArrowRight", "End", "ArrowLeft"):
        seen.page.keyboard.press(key)
        price = float(seen.page.locator("#typed").input_value())
        assert seen.counts() == counted(y, labels_at(Costs(1, 4, price), score, pos_label)), key
    assert "moved from the stated 0.3" in seen.text("moved")
    seen.page.locator("#stated").click()
    assert seen.text("moved") == " (the stated cost)"
    assert seen.counts() == counted(y, labels_at(Costs(1, 4, 0.3), score, pos_label))


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_scores_on_the_thresholds_go_the_way_of_the_rule(open_report, pos_label):
    costs = Costs(1, 1, 0.25)
    delta = costs.score_thresholds().upper  # log 3, the other is minus that, and the cut is 0
    near = [np.nextafter(delta, side) for side in (-np.inf, np.inf)]
    score = np.array([-delta, delta, *near, *np.negative(near), 0.0, np.nextafter(0, 1), -np.inf, np.inf])
    y = np.array(["no", "yes"] * 5)
    seen = open_report(report_of(costs, y=y, score=score, pos_label=pos_label))
    predicted = labels_at(costs, score, pos_label)
    assert seen.counts() == counted(y, predicted)
    assert np.sum(predicted == "reject") == 6  # both thresholds themselves among them
    seen.set_price(0.5)  # the band is closed: the score on the cut is decided, and for "no"
    predicted = labels_at(Costs(1, 1, 0.5), score, pos_label)
    assert predicted[6] == "no"
    assert seen.counts() == counted(y, predicted)
    assert "never rejects" in seen.text("band_word")


def test_everything_rejected_is_said_in_words_and_drawn_all_the_same(open_report):
    y, score = rows()
    seen = open_report(report_of(Costs(1, 1, 0.3), y=y, score=score / 100))
    assert seen.text("selective_error") == seen.text("selective_accuracy") == "n/a"
    assert seen.page.locator("#now").text_content().endswith("no row is accepted")
    assert "rejects 100.0 % of the rows" in seen.page.locator("#verdict").text_content()
    assert not re.search(r"undefined|NaN", seen.page.locator("body").inner_text())
    assert seen.text("coverage") == "0.0 %"
    assert seen.page.locator("#cost circle").count() == 1
    assert seen.page.locator("#accuracy circle").count() == 0  # no accuracy, no point


@pytest.mark.parametrize("price", ["0", "-1", "0.51", "", "1e999"])
def test_a_price_that_cannot_be_is_refused_in_words(open_report, price):
    seen = open_report(report_of(Costs(1, 1, 0.3)))
    before = seen.counts()
    seen.page.locator("#typed").fill("0.2")
    seen.page.locator("#typed").fill(price)
    assert "Enter a cost from 0.0005 to 0.5" in seen.page.locator("#typed-error").text_content()
    assert seen.counts() != before  # it stays with the last price that could be


LEFT = {"-1": "0.2", "-": "0.2", "0": "0.0005", "7": "0.5", "": "0.2", "e": "0.2", "0.25": "0.25"}


@pytest.mark.parametrize(("typed", "left"), LEFT.items())
def test_the_field_is_left_with_a_cost_that_can_be(open_report, typed, left):
    y, score = rows()
    seen = open_report(report_of(Costs(1, 1, 0.3)))
    field = seen.page.locator("#typed")
    field.fill("0.2")
    field.press("Control+a")
    field.press("Delete")
    field.press_sequentially(typed)
    assert not field.input_value().startswith("-")
    field.blur()
    assert field.input_value() == left
    assert seen.page.locator("#typed-error").text_content() == ""
    assert seen.counts() == counted(y, labels_at(Costs(1, 1, float(left)), score, "yes"))


def test_thresholds_of_another_rule_stay_and_the_price_moves(open_report):
    y, score = rows()
    seen = open_report(Report.of(y, score, Costs(1, 1, 0.3), Thresholds(-2.0, 0.25)))
    predicted = np.where(score > 0.25, "yes", np.where(score < -2.0, "no", "reject"))
    for price in (0.3, 0.1, 0.45):
        seen.set_price(price)
        assert seen.counts() == counted(y, predicted)
        assert number(seen.text("mean_cost")) == pytest.approx(Costs(1, 1, price).mean_cost(y, predicted), rel=6e-4)
    assert "keeps them" in seen.page.locator("#slider-note").text_content()


def test_the_page_says_that_it_does_not_train_again(open_report):
    seen = open_report(report_of(Costs(1, 1, 0.3)))
    assert "does not retrain" in seen.page.locator("#slider-note").text_content()


def test_many_rows_are_grouped_and_exact_at_the_stated_price(open_report, monkeypatch):
    monkeypatch.setattr(report_rows, "EXACT_ROWS", 100)
    monkeypatch.setattr(report_rows, "STEPS", 50)
    y, score = rows(n=2000)
    costs = Costs(1, 2, 0.3)
    seen = open_report(report_of(costs, y=y, score=score))
    assert seen.counts() == counted(y, labels_at(costs, score, "yes"))
    assert "groups of neighbouring scores" in seen.page.locator("#slider-note").text_content()
    for price in (0.1, 0.5):
        seen.set_price(price)
        exact = np.array(counted(y, labels_at(Costs(1, 2, price), score, "yes")))
        assert np.abs(seen.counts() - exact).sum() <= 2 * 2 * 2000 / 50  # one group per threshold, in two cells each
        assert np.sum(seen.counts()) == 2000


def test_the_ring_lies_on_the_curves_and_follows_the_price(open_report):
    y, score = rows(n=1000)
    costs = Costs(1, 5, 0.3)
    seen = open_report(report_of(costs, y=y, score=score))
    places = []
    for price in (0.3, 0.15, 0.6):
        seen.set_price(price)
        for picture in ("accuracy", "cost"):
            ring, curve = seen.page.locator(f"#{picture} circle"), seen.page.locator(f"#{picture} path.curve")
            x, height = (float(ring.get_attribute(name)) for name in ("cx", "cy"))
            points = np.array([p.split(",") for p in curve.get_attribute("d")[1:].split("L")], dtype=float)
            assert height == pytest.approx(np.interp(x, *points.T), abs=2.5)  # pixels, of some 220
            places.append((x, height))
    assert len(set(places)) == 6


def test_the_reject_band_is_drawn_between_the_thresholds(open_report):
    seen = open_report(report_of(Costs(1, 1, 0.3)))
    widths = []
    for price in (0.3, 0.1, 0.5):
        seen.set_price(price)
        widths.append(float(seen.page.locator("#histogram rect.reject").get_attribute("width")))
    assert widths[1] > widths[0] > widths[2] == 0


LUMINANCE = """(selector) => {
  const luminance = (colour) => colour.match(/[\\d.]+/g).slice(0, 3)
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll(selector)].map((element) => {
    let behind = element;
    while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const both = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(luminance);
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(open_report, scheme):
    seen = open_report(report_of(COSTS["pair"], warnings=["mind"], data_facts={"a": 1}), color_scheme=scheme)
    ratios = seen.page.evaluate(LUMINANCE, "p, b, small, bdi, th, td, dt, dd, h1, h2, h3, label, figcaption, li")
    assert min(ratios) >= 4.5  # WCAG 2, level AA
    assert len(ratios) > 100


def test_every_control_has_a_name_and_every_picture_its_words(open_report):
    seen = open_report(report_of(Costs(1, 1, 0.3)))
    for role, name in (("slider", "Reject cost"), ("spinbutton", "Reject cost, typed"), ("button", "Back to 0.3")):
        assert seen.page.get_by_role(role, name=name, exact=True).count() == 1
    assert seen.page.locator("svg").count() == seen.page.locator('svg[role="img"][aria-label]').count() == 3
    seen.set_price(0.1)
    assert seen.page.locator("#price").get_attribute("aria-valuetext") == "0.1"


def test_without_javascript_the_stated_numbers_are_there(open_report):
    y, score = rows()
    costs = Costs(1, 5, 0.3)
    seen = open_report(report_of(costs), java_script_enabled=False)
    predicted = labels_at(costs, score, "yes")
    assert seen.counts() == counted(y, predicted)
    assert_shown(seen, measured(y, predicted, costs, "yes"))
    assert not seen.page.locator("#price").is_visible()
    assert seen.page.get_by_text("need JavaScript").is_visible()


def test_on_paper_there_is_no_slider(open_report):
    seen = open_report(report_of(Costs(1, 5, 0.3)))
    assert seen.page.locator("#price").is_visible()
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("#price").is_visible()
    assert seen.page.locator("#cost svg").is_visible()
    seen.page.set_viewport_size({"width": 700, "height": 900})  # of a sheet of paper: tables stay tables
    assert seen.page.evaluate("getComputedStyle(document.querySelector('.rejected tbody tr')).display") == "table-row"
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 700
    assert seen.page.pdf().startswith(b"%PDF")
