"""The types that skops finds in a fitted estimator of this library."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array, csr_matrix

from abstain.class_labels import ClassLabels
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs
from abstain.costs.levels import Levels
from abstain.costs.thresholds import Thresholds
from abstain.dual.proof import Proof
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import FittedEmbedded
from abstain.estimators.fitting.class_fit import FittedClasses
from abstain.estimators.forced import Forced
from abstain.estimators.novelty.calibration import Calibration
from abstain.estimators.novelty.column_range import SeenCategories, SeenNumbers
from abstain.estimators.novelty.guard import Guard
from abstain.estimators.novelty.guarded import Guarded
from abstain.estimators.novelty.novelty import NoveltyRejector
from abstain.estimators.novelty.novelty_detector import Columns, FittedDetector, NoveltyDetector
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.search.class_search import FittedClassSearch
from abstain.estimators.search.grid import Grid
from abstain.estimators.svm.one_class import FittedOneClass, OneClassSVM
from abstain.estimators.svm.svc import FittedSVC, RejectSVC
from abstain.estimators.svm.svc_cv import FittedSearch, RejectSVCCV
from abstain.estimators.threshold.fitted_rejector import Tuned
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.machines.class_machine import OneVsOneMachine, OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.action_rule import ActionRule
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.rules.probability_rule import ProbabilityRule
from abstain.rules.rule import Rule
from abstain.rules.tuning.answered_rows import ClassRows
from abstain.rules.tuning.risk_control import ErrorBound
from abstain.rules.tuning.scored_rows import ScoredRows

_TYPES: tuple[Any, ...] = (
    *(RejectSVC, RejectSVCCV, EmbeddedRejectSVC, OneClassSVM, ThresholdRejector, NoveltyRejector, Forced),
    *(FittedSVC, FittedSearch, FittedEmbedded, FittedOneClass, Tuned, FittedClasses, FittedClassSearch),
    *(KernelMachine, LinearMachine, ResponseMachine, OneVsRestMachine, OneVsOneMachine, Proof),
    *(Rule, ActionRule, ClassRule, VoteRule, Ladder, LeadRule, ProbabilityRule, ClassRows, ClassCosts, ClassLabels),
    *(Actions, BartlettWegkamp, Costs, ErrorBound, Grid, Kernel, Labels, Levels, ScoredRows, Thresholds),
    *(NoveltyDetector, FittedDetector, Columns),
    *(Guarded, Guard, Calibration, SeenColumns, SeenNumbers, SeenCategories),
    *(csr_array, csr_matrix),
)

#: For ``skops.io.load(path, trusted=abstain.TRUSTED_TYPES)``: plain values and estimators, which only store their
#: fields when they are restored from a file, and scipy's matrices, which machines fitted to sparse rows contain.
TRUSTED_TYPES: list[str] = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in _TYPES)
