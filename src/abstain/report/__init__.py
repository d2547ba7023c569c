"""The report: one self-contained HTML file on what a rejecting classifier does, with a slider for the reject price.

`Report.of` gathers it from arrays, `report_for` from a fitted estimator; `render` makes the page, `write_report` the
file. The page makes no request, works offline and on paper, and runs nothing that its data say.
"""

from abstain.report.from_estimator import report_for
from abstain.report.model import Report, TextTable
from abstain.report.render import render, write_report

__all__ = ["Report", "TextTable", "render", "report_for", "write_report"]
