"""The page of an audit: the numbers of the JSON, in a real Chromium, on a phone too, and text that stays text."""

import json

import pytest

from abstain.report.text import amount, share
from cli.reviewing import filled, predicted, truths
from cli.running import FIT, run, write_table
from report.test_screens import CUT_OFF

HOSTILE = "<img/src=x/onerror=alert(1)>"


def audited(folder, *options, labels=("no", "yes"), rows=400, files=1, verdict=lambda truth: truth):
    """The model's audit as JSON, and its page; the second file disagrees in some rows and has times."""
    training = write_table(folder / "t.csv", rows=300, seed=1, labels=labels)
    batch = write_table(folder / "b.csv", rows=rows, seed=2, labels=labels)
    model, page = folder / "model", folder / "audit.html"
    fit = run("fit", training, *options, "-o", model)
    assert fit.exit_code == 0, fit.stderr
    path, truth = predicted(folder, model, batch, "--audit", 60, name="r0.csv"), truths(batch)
    reviews = [filled(path, lambda row: verdict(truth(row)))]
    if files == 2:
        reviews.append(
            filled(path, lambda row: labels[0] if row["row"].endswith("7") else truth(row), folder / "r1.csv")
        )
    result = run("audit", model, *reviews, "--cases", batch, "--json", "-o", page)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout), page


def test_the_page_has_the_numbers_of_the_audit(open_file, tmp_path):
    facts, path = audited(tmp_path, *FIT, files=2)
    assert facts["report"] == str(path)
    seen = open_file(path)
    error, cost, (both,) = facts["error_among_the_answers"], facts["cost_per_row"], facts["reviewers"]
    cards = [card.inner_text() for card in seen.page.locator(".card > b").all()]
    assert cards[:2] == [share(error["estimate"]), amount(cost["estimate"])]
    charts = [row.inner_text() for row in seen.page.locator(".rules tbody .range").all()]
    for text, one, form in zip(charts, (error, cost), (share, amount), strict=True):
        assert [form(one[name]) in text for name in ("estimate", "from", "to")] == [True] * 3
    turned = [row.locator("td").all_inner_texts() for row in seen.page.locator("#turned-title ~ table tbody tr").all()]
    counted = facts["rejected_rows_turned_out_as"]
    assert [(name, int(rows)) for name, rows, _ in turned] == [(name, counted[name]) for name in ("no", "yes")]
    agreed = seen.page.locator("#reviewers-title ~ table tbody td").all_inner_texts()
    assert agreed[1:4] == [str(both["rows"]), str(both["same_verdict"]), amount(both["kappa"])]
    assert both["same_verdict"] < both["rows"]
    assert seen.page.locator("#drift-title ~ p").inner_text() == facts["drift"]["sentence"]
    assert (seen.complaints, seen.dialogs, seen.requests) == ([], [], [path.as_uri()])


def test_the_chart_is_to_scale(open_file, tmp_path):
    facts, path = audited(tmp_path, *FIT)
    error, page = facts["error_among_the_answers"], open_file(path).page
    ends = [float(page.locator("#wrong-title ~ table .interval").get_attribute(end)[:-1]) for end in ("x1", "x2")]
    place = float(page.locator("#wrong-title ~ table .mean").get_attribute("cx")[:-1])
    assert 0 < error["from"] < error["estimate"] < error["to"]
    assert [ends[0] / place, ends[1] / place] == pytest.approx([error[at] / error["estimate"] for at in ("from", "to")])
    assert 90 < ends[1] <= 100


@pytest.mark.parametrize("swapped", [False, True])
def test_promises_have_their_ceiling_and_their_state(open_file, tmp_path, swapped):
    limits = ("-t", "answer", "--class-error", 0.3, "--machine", "logistic")
    other = {"no": "yes", "yes": "no"}
    facts, path = audited(tmp_path, *limits, verdict=other.get if swapped else lambda truth: truth)
    page = open_file(path, width=390).page
    rows, states = page.locator("#wrong-title ~ table tbody tr"), [one["state"] for one in facts["promises"]]
    assert rows.count() == 3
    assert ("broken" in states) == swapped
    shown = [row.inner_text() for row in rows.all()[1:]]
    assert [state if state != "open" else "not known" for state in states] == [
        next(word for word in ("broken", "kept", "not known") if word in text) for text in shown
    ]
    assert page.locator("#wrong-title ~ table .cut").count() == 2
    assert page.locator("#cost-title").count() == 0, "a model without costs"


@pytest.mark.parametrize("width", [390, 1366])
def test_nothing_is_cut_off_and_text_stays_text(open_file, tmp_path, width):
    labels = (HOSTILE, "w" * 300)
    _, path = audited(tmp_path, "-t", "answer", "--reject", 0.3, "--C", 1, "--gamma", 1, labels=labels, files=2)
    seen = open_file(path, width=width)
    assert seen.page.locator("#turned-title ~ table tbody td").first.inner_text().endswith(HOSTILE)
    assert seen.page.locator("img").count() == 0
    assert seen.page.evaluate(CUT_OFF) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert (seen.complaints, seen.dialogs) == ([], [])
    seen.page.evaluate("document.querySelector('.plain').style.width = '1500px'")  # control
    assert seen.page.evaluate(CUT_OFF) == ["plain"]


def test_an_audit_without_audited_rows_says_what_it_does_not_know(open_file, tmp_path):
    batch, model = write_table(tmp_path / "b.csv", rows=200, seed=2), tmp_path / "model"
    assert run("fit", batch, *FIT, "-o", model).exit_code == 0
    path = filled(predicted(tmp_path, model, batch, name="r.csv"), truths(batch))
    assert run("audit", model, path, "-o", tmp_path / "a.html").exit_code == 0
    page = open_file(tmp_path / "a.html", width=390).page
    assert "no row was audited" in page.locator(".warnings").inner_text()
    assert page.locator("#wrong-title").count() == page.locator("#cost-title").count() == 0
    again = run("audit", model, path, "-o", tmp_path / "a.html")
    assert again.exit_code == 2
    assert "pass --force to replace it" in again.stderr
    assert run("audit", model, path, "-o", path, "--force").exit_code == 2, "it would replace the review"
