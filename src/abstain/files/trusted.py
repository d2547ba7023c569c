"""The types that skops finds in a fitted estimator of this library."""

from scipy.sparse import csr_array, csr_matrix

_TYPES = {
    "abstain": "dual.problem.DualProblem dual.proof.OptimalProofs dual.proof.Proof kernels.Kernel labels.Labels",
    "abstain.candidates": "average.MachineAverage search.FoundMachine search.MachineSearch",
    "abstain.candidates.trials": "Choice DoingNothing Trials",
    "abstain.costs": "action_labels.ActionLabels actions.Actions costs.Costs cuts.Levels cuts.Thresholds",
    "abstain.losses": "generalized_hinge.BartlettWegkamp margin_loss.MarginLoss margin_loss.PiecewiseLinear",
    "abstain.machines.cross_machine": "ClassCalibration CrossMachine",
    "abstain.machines": "kernel_machine.KernelMachine linear_machine.LinearMachine response_machine.ResponseMachine",
    "abstain.machines.kernel_machine": "OneVsOneMachine",
    "abstain.rules": "deciders.Cuts deciders.PerRow rule.Rule",
    "abstain.rules.class_deciders": "Cheapest Confidence Margins Sets",
    "abstain.rules.readouts": "Ladders LogOdds Softmax Unknown",
    "abstain.rules.tuning": "class_error.ClassErrorBound risk_control.ErrorBound scored_rows.ScoredRows sigmoid.Lead",
    "abstain.estimators": "forced.Forced fitting.kernel_fit.FittedMachines fitting.kernel_fit.FittedSVC",
    "abstain.estimators.embedded": "estimator.EmbeddedRejectSVC training.FittedEmbedded",
    "abstain.estimators.linear": "linear_svc.LinearRejectSVC",
    "abstain.estimators.linear.linear_svc_cv": "FittedLinearSearch LinearRejectSVCCV",
    "abstain.estimators.novelty": "guard.Calibration guard.Guard guarded.Guarded novelty.NoveltyRejector",
    "abstain.estimators.novelty.column_range": "SeenCategories SeenNumbers",
    "abstain.estimators.novelty.novelty_detector": "Columns FittedDetector NoveltyDetector",
    "abstain.estimators.novelty.training_ranges": "SeenColumns",
    "abstain.estimators.search": "grid.Grid",
    "abstain.estimators.svm": "one_class.FittedOneClass one_class.OneClassSVM svc.RejectSVC",
    "abstain.estimators.svm.svc_cv": "FittedSearch RejectSVCCV",
    "abstain.estimators.threshold": "fitted_rejector.Tuned threshold.ThresholdRejector",
    "abstain.solvers": "path.RegularizationPath",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    "sklearn.model_selection._split": "StratifiedGroupKFold StratifiedKFold",
    csr_array.__module__: f"{csr_array.__name__} {csr_matrix.__name__}",
}

#: For ``skops.io.load(path, trusted=abstain.TRUSTED_TYPES)``: plain values and estimators, which only store their
#: fields when they are restored from a file, scipy's matrices, which machines fitted to sparse rows contain, and the
#: parts of scikit-learn's sigmoid, which `ThresholdRejector` fits.
TRUSTED_TYPES: list[str] = sorted(f"{module}.{name}" for module, names in _TYPES.items() for name in names.split())
