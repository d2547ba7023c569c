"""A fitted ThresholdRejector as fields and arrays, without its classifier, and back."""

from dataclasses import replace
from typing import Any

import numpy as np

from abstain.arguments import warn_caller
from abstain.estimators.threshold.fitted_rejector import Tuned, labels_for, tuned
from abstain.estimators.threshold.out_of_fold import UNEQUAL_SHARES
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.estimators.wrapping import has_probabilities
from abstain.files.codecs.rule_codec import check_same, rule_state
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Arrays, Fields, Layout, Parts, fitting, layout, stored
from abstain.files.format.values import to_json
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.deciders import Cuts, PerRow
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound
from abstain.rules.tuning.scored_rows import ScoredRows

# r rows that thresholds were tuned on, of more than two classes with q scores each; the codes of two classes are stored
# as -1 and +1, those of more from 1 on
ROWS = layout(rows_score="f8 r", rows_sign="i1 r", rows_weight="f8 r")
CLASS_ROWS = layout(rows_score="f8 r q", rows_code="i8 r", rows_weight="f8 r")
NOT_CERTIFIED = (
    "max_error of this model was certified on scores of folds, but the classifier that decides was fitted on all rows, "
    "so that the ceiling may not hold for it; fit again, or retune with rows that it was not fitted on."
)
# the attributes of an ErrorBound or a ClassErrorBound that a file has
PROMISE = ("max_error", "confidence", "class_error", "n_rows", "accepted", "errors", "cuts")


def rejector_parts(estimator: ThresholdRejector, given: Any) -> Parts:
    """Return the fields and arrays of a ThresholdRejector whose classifier was fitted as `given`, or around it."""
    fitted: Tuned = estimator._fitted_
    rule, rows, bound, held_out = fitted.rule, fitted.rows, fitted.error_bound, fitted.held_out
    machine, by_row, cuts = fitted.machine, isinstance(rule.decider, PerRow), _cuts(rule)
    again = _tuned(estimator, rule.labels.classes, machine.classifier, rows, cuts, held_out=held_out, by_row=by_row)
    check_same(again.rule, rule)
    wanted = Request.of(estimator, by_row=by_row).method.needs_probabilities and not has_probabilities(given)
    refuse(given is not machine.classifier and not wanted, "it has a sigmoid that its parameters do not call for.")
    if (again.machine.method, again.error_bound) != (machine.method, bound):
        raise ModelFileError("its score or its bound on the error does not match its parameters.")
    if is_prefit(estimator.cv) != (estimator.estimator is given):
        raise ModelFileError('its classifier is the one given although cv is not "prefit", or the other way round.')
    promise = [] if bound is None else [(name, one) for name, one in vars(bound).items() if name in PROMISE]
    state: dict[str, Any] = {"rule": rule_state(rule, cuts), "method": machine.method}
    state["error_bound"] = [to_json(*pair) for pair in promise] or None
    state["flaw"] = None if rows is None else rows.flaw
    state |= {} if held_out == _implied(estimator, rows) else {"held_out": held_out}
    state |= {"by_row": True} if by_row else {}
    if rows is None:
        return state, {}
    specs, code, first, step = _row_specs(rule.labels.n_classes)
    return state, stored({"rows_score": rows.score, code: step * rows.code + first, "rows_weight": rows.weight}, specs)


def is_prefit(cv: Any) -> bool:
    """Return whether the parameter `cv` says that the classifier was fitted before."""
    return isinstance(cv, str) and cv == "prefit"


def _implied(estimator: ThresholdRejector, rows: Any) -> bool:
    """Return whether the parameters say that the classifier was not fitted on the rows; a file has the contrary."""
    return is_prefit(estimator.cv) and rows is not None and not rows.flaw


def _cuts(rule: Any) -> tuple[float, ...]:
    decider = rule.decider
    if isinstance(decider, Cuts):
        return decider.thresholds.lower, decider.thresholds.upper, decider.cut
    return tuple(decider.cuts.tolist()) if hasattr(decider, "cuts") else ()


def _row_specs(n_classes: int) -> tuple[Layout, str, int, int]:
    """Return the arrays of the rows, that of their codes, the least code in it, and the step to the next."""
    return (CLASS_ROWS, "rows_code", 1, 1) if n_classes > 2 else (ROWS, "rows_sign", -1, 2)


def rejector_from(estimator: Any, fields: Fields, arrays: Arrays, classifier: Any, cuts: tuple[float, ...]) -> Tuned:
    """Make the fitted value from fields and arrays, around a fitted classifier.

    Cuts and bound are computed again from the rows: `restored` compares all fields of the result with those given.
    """
    classes = classifier.classes_
    rows = _rows(fields.take("flaw"), arrays, len(classes))
    held_out = fields.maybe("held_out", bool, default=_implied(estimator, rows))
    if held_out and (rows is None or rows.flaw not in ("", UNEQUAL_SHARES)):
        raise ModelFileError("it has no rows, or rows with a flaw, that its classifier was not fitted on.")
    by_row = fields.maybe("by_row", bool, default=False)
    found = _tuned(estimator, classes, classifier, rows, cuts, held_out=held_out, by_row=by_row)
    if isinstance(found.error_bound, ErrorBound) and not held_out:
        warn_caller(NOT_CERTIFIED)
    return found


def _tuned(
    estimator: Any, classes: Any, classifier: Any, rows: Any, cuts: tuple[float, ...], *, held_out: bool, by_row: bool
) -> Tuned:
    """Return the fitted value that follows from the parameters and rows.

    Version 0.2 certified `max_error` on scores of folds, and kept `reject_rate` on the rows that it tuned on instead of
    on new ones. Its files are read as they are: the `cuts` say which.
    """
    request = Request.of(estimator, by_row=by_row)
    refuse(rows is None and request.needs_rows, "its parameters need rows that it does not have.")
    probabilities = request.method.needs_probabilities
    if probabilities and not has_probabilities(classifier):
        raise ModelFileError("its parameters need probabilities that its classifier does not have.")
    machine = ResponseMachine.of(classifier, probabilities=probabilities)
    labels = labels_for(estimator, request, np.repeat(classes, 2))
    request = request.of_classes(labels)
    if request.way == "class_error" and (rows.weight != 1).any():
        raise ModelFileError("its calibration rows have weights, which class_error does not count.")
    by_folds = request.way == "max_error" and not rows.flaw
    found = tuned(machine, request, labels, rows, held_out=held_out or by_folds)
    if request.way == "reject_rate" and _cuts(found.rule) != cuts:
        found = tuned(machine, replace(request, for_new=False), labels, rows)
    return replace(found, held_out=held_out)


def _rows(flaw: Any, arrays: Arrays, n_classes: int) -> ScoredRows | None:
    specs, code, first, step = _row_specs(n_classes)
    fitting(arrays, {} if flaw is None else specs, "rejector", {"q": n_classes})
    if flaw is None:
        return None
    codes, weight = arrays[code], arrays["rows_weight"]
    known = np.isin(codes, range(first, n_classes + 1, step)).all()
    if not isinstance(flaw, str) or not known or not (weight > 0).all():
        what = "class" if n_classes > 2 else "sign"
        raise ModelFileError(f"the rows that its thresholds were tuned on have an invalid {what}, weight or flaw.")
    return ScoredRows.of(arrays["rows_score"], (codes - first) // step, weight, flaw=flaw)
