"""Files of format 1, written by versions up to 0.1, as fields and arrays of the current format.

Format 1 stored fitted attributes one by one, although many follow from others. Those are compared with the attributes
of the restored estimator, so that nothing in a file of that format is left unchecked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svc import RejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.machine_codec import FLOAT, kernel_from
from abstain.files.registry import CLASSIFIER_PREFIX, LOGISTIC, PIPELINE, REJECTOR, TABLE_PREFIX, restored
from abstain.files.rule_codec import rule_from
from abstain.files.schema import Fields, Spec, fitting, prefixed, within
from abstain.files.svc_codec import MACHINE
from abstain.files.values import from_json, to_json
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.response_machine import log_odds
from abstain.preprocessing import ESTIMATOR
from abstain.rules.request import Request
from abstain.rules.rule import Rule
from abstain.rules.scored_rows import ScoredRows

ROUNDING = 1e-9  # of the thresholds, which were computed with a different order of operations
WRAPPED, UNIT = "wrapped.", "log_odds_per_score"
# s support vectors of n training rows with d features; p pairs of a search on f folds
EXPANSION: dict[str, Spec] = {
    "support": (("<i8",), ("s",)),
    "dual_coef": (FLOAT, (1, "s")),
    "intercept": (FLOAT, (1,)),
}
SVC: dict[str, Spec] = EXPANSION | {
    "n_support": (("<i4",), (2,)),
    "sets": (("|i1",), ("n",)),
    "weight": (FLOAT, ("n",)),
}
SEARCH: dict[str, Spec] = {
    "search_c": (FLOAT, ("p",)),
    "search_scores": (FLOAT, ("p", "f")),
    "search_mean": (FLOAT, ("p",)),
    "search_std": (FLOAT, ("p",)),
    "search_rank": (("<i4",), ("p",)),
}
GAMMA: dict[str, Spec] = {"search_gamma": (FLOAT, ("p",))}
LINEAR: dict[str, Spec] = {"coef": (FLOAT, (1, "d")), "intercept": (FLOAT, (1,))}


def restored_from_1(state: Any, arrays: Arrays) -> Any:
    """Make the fitted estimator of a format-1 model."""
    estimator = restored(*upgraded(state, arrays))
    if state["kind"] == PIPELINE:
        _compare(estimator[-1], state[ESTIMATOR], _without(arrays, TABLE_PREFIX))
    else:
        _compare(estimator, state, arrays)
    return estimator


def upgraded(state: Any, arrays: Arrays) -> tuple[Any, Arrays]:
    """Give the fields and arrays of a format-1 model in the current format."""
    kind = state.get("kind")
    if kind == PIPELINE:
        inner, more = upgraded(Fields(state, "model").take(ESTIMATOR, dict), _without(arrays, TABLE_PREFIX))
        return {**state, ESTIMATOR: inner}, prefixed(within(arrays, TABLE_PREFIX), TABLE_PREFIX) | more
    if kind == REJECTOR:
        return _rejector(state, arrays)
    fitted = Fields(Fields(state, "model").take("fitted", dict), "machine")
    common = {name: value for name, value in state.items() if name != "fitted"}
    if kind == LOGISTIC:
        fitted.end()
        return common, arrays
    new, found = (_embedded if kind == "EmbeddedRejectSVC" else _svc)(fitted, arrays)
    fitted.end()
    return common | new, found


def _compare(estimator: Any, state: Any, arrays: Arrays) -> None:
    """Compare the other attributes in a format-1 file with those of the restored estimator."""
    fitted = state["fitted"]
    if "decisions" in fitted:
        probabilities = getattr(estimator, "response_method_", None) == "predict_proba"
        tuned = fitted.get("rows") is not None
        fields = Fields(fitted["decisions"], "decisions")
        _compare_decisions(fields, estimator.rule_, probabilities=probabilities, tuned=tuned)
    if isinstance(estimator, ThresholdRejector):
        cut = None if fitted["rows"] is None else 0.5 if probabilities else 0.0
        if (fitted["rows"] or [None])[0] != cut:
            raise ModelFileError("the cut of its rows differs from the cut of its score.")
        _compare(estimator.estimator_, state["wrapped"], within(arrays, WRAPPED))
    if isinstance(estimator, EmbeddedRejectSVC):
        known = estimator.kernel, 1.0, estimator.coef0, estimator.degree
        if isinstance(estimator.machine_, LinearMachine) and fitted["kernel"] != [*known]:
            raise ModelFileError("its kernel is not the linear one of its parameters.")
    if isinstance(estimator, RejectSVC):
        same = arrays["n_support"].tolist() == estimator.n_support_.tolist()
        same &= fitted["set_names"] == [*estimator.set_names_] and bool((arrays["weight"] >= 0).all())
        same &= bool(arrays["weight"][estimator.support_].all())
        if not same:
            raise ModelFileError("its weights, sets or numbers of support vectors do not match its machine.")
    if isinstance(estimator, RejectSVCCV):
        _compare_search(estimator, fitted["chosen"], arrays)


def _compare_decisions(fields: Fields, rule: Rule, *, probabilities: bool, tuned: bool) -> None:
    """The rule that the parameters imply."""
    labels, thresholds = rule.labels, from_json(fields.take("thresholds"))
    numbers = [thresholds.lower, thresholds.upper, *(from_json(fields.take(name)) for name in ("cut", UNIT))]
    unit = labels.orientation * rule.unit  # format 1 stored it for the positive class
    expected = [rule.thresholds.lower, rule.thresholds.upper, rule.cut, unit]
    if probabilities:  # whose thresholds lay at other points between the same two rows, if they were tuned
        expected = [*(numbers[:2] if tuned else expit(expected[:2])), float(expit(rule.cut)), np.nan]
    near = _near(numbers, expected)
    named = [from_json(fields.take(name)) for name in ("positive", "reject_label", "rejects", "costs")]
    fields.take("dtype")
    fields.take("classes")  # both are part of the upgraded rule
    fields.end()
    if not near or repr(named) != repr([labels.positive, labels.reject_label, labels.rejects, rule.costs]):
        raise ModelFileError("its decisions do not match its parameters.")


def _compare_search(estimator: RejectSVCCV, chosen: Any, arrays: Arrays) -> None:
    results, grid = estimator.cv_results_, estimator._fitted_.grid
    least = -float(np.nanmean(grid.costs[grid.place]))  # format 1 called this the best score
    near = _near([from_json(value) for value in chosen], [estimator.C_, estimator.gamma_, least])
    near &= _near(arrays["search_c"], results["param_C"])
    near &= "search_gamma" not in arrays or _near(arrays["search_gamma"], results["param_gamma"])
    near &= all(_near(arrays[f"search_{name}"], results[f"{name}_test_score"]) for name in ("mean", "std", "rank"))
    if not near:
        raise ModelFileError("the choice or the tried values of its search do not match its scores.")


def _near(theirs: Any, ours: Any) -> bool:
    slack = {"rtol": ROUNDING, "atol": ROUNDING}
    return np.shape(theirs) == np.shape(ours) and np.allclose(theirs, ours, **slack, equal_nan=True)


def _without(arrays: Arrays, prefix: str) -> Arrays:
    return {name: array for name, array in arrays.items() if not name.startswith(prefix)}


def _rule(decisions: Any, *cuts: Any) -> dict[str, Any]:
    fields = Fields(decisions, "decisions")
    return {"dtype": fields.take("dtype"), "classes": fields.take("classes"), "cuts": [*cuts]}


def _expansion(fields: Fields, arrays: Arrays, n_rows: Any) -> tuple[dict[str, Any], Arrays]:
    """A kernel expansion; for the linear kernel its bias is the score at the mean of the vectors."""
    kernel, coef, bias = fields.take("kernel", list), arrays["dual_coef"][0], float(arrays["intercept"][0])
    found = {"support": arrays["support"], "coef": coef, **_vectors(arrays)}
    dense = found.get("vectors")
    if kernel[:1] == ["linear"] and dense is not None and dense.ndim == 2 and len(dense) == len(coef):
        centre = 2.0 * (0.5 * dense).mean(axis=0) if len(dense) else np.zeros(dense.shape[1])
        bias += float((coef @ (dense - centre)) @ centre)
    state = {"kernel": kernel, "bias": bias, "n_rows": n_rows, "vectors": fields.take("vectors", str)}
    return state, prefixed(found, MACHINE)


def _vectors(arrays: Arrays) -> Arrays:
    """The support vectors, which have the same names and shapes as in the current format."""
    return {name: array for name, array in arrays.items() if name.startswith("vectors")}


def _svc(fields: Fields, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    searches = "chosen" in fields
    specs = SVC | (SEARCH if searches else {}) | (GAMMA if searches and "search_gamma" in arrays else {})
    fitting(_without(arrays, "vectors"), specs, "machine", {})
    machine, found = _expansion(fields, arrays, len(arrays["sets"]))
    rule, numbers = _rule(fields.take("decisions", dict)), fields.take("certificate", list)
    if len(numbers) != 4:
        raise ModelFileError("its certificate does not have four numbers.")
    proof = dict(zip(("objective", "dual_objective", "gap", "violation"), numbers, strict=True))
    proof |= {"status": fields.take("status"), "iterations": fields.take("n_iter")}
    proof["definite"] = not fields.take("indefinite", bool)
    fields.take("set_names", list)
    found["sets"] = arrays["sets"]
    if searches:
        fields.take("chosen", list)
        found["search_cs"] = np.unique(arrays["search_c"])
        found["search_gammas"] = np.unique(arrays.get("search_gamma", np.empty(0)))
        found["search_costs"] = 0.0 - arrays["search_scores"]
    return {"machine": machine, "rule": rule, "proof": proof}, found


def _embedded(fields: Fields, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    decisions, n_rows = fields.take("decisions", dict), fields.whole("n_rows", least=1)
    if "vectors" in fields:
        fitting(_without(arrays, "vectors"), EXPANSION, "machine", {})
        machine, found = _expansion(fields, arrays, n_rows)
    else:
        fitting(arrays, LINEAR, "machine", {})
        kernel_from(fields)  # compared with the parameters afterwards
        weights = arrays["coef"][0]
        machine = {"bias": float(arrays["intercept"][0])}
        found = prefixed({"weights": weights, "centre": np.zeros_like(weights)}, MACHINE)
    new = {"machine": machine, "rule": _rule(decisions, from_json(decisions.get("thresholds")).upper)}
    new |= {name: fields.take(name) for name in ("objective", "training_risk", "lower_bound", "status")}
    return {**new, "iterations": fields.take("n_iter")}, found


def _rejector(state: Any, arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    fields = Fields(state, "model")
    inner, more = upgraded(fields.take("wrapped", dict), within(arrays, WRAPPED))
    fitted = Fields(fields.take("fitted", dict), "rejector")
    decisions, rows = fitted.take("decisions", dict), fitted.take("rows")
    if rows is not None and not (isinstance(rows, list) and len(rows) == 2):
        raise ModelFileError("the description of the rows that its thresholds were tuned on is not valid.")
    thresholds = decisions["thresholds"]["Thresholds"]
    new = {
        "kind": fields.take("kind"),
        "parameters": fields.take("parameters"),
        "rule": _rule(decisions, *thresholds, decisions["cut"]),
        "method": fitted.take("response_method"),
        "error_bound": fitted.take("certificate"),
        "flaw": None if rows is None else rows[1],
        "classifier": inner,
    }
    fitted.end()
    fields.end()
    own = _without(arrays, WRAPPED)
    if new["method"] == "predict_proba":
        own, new["rule"]["cuts"] = _on_log_odds(new, own)
    return new, own | prefixed(more, CLASSIFIER_PREFIX)


def _on_log_odds(new: dict[str, Any], arrays: Arrays) -> tuple[Arrays, list[Any]]:
    """Give the rows that thresholds were tuned on, and the cuts; in format 1 the score was the probability itself."""
    estimator = ThresholdRejector(None, **{name: from_json(value) for name, value in new["parameters"].items()})
    request, (classes, _) = Request.of(estimator), rule_from(new["rule"], 3)
    labels: Any = estimator._labels(request, classes)
    rows = None
    if new["flaw"] is not None:
        p = arrays["rows_score"]
        arrays = arrays | {"rows_score": log_odds(np.column_stack([1.0 - p, p]))}
        known = (arrays[f"rows_{name}"] for name in ("score", "sign", "weight"))
        rows = ScoredRows.of(*known, cut=0.0, flaw=new["flaw"])
    request = replace(request.of_classes(labels, estimator.pos_label), for_new=False)  # as it was placed then
    cuts = request.cuts(rows, labels.orientation)
    return arrays, [to_json("cuts", cut) for cut in (cuts.thresholds.lower, cuts.thresholds.upper, cuts.cut)]
