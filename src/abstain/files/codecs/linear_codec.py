"""Fitted LinearRejectSVC and LinearRejectSVCCV, of two classes or of more, as fields and arrays, and back."""

from __future__ import annotations

import math
import sys
from dataclasses import astuple
from typing import Any

import numpy as np

from abstain.costs.actions import Actions
from abstain.dual.proof import Proof
from abstain.dual.solution import Status
from abstain.estimators.fitting.implied import implied
from abstain.estimators.fitting.kernel_fit import FittedMachines
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import FittedLinearSearch, LinearRejectSVCCV
from abstain.estimators.search.grid import Grid
from abstain.files.codecs.class_codec import with_lead
from abstain.files.codecs.landmark_codec import landmark_from, landmark_parts
from abstain.files.codecs.machine_codec import FLOAT, machine_from, machine_parts
from abstain.files.codecs.rule_codec import check_same, rule_from, rule_state
from abstain.files.codecs.svc_codec import (
    MACHINE,
    UNBALANCED,
    check_grid,
    grid_arrays,
    grid_from,
    proof_from,
    proof_state,
    search_specs,
    searched,
    tuned_score,
)
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, Spec, fitting, prefixed, within
from abstain.machines.class_machine import OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_class_machine import LinearClassMachine
from abstain.rules.class_rule import ClassRule

__all__ = ["linear_from", "linear_parts"]

# q classes and d features
CLASSES: dict[str, Spec] = {
    "weights": (FLOAT, ("q", "d")),
    "centre": (FLOAT, ("d",)),
    "biases": (FLOAT, ("q",)),
}


