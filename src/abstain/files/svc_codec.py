"""RejectSVC and RejectSVCCV, fitted, as fields and arrays, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from abstain.dual.proof import Proof
from abstain.dual.solution import Status
from abstain.estimators.grid import Grid
from abstain.estimators.svc import FittedSVC, RejectSVC
from abstain.estimators.svc_cv import FittedSearch
from abstain.estimators.training import implied_rule
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.machine_codec import FLOAT, machine_from, machine_parts
from abstain.files.rule_codec import check_same, rule_from, rule_state
from abstain.files.schema import Fields, Spec, fitting, prefixed, within
from abstain.files.values import from_json, to_json

MACHINE = "machine."
# n training rows; p pairs of a search on f folds
SETS: dict[str, Spec] = {"sets": (("|i1",), ("n",))}
SEARCH: dict[str, Spec] = {
    "search_cs": (FLOAT, ("c",)),
    "search_gammas": (FLOAT, ("g",)),
    "search_costs": (FLOAT, ("p", "f")),
}
NUMBERS = ("objective", "dual_objective", "gap", "violation")


def svc_parts(estimator: RejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted machine."""
    fitted: FittedSVC = estimator._fitted_
    check_same(implied_rule(estimator, fitted.rule.labels.classes)[0], fitted.rule)
    machine, arrays = machine_parts(fitted.machine)
    state: dict[str, Any] = {
        "machine": machine,
        "rule": rule_state(fitted.rule),
        "proof": _proof_state(fitted.proof),
    }
    arrays = prefixed(arrays, MACHINE) | {"sets": fitted.sets}
    if isinstance(fitted, FittedSearch):
        grid = fitted.grid
        arrays["search_cs"] = grid.Cs
        arrays["search_gammas"] = grid.gammas if grid.has_gamma else np.empty(0)
        arrays["search_costs"] = grid.costs.reshape(-1, grid.n_splits)
    return state, arrays


def svc_from(estimator: RejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedSVC:
    """Make the fitted value of these fields and arrays, checked one by one and against each other."""
    classes, _ = rule_from(fields.take("rule", dict))
    rule, loss = implied_rule(estimator, classes)
    machine = machine_from(fields.take("machine", dict), within(arrays, MACHINE), n_features)
    kernel = getattr(machine, "kernel", None)
    if kernel is None or kernel.name != estimator.kernel:
        raise ModelFileError("its machine is not one of the kernel that its parameters name.")
    own = {name: array for name, array in arrays.items() if not name.startswith(MACHINE)}
    searches = "search_costs" in own
    fitting(own, SETS | (SEARCH if searches else {}), "machine", {"n": machine.n_rows})  # type: ignore[union-attr]
    sets = own["sets"]
    if ((sets < 0) | (sets > 2 * loss.n_knots)).any():
        raise ModelFileError("its sets of training rows are out of range.")
    fitted = FittedSVC(machine, rule, _proof_from(fields, float(estimator.tol)), sets, loss.n_knots)
    return FittedSearch(**vars(fitted), grid=_grid(own)) if searches else fitted


def _proof_state(proof: Proof) -> dict[str, Any]:
    numbers = {name: to_json(name, getattr(proof, name)) for name in NUMBERS}
    return {**numbers, "status": proof.status, "iterations": int(proof.iterations), "definite": proof.definite}


def _proof_from(fields: Fields, tol: float) -> Proof:
    given = Fields(fields.take("proof", dict), "proof")
    numbers = {name: from_json(given.take(name)) for name in NUMBERS}
    status, iterations = given.one_of("status", [one.value for one in Status]), given.whole("iterations")
    definite = given.take("definite", bool)
    given.end()
    if not all(isinstance(value, float) and not math.isnan(value) for value in numbers.values()):
        raise ModelFileError("its proof is not the four numbers that a proof has.")
    proof = Proof(**numbers, status=status, iterations=iterations, definite=definite)
    if status == Status.OPTIMAL and not proof.proves(tol):
        raise ModelFileError("it is called optimal, and its proof does not say so.")
    return proof


def _grid(arrays: Arrays) -> Grid:
    Cs, gammas, costs = arrays["search_cs"], arrays["search_gammas"], arrays["search_costs"]
    has_gamma = len(gammas) > 0
    shape = (len(Cs), max(1, len(gammas)), costs.shape[1])
    if not costs.size or len(costs) != shape[0] * shape[1]:
        raise ModelFileError("its search has not tried every pair of its grid.")
    rising = all((np.diff(values) > 0).all() and (values > 0).all() for values in (Cs, gammas))
    if not rising or (costs < 0).any():
        raise ModelFileError("its search has values of C or gamma, or costs, that no search has.")
    return Grid(Cs, gammas if has_gamma else np.array([np.nan]), costs.reshape(shape), has_gamma)
