"""The types of this library that skops meets in a fitted estimator."""

from __future__ import annotations

#: For ``skops.io.load(path, trusted=abstain.TRUSTED_TYPES)``: plain values and estimators, none of which does anything
#: when it is made from a file but hold its fields, and scipy's matrices, which machines fitted to sparse rows keep.
TRUSTED_TYPES: list[str] = [
    "abstain.costs.Costs",
    "abstain.estimators.embedded.estimator.EmbeddedRejectSVC",
    "abstain.estimators.decide.Terms",
    "abstain.rules.risk_control.Certificate",
    "abstain.rules.scored_rows.ScoredRows",
    "abstain.estimators.svc.RejectSVC",
    "abstain.estimators.svc_cv.RejectSVCCV",
    "abstain.estimators.threshold.ThresholdRejector",
    "abstain.kernels.Kernel",
    "abstain.labels.Labels",
    "abstain.losses.generalized_hinge.BartlettWegkamp",
    "abstain.thresholds.Thresholds",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
]
