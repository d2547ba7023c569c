"""Reviewing k rows: against `Decisions.within`, rows costed one by one here, and the page in a real Chromium."""

import numpy as np
import pytest

import abstain
from abstain import Costs, NoveltyRejector, RejectSVC
from abstain.report import Report, render, report_for
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, table_costs
from report.reported import COSTS, report_of, rows

X, CODES = gaussians(120)
KINDS = {
    "two": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], None),
    "two, the first positive": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], "no"),
    "several": (table_costs(GENERAL, [0.3, 0.5, 0.2]), [0, 1, 2], None),
    "actions": (CREDIT, ["bad", "good"], None),
}


def fitted(kind, *, guarded=False):
    costs, names, positive = KINDS[kind]
    mine = len(names) > CODES
    own, y = X[mine], np.array(names)[CODES[mine]]
    machine = RejectSVC(costs, pos_label=positive, C=10)
    machine = NoveltyRejector(machine, rate=0.1, random_state=0) if guarded else machine
    return machine.fit(own, y), own, y


def paid(rule, code, labels):
    """The cost of each decision, looked up one by one."""
    order = rule.names.tolist()
    return np.array([rule.costs.values[k, order.index(label)] for k, label in zip(code, labels.tolist(), strict=True)])


@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_capacity_costs_what_the_decisions_within_it_cost(kind, guarded):
    machine, own, y = fitted(kind, guarded=guarded)
    rule, found = machine.rule_, machine.decide(own)
    code, review = rule.labels.encode(y), report_for(machine, own, y).review
    assert review.rejected == found.rejected.sum() > 8
    assert review.reviewed.tolist()[: review.rejected + 1] == list(range(review.rejected + 1))
    costs = []
    for k in (0, 1, 5, review.rejected - 1, review.rejected):
        within = found.within(k)
        costs.append(paid(rule, code, within.label).mean())
        assert review.cost[k] == pytest.approx(costs[-1])
        if kind != "actions":
            wrong = within.label[~within.rejected] != y[~within.rejected]
            assert review.error[k] == pytest.approx(wrong.mean())
    assert len(set(np.round(costs, 9))) > 2
    assert np.isnan(review.error).all() == (kind == "actions")
    np.testing.assert_array_equal(review.order[: review.rejected], found.queue)


@pytest.mark.parametrize("kind", KINDS)
def test_beyond_the_rejects_the_next_rows_by_saving_are_handed_on(kind):
    machine, own, y = fitted(kind)
    rule, found = machine.rule_, machine.decide(own)
    code, review = rule.labels.encode(y), report_for(machine, own, y).review
    hands_on = np.array(rule.labels.hands_on)
    ranked = np.concatenate(
        [found.queue, *[[i] for i in np.argsort(-found.saving, kind="stable") if not found.rejected[i]]]
    )
    for at in (review.rejected + 1, len(review.reviewed) - 20, len(review.reviewed) - 1):
        label, k = found.forced.astype(found.label.dtype).copy(), review.reviewed[at]
        for i in ranked[:k].astype(int):
            label[i] = rule.names[hands_on][found.expected_cost[i, hands_on].argmin()]
        assert review.cost[at] == pytest.approx(paid(rule, code, label).mean())
        assert review.saving[at] == found.saving[int(ranked[k - 1])]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_listed_in_the_order_of_review(kind):
    machine, own, y = fitted(kind)
    found, report = machine.decide(own), report_for(machine, own, y)
    assert [one.name for one in report.listed] == (found.queue[:100] + 1).tolist()
    assert [one.name for one in report.listed] != (np.flatnonzero(found.rejected)[:100] + 1).tolist()  # control
    assert [float(one.saving.replace("\N{MINUS SIGN}", "-")) for one in report.listed] == pytest.approx(
        found.saving[found.queue[:100]], rel=1e-3
    )
    assert all(one.sentence for one in report.listed)
    first = found.queue[0]
    assert report.listed[0].values == tuple((f"x{k}", f"{v:.4g}".replace("-", "−")) for k, v in enumerate(own[first]))


def test_scores_alone_have_the_same_order_as_the_machine():
    machine, own, y = fitted("two")
    whole = report_for(machine, own, y)
    alone = Report.of(y, machine.decision_function(own), machine.costs, machine.thresholds_)
    np.testing.assert_array_equal(alone.review.order, whole.review.order)
    np.testing.assert_allclose(alone.review.cost, whole.review.cost)


def test_labels_alone_have_no_order_of_review():
    machine, own, y = fitted("several")
    report = Report.of_decisions(y, machine.predict(own), machine.costs)
    assert (report.review, report.plots) == (None, ())
    assert [one.name for one in report.listed] == (np.flatnonzero(machine.predict(own) == -1)[:100] + 1).tolist()
    assert "How many rows can people review" not in render(report)


@pytest.mark.parametrize("kind", KINDS)
def test_the_slider_shows_the_numbers_of_within(open_report, kind):
    machine, own, y = fitted(kind)
    rule, found = machine.rule_, machine.decide(own)
    code, rejected = rule.labels.encode(y), int(found.rejected.sum())
    seen = open_report(report_for(machine, own, y), width=390)
    shown = lambda name: seen.page.locator(f'[data-review="{name}"]').first.text_content()  # noqa: E731
    stated, places = (shown("reviewed"), shown("cost")), []
    slider = seen.page.locator("#capacity")
    for k in (rejected, 0, 3, rejected // 2):
        slider.fill(str(k))
        within = found.within(k)
        assert (shown("reviewed"), shown("over")) == (str(k), str(rejected - k))
        assert float(shown("cost")) == pytest.approx(paid(rule, code, within.label).mean(), rel=1e-3)
        rings = seen.page.locator("#review circle.point")
        places += [rings.nth(i).get_attribute("cx") for i in range(rings.count())]
    assert len(set(places)) == (0 if kind.startswith("two") else 4)
    seen.page.locator("#all-rejected").click()
    assert (shown("reviewed"), shown("cost")) == stated
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_javascript_the_numbers_of_all_rejects_are_there(open_report):
    report = report_of(COSTS["equal"])
    seen = open_report(report, java_script_enabled=False)
    assert seen.page.locator('[data-review="reviewed"]').last.text_content() == str(report.review.rejected)
    assert not seen.page.locator("#capacity").is_visible()


def test_a_page_has_one_cost_of_all_rejects(open_report):
    y, score = rows()
    seen = open_report(report_of(COSTS["unequal"], y=y, score=score))
    assert seen.page.locator('[data-review="cost"]').text_content() == seen.text("mean_cost")
    seen.page.locator("#capacity").fill("0")
    assert seen.page.locator('[data-review="cost"]').text_content() == seen.text("forced_cost")


def test_expert_words_are_collapsed_with_a_sentence():
    machine, own, y = fitted("two")
    page = render(report_for(machine, own, y))
    before, _, details = page.partition("<details><summary>Details</summary>")
    assert "duality gap" not in before
    assert "Relative duality gap" in details.partition("</details>")[0]
    assert "the proof of the fit" in details.partition("</details>")[0]


def test_the_sentence_of_a_row_is_that_of_explain():
    machine, own, y = fitted("several", guarded=True)
    found = machine.decide(own)
    listed = report_for(machine, own, y).listed[:12]
    why = abstain.explain(machine, own, rows=found.queue[:12]).sentence.tolist()
    assert [one.sentence for one in listed] == [text.replace("\n", " ") for text in why]
    assert len(set(why)) > 6
    page = render(report_for(machine, own, y, title="x"))
    assert '<bdi class="why">' in page
