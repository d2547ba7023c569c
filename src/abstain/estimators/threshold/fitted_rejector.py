"""The fitted value of a ThresholdRejector: from a checked request, labels and scored rows to the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.fitting.training import fit_labels
from abstain.labels import Labels
from abstain.machines.cross_machine import CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.readouts import readout_of
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound
from abstain.rules.tuning.placing import conformal_rule, p_value_rule, placed_rule
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound
from abstain.rules.tuning.scored_rows import ScoredRows

__all__ = ["Tuned", "labels_for", "tuned"]

NOT_HELD_OUT = (
    "the classifier that decides was fitted on their rows, also where folds gave the scores. Pass X and y that it was "
    "not fitted on, or fit again with {}."
)


@dataclass(frozen=True, eq=False)
class Tuned(Fitted):
    """A fitted `ThresholdRejector`.

    Attributes
    ----------
    rows : ScoredRows or None
        The scores that the thresholds were tuned on, for `retune`; None if nothing was tuned.
    error_bound : ErrorBound, ClassErrorBound or None
        The guarantee of `max_error` or `class_error`.
    method : str
        The name of the method that placed the thresholds.
    held_out : bool
        Whether the classifier that decides was not fitted on the rows.
    """

    rows: ScoredRows | None
    error_bound: ErrorBound | ClassErrorBound | None
    method: str
    held_out: bool = False


def labels_for(parameters: Any, request: Request, y: Any) -> Labels:
    """Return the labels of a request."""
    return fit_labels(parameters, y, request.costs, rejects=request.way is not None)


def tuned(
    machine: ResponseMachine | CrossMachine,
    request: Request,
    labels: Labels,
    rows: ScoredRows | None,
    *,
    held_out: bool = False,
) -> Tuned:
    """Place the cuts that a request for these classes asks for; a promise needs rows that are held out."""
    flaw = "" if rows is None else rows.flaw
    if request.promise is not None and (not held_out or (flaw and request.promise == "max_error")):
        why = flaw or NOT_HELD_OUT.format(request.promise)
        raise ValueError(f"{request.promise} cannot be promised on these scores: {why}")
    readout = readout_of(machine, labels.n_classes)
    if isinstance(machine, CrossMachine):
        if request.class_error is None:
            raise ValueError('conformal="cross" gives p-values, on which only class_error can be stated; fit again.')
        bound = class_error_bound(request.class_error, machine.calibration)
        machine = replace(machine, least=tuple(bound.cuts.values()))
        return Tuned(machine, p_value_rule(labels, machine.least), None, bound, request.name, held_out=True)
    if request.class_error is not None and rows is not None:
        rule, promised = conformal_rule(request, labels, rows, readout)
        return Tuned(machine, rule, rows, promised, request.name, held_out=True)
    rule, placed = placed_rule(request, labels, rows, readout)
    return Tuned(machine, rule, rows, placed, request.name, held_out)
