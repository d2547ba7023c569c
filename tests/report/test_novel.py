"""Novel rows on the page: rejected at every reject cost, counted apart, and drawn and listed as such."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Costs, NoveltyRejector, RejectSVC
from abstain.metrics import RejectTable
from abstain.report import Report, render, report_for
from abstain.report.render import payload
from report.reported import COSTS, counted, labels_at, report_of, rows


def unlike(n=400):
    """Every tenth row, whatever its score."""
    return np.arange(n) % 10 == 0


@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize("price", [0.01, 0.3, 0.45])
def test_at_every_reject_cost_the_page_counts_novel_rows_as_rejects(open_report, price, pos_label):
    (y, score), novel = rows(), unlike()
    seen = open_report(report_of(COSTS["equal"], pos_label=pos_label, novel=novel))
    seen.set_price(price)
    at = Costs(1, 1, price)
    predicted = np.where(novel, "reject", labels_at(at, score, pos_label))
    assert seen.counts() == counted(y, predicted)
    assert seen.counts() != counted(y, labels_at(at, score, pos_label))  # control: without the guard
    assert float(seen.text("mean_cost")) == pytest.approx(at.mean_cost(y, predicted, pos_label=pos_label), rel=1e-3)
    forced = np.where(score > 0, "yes", "no")
    assert float(seen.text("forced_cost")) == pytest.approx(np.mean(forced != y), rel=1e-3)


def test_novel_rows_have_their_own_colour_and_come_first_in_the_list(open_report):
    novel = np.zeros(400, dtype=bool)
    novel[:3] = True
    seen = open_report(report_of(COSTS["equal"], novel=novel, row_names=[f"p{i}" for i in range(400)]))
    assert seen.page.locator(".legend").text_content().rstrip().endswith("novel")
    assert seen.page.locator(".bar-novel").count() in (2, 3)
    listed = seen.page.locator(".rejected tbody tr").all_text_contents()
    assert ["novel" in line for line in listed] == [True] * 3 + [False] * (len(listed) - 3)
    assert [line[:2] for line in listed[:3]] == ["p0", "p1", "p2"]
    assert len(listed) > 15


def test_a_page_without_novel_rows_does_not_mention_them():
    assert "novel" not in render(report_of(COSTS["equal"])).split("<script")[0].partition("</style>")[2]


def test_the_curve_passes_through_the_operating_point():
    costs, novel = COSTS["equal"], np.abs(rows()[1]) > 3.0  # rows that the machine would decide
    report = report_of(costs, novel=novel)
    curves = report.slider.curves
    at_price = curves.shares.index(0.6)
    curve = curves.cost[at_price]
    at = np.interp(report.table.reject_rate, curve.grid, curve.estimate)
    assert at == pytest.approx(report.measures()["mean_cost"], abs=2e-3)
    plain = report_of(costs).slider.curves.cost[at_price]  # control: in the order of the scores
    assert np.interp(report.table.reject_rate, plain.grid, plain.estimate) < at - 2e-3


def test_all_rows_may_be_novel(open_report):
    seen = open_report(report_of(COSTS["unequal"], novel=np.ones(400, dtype=bool)))
    assert [row[1] for row in seen.counts()] == [row.sum() for row in report_of(COSTS["unequal"]).table.counts]
    assert seen.text("selective_error") == "n/a"


@pytest.mark.parametrize("novel", [np.ones(3, dtype=bool), np.ones(400)])
def test_a_mask_of_another_length_or_type_is_an_error(novel):
    with pytest.raises(ValueError, match="novel must have one True or False for each of the 400 rows"):
        report_of(COSTS["equal"], novel=novel)


@pytest.fixture(scope="module")
def guarded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    clf = NoveltyRejector(RejectSVC(Costs(reject=0.2)), random_state=0).fit(X, y)
    return clf, np.vstack([X[:40], X[:10] + 50.0]), np.append(y[:40], y[:10])


def test_the_report_of_a_guarded_estimator_has_its_decisions(guarded):
    clf, X, y = guarded
    report = report_for(clf, X, y)
    assert np.array_equal(report.table.counts, RejectTable.of(y, clf.predict(X), reject_label=-1).counts)
    assert report.slider.novel.sum() == report.novel == np.sum(clf.decide(X).reason == "novel") >= 10
    assert dict(report.model_facts)["Machine"] == "RejectSVC"
    assert "Rows that calibrated this share" in dict(report.model_facts)
    assert payload(report.slider)["novel"]["rejected"] == report.slider.novel.sum(axis=1).tolist()


def test_a_table_report_names_the_reason_of_each_reject():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 3
    X[:, 0] += 4 * y
    clf = NoveltyRejector(LogisticRegression(), random_state=0).fit(X, y)
    far = np.vstack([X[:30], X[:5] + 100.0])
    truth = np.append(y[:30], y[:5])
    decided = clf.decide(far)
    table = Report.of_decisions(truth, decided, Costs(reject=0.3))
    assert table.novel == decided.novel.sum() >= 5
    reasons = [f"novel (p = {p:.4g})" for p in np.sort(decided.p_value[decided.novel])]
    assert [one.reason for one in table.listed[: table.novel]] == reasons
    page = render(table)
    assert f"{table.novel} of them novel" in page
    assert f'<td data-label="reason" class="novel">{reasons[0]}</td>' in page
    labels = Report.of_decisions(truth, decided.label, Costs(reject=0.3), novel=decided.novel, reject_label=-1)
    assert [one.reason for one in labels.listed] == ["novel"] * table.novel  # nothing else is known of labels
    assert "of them novel" not in render(Report.of_decisions(truth, decided.label, Costs(reject=0.3), reject_label=-1))


def test_report_of_takes_scores_of_the_classifier():
    y, score = rows()
    costs = COSTS["equal"]
    report = Report.of(y, score, costs, costs.score_thresholds(), novel=unlike())
    assert report.forced_cost == report_of(costs).forced_cost
