"""Rows to report on, and what Python counts for them at any price, by the measures of predictions."""

from functools import cache

import numpy as np

from abstain import Costs, Thresholds, metrics
from abstain.comparison.result import Comparison
from abstain.report import Report

COSTS = {
    "equal": Costs(1, 1, 0.3),
    "unequal": Costs(1, 5, 0.3),
    "pair": Costs(2, 3, (0.3, 0.8)),
}


def rows(n=400, seed=0, labels=("no", "yes")):
    """Labels, and log-odds that are right about them; rounded, so that some tie."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(0.3, 2.0, n), 2)
    return np.array(labels)[(rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)], score


def report_of(costs, *, pos_label="yes", y=None, score=None, **arguments):
    """A report with the thresholds that Bayes' rule gives, turned if the first class is the positive one."""
    if y is None and not arguments:
        return _shared(costs, pos_label)
    if y is None:
        y, score = rows()
    return Report.of(y, score, costs, turned(costs.score_thresholds(), pos_label), pos_label=pos_label, **arguments)


@cache
def _shared(costs, pos_label):
    """The report that many tests open; a report is frozen."""
    return report_of(costs, pos_label=pos_label, **dict(zip(("y", "score"), rows(), strict=True)))


def comparison_of(costs_of_rows, left_out=()):
    """A comparison of rules given by the cost of each row."""
    names, prices = tuple(costs_of_rows), np.column_stack(list(costs_of_rows.values()))
    times = np.ones(len(names))
    table = metrics.RejectTable(np.array([[3, 1, 0], [0, 1, 5]]))
    tables, scores = (table,) * len(names), (None,) * len(names)
    costs = Costs(9, 9, 0.3)
    return Comparison(names, prices, np.arange(len(prices)), scores, tables, times, times, costs, 0.95, 2, left_out)


def turned(thresholds, pos_label):
    """Thresholds stated for the positive class, on a score that speaks for "yes"."""
    return thresholds if pos_label == "yes" else Thresholds(-thresholds.upper, -thresholds.lower)


def labels_at(costs, score, pos_label):
    """What is predicted at these costs: the rule of Thresholds on the published score."""
    choice = turned(costs.score_thresholds(), pos_label).decide(score)
    return np.array(["no", "reject", "yes"])[choice + 1]


def measured(y, predicted, costs, pos_label):
    """All numbers of the page, each by the measure of that name."""
    of_predictions = (
        "reject_rate", "coverage", "error_rate", "selective_error", "selective_accuracy", "sensitivity",
        "positive_predictivity",
    )  # fmt: skip
    values = {name: getattr(metrics, name)(y, predicted, pos_label=pos_label) for name in of_predictions}
    return {**values, "mean_cost": metrics.mean_cost(y, predicted, costs, pos_label=pos_label)}


def counted(y, predicted):
    """The 2 x 3 table of the page: rows and columns from "no" to "yes"."""
    return [[int(np.sum((y == t) & (predicted == p))) for p in ("no", "reject", "yes")] for t in ("no", "yes")]
