"""abstain: support vector machines that know when not to decide."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives; imported on first use, so that `import abstain` costs nothing; `__init__.pyi`
# says what type each is.
_HOMES = {
    "TRUSTED_TYPES": "abstain.files.trusted",
    "Actions": "abstain.costs.actions",
    "BartlettWegkamp": "abstain.losses.generalized_hinge",
    "Costs": "abstain.costs.costs",
    "EmbeddedRejectSVC": "abstain.estimators.embedded.estimator",
    "Forced": "abstain.estimators.forced",
    "LinearRejectSVC": "abstain.estimators.linear.linear_svc",
    "LinearRejectSVCCV": "abstain.estimators.linear.linear_svc_cv",
    "MachineSearch": "abstain.candidates.search",
    "NoveltyRejector": "abstain.estimators.novelty.novelty",
    "OneClassSVM": "abstain.estimators.svm.one_class",
    "RegularizationPath": "abstain.solvers.path",
    "RejectSVC": "abstain.estimators.svm.svc",
    "RejectSVCCV": "abstain.estimators.svm.svc_cv",
    "ThresholdRejector": "abstain.estimators.threshold.threshold",
    "Thresholds": "abstain.costs.cuts",
    "compare": "abstain.comparison.compare",
    "decide": "abstain.estimators.unwrap",
    "drift": "abstain.comparison.drift",
    "embedded_reject_curve": "abstain.estimators.embedded.curve",
    "explain": "abstain.reasons.explain",
    "load": "abstain.files.load",
    "reject_price_sweep": "abstain.estimators.svm.sweep",
    "reject_svc_path": "abstain.estimators.svm.path",
    "save": "abstain.files.save",
    "to_onnx": "abstain.files.onnx.to_onnx",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (texts, all of them)
# Public modules, reached as `abstain.metrics.aurc` after a bare `import abstain`.
_MODULES = ("datasets", "metrics", "plot", "report")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # as slow to load as the command line's help itself

        value: Any = version("abstain")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"abstain.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
