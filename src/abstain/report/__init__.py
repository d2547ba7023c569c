"""The report: one self-contained HTML file on a classifier with a reject option, with a slider for the reject cost.

`Report.of` builds it from scores and thresholds, `Report.of_decisions` from decisions between any number of classes or
actions, without a slider, and `report_for` from a fitted estimator; `render` returns the page, `write_report` writes it
to a file. The page makes no requests, works offline and in print, and never runs code from its data.
"""

from abstain.report.from_estimator import report_for
from abstain.report.model import Report
from abstain.report.render import render, write_report

__all__ = ["Report", "render", "report_for", "write_report"]
