"""The fitted value of a ThresholdRejector: from a checked request, labels and scored rows to the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.class_labels import ClassLabels
from abstain.costs.actions import Actions
from abstain.costs.thresholds import Thresholds
from abstain.estimators.fitting.decide import Fitted
from abstain.labels import Labels, label_vector
from abstain.machines.class_calibration import ClassCalibration
from abstain.machines.cross_machine import CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.action_rule import ActionRule
from abstain.rules.rule import Rule
from abstain.rules.set_rule import SetRule
from abstain.rules.tuning.answered_rows import ClassRows
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound, forced_cut, two_thresholds
from abstain.rules.tuning.class_request import class_rule
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound
from abstain.rules.tuning.scored_rows import ScoredRows

__all__ = ["AnyRows", "Tuned", "labels_for", "rows_for", "tuned"]

AnyRows = ScoredRows | ClassRows
NOT_HELD_OUT = (
    "the classifier that decides was fitted on their rows, also where folds gave the scores. Pass X and y that it was "
    "not fitted on, or fit again with {}."
)


@dataclass(frozen=True, eq=False)
class Tuned(Fitted):
    """A fitted `ThresholdRejector`.

    Attributes
    ----------
    rows : ScoredRows, ClassRows or None
        The scores that the thresholds were tuned on, for `retune`; None if nothing was tuned.
    error_bound : ErrorBound, ClassErrorBound or None
        The guarantee of `max_error` or `class_error`.
    method : str
        The name of the method that placed the thresholds.
    held_out : bool
        Whether the classifier that decides was not fitted on the rows.
    """

    rule: Any
    rows: AnyRows | None
    error_bound: ErrorBound | ClassErrorBound | None
    method: str
    held_out: bool = False


def labels_for(parameters: Any, request: Request, y: Any) -> Labels | ClassLabels:
    """Give the labels of two classes or of more, as the `pos_label` and `reject_label` of the parameters say."""
    several = len(np.unique(label_vector(y, "y"))) > 2
    if isinstance(request.costs, Actions):
        return ActionRule.of(request.costs, y, parameters.pos_label, parameters.reject_label).labels
    rejects = request.way is not None
    if several:
        return ClassLabels.of(y, reject_label=parameters.reject_label, rejects=rejects)
    return Labels.of(y, pos_label=parameters.pos_label, reject_label=parameters.reject_label, rejects=rejects)


def rows_for(
    labels: Labels | ClassLabels, score: NDArray[np.float64], code: Any, weight: Any, flaw: str = ""
) -> AnyRows:
    """Give the rows to tune on, of two classes or of more, with their true classes as `labels` encode them."""
    if isinstance(labels, ClassLabels):
        return ClassRows.of(score, code, weight, flaw=flaw)
    return ScoredRows.of(score, code, weight, cut=0.0, flaw=flaw)


def tuned(
    machine: ResponseMachine | CrossMachine,
    request: Request,
    labels: Labels | ClassLabels,
    rows: Any,
    *,
    held_out: bool = False,
) -> Tuned:
    """Place the cuts that a request for these classes asks for; a promise needs rows that are held out."""
    flaw = "" if rows is None else rows.flaw
    if request.promise is not None and (not held_out or (flaw and request.promise == "max_error")):
        why = flaw or NOT_HELD_OUT.format(request.promise)
        raise ValueError(f"{request.promise} cannot be promised on these scores: {why}")
    if request.class_error is not None or isinstance(machine, CrossMachine):
        return _by_true_class(machine, request, labels, rows)
    if isinstance(labels, ClassLabels):
        probable = machine.method == "predict_proba"
        several, bound = class_rule(request, labels, rows, is_log_probability=probable)
        return Tuned(machine, several, rows, bound, request.name, held_out)
    if isinstance(request.costs, Actions):
        actions = ActionRule.of(request.costs, labels.classes, labels.positive)
        return Tuned(machine, actions, rows, None, request.name, held_out)
    cuts = request.cuts(rows, labels.orientation)
    rule = Rule(labels, cuts.thresholds, cuts.cut, request.costs, machine.unit)  # type: ignore[arg-type]
    return Tuned(machine, rule, rows, cuts.error_bound, request.name, held_out)


def _by_true_class(
    machine: ResponseMachine | CrossMachine, request: Request, labels: Labels | ClassLabels, rows: Any
) -> Tuned:
    """Give the rule that keeps promises by true class: cuts on the scores, or for several folds on p-values."""
    if request.class_error is None:
        raise ValueError('conformal="cross" gives p-values, on which only class_error can be stated; fit again.')
    rule: Rule | SetRule
    if isinstance(machine, CrossMachine):
        bound = class_error_bound(request.class_error, machine.calibration)
        machine = replace(machine, least=tuple(bound.cuts.values()))
        rule = (
            SetRule(labels, np.array(machine.least), by_p_value=True)
            if isinstance(labels, ClassLabels)
            else Rule(labels, Thresholds(-0.5, 0.5), 0.0)
        )
        return Tuned(machine, rule, None, bound, request.name, held_out=True)
    if isinstance(labels, ClassLabels):
        bound = class_error_bound(request.class_error, ClassCalibration.of([(rows.score, rows.code)], labels.n_classes))
        rule = SetRule(labels, np.array([*bound.cuts.values()]), machine.method == "predict_proba")
    else:
        bound = class_error_bound(request.class_error, ClassCalibration.of([(rows.score, 1 + (rows.sign > 0))], 2))
        thresholds = two_thresholds(bound)
        rule = Rule(labels, thresholds, forced_cut(thresholds), None, machine.unit)
    return Tuned(machine, rule, rows, bound, request.name, held_out=True)
