"""The fitted value of a ThresholdRejector: from a checked request, labels and scored rows to the rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.actions import Actions
from abstain.class_labels import ClassLabels
from abstain.estimators.decide import Fitted
from abstain.labels import Labels, label_vector
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.action_rule import ActionRule
from abstain.rules.answered_rows import ClassRows
from abstain.rules.class_request import class_rule
from abstain.rules.request import Request
from abstain.rules.risk_control import ErrorBound
from abstain.rules.rule import Rule
from abstain.rules.scored_rows import ScoredRows

__all__ = ["AnyRows", "Tuned", "labels_for", "rows_for", "tuned"]

AnyRows = ScoredRows | ClassRows


@dataclass(frozen=True, eq=False)
class Tuned(Fitted):
    """A fitted `ThresholdRejector`.

    Attributes
    ----------
    rows : ScoredRows, ClassRows or None
        The scores that the thresholds were tuned on, for `retune`; None if nothing was tuned.
    error_bound : ErrorBound or None
        The guarantee of `max_error`.
    method : str
        The name of the method that placed the thresholds.
    """

    rule: Any
    rows: AnyRows | None
    error_bound: ErrorBound | None
    method: str


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


def tuned(machine: ResponseMachine, request: Request, labels: Labels | ClassLabels, rows: Any) -> Tuned:
    """Place the cuts that a request for these classes asks for."""
    if isinstance(labels, ClassLabels):
        probable = machine.method == "predict_proba"
        several, bound = class_rule(request, labels, rows, is_log_probability=probable)
        return Tuned(machine, several, rows, bound, request.name)
    if isinstance(request.costs, Actions):
        actions = ActionRule.of(request.costs, labels.classes, labels.positive)
        return Tuned(machine, actions, rows, None, request.name)
    cuts = request.cuts(rows, labels.orientation)
    rule = Rule(labels, cuts.thresholds, cuts.cut, request.costs, machine.unit)  # type: ignore[arg-type]
    return Tuned(machine, rule, rows, cuts.error_bound, request.name)
