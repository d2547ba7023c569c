"""abstain: support vector machines that know when not to decide."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain import datasets as datasets
    from abstain import metrics as metrics
    from abstain import plot as plot
    from abstain import report as report
    from abstain.candidates.search import MachineSearch
    from abstain.comparison.compare import compare
    from abstain.comparison.drift import drift
    from abstain.costs.actions import Actions
    from abstain.costs.costs import Costs
    from abstain.costs.cuts import Thresholds
    from abstain.estimators.embedded.curve import embedded_reject_curve
    from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
    from abstain.estimators.forced import Forced
    from abstain.estimators.linear.linear_svc import LinearRejectSVC
    from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
    from abstain.estimators.novelty.novelty import NoveltyRejector
    from abstain.estimators.svm.one_class import OneClassSVM
    from abstain.estimators.svm.path import reject_svc_path
    from abstain.estimators.svm.svc import RejectSVC
    from abstain.estimators.svm.svc_cv import RejectSVCCV
    from abstain.estimators.svm.sweep import reject_price_sweep
    from abstain.estimators.threshold.threshold import ThresholdRejector
    from abstain.estimators.unwrap import decide
    from abstain.files.load import load
    from abstain.files.onnx.to_onnx import to_onnx
    from abstain.files.save import save
    from abstain.files.trusted import TRUSTED_TYPES
    from abstain.losses.generalized_hinge import BartlettWegkamp
    from abstain.reasons.explain import explain
    from abstain.solvers.path import RegularizationPath

    __version__: str

__all__ = [
    "TRUSTED_TYPES",
    "Actions",
    "BartlettWegkamp",
    "Costs",
    "EmbeddedRejectSVC",
    "Forced",
    "LinearRejectSVC",
    "LinearRejectSVCCV",
    "MachineSearch",
    "NoveltyRejector",
    "OneClassSVM",
    "RegularizationPath",
    "RejectSVC",
    "RejectSVCCV",
    "ThresholdRejector",
    "Thresholds",
    "__version__",
    "compare",
    "decide",
    "drift",
    "embedded_reject_curve",
    "explain",
    "load",
    "reject_price_sweep",
    "reject_svc_path",
    "save",
    "to_onnx",
]

# Where each public name lives; imported on first use, so that `import abstain` costs nothing.
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
