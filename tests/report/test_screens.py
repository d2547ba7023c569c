"""The page on a phone, a tablet and a laptop: nothing is cut off, and the page does not scroll sideways."""

import pytest

from abstain.report import Report, report_for
from report.reported import COSTS, comparison_of, report_of, rows
from report.test_review import fitted


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1280])
def test_nothing_is_wider_than_the_screen(open_report, width, scheme):
    report = report_of(COSTS["pair"], title="x" * 300, row_names=["y" * 300] * 400)
    seen = open_report(report, width=width, color_scheme=scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.page.set_viewport_size({"width": 320, "height": 900})
    seen.page.locator('#histogram svg[viewBox^="0 0 2"]').wait_for()  # drawn again, for two hundred and some pixels
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 320


# Tables that reach beyond the window or beyond the box around them, whether that box scrolls or cuts them off.
CUT_OFF = """() => [...document.querySelectorAll("table, table svg, .plot svg")].filter((part) => {
  const right = part.getBoundingClientRect().right;
  for (let box = part.parentElement; box; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== "visible" && right > box.getBoundingClientRect().right + 1) return true;
  return right > document.documentElement.clientWidth + 1 || part.scrollWidth > part.clientWidth + 1;
}).map((part) => part.className || part.id || part.tagName)"""


@pytest.mark.parametrize("width", [390, 800, 1366])
def test_no_table_is_cut_off(open_report, width):
    rules = comparison_of({"SVM, two thresholds (ROC)": [0.1, 0.3, 0.2], "SVM, Chow on Platt": [0.5, 0.6, 0.7]})
    y, score = rows(labels=("benign", "malignant"))
    thresholds = COSTS["pair"].score_thresholds()
    names = [f"patient {i}" for i in range(400)]
    report = Report.of(y, score, COSTS["pair"], thresholds, comparison=rules, row_names=names)
    seen = open_report(report, width=width)
    assert seen.page.locator(".rejected tbody tr").count() == 100
    assert seen.page.evaluate(CUT_OFF) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.page.evaluate("document.querySelector('.counts').style.width = '1500px'")  # control
    assert seen.page.evaluate(CUT_OFF) == ["counts"]


@pytest.mark.parametrize("kind", ["several", "actions"])
def test_no_table_of_classes_or_actions_is_cut_off(open_report, kind):
    machine, own, y = fitted(kind, guarded=True)
    seen = open_report(report_for(machine, own, y, title="y" * 200), width=390)
    assert seen.page.locator(".matrix tbody tr").count() == len(machine.classes_)
    assert seen.page.evaluate(CUT_OFF) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    seen.page.evaluate("document.querySelector('.matrix').style.width = '800px'")  # control
    assert seen.page.evaluate(CUT_OFF) == ["matrix"]
