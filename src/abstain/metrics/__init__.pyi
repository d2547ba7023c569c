# What each name is; `__init__.py` imports it on first use.
from abstain.metrics.areas import augrc, aurc, e_aurc
from abstain.metrics.bands import CurveBand, bootstrap_band
from abstain.metrics.curve_results import (
    AccuracyRejectCurve,
    CostCurve,
    ErrorRejectCurve,
    OperatingPoint,
    RiskCoverageCurve,
)
from abstain.metrics.curves import accuracy_reject_curve, cost_curve, error_reject_curve, risk_coverage_curve
from abstain.metrics.scorers import RejectScorer, get_scorer
from abstain.metrics.scores import (
    coverage,
    error_rate,
    mean_cost,
    positive_predictivity,
    reject_confusion_matrix,
    reject_rate,
    selective_accuracy,
    selective_error,
    sensitivity,
)
from abstain.metrics.tables import ActionTable, ClassTable, RejectTable, action_confusion_matrix

__all__ = [
    "AccuracyRejectCurve",
    "ActionTable",
    "ClassTable",
    "CostCurve",
    "CurveBand",
    "ErrorRejectCurve",
    "OperatingPoint",
    "RejectScorer",
    "RejectTable",
    "RiskCoverageCurve",
    "accuracy_reject_curve",
    "action_confusion_matrix",
    "augrc",
    "aurc",
    "bootstrap_band",
    "cost_curve",
    "coverage",
    "e_aurc",
    "error_rate",
    "error_reject_curve",
    "get_scorer",
    "mean_cost",
    "positive_predictivity",
    "reject_confusion_matrix",
    "reject_rate",
    "risk_coverage_curve",
    "selective_accuracy",
    "selective_error",
    "sensitivity",
]
