"""Pictures: one Display per file. A display stores arrays, and draws them when asked.

Of curves: `AccuracyRejectDisplay`, `ErrorRejectDisplay`, `RiskCoverageDisplay`, `CostCurveDisplay`; several models go
into one picture by handing the axes of the first to the next, as in ``ax=display.ax_``. Of the machine itself:
`LossDisplay`, `RejectRegionDisplay` for two features, and `PathDisplay` for all C at once.
"""

from abstain.plot.accuracy_reject import AccuracyRejectDisplay
from abstain.plot.cost_curve import CostCurveDisplay
from abstain.plot.error_reject import ErrorRejectDisplay
from abstain.plot.loss import LossDisplay
from abstain.plot.path import PathDisplay
from abstain.plot.reject_region import RejectRegionDisplay
from abstain.plot.risk_coverage import RiskCoverageDisplay

__all__ = [
    "AccuracyRejectDisplay",
    "CostCurveDisplay",
    "ErrorRejectDisplay",
    "LossDisplay",
    "PathDisplay",
    "RejectRegionDisplay",
    "RiskCoverageDisplay",
]
