"""Plots. A display stores arrays and draws them with `plot`.

Curves: `AccuracyRejectDisplay`, `ErrorRejectDisplay`, `RiskCoverageDisplay`, `CostCurveDisplay`. To draw several models
in one plot, pass the axes of the first to the next, as in ``ax=display.ax_``. Machines: `LossDisplay`,
`RejectRegionDisplay` for two features, and `PathDisplay` for all C at once. Batches: `DriftDisplay`.
"""

from abstain.plot.curves import AccuracyRejectDisplay, CostCurveDisplay, ErrorRejectDisplay, RiskCoverageDisplay
from abstain.plot.drift import DriftDisplay
from abstain.plot.loss import LossDisplay
from abstain.plot.path import PathDisplay
from abstain.plot.reject_region import RejectRegionDisplay

__all__ = [
    "AccuracyRejectDisplay",
    "CostCurveDisplay",
    "DriftDisplay",
    "ErrorRejectDisplay",
    "LossDisplay",
    "PathDisplay",
    "RejectRegionDisplay",
    "RiskCoverageDisplay",
]
