# What each name is; `__init__.py` imports it on first use.
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
