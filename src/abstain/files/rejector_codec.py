"""ThresholdRejector around a classifier, fitted, as fields and arrays, and back; and LogisticRegression inside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.estimators.threshold import ThresholdRejector, Tuned
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.rule_codec import check_same, rule_from, rule_state
from abstain.files.schema import Fields, Spec, fitting
from abstain.files.values import from_json, to_json
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.request import Request
from abstain.rules.risk_control import ErrorBound
from abstain.rules.rule import Rule
from abstain.rules.scored_rows import ScoredRows
from abstain.thresholds import Thresholds

# r rows that thresholds were tuned on; d features
ROWS: dict[str, Spec] = {
    "rows_score": (("<f8",), ("r",)),
    "rows_sign": (("|i1",), ("r",)),
    "rows_weight": (("<f8",), ("r",)),
}
LOGISTIC: dict[str, Spec] = {
    "coef": (("<f8", "<f4"), (1, "d")),
    "intercept": (("<f8", "<f4"), (1,)),
    "n_iter": (("<i4",), (1,)),
}
PROMISE = ("max_error", "confidence", "n_rows", "accepted", "errors")


def rejector_parts(estimator: ThresholdRejector) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted ThresholdRejector, its classifier left out."""
    fitted: Tuned = estimator._fitted_
    rule, rows, bound = fitted.rule, fitted.rows, fitted.error_bound
    check_same(_rule(estimator, rule.labels.classes, rule.thresholds, rule.cut), rule)
    state = {
        "rule": rule_state(rule, (rule.thresholds.lower, rule.thresholds.upper, rule.cut)),
        "method": fitted.machine.method,
        "error_bound": None if bound is None else [to_json(name, getattr(bound, name)) for name in PROMISE],
        "flaw": None if rows is None else rows.flaw,
    }
    tuned = {} if rows is None else {f"rows_{name}": getattr(rows, name) for name in ("score", "sign", "weight")}
    return state, tuned


def rejector_from(estimator: ThresholdRejector, fields: Fields, arrays: Arrays, classifier: Any) -> Tuned:
    """Make the fitted value of these fields and arrays around a fitted classifier."""
    classes, (lower, upper, cut) = rule_from(fields.take("rule", dict), cuts=3)
    rule = _rule(estimator, classes, Thresholds(lower, upper), cut)
    method = fields.one_of("method", ("decision_function", "predict_proba"))
    if classes.tolist() != classifier.classes_.tolist() or not hasattr(classifier, method):
        raise ModelFileError(f"its classifier has other classes, or no {method}.")
    machine = ResponseMachine(classifier, method)
    flaw, bound = fields.take("flaw"), _error_bound(fields.take("error_bound"))
    rows = _rows(flaw, arrays, machine.cut)
    request = Request.of(estimator)
    if (rows is None and request.needs_rows) or (bound is None) != (request.way != "max_error"):
        raise ModelFileError("its parameters call for rows or for a bound that it does not have.")
    if not request.needs_rows:
        cuts = request.cuts(None, rule.labels.orientation, machine.cut)
        if (cuts.thresholds, cuts.cut) != (rule.thresholds, rule.cut):
            raise ModelFileError("its thresholds are not those of its costs.")
    return Tuned(machine, rule, rows, bound)


def _rule(estimator: ThresholdRejector, classes: Any, thresholds: Thresholds, cut: float) -> Rule:
    request = Request.of(estimator)
    labels = estimator._labels(request, classes)
    if thresholds.rejects and not labels.rejects:
        raise ModelFileError("its thresholds reject, and its labels have no name for a reject.")
    return Rule(labels, thresholds, cut, request.costs)


def logistic_parts(fitted: Any) -> tuple[dict[str, Any], Arrays]:
    """Give the arrays of scikit-learn's LogisticRegression for two classes."""
    arrays = {"coef": fitted.coef_, "intercept": fitted.intercept_, "n_iter": fitted.n_iter_}
    return {}, {name: np.asarray(array) for name, array in arrays.items()}


def logistic_attributes(arrays: Arrays, n_features: int, classes: Any) -> dict[str, Any]:
    """Give its fitted attributes; the classes are the rejector's."""
    fitting(arrays, LOGISTIC, "classifier", {"d": n_features})
    return {
        "classes_": classes,
        "coef_": arrays["coef"],
        "intercept_": arrays["intercept"],
        "n_iter_": arrays["n_iter"],
    }


def _rows(flaw: Any, arrays: Arrays, cut: float) -> ScoredRows | None:
    if flaw is None:
        fitting(arrays, {}, "rejector", {})
        return None
    fitting(arrays, ROWS, "rejector", {})
    sign, weight = arrays["rows_sign"], arrays["rows_weight"]
    if not isinstance(flaw, str) or not (np.abs(sign) == 1).all() or not (weight > 0).all():
        raise ModelFileError("the rows that its thresholds were tuned on have a sign or weight that no row has.")
    return ScoredRows.of(arrays["rows_score"], sign, weight, cut=cut, flaw=flaw)


def _error_bound(given: Any) -> ErrorBound | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != len(PROMISE):
        raise ModelFileError("its bound on the error is not given by five values.")
    values = [from_json(value) for value in given]
    max_error, confidence, n_rows, accepted, errors = values
    shares = all(0 < share < 1 for share in (*_each(max_error, float), *_each(confidence, float)))
    counts = [*_each(accepted, int), *_each(errors, int), *_each(n_rows, int)]
    if not shares or not all(0 <= count <= n_rows for count in counts) or len(counts) not in (3, 5):
        raise ModelFileError("its bound on the error holds shares or counts that cannot be.")
    return ErrorBound(*values)


def _each(value: Any, kind: type) -> tuple[Any, ...]:
    values = value if isinstance(value, tuple) else (value,)
    if not all(type(one) is kind for one in values) or len(values) > 2:
        raise ModelFileError("its bound on the error holds something else than numbers.")
    return values
