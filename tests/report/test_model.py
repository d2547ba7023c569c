"""Report.of: the counts and the measures of the measures' own functions, and errors in words."""

import datetime as dt

import numpy as np
import pytest

from abstain import Costs, Thresholds
from abstain.report import Report
from report.reported import COSTS, counted, labels_at, measured, report_of, rows


@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS.keys())
def test_numbers_are_those_of_the_measures(costs, pos_label):
    y, score = rows()
    report = report_of(costs, pos_label=pos_label)
    predicted = labels_at(costs, score, pos_label)
    assert report.slider.upwards(report.table.counts).tolist() == counted(y, predicted)
    found = report.measures()
    for name, value in measured(y, predicted, costs, pos_label).items():
        assert found[name] == pytest.approx(value), name
    assert found["rejecting_cost"] == pytest.approx(costs.mean_cost(y, np.full(len(y), "reject"), pos_label=pos_label))
    assert report.slider.follows_price
    assert report.slider.positive_above is (pos_label == "yes")


def test_a_report_is_a_value():
    report = report_of(Costs(1, 1, 0.3))
    with pytest.raises(AttributeError):
        report.title = "other"


@pytest.mark.parametrize(
    ("thresholds", "follows"),
    [
        (Costs(1, 5, 0.3).score_thresholds(), True),
        (Costs(1, 5, 0.31).score_thresholds(), False),
        (Thresholds(-np.inf, np.inf), False),
        (Thresholds(0.0, 0.0), False),
    ],
)
def test_thresholds_follow_the_price_only_if_they_are_bayes(thresholds, follows):
    y, score = rows()
    report = Report.of(y, score, Costs(1, 5, 0.3), thresholds)
    assert report.slider.follows_price is follows
    middle = thresholds.lower / 2 + thresholds.upper / 2
    assert report.slider.cut == (np.log(0.2) if follows else middle if np.isfinite(middle) else 0.0)


def test_one_class_alone_needs_the_other_named():
    costs = Costs(1, 1, 0.3)
    report = Report.of(["a", "a"], [-3.0, 0.0], costs, costs.score_thresholds(), classes=["a", "b"])
    assert report.table.counts.tolist() == [[1, 1, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="y has only one class, 'a'"):
        Report.of(["a", "a"], [-3.0, 0.0], costs, costs.score_thresholds())


def test_bad_arguments_are_named():
    costs = Costs(1, 1, 0.3)
    band = costs.score_thresholds()
    with pytest.raises(ValueError, match="score contains NaN at row 1; every row needs a score"):
        Report.of([0, 1], [0.0, np.nan], costs, band)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Report.of([0, 1], [0.0, 1.0], costs, band, row_names=["one"])
    with pytest.raises(ValueError, match=r"costs=0\.3 must be a Costs"):
        Report.of([0, 1], [0.0, 1.0], 0.3, band)


@pytest.mark.parametrize("given", ["y", "names"])
def test_rows_are_called_by_the_index_or_by_ids(given):
    pd = pytest.importorskip("pandas")
    y, score = rows(15)
    ids = [f"p{i}" for i in range(15)]
    series = pd.Series(y, index=pd.Index(ids, name="patient"))
    named = {"row_names": pd.Series(ids, index=range(7, 22), name="patient")} if given == "names" else {}
    report = report_of(Costs(1, 1, 0.3), y=series if given == "y" else y, score=score, **named)
    assert report.heading == "patient"
    rejected = np.flatnonzero(labels_at(Costs(1, 1, 0.3), score, "yes") == "reject")
    assert {one.name for one in report.listed} == {ids[at] for at in rejected}
    counted_only = report_of(Costs(1, 1, 0.3), y=pd.Series(y), score=score)  # the index says nothing
    assert counted_only.heading == "row"
    assert {one.name for one in counted_only.listed} == {at + 1 for at in rejected}
    assert len(rejected) > 1


def test_the_report_has_its_date():
    today = dt.datetime.now().astimezone().date()
    assert report_of(Costs(1, 1, 0.3)).date in (today.isoformat(), (today + dt.timedelta(days=1)).isoformat())
    assert report_of(Costs(1, 1, 0.3), date=dt.date(2024, 2, 29)).date == "2024-02-29"
