# What each name is; `__init__.py` imports it on first use.
from abstain import datasets as datasets
from abstain import metrics as metrics
from abstain import plot as plot
from abstain import report as report
from abstain.candidates.search import MachineSearch as MachineSearch
from abstain.comparison.compare import compare as compare
from abstain.comparison.drift import drift as drift
from abstain.costs.actions import Actions as Actions
from abstain.costs.costs import Costs as Costs
from abstain.costs.cuts import Thresholds as Thresholds
from abstain.estimators.embedded.curve import embedded_reject_curve as embedded_reject_curve
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC as EmbeddedRejectSVC
from abstain.estimators.forced import Forced as Forced
from abstain.estimators.linear.linear_svc import LinearRejectSVC as LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV as LinearRejectSVCCV
from abstain.estimators.novelty.novelty import NoveltyRejector as NoveltyRejector
from abstain.estimators.svm.one_class import OneClassSVM as OneClassSVM
from abstain.estimators.svm.path import reject_svc_path as reject_svc_path
from abstain.estimators.svm.svc import RejectSVC as RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV as RejectSVCCV
from abstain.estimators.svm.sweep import reject_price_sweep as reject_price_sweep
from abstain.estimators.threshold.threshold import ThresholdRejector as ThresholdRejector
from abstain.estimators.unwrap import decide as decide
from abstain.files.model_file import load as load
from abstain.files.model_file import save as save
from abstain.files.onnx.to_onnx import to_onnx as to_onnx
from abstain.files.trusted import TRUSTED_TYPES as TRUSTED_TYPES
from abstain.losses.generalized_hinge import BartlettWegkamp as BartlettWegkamp
from abstain.reasons.explain import explain as explain
from abstain.solvers.path import RegularizationPath as RegularizationPath

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

__version__: str