def linear_parts(estimator: LinearRejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedMachines = estimator._fitted_
    grid = fitted.grid if isinstance(fitted, FittedLinearSearch) else None
    rule = _implied(estimator, fitted.rule.labels.classes, fitted.largest_row_cost)
    if grid is not None:
        check_grid(estimator, grid, rule.costs, fitted.largest_row_cost)
    machine: Any = fitted.trained if isinstance(fitted, FittedLinearSearch) else fitted.machine
    cuts, lead = tuned_score(fitted), _lead(fitted.rule, grid)
    _check_same(with_lead(rule, lead) if lead else rule, fitted.rule)
    _check_proofs(machine, fitted.proofs, float(estimator.tol))
    own: dict[str, Any] = {}
    if isinstance(machine, KernelMachine | OneVsRestMachine):
        own, arrays = landmark_parts(estimator, machine)
    elif estimator.kernel != "linear":
        raise ModelFileError("its machine is linear, but its parameters name another kernel.")
    elif isinstance(machine, LinearClassMachine):
        arrays = {"weights": machine.weights, "centre": machine.centre, "biases": machine.biases}
    else:
        own, arrays = machine_parts(machine)
    state: dict[str, Any] = {
        "machine": own,
        "rule": rule_state(fitted.rule, cuts or lead),
        "proofs": [proof_state(proof) for proof in fitted.proofs],
    }
    if fitted.largest_row_cost is not None:
        state["largest_row_cost"] = fitted.largest_row_cost
    arrays = prefixed(arrays, MACHINE)
    if grid is None:
        return state, arrays
    n_rows = int(grid.rows.max())
    return state | {"n_rows": n_rows}, arrays | grid_arrays(grid, n_rows)


def linear_from(estimator: LinearRejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedMachines:
    """Make the fitted value from fields and arrays; `linear_parts` compares them with the parameters."""
    searches = isinstance(estimator, LinearRejectSVCCV)
    classes, cuts = rule_from(fields.take("rule", dict), *((0, 2, 3) if searches else (0,)))
    q = len(classes)
    if q > 2 and (np.unique(classes) != classes).any():
        raise ModelFileError("its classes are not different and sorted.")
    largest = fields.number("largest_row_cost") if "largest_row_cost" in fields else None
    rule = _implied(estimator, classes, largest)
    if cuts and len(cuts) != (3 if q > 2 else 2):
        raise ModelFileError("its rule has the wrong number of cuts for its classes.")
    if len(cuts) == 3:
        rule, cuts = with_lead(rule, cuts), []
    given, within_it = fields.take("machine", dict), within(arrays, MACHINE)
    machine: Any
    if "kernel" in given:
        machine = landmark_from(estimator, given, within_it, n_features, q if q > 2 else 1)
    elif q > 2:
        Fields(given, "machine").end()
        fitting(within_it, CLASSES, "machine", {"q": q, "d": n_features})
        machine = LinearClassMachine(within_it["weights"], within_it["centre"], within_it["biases"])
    else:
        machine = machine_from(given, within_it, n_features)
    own = {name: array for name, array in arrays.items() if not name.startswith(MACHINE)}
    fitting(own, search_specs(own) if searches else {}, "machine", {})
    listed = fields.take("proofs", list)
    if len(listed) != (q if q > 2 else 1):
        raise ModelFileError("it does not have one proof per machine.")
    proofs = tuple(proof_from(Fields({"proof": proof}, "machine")) for proof in listed)
    found = FittedMachines(machine, rule, proofs, largest)
    if not searches:
        return found
    return searched(FittedLinearSearch, found, grid_from(own, fields.whole("n_rows", least=1)), cuts)


def _implied(estimator: Any, classes: Any, largest: float | None) -> Any:
    """Give the rule that follows from the parameters, the classes and the largest cost of a training row."""
    if largest is not None and (not largest > 0.0 or len(classes) > 2 or isinstance(estimator.costs, Actions)):
        raise ModelFileError("the costs of its training rows are not possible.")
    return implied(estimator, np.repeat(classes, 2), linear=True, by_row=largest is not None)[0]


def _lead(rule: Any, grid: Grid | None) -> tuple[float, ...]:
    """Give the numbers of the lead of several classes, if the search chose it."""
    if not isinstance(rule, ClassRule):
        return ()
    if (rule.lead is not None) != (grid is not None and grid.best_is_tuned):
        raise ModelFileError("the probabilities of its rule are not what its search found.")
    return () if rule.lead is None else astuple(rule.lead)


def _check_same(rule: Any, fitted: Any) -> None:
    """Compare the rule that the parameters imply with the fitted one."""
    if len(rule.labels.classes) < 3:
        check_same(rule, fitted)
        return
    same = type(rule) is type(fitted) and rule.costs == fitted.costs and np.array_equal(rule.cuts, fitted.cuts)
    names = ("ladders", "lead", "by", "is_log_probability")
    same = same and all(getattr(rule, name, None) == getattr(fitted, name, None) for name in names)
    labels, others = rule.labels, fitted.labels
    if not same or (labels.reject_label, labels.rejects) != (others.reject_label, others.rejects):
        raise ModelFileError("its costs, thresholds or labels do not match its parameters.")


def _check_proofs(machine: Any, proofs: tuple[Proof, ...], tol: float) -> None:
    # the norm of a machine on landmarks would take their kernel matrix, which may be large
    weights = np.atleast_2d(getattr(machine, "weights", np.zeros((len(proofs), 1))))
    for w, proof in zip(weights, proofs, strict=True):
        _check_proof(proof, w, tol)


def _check_proof(proof: Proof, w: Any, tol: float) -> None:
    """Check a proof against the weights and in itself.

    ::

        objective >= 1/2 |w|^2,    gap objective >= objective - dual objective >= 1/2 violation^2

    The losses are not negative, and the gap is a sum of such terms and of 1/2 |w - sum_i y_i gamma_i x_i|^2.
    """
    with np.errstate(over="ignore"):
        square = 0.5 * float(w @ w)
    sizes = abs(proof.objective) + abs(proof.dual_objective)
    gap, room = proof.gap * abs(proof.objective), UNBALANCED * sizes
    if not proof.definite:
        raise ModelFileError("its kernel is marked as indefinite, but a linear kernel is positive semidefinite.")
    if proof.gap < sys.float_info.max and math.isfinite(sizes):
        if proof.objective < square - room:
            raise ModelFileError("the objective of its proof is smaller than its weights alone make it.")
        if proof.dual_objective - proof.objective > room:
            raise ModelFileError("the dual value of its proof is above the primal one.")
        if proof.objective - proof.dual_objective - gap > room:
            raise ModelFileError("the gap of its proof is smaller than the difference of its objectives.")
        if 0.5 * proof.violation**2 - gap > room:
            raise ModelFileError("the violation of its proof is larger than its gap allows.")
    if proof.status == Status.OPTIMAL and not proof.gap <= tol:
        raise ModelFileError(f"its status is optimal, but its proof does not show that for tol={tol:g}.")
