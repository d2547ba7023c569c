"""abstain: support vector machines that know when not to decide."""

from typing import Any

from abstain.public_names import on_first_use

# Public modules, reached as `abstain.metrics.aurc` after a bare `import abstain`.
_MODULES = ("datasets", "metrics", "plot", "report")
# Where each public name lives; `__init__.pyi` says what type each is.
_HOMES = {
    "candidates": "search.MachineSearch",
    "comparison": "compare.compare drift.drift",
    "costs": "actions.Actions costs.Costs cuts.Thresholds",
    "estimators": "forced.Forced unwrap.decide threshold.threshold.ThresholdRejector",
    "estimators.embedded": "curve.embedded_reject_curve estimator.EmbeddedRejectSVC",
    "estimators.linear": "linear_svc.LinearRejectSVC linear_svc_cv.LinearRejectSVCCV",
    "estimators.novelty": "novelty.NoveltyRejector",
    "estimators.svm": "one_class.OneClassSVM path.reject_svc_path svc.RejectSVC svc_cv.RejectSVCCV "
    "sweep.reject_price_sweep",
    "files": "model_file.load model_file.save onnx.to_onnx.to_onnx trusted.TRUSTED_TYPES",
    "losses": "generalized_hinge.BartlettWegkamp",
    "reasons": "explain.explain",
    "solvers": "path.RegularizationPath",
}
_NAMES, _look_up, __dir__ = on_first_use(globals(), _HOMES, _MODULES)
__all__ = ["__version__", *_NAMES]  # noqa: PLE0604 (texts, all of them)


def __getattr__(name: str) -> Any:
    if name != "__version__":
        return _look_up(name)
    from importlib.metadata import version  # as slow to load as the command line's help itself

    globals()[name] = version("abstain")
    return globals()[name]
