"""The types that skops finds in a fitted estimator of this library."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array, csr_matrix

from abstain.actions import Actions
from abstain.class_costs import ClassCosts
from abstain.class_labels import ClassLabels
from abstain.costs import Costs
from abstain.dual.proof import Proof
from abstain.estimators.calibration import Calibration
from abstain.estimators.class_fit import FittedClasses
from abstain.estimators.class_search import FittedClassSearch
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC, FittedEmbedded
from abstain.estimators.forced import Forced
from abstain.estimators.grid import Grid
from abstain.estimators.guard import Guard
from abstain.estimators.guarded import Guarded
from abstain.estimators.novelty import NoveltyRejector
from abstain.estimators.novelty_detector import Columns, FittedDetector, NoveltyDetector
from abstain.estimators.one_class import FittedOneClass, OneClassSVM
from abstain.estimators.seen import SeenColumns
from abstain.estimators.seen_column import SeenCategories, SeenNumbers
from abstain.estimators.svc import FittedSVC, RejectSVC
from abstain.estimators.svc_cv import FittedSearch, RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from abstain.estimators.tuned import Tuned
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.levels import Levels
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.machines.class_machine import OneVsOneMachine, OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.action_rule import ActionRule
from abstain.rules.answered_rows import ClassRows
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.rules.probability_rule import ProbabilityRule
from abstain.rules.risk_control import ErrorBound
from abstain.rules.rule import Rule
from abstain.rules.scored_rows import ScoredRows
from abstain.thresholds import Thresholds

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
