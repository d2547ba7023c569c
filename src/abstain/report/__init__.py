"""The report: one self-contained HTML file on a classifier with a reject option, with a slider for the reject cost.

`Report.of` builds it from arrays, `report_for` from a fitted estimator; `render` returns the page, `write_report`
writes it to a file. For several classes, `Actions` and costs per row it is a `TableReport`, without a slider. The page
makes no requests, works offline and in print, and never runs code from its data.
"""

from abstain.report.from_estimator import report_for
from abstain.report.model import Report
from abstain.report.render import render, write_report
from abstain.report.table_model import TableReport

__all__ = ["Report", "TableReport", "render", "report_for", "write_report"]
