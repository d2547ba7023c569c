"""A fitted ThresholdRejector as fields and arrays, without its classifier, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.estimators.threshold import ThresholdRejector, Tuned, tuned
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.rule_codec import check_same, rule_from, rule_state
from abstain.files.schema import Fields, Spec, fitting
from abstain.files.values import to_json
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.request import Request
from abstain.rules.scored_rows import ScoredRows

# r rows that thresholds were tuned on
ROWS: dict[str, Spec] = {
    "rows_score": (("<f8",), ("r",)),
    "rows_sign": (("|i1",), ("r",)),
    "rows_weight": (("<f8",), ("r",)),
}
PROMISE = ("max_error", "confidence", "n_rows", "accepted", "errors")


def rejector_parts(estimator: ThresholdRejector, given: Any) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted ThresholdRejector whose classifier was fitted as `given`, or around it."""
    fitted: Tuned = estimator._fitted_
    rule, rows, bound = fitted.rule, fitted.rows, fitted.error_bound
    again = _tuned(estimator, rule.labels.classes, fitted.machine.classifier, rows)
    check_same(again.rule, rule)
    added = given is not fitted.machine.classifier
    if added and (hasattr(given, "predict_proba") or not Request.of(estimator).method.needs_probabilities):
        raise ModelFileError("it has a sigmoid that its parameters do not call for.")
    prefit = isinstance(estimator.cv, str) and estimator.cv == "prefit"
    if (again.machine.method, again.error_bound) != (fitted.machine.method, bound):
        raise ModelFileError("its score or its bound on the error does not match its parameters.")
    if prefit != (estimator.estimator is given):
        raise ModelFileError('its classifier is the one given although cv is not "prefit", or the other way round.')
    state = {
        "rule": rule_state(rule, (rule.thresholds.lower, rule.thresholds.upper, rule.cut)),
        "method": fitted.machine.method,
        "error_bound": None if bound is None else [to_json(name, getattr(bound, name)) for name in PROMISE],
        "flaw": None if rows is None else rows.flaw,
    }
    arrays = {} if rows is None else {f"rows_{name}": getattr(rows, name) for name in ("score", "sign", "weight")}
    return state, arrays


def rejector_from(estimator: ThresholdRejector, fields: Fields, arrays: Arrays, classifier: Any) -> Tuned:
    """Make the fitted value from fields and arrays, around a fitted classifier.

    Cuts and bound are computed again from the rows: `restored` compares all fields of the result with those given.
    """
    classes, _ = rule_from(fields.take("rule", dict), 3)
    if classes.tolist() != classifier.classes_.tolist():
        raise ModelFileError("the classes of its classifier differ from those of its rule.")
    fields.one_of("method", ("decision_function", "predict_proba"))
    rows = _rows(fields.take("flaw"), arrays)
    fields.take("error_bound")
    return _tuned(estimator, classes, classifier, rows)


def _tuned(estimator: ThresholdRejector, classes: Any, classifier: Any, rows: ScoredRows | None) -> Tuned:
    """Give the fitted value that follows from the parameters and rows."""
    request = Request.of(estimator)
    if rows is None and request.needs_rows:
        raise ModelFileError("its parameters need rows that it does not have.")
    probabilities = request.method.needs_probabilities
    if probabilities and not hasattr(classifier, "predict_proba"):
        raise ModelFileError("its parameters need probabilities that its classifier does not have.")
    machine, labels = ResponseMachine.of(classifier, probabilities=probabilities), estimator._labels(request, classes)
    request = request.of_classes(labels, estimator.pos_label)
    return tuned(machine, request, labels, rows)


def _rows(flaw: Any, arrays: Arrays) -> ScoredRows | None:
    if flaw is None:
        fitting(arrays, {}, "rejector", {})
        return None
    fitting(arrays, ROWS, "rejector", {})
    sign, weight = arrays["rows_sign"], arrays["rows_weight"]
    if not isinstance(flaw, str) or not (np.abs(sign) == 1).all() or not (weight > 0).all():
        raise ModelFileError("the rows that its thresholds were tuned on have an invalid sign, weight or flaw.")
    return ScoredRows.of(arrays["rows_score"], sign, weight, cut=0.0, flaw=flaw)
