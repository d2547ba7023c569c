"""Metrics for decisions with rejects: arrays in, numbers and frozen results out.

From predictions: `reject_confusion_matrix`, `mean_cost`, `reject_rate`, `coverage`, `error_rate`, `selective_error`,
`selective_accuracy`, `sensitivity`, `positive_predictivity` and, with `Actions`, `action_confusion_matrix`. They are
ratios of one table of counts, true classes by actions, or means of the costs of rows.

From scores: the curves `accuracy_reject_curve`, `error_reject_curve`, `risk_coverage_curve`, `cost_curve`, with
`bootstrap_band` around each, and the areas `aurc`, `e_aurc`, `augrc`.

For searches: `get_scorer`.

A sample weight of k is the same as repeating the row k times, and 0 the same as dropping it. Rates and curves depend
only on the ratios of the weights; areas also depend on their sum, as they do on the number of rows.
"""

from abstain.public_names import on_first_use

__all__, __getattr__, __dir__ = on_first_use(
    globals(),
    {
        "areas": "augrc aurc e_aurc",
        "bands": "CurveBand bootstrap_band",
        "curve_results": "AccuracyRejectCurve CostCurve ErrorRejectCurve OperatingPoint RiskCoverageCurve",
        "curves": "accuracy_reject_curve cost_curve error_reject_curve risk_coverage_curve",
        "scorers": "RejectScorer get_scorer",
        "scores": "coverage error_rate mean_cost positive_predictivity reject_confusion_matrix reject_rate "
        "selective_accuracy selective_error sensitivity",
        "tables": "ActionTable ClassTable RejectTable action_confusion_matrix",
    },
)
