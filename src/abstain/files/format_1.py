"""Files of format 1, which versions up to 0.1 wrote, as fields and arrays of the present format.

Format 1 wrote fitted attributes one by one, costs and thresholds twice. What was written twice is compared after
restoring, so that nothing in a file of that format is left unread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.estimators.unwrap import final_estimator
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.registry import restored
from abstain.files.schema import Fields, prefixed, within
from abstain.files.values import from_json
from abstain.preprocessing import ESTIMATOR
from abstain.rules.rule import Rule

ROUNDING = 1e-9  # of the thresholds, which were computed by another order of operations


def restored_from_1(state: Any, arrays: Arrays) -> Any:
    """Make the fitted estimator of a format-1 model."""
    estimator = restored(*upgraded(state, arrays))
    _check_decisions(state.get(ESTIMATOR, state), final_estimator(estimator).rule_)
    return estimator


def upgraded(state: Any, arrays: Arrays) -> tuple[Any, Arrays]:
    """Give the fields and arrays of a format-1 model in the present format."""
    kind = state.get("kind")
    if kind == "Pipeline":
        inner, more = upgraded(Fields(state, "model").take(ESTIMATOR, dict), _without(arrays, "table."))
        return {**state, ESTIMATOR: inner}, prefixed(within(arrays, "table."), "table.") | more
    if kind == "ThresholdRejector":
        return _rejector(state, arrays)
    fitted = Fields(state, "model").take("fitted", dict)
    common = {name: value for name, value in state.items() if name != "fitted"}
    if kind == "LogisticRegression":
        return common, arrays
    new, found = (_embedded if kind == "EmbeddedRejectSVC" else _svc)(Fields(fitted, "machine"), dict(arrays))
    return common | new, found


def _check_decisions(state: Any, rule: Rule) -> None:
    """Compare what format 1 says of the decisions with the rule that its parameters imply."""
    decisions = Fields(state.get("fitted"), "machine").take("decisions", dict)
    thresholds, costs = from_json(decisions.get("thresholds")), from_json(decisions.get("costs"))
    near = all(
        abs(ours - theirs) <= ROUNDING * max(1.0, abs(ours)) or ours == theirs
        for ours, theirs in (
            (rule.thresholds.lower, thresholds.lower),
            (rule.thresholds.upper, thresholds.upper),
            (rule.cut, from_json(decisions.get("cut"))),
        )
    )
    labels = rule.labels
    named = (labels.positive, labels.reject_label, labels.rejects) == (
        from_json(decisions.get("positive")),
        from_json(decisions.get("reject_label")),
        decisions.get("rejects"),
    )
    if not near or not named or costs != rule.costs:
        raise ModelFileError("its decisions are not those of its parameters.")


def _without(arrays: Arrays, prefix: str) -> Arrays:
    return {name: array for name, array in arrays.items() if not name.startswith(prefix)}


def _rule(decisions: Any, *cuts: Any) -> dict[str, Any]:
    fields = Fields(decisions, "decisions")
    return {"dtype": fields.take("dtype"), "classes": fields.take("classes"), "cuts": [*cuts]}


def _one(arrays: Arrays, name: str) -> Any:
    """The one row of an array, or a number that is stored as an array of one."""
    array = arrays.pop(name, None)
    if array is None or array.shape[:1] != (1,):
        raise ModelFileError(f"the machine lacks the array {name!r}, or it has another shape than it should.")
    return array[0]


def _vectors(fields: Fields, arrays: Arrays, n_rows: int) -> tuple[dict[str, Any], Arrays]:
    """A kernel expansion; its bias is at the mean of the vectors for the linear kernel."""
    kernel, storage, bias = fields.take("kernel", list), fields.take("vectors", str), float(_one(arrays, "intercept"))
    found = {"coef": _one(arrays, "dual_coef"), "support": arrays.pop("support", None)}
    if found["support"] is None:
        raise ModelFileError("the machine lacks the array 'support'.")
    found |= {name: arrays.pop(name) for name in [*arrays] if name.startswith("vectors")}
    dense = found.get("vectors")
    if kernel[:1] == ["linear"] and dense is not None and dense.ndim == 2 and len(dense) == len(found["coef"]):
        centre = 2.0 * (0.5 * dense).mean(axis=0) if len(dense) else np.zeros(dense.shape[1])
        bias += float((found["coef"] @ (dense - centre)) @ centre)
    return {"kernel": kernel, "bias": bias, "n_rows": n_rows, "vectors": storage}, found


def _svc(fields: Fields, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    sets = arrays.pop("sets", np.zeros(0, dtype=np.int8))
    arrays.pop("weight", None)
    counts = arrays.pop("n_support", None)
    machine, found = _vectors(fields, arrays, len(sets))
    if counts is None or counts.tolist() != [int(np.sum(found["coef"] < 0)), int(np.sum(found["coef"] > 0))]:
        raise ModelFileError("its numbers of support vectors by class are not those of its coefficients.")
    objective, dual, gap, violation = [*fields.take("certificate", list), None, None, None, None][:4]
    proof = {"objective": objective, "dual_objective": dual, "gap": gap, "violation": violation}
    proof |= {"status": fields.take("status"), "iterations": fields.take("n_iter")}
    new = {
        "machine": machine,
        "rule": _rule(fields.take("decisions", dict)),
        "proof": {**proof, "definite": fields.take("indefinite", bool) is False},
    }
    fields.take("set_names", list)
    found = prefixed(found, "machine.") | {"sets": sets}
    if "chosen" in fields:
        found |= _search(fields.take("chosen", list), arrays)
    fields.end()
    return new, found | arrays


def _search(chosen: Any, arrays: Arrays) -> Arrays:
    scores, Cs = arrays.pop("search_scores", None), arrays.pop("search_c", None)
    gammas = arrays.pop("search_gamma", np.empty(0))
    for name in ("mean", "std", "rank"):
        arrays.pop(f"search_{name}", None)
    if scores is None or Cs is None or len(chosen) != 3:
        raise ModelFileError("its search lacks its scores, its values of C or what it chose.")
    return {"search_cs": np.unique(Cs), "search_gammas": np.unique(gammas), "search_costs": 0.0 - scores}


def _embedded(fields: Fields, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    decisions = fields.take("decisions", dict)
    thresholds, n_rows = from_json(decisions.get("thresholds")), fields.take("n_rows")
    if "vectors" in fields:
        machine, found = _vectors(fields, arrays, n_rows)
    else:
        fields.take("kernel", list)
        weights = _one(arrays, "coef")
        machine, found = {"bias": float(_one(arrays, "intercept"))}, {"weights": weights}
        found["centre"] = np.zeros_like(weights)
    new = {"machine": machine, "rule": _rule(decisions, getattr(thresholds, "upper", None))}
    new |= {name: fields.take(name) for name in ("objective", "training_risk", "lower_bound", "status")}
    new["iterations"] = fields.take("n_iter")
    fields.end()
    return new, prefixed(found, "machine.") | arrays


def _rejector(state: Any, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    fields = Fields(state, "model")
    inner, more = upgraded(fields.take("wrapped", dict), within(arrays, "wrapped."))
    fitted = Fields(fields.take("fitted", dict), "rejector")
    decisions, rows = fitted.take("decisions", dict), fitted.take("rows")
    thresholds = decisions.get("thresholds", {}).get("Thresholds", [None, None])
    new = {
        "kind": "ThresholdRejector",
        "parameters": fields.take("parameters"),
        "rule": _rule(decisions, *thresholds, decisions.get("cut")),
        "method": fitted.take("response_method"),
        "error_bound": fitted.take("certificate"),
        "flaw": None if rows is None else rows[1],
        "classifier": inner,
    }
    fitted.end()
    return new, _without(arrays, "wrapped.") | prefixed(more, "classifier.")
